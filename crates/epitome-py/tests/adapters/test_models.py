"""The models of clients there and back: OpenAI's, Anthropic's and LiteLLM's."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from typing import Any

import epitome
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("anthropic")
pytest.importorskip("openai")
pytest.importorskip("litellm")

import anthropic.types as claude
import litellm
from anthropic.types.parsed_message import ParsedTextBlock
from epitome.adapters.clients import fitted
from epitome.adapters.objects import plain
from openai.types import chat
from pydantic import BaseModel

from .drawn import arguments, check_places, histories, ids, long, strategies, targets, texts, words

PICTURE = "iVBORw0KGgo="


class Answer(BaseModel):
    """What a model is asked for."""

    port: int


# OpenAI's Chat Completions, and LiteLLM's messages, which are in that form.

urls: Any = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
files: Any = {"type": "file", "file": {"filename": "é.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}}
blocks = st.builds(lambda text: {"type": "text", "text": text}, words) | st.sampled_from([urls, files])


@st.composite
def chats(draw: st.DrawFn) -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": draw(words | st.lists(blocks, min_size=1, max_size=3))}]
    for _ in range(draw(st.integers(0, 3))):
        numbers = ids(draw)
        functions = [{"name": "run", "arguments": draw(arguments.map(json.dumps))} for _ in numbers]
        calls: Any = [
            {"id": number, "type": "function", "function": function}
            for number, function in zip(numbers, functions, strict=True)
        ]
        said: Any = {"role": "assistant", "content": draw(st.none() | words), "tool_calls": calls}
        if draw(st.booleans()):
            messages.append(litellm.Message(**said, reasoning_content=draw(st.none() | words)))
        else:
            messages.append(chat.ChatCompletionMessage(**said, annotations=draw(st.just([]) | st.none())))
        results = draw(st.lists(texts | st.just("line\n" * 300), min_size=len(numbers), max_size=len(numbers)))
        messages += [
            {"role": "tool", "tool_call_id": number, "content": result}
            for number, result in zip(numbers, results, strict=True)
        ]
    refusal = draw(st.none() | words)
    return [
        *messages,
        chat.ChatCompletionMessage(role="assistant", content=None if refusal else draw(words), refusal=refusal),
    ]


# Anthropic's Messages.

pictures: Any = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
papers: Any = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "é"}, "title": "t"}
asked = st.builds(lambda text: {"type": "text", "text": text}, words) | st.sampled_from([pictures, papers])
cited = claude.CitationCharLocation(
    cited_text="é", document_index=0, start_char_index=0, end_char_index=1, type="char_location"
)
spoken: Any = st.builds(
    claude.TextBlock, text=words, type=st.just("text"), citations=st.none() | st.just([cited])
) | st.builds(ParsedTextBlock[Answer], text=words, type=st.just("text"), parsed_output=st.just(Answer(port=1)))
thoughts: Any = st.builds(claude.ThinkingBlock, thinking=words, signature=words, type=st.just("thinking")) | st.builds(
    claude.RedactedThinkingBlock, data=words, type=st.just("redacted_thinking")
)
observed: Any = texts | st.just("line\n" * 300) | st.lists(asked, min_size=1, max_size=2)


@st.composite
def dialogues(draw: st.DrawFn) -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": draw(words | st.lists(asked, min_size=1, max_size=3))}]
    for _ in range(draw(st.integers(0, 3))):
        uses = [
            claude.ToolUseBlock(id=number, name="run", input=draw(arguments), type="tool_use")
            for number in ids(draw, ("toolu_", "-", "_" * 28))
        ]
        thought = draw(st.lists(thoughts, max_size=1))
        messages.append({"role": "assistant", "content": [*thought, *draw(st.lists(spoken, max_size=1)), *uses]})
        results = [
            {"type": "tool_result", "tool_use_id": use.id, "content": draw(observed), "is_error": draw(st.just(False))}
            for use in uses
        ]
        messages.append({"role": "user", "content": results})
    return [*messages, {"role": "assistant", "content": [*draw(st.lists(thoughts, max_size=1)), draw(spoken)]}]


def back(own: Any) -> Any:
    """What the client's own types make of JSON."""
    if isinstance(own, BaseModel):
        return type(own).model_validate(plain(own))
    if isinstance(own, dict):
        return {name: back(member) for name, member in own.items()}
    return [back(item) for item in own] if isinstance(own, list) else own


@pytest.mark.parametrize(
    ("turns", "format"), [(chats(), "openai-chat"), (dialogues(), "anthropic")], ids=["openai", "anthropic"]
)
def test_models_there_and_back(turns: Any, format: str) -> None:
    newest = {"role": "user", "content": "And now?"}

    @given(turns)
    @settings(max_examples=60, deadline=None, derandomize=True)
    def whole(messages: list[Any]) -> None:
        assert back(messages) == [without(message) for message in messages]

    @given(histories(turns), targets, strategies)
    @settings(max_examples=40, deadline=None, derandomize=True)
    def kept(messages: list[Any], target: str, wanted: str) -> None:
        copies = deepcopy(messages)
        session = epitome.Session(trigger=long, target=target, strategies=wanted, format=format)
        own = [*messages, newest]
        shown: list[Any] = fitted(session, messages=own)["messages"]
        assert messages == copies and len(session.receipts) == 1 and shown[-1] is newest
        check_places(own, shown)
        assert epitome.check(plain(shown), format=format) == []

    whole()
    kept()


def without(own: Any) -> Any:
    """A message without what a client makes of an answer besides."""
    if isinstance(own, ParsedTextBlock):
        return own.model_copy(update={"parsed_output": None})
    if isinstance(own, dict):
        return {name: without(member) for name, member in own.items()}
    return [without(item) for item in own] if isinstance(own, list) else own


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_hasnt_are_named(number: float) -> None:
    inputs: Any = {"ports": [None, {"max": number}]}
    use = claude.ToolUseBlock(id="a", name="run", input=inputs, type="tool_use")
    messages = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": [use]}]
    with pytest.raises(epitome.InputError, match="isn't a JSON number") as caught:
        fitted(epitome.Session(window=2_000), messages=messages)
    assert (caught.value.entry, caught.value.field) == (1, "content[0].input.ports[1].max")
