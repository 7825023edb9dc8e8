"""LangChain's own messages there and back, and an agent that works past its window."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import epitome
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("langchain")

from epitome.adapters.langchain import EpitomeMiddleware, made, said
from epitome.adapters.objects import Objects
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

from .drawn import arguments, check_places, histories, ids, long, strategies, targets, words

media: Any = st.sampled_from(
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
        {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": "iVBORw0KGgo="},
        {"type": "file", "base64": "JVBERg==", "mime_type": "application/pdf", "filename": "é.pdf"},
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
    ]
)
blocks: Any = st.lists(st.builds(lambda text: {"type": "text", "text": text}, words) | media, min_size=1, max_size=3)
humans = st.builds(HumanMessage, content=words | blocks, id=st.none() | st.uuids().map(str), name=st.none() | st.just("ann"))


@st.composite
def turns(draw: st.DrawFn) -> list[AnyMessage]:
    messages: list[AnyMessage] = [draw(humans)]
    for nth in range(draw(st.integers(0, 3))):
        calls = [{"name": "run", "args": draw(arguments), "id": number, "type": "tool_call"} for number in ids(draw)]
        thought = [{"type": "reasoning", "reasoning": draw(words)}, {"type": "text", "text": draw(words)}]
        content: Any = draw(st.just("") | words | st.just(thought))
        invalid: list[Any] = [
            {"name": "run", "args": draw(words), "id": f"{draw(st.uuids())}", "error": None, "type": "invalid_tool_call"}
            for _ in range(draw(st.integers(0, 1)))
        ]
        metadata = {"nth": nth}
        messages.append(AIMessage(content=content, tool_calls=calls, invalid_tool_calls=invalid, response_metadata=metadata))
        results = [(call["id"], draw(words) * draw(st.integers(1, 30))) for call in [*calls, *invalid]]
        if draw(st.booleans()):
            answers: list[Any] = [{"type": "tool_result", "tool_use_id": it, "content": text} for it, text in results]
            messages.append(HumanMessage([*answers, *draw(st.just([]) | blocks)]))
            continue
        for number, text in results:
            artifact = {"raw": draw(st.integers())}
            content = draw(st.just(text) | blocks)
            status = draw(st.sampled_from(["success", "error"]))
            messages.append(ToolMessage(content, tool_call_id=number, artifact=artifact, status=status))
    messages.append(AIMessage(content=draw(words), id=str(draw(st.uuids()))))
    return messages


def test_calls_that_share_an_id_keep_their_arguments() -> None:
    calls = [
        {"name": name, "args": {"host": host}, "id": "t", "type": "tool_call"}
        for name, host in (("restart", "alpha"), ("delete", "beta"))
    ]
    blocks: list[Any] = [{"type": "tool_use", "id": "t", "name": one["name"], "input": one["args"]} for one in calls]
    results = [ToolMessage("x", tool_call_id="t"), ToolMessage("y", tool_call_id="t")]
    filler = [message for n in range(200) for message in (HumanMessage(f"port {n}?"), AIMessage("Refused. " * 60))]
    for content in ("", blocks):
        history = [*filler, HumanMessage("q"), AIMessage(content=content, tool_calls=calls), *results]
        shown = EpitomeMiddleware(window=20_000)._objects.fit(history, {"model": "gpt-5"})
        answer: Any = shown[-3]
        assert len(shown) < 300 and [one["args"]["host"] for one in answer.tool_calls] == ["alpha", "beta"]
        ids = [one["id"] for one in answer.tool_calls]
        assert len(set(ids)) == 2 and ids == [one.tool_call_id for one in shown[-2:]]  # type: ignore[union-attr]
        if content:
            assert [(block["id"], block["input"]) for block in answer.content] == [
                (one["id"], one["args"]) for one in answer.tool_calls
            ]


@given(turns())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_messages_come_back_from_json(messages: list[AnyMessage]) -> None:
    for message in messages:
        assert made(message, dict(enumerate(deepcopy(said(message))))) == message


@given(histories(turns()), targets, strategies)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_messages_come_back_as_they_were_or_valid(history: list[AnyMessage], target: str, strategies: str) -> None:
    session = epitome.Session(trigger=long, target=target, format="openai-chat", strategies=strategies)
    copies = [message.model_copy(deep=True) for message in history]
    shown = Objects(session, said, made).fit([*history, HumanMessage("And now?")])
    assert len(session.receipts) == 1
    assert history == copies, "nothing that was handed in is changed"
    calls: set[str] = set()
    for message in shown:
        if isinstance(message, AIMessage):
            calls |= {str(call["id"]) for call in [*message.tool_calls, *message.invalid_tool_calls]}
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in calls
        for block in message.content if isinstance(message.content, list) else []:
            assert not isinstance(block, dict) or block.get("tool_use_id") in {None, *calls}
    for message in check_places(history, shown[:-1]):
        # What is shown in another way has the id and the kind of what it was; else it is the checkpoint.
        was = next((one for one in history if one.id is not None and one.id == message.id), None)
        assert was is None or type(was) is type(message)
    assert shown[-1].content == "And now?"
    assert epitome.check([one for message in shown for one in said(message)], format="openai-chat") == []


def test_an_edited_message_keeps_what_isnt_edited() -> None:
    arguments = {"path": "src/main.py", "content": "x = 1\n" * 400}
    call = {"name": "write", "args": arguments, "id": "c1", "type": "tool_call"}
    blocks: Any = [
        {"type": "text", "text": "I write it."},
        {"type": "tool_use", "id": "c1", "name": "write", "input": arguments},
    ]
    history: list[AnyMessage] = [
        HumanMessage("Write it."),
        AIMessage(content=blocks, tool_calls=[call], id="a1", response_metadata={"model": "m"}),
        ToolMessage("output line\n" * 400, tool_call_id="c1", id="t1", artifact={"kept": True}),
        AIMessage("It is written.", id="a2"),
    ]
    history += [HumanMessage("Go on."), AIMessage("Nothing is left to do here.")] * 20
    session = epitome.Session(
        trigger=long, target="40%", strategies="outputs,arguments", stop="at-end", format="openai-chat"
    )
    shown = Objects(session, said, made).fit([*history, HumanMessage("And now?")])
    assert len(session.receipts) == 1
    assert len(shown) == len(history) + 1
    written, output = shown[1], shown[2]
    assert isinstance(written, AIMessage) and isinstance(output, ToolMessage)
    assert written is not history[1] and written.id == "a1" and written.response_metadata == {"model": "m"}
    assert written.tool_calls[0]["args"]["path"] == "src/main.py" and len(written.tool_calls[0]["args"]["content"]) < 400
    block: Any = written.content[1]
    assert block["input"] == written.tool_calls[0]["args"]
    assert output is not history[2] and output.id == "t1" and output.artifact == {"kept": True} and len(output.content) < 400
    assert shown[3] is history[3]


def test_blocks_of_calls_turn_nothing_off() -> None:
    def history(kind: str, **own: Any) -> list[AnyMessage]:
        call = {"name": "look", "args": {"at": "x" * 4_000}, "id": "c1", "type": "tool_call"}
        blocks: Any = [{"type": "text", "text": "I look."}, {"type": kind, "name": "look", **own}]
        return [
            HumanMessage([{"type": "input_text", "text": "Look."}]),
            AIMessage(blocks, tool_calls=[call]),
            ToolMessage("output line\n" * 400, tool_call_id="c1"),
            ChatMessage(content="It can be done.", role="critic"),
            *[one for _ in range(20) for one in (HumanMessage("Go on."), AIMessage("Nothing is left to do here."))],
        ]

    arguments = {"at": "x" * 4_000}
    for made_by in (
        history("function_call", id="fc_1", call_id="c1", arguments=json.dumps(arguments)),
        history("tool_call", id="c1", args=arguments),
    ):
        session = epitome.Session(
            trigger=long, target="40%", strategies="outputs,arguments", stop="at-end", format="openai-chat"
        )
        shown = Objects(session, said, made).fit([*made_by, HumanMessage("And now?")])
        assert len(session.receipts) == 1
        written: Any = shown[1]
        [call] = written.tool_calls
        block = written.content[1]
        assert len(call["args"]["at"]) < 4_000 and written.content[0] == made_by[1].content[0]
        assert block.get("args") == call["args"] or json.loads(block["arguments"]) == call["args"]
        assert block.get("call_id", "c1") == call["id"] == "c1"
        assert shown[3] is made_by[3]


def test_a_call_whose_arguments_are_no_json_keeps_its_answer() -> None:
    words = '{"path": "a.py", "text": "'
    filler = [message for n in range(100) for message in (HumanMessage(f"port {n}?"), AIMessage("Refused. " * 60))]
    # Two with one id are told apart.
    for name in ("bad", "good"):
        call = {"name": "look", "args": {"at": 1}, "id": "good", "type": "tool_call"}
        invalid: Any = {"name": "write", "args": words, "id": name, "error": None, "type": "invalid_tool_call"}
        blocks: Any = [{"type": "tool_use", "id": "good", "name": "look", "input": {"at": 1}}]
        blocks += [{"type": "tool_use", "id": name, "name": "write", "input": {}, "partial_json": words}]
        answers = [ToolMessage("x", tool_call_id="good"), ToolMessage("no JSON", tool_call_id=name, status="error")]
        for content in ("", blocks):
            asked = AIMessage(content=content, tool_calls=[call], invalid_tool_calls=[invalid])
            shown = EpitomeMiddleware(window=10_000)._objects.fit([*filler, HumanMessage("q"), asked, *answers], None)
            last, *answered = list[Any](shown[-3:])
            ids = [one.tool_call_id for one in answered]
            assert len(shown) < 150 and [one.content for one in answered] == ["x", "no JSON"]
            assert len(set(ids)) == 2 and [last.tool_calls[0]["id"], last.invalid_tool_calls[0]["id"]] == ids
            assert last.tool_calls[0]["args"] == {"at": 1} and last.invalid_tool_calls[0]["args"] == words
            if content:
                assert [(block["id"], block["input"]) for block in last.content] == [(ids[0], {"at": 1}), (ids[1], {})]


def test_results_that_stand_as_blocks_are_shortened_in_their_places() -> None:
    history: list[AnyMessage] = [HumanMessage("Look.")]
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    for n in range(20):
        calls = [{"name": "cat", "args": {"n": n}, "id": f"{name}{n}", "type": "tool_call"} for name in "abc"]
        history.append(AIMessage("", tool_calls=calls))
        long_block = {"type": "text", "text": "output line\n" * 400}
        results: list[Any] = [
            {"type": "tool_result", "tool_use_id": f"a{n}", "content": "output line\n" * 400, "is_error": True},
            {"type": "tool_result", "tool_use_id": f"b{n}", "content": "short"},
            {"type": "tool_result", "tool_use_id": f"c{n}", "content": [long_block, picture]},
            {"type": "text", "text": "Go on."},
        ]
        history.append(HumanMessage(results, id=f"h{n}"))
    session = epitome.Session(trigger=long, target="20%", strategies="excerpts", stop="at-end", format="openai-chat")
    shown = Objects(session, said, made).fit([*history, HumanMessage("And now?")])
    assert len(session.receipts) == 1 and len(shown) == len(history) + 1
    was, now = list[Any](history[2].content), list[Any](shown[2].content)
    assert shown[2] is not history[2] and shown[2].id == "h0"
    first, second, third, fourth = now
    assert len(first["content"]) < 4_000 and {**first, "content": ""} == {**was[0], "content": ""}
    assert second == was[1]
    assert len(str(third["content"])) < 4_000 and third["tool_use_id"] == "c0" and fourth == was[3]
    # What was counted is what is shown.
    assert session.looked is not None
    counted = epitome.count([one for message in shown for one in said(message)], format="openai-chat").tokens
    assert abs(counted - session.looked.tokens) < counted / 20
    # A fold takes calls and results away together.
    model = EpitomeMiddleware(window=4_000)
    left = model._objects.fit([*history, HumanMessage("And now?")], {"model": "claude-opus-4-5"})
    assert len(left) < len(history)
    asked = {call["id"] for message in left if isinstance(message, AIMessage) for call in message.tool_calls}
    blocks: list[Any] = [block for message in left if isinstance(message.content, list) for block in message.content]
    assert {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"} == asked


ODD: list[dict[str, Any]] = [
    {"type": "video", "base64": "QUJD", "mime_type": "video/mp4"},
    {"type": "text-plain", "base64": "QUJD", "mime_type": "text/plain"},
    {"type": "media", "file_uri": "gs://bucket/file", "mime_type": "video/mp4"},
    {"type": "image", "file_id": "file-1"},
    {"type": "image", "image": {"format": "png", "source": {"bytes": b"\x89PNG"}}},
    {"cachePoint": {"type": "default"}},
    {"type": "tool_use"},
    {"type": "of tomorrow", "data": b"\xff"},
]


@pytest.mark.parametrize("block", ODD, ids=lambda block: str(block.get("type")))
def test_blocks_that_nobody_knows_come_through(block: dict[str, Any]) -> None:
    text = {"type": "text", "text": "output line\n" * 400}
    call = {"name": "look", "args": {}, "id": "c1", "type": "tool_call"}
    history: list[AnyMessage] = [
        HumanMessage([{"type": "text", "text": "Look."}, block]),
        AIMessage("", tool_calls=[call]),
        ToolMessage([text, block], tool_call_id="c1"),
        AIMessage([text, block]),
        *[one for _ in range(20) for one in (HumanMessage("Go on."), AIMessage("Nothing is left to do here."))],
    ]

    def short(context: epitome.StrategyContext) -> list[epitome.Edit]:
        return [epitome.Edit(part, "Seen.") for part in context.parts if part.entry == 3 and part.kind == "text"]

    for names in ([short], "outputs", "ladder", "media,fold"):
        session = epitome.Session(trigger=long, target="60%", strategies=names, format="openai-chat")
        shown = Objects(session, said, made).fit([*history, HumanMessage("And now?")])
        assert len(session.receipts) == 1
        if names == [short]:
            assert shown[:3] == history[:3] and all(one is was for one, was in zip(shown[:3], history[:3], strict=True))
            assert shown[3] is not history[3] and shown[3].content[1:] == [block]


class Model(BaseChatModel):
    """Calls a tool so many times, and remembers what it was shown."""

    left: int = 60
    shown: list[list[Any]] = []  # noqa: RUF012

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[Any], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self.shown.append(messages)
        self.left -= 1
        call = {"name": "connect", "args": {"port": 8000 + self.left}, "id": f"call_{self.left}", "type": "tool_call"}
        answer = AIMessage("", tool_calls=[call]) if self.left else AIMessage("Found it.")
        return ChatResult(generations=[ChatGeneration(message=answer)])


@tool
def connect(port: int) -> str:
    """Connects to a port."""
    return f"connection to 127.0.0.1:{port} refused: errno 111, as every other one on this machine was"


async def test_an_agent_works_past_its_window() -> None:
    for is_async in (False, True):
        model = Model(shown=[])
        middleware = EpitomeMiddleware(window=2_000)
        agent = create_agent(model, tools=[connect], system_prompt="Be brief.", middleware=[middleware])
        asked: Any = {"messages": [HumanMessage("Find the port.")]}
        config: Any = {"recursion_limit": 500}
        answer = await agent.ainvoke(asked, config) if is_async else agent.invoke(asked, config)
        assert answer["messages"][-1].content == "Found it." and len(answer["messages"]) == 120
        assert len(middleware.session.receipts) >= 2
        for messages in model.shown:
            assert isinstance(messages[0], SystemMessage) and messages[0].content == "Be brief."
            wire = [one for message in messages for one in said(message)]
            assert epitome.count(wire).tokens < 2_000 and epitome.check(wire, format="openai-chat") == []
