"""CrewAI's calls in words, and what it says in the user's role. It needs an environment of its own."""

from __future__ import annotations

from typing import Any

import epitome
import pytest

pytest.importorskip("crewai")

from crewai.hooks import LLMCallHookContext
from epitome.adapters.crewai import EpitomeHook, made, said

PROMPT = "Analyze the tool result. If requirements are met, provide the Final Answer."


def step(n: int, given: str = "") -> dict[str, Any]:
    given = given or f'{{"host": "h{n}"}}'
    words = f"Thought: the host h{n} is next\nAction: restart server\nAction Input: {given}\nObservation: "
    return {"role": "assistant", "content": f"{words}h{n} was restarted as ticket T-{n}, " + "as were others " * 20}


def test_calls_in_words_are_deeds_and_prompts_no_persons_words() -> None:
    hook = EpitomeHook(window=4_000)
    messages: list[Any] = [{"role": "user", "content": "Restart them. Never restart h99."}]
    for n in range(60):
        messages += [step(n), {"role": "user", "content": PROMPT}]
    own, newest = messages[0], messages[-2]
    context = LLMCallHookContext(messages=messages)
    hook(context)
    assert messages[0] is own and any(one is newest for one in messages) and len(messages) < 100
    text = str(messages)
    assert "What was done" in text and "restart_server(" in text and "User's words" not in text
    assert hook.receipts[-1].data["human_messages"]["all"] == 1
    assert epitome.check(messages, format="openai-chat") == []
    with pytest.raises(epitome.OptionError):
        EpitomeHook(windw=2_000)  # type: ignore[call-arg]


@pytest.mark.parametrize("given", ['{"path": "a.py", "text": "' + "x = 1 " * 80 + '"}', "words " * 80])
def test_what_is_left_of_a_call_is_said_in_words(given: str) -> None:
    message = step(1, given)
    asked, answered = said(message)
    assert made(message, {0: asked, 1: answered}) == {**message, "content": message["content"].replace(given, given.strip())}
    function = asked["tool_calls"][0]["function"]
    short = '{"path": "a.py"}' if given.startswith("{") else '{"input": "words …"}'
    call = {**asked["tool_calls"][0], "function": {**function, "arguments": short}}
    left = made(message, {0: {**asked, "tool_calls": [call]}, 1: {**answered, "content": "[restarted]"}})
    wanted = short if given.startswith("{") else "words …"
    assert left["content"] == (
        f"Thought: the host h1 is next\nAction: restart server\nAction Input: {wanted}\nObservation: [restarted]"
    )


@pytest.mark.parametrize(
    "content",
    ["Thought: done\nFinal Answer: Action: none", "Action: f\nAction Input: {}", "An Observation: it rains.", None],
)
def test_what_is_no_call_in_words_is_said_as_it_is(content: Any) -> None:
    [one] = said({"role": "assistant", "content": content})
    assert one["content"] == content


def test_what_cant_be_written_ends_no_call(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def model_dump(self, **_: Any) -> Any:
            raise RuntimeError("on purpose")

    messages: list[Any] = [{"role": "user", "content": "Look."}, {"role": "user", "content": [Broken()]}]
    own = list(messages)
    EpitomeHook(window=2_000)(LLMCallHookContext(messages=messages))
    assert messages == own and "messages[1]: on purpose" in caplog.text
