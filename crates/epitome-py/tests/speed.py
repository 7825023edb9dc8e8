"""How long a compaction of 10,000 messages takes, beside LangChain's ``trim_messages`` with tiktoken, and beside ``json``.

Run it with the package that is to be timed. Its goals stand beside the figures, and a missed one is marked. Nothing is
asserted: machines differ, and a busy one is slow.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import epitome

MESSAGES = 10_000

MOST = {"epitome.compact": 2, "epitome.Session.fit, once more": 1}
"""The goals, in times of what ``json`` takes. A session has counted before."""


def history() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find the port that answers. Never touch port 22."}]
    for nth in range(1, MESSAGES // 2):
        port = 8000 + nth
        arguments = json.dumps({"command": f"curl -s http://127.0.0.1:{port}/health | head -n {nth % 7}"})
        call = {"id": f"call_{nth}", "type": "function", "function": {"name": "run", "arguments": arguments}}
        said = f"Attempt {nth}: I ask the server behind port {port} for its health, as the user wanted."
        messages.append({"role": "assistant", "content": said, "tool_calls": [call]})
        lines = (
            f"{line} GET /health?try={nth * 31 % 977} 127.0.0.1:{port} errno {nth * line % 133} refused in {nth % 311} ms"
            for line in range(6)
        )
        messages.append({"role": "tool", "tool_call_id": f"call_{nth}", "content": "\n".join(lines)})
    return [*messages, {"role": "user", "content": "And now?"}]


def best(work: Callable[[], object], times: int = 5) -> float:
    """The least time of several, in milliseconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken) * 1000


def trimming(messages: list[dict[str, Any]], most: int) -> Callable[[], object]:
    """LangChain's recipe of a counter with tiktoken, whose table LiteLLM brings along."""
    import litellm

    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(litellm.__file__).parent / "litellm_core_utils/tokenizers")
    import tiktoken
    from langchain_core.messages import BaseMessage, trim_messages

    encoding = tiktoken.get_encoding("cl100k_base")

    def count(counted: list[BaseMessage]) -> int:
        return 3 + sum(
            3 + len(encoding.encode(message.type)) + len(encoding.encode(str(message.content))) for message in counted
        )

    return lambda: trim_messages(
        messages, max_tokens=most, strategy="last", token_counter=count, start_on="human", include_system=True
    )


def goal(reached: float, most: float | None = None, least: float | None = None) -> str:
    """The goal of a figure, for those that have one."""
    if most is not None:
        return f"  (goal: at most {most:g}{'' if reached <= most else ', MISSED'})"
    if least is not None:
        return f"  (goal: at least {least:g}{'' if reached >= least else ', MISSED'})"
    return ""


def main() -> None:
    messages = history()
    compactor = epitome.Compactor(target="20%", counter="cl100k")
    target = compactor.plan(messages).target
    text = json.dumps(messages)
    there_and_back = best(lambda: json.loads(json.dumps(messages)))
    session = epitome.Session(window=200_000, counter="cl100k")
    session.fit(messages)
    rows = {
        "json.dumps + json.loads": there_and_back,
        "epitome.compact": best(lambda: compactor.compact(messages)),
        "epitome.compact, nothing to do": best(lambda: epitome.compact(messages, target="100%", counter="cl100k")),
        "epitome.count": best(lambda: epitome.count(messages, counter="cl100k")),
        "epitome.Session.fit, once more": best(lambda: session.fit(messages)),
        "langchain trim_messages, tiktoken": best(trimming(messages, target), 2),
    }
    print(f"{len(messages):,} messages, {len(text) / 1e6:.1f} MB")
    for name, taken in rows.items():
        ratio = taken / there_and_back
        print(f"  {name:36} {taken:8.1f} ms  {ratio:5.2f} × json{goal(ratio, most=MOST.get(name))}")
    ratio = rows["langchain trim_messages, tiktoken"] / rows["epitome.compact"]
    print(f"  epitome.compact is {ratio:.1f} times as fast as trim_messages{goal(ratio, least=20)}")
    code = "import time; began = time.perf_counter(); import epitome; print((time.perf_counter() - began) * 1000)"
    imports = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))
    print(f"  import epitome {imports:.0f} ms{goal(imports, most=50)}")


if __name__ == "__main__":
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    main()
