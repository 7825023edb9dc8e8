"""Google's own contents there and back, its configuration, and its kit."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import epitome
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("google.genai")

from epitome.adapters.clients import fitted
from epitome.adapters.google import content
from epitome.adapters.objects import plain
from google.genai import types

from ..sessions import REFUSED
from .drawn import arguments, check_places, histories, ids, long, picture, strategies, targets, texts, words

blobs = st.builds(types.Blob, data=st.binary(max_size=20).map(lambda more: picture + more), mime_type=st.just("image/png"))
files = st.builds(types.FileData, file_uri=words, mime_type=st.just("application/pdf"), display_name=st.none() | words)
signatures = st.none() | st.binary(min_size=1, max_size=20)
asked = (
    st.builds(types.Part, text=words)
    | st.builds(types.Part, inline_data=blobs, media_resolution=st.none() | st.just({"level": "MEDIA_RESOLUTION_LOW"}))
    | st.builds(types.Part, file_data=files, video_metadata=st.none() | st.just({"fps": 2.5, "start_offset": "1s"}))
)
codes = st.builds(types.ExecutableCode, code=texts, language=st.just(types.Language.PYTHON))
results = st.builds(
    types.CodeExecutionResult,
    outcome=st.sampled_from([types.Outcome.OUTCOME_OK, types.Outcome.OUTCOME_FAILED]),
    output=texts,
)
said = (
    st.builds(types.Part, text=words, thought=st.none() | st.just(True), thought_signature=signatures)
    | st.builds(types.Part, inline_data=blobs, thought_signature=signatures)
).map(lambda part: [part])
run = st.tuples(st.builds(types.Part, executable_code=codes), st.builds(types.Part, code_execution_result=results)).map(list)


def spoken(least: int) -> st.SearchStrategy[list[types.Part]]:
    return st.lists(said | run, min_size=least, max_size=2).map(lambda parts: [part for some in parts for part in some])


pieces = st.builds(
    types.FunctionResponsePart,
    inline_data=st.builds(types.FunctionResponseBlob, data=st.just(picture), mime_type=st.just("image/png")),
)


@st.composite
def turns(draw: st.DrawFn) -> list[types.Content]:
    contents = [types.Content(role="user", parts=draw(st.lists(asked, min_size=1, max_size=3)))]
    for _ in range(draw(st.integers(0, 3))):
        numbers = ids(draw)
        parts = draw(spoken(0))
        for number in numbers:
            call = types.FunctionCall(id=number, name="run", args=draw(st.none() | arguments))
            parts.append(types.Part(function_call=call, thought_signature=draw(signatures)))
        contents.append(types.Content(role="model", parts=parts))
        answers = []
        for number in numbers:
            response = draw(arguments | st.builds(lambda text: {"error": text}, texts) | st.just({"result": "line\n" * 300}))
            more = draw(st.none() | st.lists(pieces, min_size=1, max_size=1))
            answers.append(
                types.Part(function_response=types.FunctionResponse(id=number, name="run", response=response, parts=more))
            )
        contents.append(types.Content(role="user", parts=answers))
    return [*contents, types.Content(role="model", parts=draw(spoken(1)))]


@given(turns())
@settings(max_examples=30, deadline=None, derandomize=True)
def test_contents_come_back_from_json(contents: list[types.Content]) -> None:
    assert [content(plain(one)) for one in contents] == contents


@given(histories(turns()), targets, strategies)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_contents_are_kept_or_valid(contents: list[types.Content], target: str, wanted: str) -> None:
    copies = deepcopy(contents)
    session = epitome.Session(trigger=long, target=target, strategies=wanted, format="gemini")
    newest = types.Content(role="user", parts=[types.Part(text="And now?")])
    shown: list[Any] = fitted(session, model="gemini-2.5-pro", contents=[*contents, newest])["contents"]
    assert contents == copies and len(session.receipts) == 1
    assert shown[-1] is newest and all(isinstance(one, types.Content) for one in shown)
    new = check_places([*contents, newest], shown)
    parts = [part for one in contents for part in one.parts or []]
    unsigned = [_unsigned(part) for part in parts]
    calls = {part.function_call.id: part for part in parts if part.function_call}
    answered = {part.function_response.id: part.function_response for part in parts if part.function_response}
    for part in (part for one in new for part in one.parts if _unsigned(part) not in unsigned):
        call, response = part.function_call, part.function_response
        if call:
            assert _unsigned(part) == types.Part(function_call=call) and call.name == "run" and call.id in calls
        elif response:
            assert response == answered[response.id].model_copy(
                update={"response": response.response, "parts": response.parts}
            )
        else:
            assert _unsigned(part) == types.Part(text=part.text), "a mark, or the checkpoint"
    assert epitome.check([plain(one) for one in shown], format="gemini") == []


def _unsigned(part: types.Part) -> types.Part:
    """The part without what the strategy for reasoning takes out."""
    return part.model_copy(update={"thought_signature": None})


TOOLS = [types.Tool(function_declarations=[types.FunctionDeclaration(name="run", description="Runs it. " * 300)])]


@pytest.mark.parametrize(
    "config",
    [
        types.GenerateContentConfig(system_instruction="Be brief. " * 300),
        types.GenerateContentConfig(system_instruction=["Be brief. " * 300, types.Part(text="And kind.")]),
        types.GenerateContentConfig(system_instruction=types.Content(parts=[types.Part(text="Be brief. " * 300)])),
        types.GenerateContentConfig(tools=[*TOOLS, print]),
        {"system_instruction": "Be brief. " * 300, "temperature": 0},
    ],
)
def test_the_configuration_counts(config: Any) -> None:
    contents = [types.Content(role="user", parts=[types.Part(text="Go on.")])]
    sizes = []
    for given_to in ({}, {"config": config}):
        session = epitome.Session(window=100_000)
        call = fitted(session, model="gemini-2.5-pro", contents=contents, **given_to)
        assert call == {"model": "gemini-2.5-pro", "contents": contents, **given_to}
        assert session.looked is not None
        sizes.append(session.looked.tokens)
    assert sizes[1] > sizes[0] + 500


def test_a_configuration_that_is_none_is_named() -> None:
    contents = [types.Content(role="user", parts=[types.Part(text="Go on.")])]
    with pytest.raises(epitome.InputError) as caught:
        fitted(epitome.Session(window=2_000), model="gemini-2.5-pro", contents=contents, config={"temperature": "hot"})
    assert caught.value.field == "config"


async def test_adk_is_kept_inside_its_window() -> None:
    pytest.importorskip("google.adk")
    from epitome.adapters.google import EpitomePlugin
    from google.adk.agents import Agent
    from google.adk.apps import App
    from google.adk.models import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner

    class Scripted(BaseLlm):
        model: str = "scripted"
        shown: list[Any] = []  # noqa: RUF012

        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            self.shown.append(list(llm_request.contents))
            if len(self.shown) < 60:
                call = types.FunctionCall(name="connect", args={"port": 8000 + len(self.shown)})
                part = types.Part(function_call=call, thought_signature=b"\x00\xff")
            else:
                part = types.Part(text="Found it.")
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    def connect(port: int) -> str:
        """Connects to a port."""
        return REFUSED

    model, plugin = Scripted(shown=[]), EpitomePlugin(window=2_000)
    agent = Agent(name="finder", model=model, instruction="Be brief.", tools=[connect])
    runner = InMemoryRunner(app=App(name="finder", root_agent=agent, plugins=[plugin]))
    await runner.run_debug("Find the port.", quiet=True)
    assert len(model.shown) == 60 and len(plugin.session.receipts) >= 2
    for contents in model.shown:
        wire = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in contents]
        assert epitome.count(wire, format="gemini").tokens < 2_000 and epitome.check(wire, format="gemini") == []
