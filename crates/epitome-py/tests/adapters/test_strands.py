"""Strands' messages there and back, bytes as bytes and texts as texts; its agents work past their window."""

from __future__ import annotations

from base64 import b64encode
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import epitome
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("strands")

from epitome.adapters.objects import plain
from epitome.adapters.strands import EpitomeConversationManager, _encoded, _raw, _said
from strands import Agent, tool
from strands.models import Model
from strands.session.file_session_manager import FileSessionManager
from strands.types.content import ContentBlock, Message
from strands.types.exceptions import ContextWindowOverflowException
from strands.types.tools import ToolResult, ToolUse

from ..sessions import REFUSED
from .drawn import arguments, check_places, histories, ids, long, picture, strategies, targets, texts, words

PICTURE = b"\x89PNG" * 3
SIZES: list[str] = ["12 KB", "1024", "hello", b64encode(PICTURE).decode()]


@pytest.mark.parametrize("size", SIZES)
def test_texts_that_are_called_bytes_stay_texts(size: str) -> None:
    messages: list[Any] = [{"role": "user", "content": [{"text": "Look."}]}]
    for n in range(20):
        written = {"path": f"/x{n}", "bytes": size, "body": "x = 1\n" * 400}
        calls = [
            {"toolUseId": f"a{n}", "name": "write", "input": written},
            {"toolUseId": f"b{n}", "name": "cat", "input": {}},
        ]
        results = [[{"json": {"bytes": size}}], [{"text": "output line\n" * 400}]]
        messages.append({"role": "assistant", "content": [{"toolUse": call} for call in calls]})
        answers = [
            {"toolResult": {"toolUseId": call["toolUseId"], "status": "success", "content": result}}
            for call, result in zip(calls, results, strict=True)
        ]
        picture = {"image": {"format": "png", "source": {"bytes": PICTURE}}}
        messages.append({"role": "user", "content": [*answers, picture]})
    agent: Any = SimpleNamespace(messages=list(messages))
    manager = EpitomeConversationManager(window=40_000, strategies="outputs,arguments", stop="at-end")
    manager.apply_management(agent)
    assert len(manager.receipts) == 1 and len(agent.messages) == len(messages)
    asked, answered = agent.messages[1]["content"], agent.messages[2]["content"]
    assert agent.messages[1] is not messages[1] and len(asked[0]["toolUse"]["input"]["body"]) < 2_400
    assert agent.messages[2] is not messages[2] and len(answered[1]["toolResult"]["content"][0]["text"]) < 4_800
    assert asked[0]["toolUse"]["input"]["bytes"] == size
    assert [answered[0], answered[2]] == [messages[2]["content"][0], messages[2]["content"][2]]


class Silent(Model):
    """A model that nobody asks."""

    window = 4_000

    def update_config(self, **_: Any) -> None: ...
    def get_config(self) -> Any:
        return {"context_window_limit": self.window}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def stream(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def test_strands_is_kept_inside_its_window(tmp_path: Any) -> None:
    class Overflowing(Silent):
        def __init__(self) -> None:
            self.shown: list[Any] = []

        async def stream(self, messages: Any, *_: Any, **__: Any) -> Any:
            self.shown.append([dict(message) for message in messages])
            if len(self.shown) == 5:
                raise ContextWindowOverflowException("too long")
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "It refused the connection, as all of the others did."}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}

    archive = epitome.Archive(tmp_path / "archive")
    manager = EpitomeConversationManager(window=2_000, archive=archive)
    model = Overflowing()
    agent = Agent(model=model, conversation_manager=manager, callback_handler=None)
    for turn in range(60):
        agent(f"And what does port {turn} of the server say when it is asked for its name?")
    # What overflowed was compacted as far as that went, and what was due landed.
    assert [one.outcome for one in manager.receipts][-1] == "target" and len(manager.receipts) >= 2
    assert manager.removed_message_count > 0
    assert epitome.count(agent.messages, format="bedrock").tokens < 2_000
    assert epitome.check(agent.messages, format="bedrock", excluding=["bedrock/extra-member"]) == []
    assert archive.recall("port 7 of the server")
    agent.messages[:] = agent.messages[-2:]
    with pytest.raises(ContextWindowOverflowException):
        manager.reduce_context(agent, ContextWindowOverflowException("too long"))


class Scripted(Silent):
    """What a model of Strands answers: calls of a tool, then the end."""

    window = 2_000

    def __init__(self, calls: int) -> None:
        self.left = calls
        self.shown: list[list[Any]] = []

    async def stream(self, messages: Any, *_: Any, **__: Any) -> Any:
        self.shown.append([dict(message) for message in messages])
        self.left -= 1
        yield {"messageStart": {"role": "assistant"}}
        if self.left > 0:
            use = {"name": "connect", "toolUseId": f"t{self.left}"}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": f'{{"port": {8000 + self.left}}}'}}}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "Done."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if self.left > 0 else "end_turn"}}


def test_strands_runs_stay_inside_the_window_and_are_restored(tmp_path: Any) -> None:
    @tool
    def connect(port: int) -> str:
        """Connects to a port."""
        return REFUSED

    def agent(model: Any) -> Any:
        return Agent(
            model=model,
            tools=[connect],
            conversation_manager=EpitomeConversationManager(),
            session_manager=FileSessionManager("s", storage_dir=str(tmp_path)),
            agent_id="a",
            callback_handler=None,
        )

    model = Scripted(60)
    live = agent(model)
    live("Find the port. Never touch port 22.")
    assert len(model.shown) == 60 and len(live.conversation_manager.receipts) >= 2
    for messages in model.shown:
        wire = [{"role": one["role"], "content": one["content"]} for one in messages]
        assert epitome.count(wire, format="bedrock").tokens < 2_000
        assert epitome.check(wire, format="bedrock") == []
    restored = agent(Scripted(60))
    assert [one["content"] for one in restored.messages] == [one["content"] for one in live.messages]
    assert "Never touch port 22." in str(restored.messages[0]) and "<checkpoint " in str(restored.messages)
    # So it is after more compactions.
    restored("Go on.")
    again = agent(Scripted(1))
    assert [one["content"] for one in again.messages] == [one["content"] for one in restored.messages]


def test_system_prompt_and_tools_count() -> None:
    def connect(port: int) -> str:
        return "refused"

    connect.__doc__ = "Connects to a port. " * 300
    turn: list[Message] = [
        {"role": "user", "content": [{"text": "Go on."}]},
        {"role": "assistant", "content": [{"text": "It refused the connection, as all of the others did."}]},
    ]
    frames: list[dict[str, Any]] = [{}, {"system_prompt": "Be brief. " * 500}, {"tools": [tool(connect)]}]
    for frame in frames:
        manager = EpitomeConversationManager()
        agent = Agent(Silent(), messages=turn * 100, conversation_manager=manager, callback_handler=None, **frame)
        manager.apply_management(agent)
        assert bool(manager.receipts) == bool(frame)
        assert (len(agent.messages) < 200) == bool(frame)


def block(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Blocks of one kind, with its content."""
    return st.fixed_dictionaries(members)


def source(encoded: st.SearchStrategy[bytes]) -> Any:
    return st.fixed_dictionaries({"bytes": encoded}) | st.just({"location": {"type": "s3", "uri": "s3://bucket/key"}})


data = st.binary(max_size=20).map(lambda more: picture + more)
images: Any = st.fixed_dictionaries({"format": st.just("png"), "source": source(data)})
documents: Any = st.fixed_dictionaries(
    {"format": st.just("pdf"), "name": st.uuids().map(str), "source": source(data)},
    optional={"context": words, "citations": st.just({"enabled": True})},
)
videos: Any = st.fixed_dictionaries({"format": st.just("mp4"), "source": source(data)})
guarded: Any = st.fixed_dictionaries({"text": st.fixed_dictionaries({"text": words, "qualifiers": st.just(["query"])})})
asked = block(text=words) | block(image=images) | block(video=videos) | block(guardContent=guarded)
thoughts: Any = st.fixed_dictionaries(
    {"reasoningText": st.fixed_dictionaries({"text": words}, optional={"signature": words})}
)
redacted: Any = st.fixed_dictionaries({"redactedContent": data})
cited: Any = st.builds(
    lambda text: {"content": [{"text": text}], "citations": [{"title": "é", "location": {"web": {"url": "u"}}}]}, words
)
spoken = block(text=words) | block(reasoningContent=thoughts | redacted) | block(citationsContent=cited)
observed = (
    block(text=texts.map(lambda text: text or "x") | st.just("line\n" * 300))
    | block(json=arguments)
    | block(image=images)
    | block(document=documents)
)


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    noted: Any = {"metadata": {"custom": {"at": object()}}, "tracking_id": "t"} if draw(st.booleans()) else {}
    own: list[Any] = [
        {"text": draw(words)},
        *draw(st.lists(asked, max_size=2)),
        *draw(st.lists(block(document=documents), max_size=1)),
    ]
    first: Any = {"role": "user", "content": own, **noted}
    messages: list[Message] = [first]
    for _ in range(draw(st.integers(0, 3))):
        numbers = ids(draw, ("tooluse_", "-", "_" * 28))
        calls: list[ToolUse] = [{"toolUseId": number, "name": "run", "input": draw(arguments | texts)} for number in numbers]
        content: list[ContentBlock] = [*draw(st.lists(spoken, max_size=2)), *[ContentBlock(toolUse=call) for call in calls]]
        messages.append({"role": "assistant", "content": content})
        answers: list[ToolResult] = [
            {
                "toolUseId": number,
                "status": draw(st.sampled_from(["success", "error"])),
                "content": draw(st.lists(observed, min_size=1, max_size=2)),
            }
            for number in numbers
        ]
        messages.append({"role": "user", "content": [{"toolResult": answer} for answer in answers]})
    return [*messages, {"role": "assistant", "content": [*draw(st.lists(spoken, max_size=2)), {"text": draw(words)}]}]


def wordless(value: Any) -> Any:
    """What stands around words, which may be shortened."""
    if isinstance(value, dict):
        return {name: wordless(member) for name, member in value.items() if not isinstance(member, str) or name != "text"}
    return [wordless(item) for item in value] if isinstance(value, list) else value


@given(turns())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_messages_come_back_from_json(messages: list[Message]) -> None:
    for message in messages:
        said = _said(message)
        back = _raw(said, set(_encoded(message, said)))
        assert back == {"role": message["role"], "content": message["content"]}


@given(histories(turns()), targets, strategies)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_messages_are_kept_or_valid(messages: list[Message], target: str, wanted: str) -> None:
    newest: Message = {"role": "user", "content": [{"text": "And now?"}, {"cachePoint": {"type": "default"}}]}
    own = [*messages, newest]
    copies = [_said(message) for message in deepcopy([{**one, "metadata": {}} for one in own])]
    agent: Any = SimpleNamespace(messages=list(own))
    EpitomeConversationManager(trigger=long, target=target, strategies=wanted).apply_management(agent)
    assert [_said(message) for message in own] == copies
    # Where nothing else is left, it is behind the checkpoint in one message.
    assert agent.messages[-1]["content"][-1] == newest["content"][-1]
    blocks = [one for message in own for one in message["content"]]
    numbers = {one["toolUse"]["toolUseId"] for one in blocks if "toolUse" in one}
    results = {one["toolResult"]["toolUseId"]: one["toolResult"] for one in blocks if "toolResult" in one}
    frames = [wordless(one) for one in blocks]
    for message in check_places(own, agent.messages):
        for one in message["content"]:
            if one in blocks or "text" in one:
                continue
            [(kind, its)] = one.items()
            if kind not in ("toolUse", "toolResult"):
                assert wordless(one) in frames
                continue
            assert its["toolUseId"] in numbers
            if kind == "toolResult":
                was = results[its["toolUseId"]]
                assert its["status"] == was["status"]
                assert all(piece in was["content"] or piece.keys() == {"text"} for piece in its["content"])
    # Where bytes lie elsewhere, Strands has a form of its own.
    wire = [plain(_said(one)) for one in agent.messages]
    assert epitome.check(wire, format="bedrock", excluding=["bedrock/unknown-block"]) == []
