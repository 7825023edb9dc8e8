"""pydantic-ai's own messages there and back, and an agent that works past its window."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import epitome
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pydantic_ai")

from epitome.adapters.objects import Objects
from epitome.adapters.pydantic_ai import EpitomeHistory, made, said
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=200)
media = st.just(ImageUrl("https://example.com/a.png")) | st.just(BinaryContent(b"\x89PNG", media_type="image/png"))
prompts = words | st.lists(words | media, min_size=1, max_size=3)


def long(sizes: epitome.Measurements) -> str | None:
    return "long" if sizes.messages > 5 else None


@st.composite
def turns(draw: st.DrawFn) -> list[ModelMessage]:
    first: list[Any] = [SystemPromptPart("Be brief.")] if draw(st.booleans()) else []
    messages: list[ModelMessage] = [
        ModelRequest([*first, UserPromptPart(draw(prompts))], instructions=draw(st.none() | words))
    ]
    for _ in range(draw(st.integers(0, 3))):
        calls = [
            ToolCallPart("run", draw(st.just('{"a":1}') | st.builds(lambda a: {"a": a}, words)), str(draw(st.uuids())))
            for _ in range(draw(st.integers(1, 3)))
        ]
        thought = [ThinkingPart(draw(words))] if draw(st.booleans()) else []
        spoken = [TextPart(draw(words))] if draw(st.booleans()) else []
        messages.append(ModelResponse([*thought, *spoken, *calls]))
        returned: list[Any] = [
            RetryPromptPart(draw(words), tool_name="run", tool_call_id=call.tool_call_id)
            if draw(st.integers(0, 4)) == 0
            else ToolReturnPart("run", draw(words | st.builds(lambda a: {"said": a}, words)), call.tool_call_id)
            for call in calls
        ]
        messages.append(ModelRequest(returned))
    messages.append(ModelResponse([TextPart(draw(words))]))
    return messages


histories = st.lists(turns(), min_size=3, max_size=12).map(lambda turns: [message for turn in turns for message in turn])


@given(histories, st.sampled_from(["60%", "30%"]), st.sampled_from(["ladder", "outputs,arguments", "excerpts,fold"]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_messages_come_back_as_they_were_or_valid(history: list[ModelMessage], target: str, strategies: str) -> None:
    session = epitome.Session(trigger=long, target=target, format="openai-chat", strategies=strategies)
    silent, newest = ModelRequest([], instructions="Be brief."), ModelRequest([UserPromptPart("And now?")])
    history.insert(len(history) // 2, silent)
    copies = deepcopy(history)
    shown = Objects(session, said, made).fit([*history, newest])
    assert len(session.receipts) == 1
    assert history == copies, "nothing that was handed in is changed"
    assert shown[-1] is newest and any(message is silent for message in shown)
    asked: set[str] = set()
    for message in shown:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                asked.add(part.tool_call_id)
            if isinstance(part, ToolReturnPart):
                assert part.tool_call_id in asked and part.tool_name == "run"
    assert epitome.check([one for message in shown for one in said(message)], format="openai-chat") == []


async def test_an_agent_works_past_its_window() -> None:
    shown: list[list[ModelMessage]] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        shown.append(messages)
        if len(shown) < 60:
            return ModelResponse([ToolCallPart("connect", {"port": 8000 + len(shown)})])
        return ModelResponse([TextPart("Found it.")])

    history = EpitomeHistory(window=2_000)
    agent = Agent(FunctionModel(model), instructions="Be brief.", capabilities=[ProcessHistory(history)])

    @agent.tool_plain
    def connect(port: int) -> str:
        return f"connection to 127.0.0.1:{port} refused: errno 111, as every other one on this machine was"

    from pydantic_ai.usage import UsageLimits

    result = await agent.run("Find the port.", usage_limits=UsageLimits(request_limit=100))
    assert result.output == "Found it." and len(history.session.receipts) >= 2
    for messages in shown:
        wire = [one for message in messages for one in said(message)]
        assert epitome.count(wire).tokens < 2_000 and epitome.check(wire, format="openai-chat") == []
