"""smolagents: a model around the agent's own, which is shown what fits.

>>> from smolagents import ChatMessage, MessageRole, Model
>>> from epitome.adapters.smolagents import EpitomeModel
>>> class Scripted(Model):
...     def generate(self, messages, **how):
...         return ChatMessage(MessageRole.ASSISTANT, f"I was shown {len(messages)} messages.")
>>> model = EpitomeModel(Scripted(), window=2_000)  # CodeAgent(model=model, …)
>>> messages = [ChatMessage(MessageRole.USER, f"And what does port {port} of the server say?") for port in range(150)]
>>> int(model.generate(messages).content.split()[3]) < 150
True

The agent's memory keeps every step.
"""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from weakref import ref

from PIL import Image
from smolagents import ChatMessage, MessageRole, Model, Tool
from smolagents.models import get_tool_json_schema, tool_role_conversions
from smolagents.utils import encode_image_base64, make_image_url

from ..session import Session
from .guard import Guard
from .objects import AT, INJECTED, Message, Objects, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers


@dataclass(frozen=True)
class Group:
    """Messages that belong together, by their number: a call in words, with what was observed; or one message.

    It ``is_injected`` where the library says it in the user's role.
    """

    number: int
    messages: list[ChatMessage]
    is_injected: bool = False


CALLING = "Calling tools:\n"

TASK = "New task:\n"
"""How a person's words begin in an agent's memory. What it says besides in the user's role is its own."""

URLS: dict[int, tuple[ref[Image.Image], str]] = {}
"""Images that are data, by their identity, as long as they are there."""


class EpitomeModel(Model):
    """Shows a model what fits into its window. Options are those of :class:`epitome.Session`."""

    def __init__(self, under: Model, *, summarizer: Summarizers | None = None, **options: Unpack[Options]) -> None:
        super().__init__(model_id=under.model_id)
        self.under = under
        self.session = Session(format="openai-chat", summarizer=summarizer, **options)
        self._objects = Objects(Guard(self.session), said, made)
        if hasattr(under, "generate_stream"):
            self.generate_stream = lambda messages, *more, **how: under.generate_stream(
                self.shown(messages, _tools(*more, **how)), *more, **how
            )

    def generate(self, messages: Any, *more: Any, **how: Any) -> ChatMessage:
        return self.under.generate(self.shown(messages, _tools(*more, **how)), *more, **how)

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        return self.under.parse_tool_calls(message)

    def shown(self, messages: Sequence[Any], tools: Sequence[Tool] = ()) -> list[ChatMessage]:
        """What the model is shown of ``messages``, beside ``tools``, which count, too."""
        given = [ChatMessage.from_dict(dict(one)) if isinstance(one, dict) else one for one in messages]
        frame = {"model": self.under.model_id, "tools": [get_tool_json_schema(tool) for tool in tools]}
        fitted = self._objects.fit(groups(given), frame)
        return _joinable([message for group in fitted for message in group.messages], given)


def _tools(
    stop_sequences: Any = None, response_format: Any = None, tools_to_call_from: Any = None, **how: Any
) -> Sequence[Tool]:
    """The tools among the arguments of a call, which are those of the library's models."""
    return tools_to_call_from or ()


def _joinable(shown: list[ChatMessage], given: Sequence[ChatMessage]) -> list[ChatMessage]:
    """What is shown, where new neighbours of one role have lists as content: the library joins no others."""
    pairs = {(id(one), id(other)) for one, other in pairwise(given)}
    apart = [_role(one) != _role(other) or (id(one), id(other)) in pairs for one, other in pairwise(shown)]
    sides = zip([True, *apart], [*apart, True], shown, strict=True)
    return [
        _saying(one, one.content) if isinstance(one.content, str) and not (before and after) else one
        for before, after, one in sides
    ]


def _role(message: ChatMessage) -> Any:
    return tool_role_conversions.get(message.role, message.role)


def groups(messages: Sequence[ChatMessage]) -> list[Group]:
    """The messages, those of a call with those of what was observed."""
    tasks = [message.role == MessageRole.USER and _text(message).startswith(TASK) for message in messages]
    grouped: list[Group] = []
    for message, is_task in zip(messages, tasks, strict=True):
        opens = grouped and grouped[-1].messages[0].role == MessageRole.TOOL_CALL
        if opens and message.role == MessageRole.TOOL_RESPONSE:
            grouped[-1].messages.append(message)
        else:
            grouped.append(Group(len(grouped), [message], message.role == MessageRole.USER and any(tasks) and not is_task))
    return grouped


def said(group: Group) -> list[Message]:
    """A group as OpenAI's Chat Completions has it: calls in words are calls, and what was observed isn't the user's."""
    first = group.messages[0]
    if first.role not in (MessageRole.TOOL_CALL, MessageRole.TOOL_RESPONSE):
        # The library takes a plain string, too.
        return [{"role": MessageRole(first.role).value, "content": _content(first.content), INJECTED: group.is_injected}]
    name, arguments = _call(_text(first)) if first.role == MessageRole.TOOL_CALL else ("step", {})
    number = f"call_{group.number}"
    call = {"id": number, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    asked: Message = {"role": "assistant", "content": None, "tool_calls": [call]}
    blocks = _observed(group)
    is_text = all(block.get("type") == "text" for block in blocks)
    content = "\n".join(block["text"] for block in blocks) if is_text else _content(blocks)
    return [asked, {"role": "tool", "tool_call_id": number, "content": content}]


def _observed(group: Group) -> list[Any]:
    """The blocks of what was observed."""
    contents = [message.content for message in group.messages if message.role == MessageRole.TOOL_RESPONSE]
    given = [[{"type": "text", "text": one}] if isinstance(one, str) else one or [] for one in contents]
    return [block for blocks in given for block in blocks]


def _content(content: Any) -> Any:
    """Content with images as data, and blocks that say which they are."""
    if not isinstance(content, list):
        return content
    return [{**_block(block), AT: at} for at, block in enumerate(content)]


def _block(block: Any) -> dict[str, Any]:
    if block.get("type") != "image":
        written: dict[str, Any] = plain(block)
        return written
    image = block.get("image")
    if not isinstance(image, Image.Image):
        return {"type": "image", "image": str(image)}
    return {"type": "image_url", "image_url": {"url": _url(image)}}


def _url(image: Image.Image) -> str:
    """An image as it is sent, which takes long enough to be done once."""
    known = URLS.get(id(image))
    if known is None or known[0]() is not image:
        at = id(image)
        known = ref(image, lambda _: URLS.pop(at, None)), make_image_url(encode_image_base64(image))
        URLS[at] = known
    return known[1]


def _own(content: Any, before: Any, own: list[Any]) -> Any:
    """The content, with one's own blocks for those that are as they were."""
    if not isinstance(content, list):
        return content
    return [
        own[block[AT]] if AT in block and block == before[block[AT]] else {"type": "text", "text": block.get("text", "")}
        for block in content
    ]


def _call(words: str) -> tuple[str, dict[str, Any]]:
    """The name of the tool that is called in words, and its arguments."""
    try:
        calls = [call["function"] for call in literal_eval(words.removeprefix(CALLING))]
    except (ValueError, SyntaxError, TypeError, KeyError):
        return "tools", {"words": words}
    names = {call["name"] for call in calls}
    arguments = calls[0]["arguments"] if len(calls) == 1 else {"calls": calls}
    return names.pop() if len(names) == 1 else "tools", arguments if isinstance(arguments, dict) else {"words": arguments}


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(block["text"] for block in message.content or [] if block.get("type") == "text")


def made(group: Group | None, left: dict[int, Message]) -> Group:
    """The messages that say what is left; what wasn't changed of them stays."""
    if group is None:
        content = [{"type": "text", "text": left[0].get("content") or ""}]
        return Group(-1, [ChatMessage(MessageRole(left[0]["role"]), content)])
    before, first = said(group), group.messages[0]
    if len(before) == 1:
        own = first.content if isinstance(first.content, list) else []
        return Group(group.number, [_saying(first, _own(left[0]["content"], before[0]["content"], own))])
    if left.keys() != {0, 1}:
        return group
    shown = [first] if first.role == MessageRole.TOOL_CALL else []
    if shown and left[0]["tool_calls"] != before[0]["tool_calls"]:
        shown = [_saying(first, CALLING + json.dumps(left[0]["tool_calls"][0]["function"]))]
    observed = [message for message in group.messages if message.role == MessageRole.TOOL_RESPONSE]
    if left[1]["content"] != before[1]["content"]:
        observed = [_saying(observed[0], _own(left[1]["content"], before[1]["content"], _observed(group)))]
    return Group(group.number, [*shown, *observed])


def _saying(message: ChatMessage, content: Any) -> ChatMessage:
    other = copy(message)
    other.content = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return other
