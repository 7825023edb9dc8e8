"""CrewAI: a hook before each call of a model.

>>> from crewai.hooks import LLMCallHookContext, register_before_llm_call_hook
>>> from epitome.adapters.crewai import EpitomeHook
>>> hook = EpitomeHook(window=2_000)
>>> register_before_llm_call_hook(hook)
>>> messages = [{"role": "user", "content": f"And what does port {port} of the server say?"} for port in range(150)]
>>> context = LLMCallHookContext(messages=messages)
>>> hook(context)
>>> len(context.messages) < 150, len(hook.receipts)
(True, 1)
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crewai.hooks import LLMCallHookContext

from ..archive import Archive
from ..errors import InputError, OptionError
from ..receipt import Receipt
from ..session import RECEIPTS, Whole
from .guard import Compactors
from .objects import INJECTED, Message, Objects, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers

SENT = ("role", "content", "tool_calls", "tool_call_id", "name")

OBSERVED = "Observation: "

PROMPTS = (
    OBSERVED,
    "Analyze the tool result. If requirements are met",
    "I did it wrong. ",
    "Native tool calling is unavailable for this model/provider.",
    "Now it's time you MUST give your absolute best final answer.",
    "**Current Step ",
)
"""How CrewAI begins what it says in the user's role."""

CALL = re.compile(
    r"Action\s*\d*\s*:[ \t]*(?P<name>[^\n]+?)\s*\n\s*Action\s*\d*\s*Input\s*\d*\s*:\s*(?P<input>.*)", re.DOTALL
)
"""A call in words, in which nothing was observed yet."""


@dataclass(frozen=True)
class Called:
    """A call in words: what is said before its arguments, these, and what was observed."""

    before: str
    name: str
    arguments: str
    observed: str


class EpitomeHook:
    """Compacts the messages of a call when ``trigger`` fires, by default at 80 % of the window.

    CrewAI's list is changed in its place, so that an ``archive`` is where its messages can be had back from.
    """

    def __init__(
        self, *, archive: Archive | None = None, summarizer: Summarizers | None = None, **options: Unpack[Options]
    ) -> None:
        self.receipts: deque[Receipt] = deque(maxlen=RECEIPTS)
        """What each of the newest 100 compactions did, the newest last."""
        self._archive = archive
        self._compactors = Compactors(summarizer, {"trigger": "80%", **options})
        self._objects = Objects(self, said, made)

    def __call__(self, context: LLMCallHookContext) -> None:
        messages: Any = context.messages
        # What CrewAI says of windows is a guess where it doesn't know the model: its name says more.
        model = getattr(getattr(context, "llm", None), "model", None)
        frame = {"model": model if isinstance(model, str) else None, "tools": _tools(context)}
        shown = self._objects.fit(messages, frame)
        if len(shown) != len(messages) or any(one is not other for one, other in zip(shown, messages, strict=True)):
            messages[:] = shown

    def fit(self, messages: Whole, *, window: int | None = None, injected: Sequence[int] = ()) -> Whole:
        """What is left of a request, once it was compacted."""
        request: Any = messages
        if not request["messages"]:
            return messages
        outcome = self._compactors.compact(request, "openai-chat", self._archive, window, injected)
        if outcome is None or not outcome.receipt.triggered:
            return messages
        self.receipts.append(outcome.receipt)
        left: Whole = outcome.messages
        return left

    async def afit(self, messages: Whole, *, window: int | None = None, injected: Sequence[int] = ()) -> Whole:
        return self.fit(messages, window=window, injected=injected)

    def tell(self, error: InputError | OptionError, request: object) -> None:
        """Warns that a request is sent as it is."""
        self._compactors.tell(error, request)


def _tools(context: LLMCallHookContext) -> list[Any]:
    """The tools that are sent beside the messages; a model that is told of them in words has them there."""
    executor: Any = getattr(context, "executor", None)
    is_native = getattr(getattr(executor, "state", None), "use_native_tools", False)
    return getattr(executor, "_openai_tools", []) if is_native else []


def said(message: Message) -> list[Message]:
    """A message as OpenAI's Chat Completions has it: a call in words is a call, and what was observed isn't the model's."""
    call = _call(message)
    if call is None:
        is_prompt = message.get("role") == "user" and str(message.get("content")).startswith(PROMPTS)
        return [{**plain({name: message[name] for name in SENT if name in message}), INJECTED: is_prompt}]
    function = {"name": re.sub(r"\W+", "_", call.name), "arguments": _arguments(call)}
    asked = {"id": "call", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": call.before[: _thought(call)] or None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "call", "content": call.observed},
    ]


def _call(message: Message) -> Called | None:
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, str):
        return None
    words, observed, result = content.partition("\n" + OBSERVED)
    found = CALL.search(words)
    if not observed or found is None:
        return None
    return Called(words[: found.start("input")], found["name"].strip("*` "), found["input"], result)


def _thought(call: Called) -> int:
    """Where what is thought before a call ends."""
    found = CALL.search(call.before)
    return found.start() if found else 0


def _arguments(call: Called) -> str:
    words = call.arguments.strip()
    return words if _is_object(words) else json.dumps({"input": words})


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def made(message: Message | None, left: dict[int, Message]) -> Message:
    """The message that says what is left; what wasn't changed of it stays."""
    if message is None:
        return {"role": left[0]["role"], "content": left[0]["content"]}
    call = _call(message)
    if call is None:
        besides = {name: value for name, value in message.items() if name not in SENT}
        return besides | {name: left[0][name] for name in SENT if name in left[0]}
    if left.keys() != {0, 1}:
        return message
    thought = _thought(call)
    words = left[0]["tool_calls"][0]["function"]["arguments"]
    if words == _arguments(call):
        words = call.arguments
    elif not _is_object(call.arguments):
        words = json.loads(words)["input"]
    before = (left[0].get("content") or "") + call.before[thought:]
    return {**message, "content": f"{before}{words}\n{OBSERVED}{left[1]['content']}"}
