"""OpenAI's agents work past their window, by the filter and by the session."""

from __future__ import annotations

from typing import Any

import epitome
import pytest

pytest.importorskip("agents")

from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.models.interface import Model
from epitome.adapters.openai_agents import EpitomeFilter, EpitomeSession
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class Scripted(Model):
    """Calls a tool so many times, and remembers what it was shown."""

    def __init__(self, calls: int) -> None:
        self.left = calls
        self.shown: list[list[Any]] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.shown.append(list(input))
        self.left -= 1
        output: Any
        if self.left > 0:
            arguments = f'{{"port":{8000 + self.left}}}'
            output = ResponseFunctionToolCall(
                arguments=arguments, call_id=f"call_{self.left}", name="connect", type="function_call"
            )
        else:
            text = ResponseOutputText(annotations=[], text="Found it.", type="output_text")
            output = ResponseOutputMessage(
                id=f"msg_{len(self.shown)}", content=[text], role="assistant", status="completed", type="message"
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@function_tool
def connect(port: int) -> str:
    """Connects to a port."""
    return f"connection to 127.0.0.1:{port} refused: errno 111, as every other one on this machine was"


async def test_the_filter_keeps_an_agent_inside_its_window() -> None:
    model, inside = Scripted(60), EpitomeFilter(window=2_000)
    agent = Agent(name="finder", instructions="Be brief.", model=model, tools=[connect])
    config = RunConfig(call_model_input_filter=inside, tracing_disabled=True)
    result = await Runner.run(agent, "Find the port.", max_turns=100, run_config=config)
    assert result.final_output == "Found it." and len(result.to_input_list()) == 120
    assert len(inside.session.receipts) >= 2
    for items in model.shown:
        assert epitome.count(items, format="openai-responses").tokens < 2_000
        assert epitome.check(items, format="openai-responses") == []


async def test_a_session_gives_back_what_fits() -> None:
    under = SQLiteSession("conversation")
    session = EpitomeSession(under, window=1_500)
    model = Scripted(1)
    agent = Agent(name="finder", model=model)
    for turn in range(60):
        model.left = 1
        asked = f"And what does port {turn} of the server say when it is asked for its name?"
        await Runner.run(agent, asked, session=session, run_config=RunConfig(tracing_disabled=True))
    assert len(await under.get_items()) == 120 and len(model.shown[-1]) < 100 and session.session.receipts
    assert [len(await session.get_items(limit=4)), (await session.get_items())[-1]] == [4, (await under.get_items())[-1]]
    newest = await session.pop_item()
    assert newest is not None and len(await under.get_items()) == 119
    await session.clear_session()
    assert await session.get_items() == []
