"""The items of OpenAI's agents there and back; they work past their window, by the filter and by the session."""

from __future__ import annotations

import json
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import epitome
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("agents")

from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.items import ItemHelpers, TResponseInputItem
from agents.models.interface import Model
from agents.run_config import CallModelData, ModelInputData
from agents.tool import ToolOutputFileContent, ToolOutputImage, ToolOutputText
from epitome.adapters.objects import plain
from epitome.adapters.openai_agents import EpitomeFilter, EpitomeSession
from openai.types import responses
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic import TypeAdapter

from .drawn import arguments, check_places, histories, ids, long, strategies, targets, texts, words


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


ITEMS: TypeAdapter[TResponseInputItem] = TypeAdapter(TResponseInputItem)
URL = "data:image/png;base64,iVBORw0KGgo="
inputs: Any = st.builds(lambda text: {"type": "input_text", "text": text}, words) | st.sampled_from(
    [
        {"type": "input_image", "image_url": URL, "detail": "low"},
        {"type": "input_file", "filename": "é.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
    ]
)
told: Any = (
    texts
    | st.just("line\n" * 300)
    | st.lists(
        st.builds(ToolOutputText, text=words) | st.builds(ToolOutputImage, image_url=st.just(URL)), min_size=1, max_size=2
    )
    | st.builds(ToolOutputFileContent, file_id=st.just("file_1"))
)
cited = responses.response_output_text.AnnotationURLCitation(
    type="url_citation", url="https://a.b", title="é", start_index=0, end_index=1
)


@st.composite
def served(draw: st.DrawFn) -> Any:
    """What the provider's own tools did."""
    number = f"ws_{draw(st.uuids())}"
    action = responses.response_function_web_search.ActionSearch(type="search", query=draw(words))
    search = responses.ResponseFunctionWebSearch(id=number, action=action, status="completed", type="web_search_call")
    logs = responses.response_code_interpreter_tool_call.OutputLogs(type="logs", logs=draw(words))
    code = responses.ResponseCodeInterpreterToolCall(
        id=number, code=draw(words), container_id="c", outputs=[logs], status="completed", type="code_interpreter_call"
    )
    found = responses.response_file_search_tool_call.Result(file_id="f", text=draw(words), score=0.5)
    file = responses.ResponseFileSearchToolCall(
        id=number, queries=[draw(words)], results=[found], status="completed", type="file_search_call"
    )
    called = responses.response_output_item.McpCall(
        id=number, arguments=json.dumps(draw(arguments)), name="ask", server_label="s", type="mcp_call", output=draw(words)
    )
    return draw(st.sampled_from([search, code, file, called]))


def identities(number: str) -> list[Any]:
    return [{}, {"id": f"fc_{number}"}]


@st.composite
def turns(draw: st.DrawFn) -> list[TResponseInputItem]:
    """Items as the SDK makes them of answers of a model and of what tools return."""
    asked: Any = draw(words | st.lists(inputs, min_size=1, max_size=3))
    items: list[TResponseInputItem] = [{"role": "user", "content": asked}]
    output: list[Any] = []
    for _ in range(draw(st.integers(0, 3))):
        output = []
        if draw(st.booleans()):
            summary = [responses.response_reasoning_item.Summary(text=draw(words), type="summary_text")]
            output.append(
                responses.ResponseReasoningItem(
                    id=f"rs_{draw(st.uuids())}",
                    summary=summary,
                    type="reasoning",
                    encrypted_content=draw(st.none() | words),
                )
            )
        output += draw(st.lists(served(), max_size=1))
        calls: Any = [
            ResponseFunctionToolCall(
                call_id=number,
                name="run",
                arguments=json.dumps(draw(arguments)),
                type="function_call",
                **draw(st.sampled_from(identities(number))),
            )
            if draw(st.integers(0, 3))
            else responses.ResponseCustomToolCall(call_id=number, name="patch", input=draw(words), type="custom_tool_call")
            for number in ids(draw)
        ]
        items += ModelResponse(output=[*output, *calls], usage=Usage(), response_id=None).to_input_items()
        for call in calls:
            if call.type == "function_call":
                items.append(ItemHelpers.tool_call_output_item(call, draw(told)))
            else:
                items.append({"type": "custom_tool_call_output", "call_id": call.call_id, "output": draw(words)})
    said: Any = ResponseOutputText(annotations=draw(st.just([]) | st.just([cited])), text=draw(words), type="output_text")
    refused = responses.ResponseOutputRefusal(refusal=draw(words), type="refusal")
    content = [draw(st.sampled_from([said, refused]))]
    final = ResponseOutputMessage(
        id=f"msg_{draw(st.uuids())}", content=content, role="assistant", status="completed", type="message"
    )
    return [*items, *ModelResponse(output=[final], usage=Usage(), response_id=None).to_input_items()]


@given(turns())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_items_come_back_from_json(items: list[Any]) -> None:
    assert json.loads(json.dumps(plain(items))) == items


@given(histories(turns()), targets, strategies)
@settings(max_examples=30, deadline=None, derandomize=True)
async def test_items_are_kept_or_valid(items: list[Any], target: str, wanted: str) -> None:
    own = [*items, {"role": "user", "content": "And now?"}]
    copies = deepcopy(own)
    inside = EpitomeFilter(trigger=long, target=target, strategies=wanted)
    agent: Any = SimpleNamespace(model="gpt-5", tools=[])
    data = CallModelData(model_data=ModelInputData(input=own, instructions="Be brief."), agent=agent, context=None)
    shown: list[Any] = (await inside(data)).input
    assert len(inside.session.receipts) == 1
    assert own == copies and shown[-1] is own[-1]
    for item in check_places(own, shown):
        # With reasoning the ids leave that bind an item to it.
        ITEMS.validate_python({"id": "left", **item})
    assert epitome.check(shown, format="openai-responses") == []
