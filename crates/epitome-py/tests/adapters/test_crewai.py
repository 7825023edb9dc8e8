"""CrewAI's messages there and back, calls in words, and what it says in the user's role.

It needs an environment of its own.
"""

from __future__ import annotations

import json
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import epitome
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("crewai")

from crewai import Agent, BaseLLM
from crewai.hooks import LLMCallHookContext, register_before_llm_call_hook, unregister_before_llm_call_hook
from crewai.tools import tool
from crewai.utilities.types import LLMMessage
from epitome.adapters.crewai import EpitomeHook, made, said

from ..sessions import REFUSED
from .drawn import arguments, check_places, histories, ids, long, strategies, targets, texts, words

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
    assert made(message, {0: asked, 1: answered}) == message
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


def test_crewai_is_kept_inside_its_window() -> None:
    hook = EpitomeHook(window=2_000)
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Find the port.", "files": {}},
    ]
    first = list(messages)
    for nth in range(60):
        call = {"id": f"c{nth}", "type": "function", "function": {"name": "connect", "arguments": f'{{"port":{nth}}}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call], "raw_tool_call_parts": [object()]})
        messages.append({"role": "tool", "tool_call_id": f"c{nth}", "content": REFUSED})
        hook(LLMCallHookContext(messages=messages))
        wire = [
            {name: value for name, value in one.items() if name not in ("files", "raw_tool_call_parts")} for one in messages
        ]
        assert epitome.count(wire).tokens < 2_000 and epitome.check(wire, format="openai-chat") == []
    assert hook.receipts and messages[0] is first[0] and messages[1] is first[1]
    assert "raw_tool_call_parts" in messages[-2]
    for model, is_smaller in (("openai/gpt-4o", True), ("my-own", False)):
        context = LLMCallHookContext(messages=[{"role": "user", "content": "Look. " * 500}] * 500)
        context.llm = SimpleNamespace(model=model)
        EpitomeHook()(context)
        assert (len(context.messages) < 500) == is_smaller


class Answering(BaseLLM):  # type: ignore[misc, unused-ignore]
    """A model that has found it."""

    def call(self, messages: Any, *more: Any, **how: Any) -> str:
        return "Thought: done\nFinal Answer: Found it."

    def supports_function_calling(self) -> bool:
        return True


def test_tools_count() -> None:
    @tool("connect")  # type: ignore[untyped-decorator, unused-ignore]
    def connect(port: int) -> str:
        """Connects to a port."""
        return "refused"

    for times in (1, 500):
        connect.description = "Connects to a port. " * times
        hook = EpitomeHook(window=2_000)
        register_before_llm_call_hook(hook)
        agent = Agent(role="finder", goal="find", backstory="x", llm=Answering(model="own"), tools=[connect])
        assert "Found it." in str(agent.kickoff("Find the port."))
        unregister_before_llm_call_hook(hook)
        assert bool(hook.receipts) == (times > 1)


pictures = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
contents: Any = words | st.lists(
    st.builds(lambda text: {"type": "text", "text": text}, words) | st.just(pictures), min_size=1
)
spaces = st.sampled_from(["", " ", "\n", " \n "])


@st.composite
def in_words(draw: st.DrawFn) -> LLMMessage:
    given_to = draw(arguments.map(json.dumps) | texts)
    called = f"Thought: {draw(words)}\nAction: {draw(st.sampled_from(['run', '`run it`', '**a b**']))}\n"
    observed = draw(texts | st.just("line\n" * 300))
    content = f"{called}Action Input:{draw(spaces)}{given_to}{draw(spaces)}\nObservation: {observed}"
    return {"role": "assistant", "content": content}


@st.composite
def turns(draw: st.DrawFn) -> list[LLMMessage]:
    messages: list[LLMMessage] = [{"role": "user", "content": draw(contents), "files": {"a": draw(st.builds(object))}}]
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            messages += [draw(in_words()), {"role": "user", "content": PROMPT}]
            continue
        calls = [
            {"id": number, "type": "function", "function": {"name": "run", "arguments": json.dumps(draw(arguments))}}
            for number in ids(draw)
        ]
        raw = [object()]
        said: LLMMessage = {"role": "assistant", "content": draw(st.none() | words), "tool_calls": calls}
        messages.append({**said, "raw_tool_call_parts": raw} if draw(st.booleans()) else said)
        for call in calls:
            observed = draw(texts | st.just("line\n" * 300))
            messages.append({"role": "tool", "tool_call_id": str(call["id"]), "name": "run", "content": observed})
    return [*messages, {"role": "assistant", "content": draw(words)}]


@given(turns())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_messages_come_back_from_json(messages: list[Any]) -> None:
    for message in messages:
        assert made(message, dict(enumerate(deepcopy(said(message))))) == message


@given(histories(turns()), targets, strategies)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_messages_are_kept_or_valid(messages: list[Any], target: str, wanted: str) -> None:
    own: list[Any] = [{"role": "system", "content": "Be brief."}, *messages, {"role": "user", "content": "And now?"}]
    copies = deepcopy([said(message) for message in own])
    context = LLMCallHookContext(messages=list(own))
    EpitomeHook(trigger=long, target=target, strategies=wanted)(context)
    shown: list[Any] = context.messages
    assert [said(message) for message in own] == copies
    assert shown[0] is own[0] and shown[-1] is own[-1]
    raw = [message["raw_tool_call_parts"] for message in own if "raw_tool_call_parts" in message]
    for message in check_places(own, shown):
        assert "raw_tool_call_parts" not in message or any(message["raw_tool_call_parts"] is one for one in raw)
        if message["role"] == "tool":
            assert message["name"] == "run"
    wire = [{name: value for name, value in one.items() if name not in ("files", "raw_tool_call_parts")} for one in shown]
    assert epitome.check(wire, format="openai-chat") == []
