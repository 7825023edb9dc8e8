"""pydantic-ai: a history processor.

>>> from pydantic_ai import Agent
>>> from pydantic_ai.capabilities import ProcessHistory
>>> from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
>>> from pydantic_ai.models.test import TestModel
>>> from epitome.adapters.pydantic_ai import EpitomeHistory
>>> history = EpitomeHistory(window=2_000)
>>> agent = Agent(TestModel(), capabilities=[ProcessHistory(history)])
>>> said = []
>>> for port in range(100):
...     said.append(ModelRequest([UserPromptPart(f"And what does port {port} of the server say?")]))
...     said.append(ModelResponse([TextPart("It refused the connection, as the others did.")]))
>>> result = agent.run_sync("Go on.", message_history=said)
>>> history.session.looked.triggered, history.session.looked.entries < 100
(True, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pydantic_ai import RunContext
from pydantic_ai import messages as types
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import to_jsonable_python

from ..session import Session
from .guard import Guard
from .objects import AT, INJECTED, Message, Objects

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers


class EpitomeHistory:
    """Keeps a history inside the window. Options are those of :class:`epitome.Session`."""

    def __init__(self, *, summarizer: Summarizers | None = None, **options: Unpack[Options]) -> None:
        self.session = Session(format="openai-chat", summarizer=summarizer, **options)
        self._guard = Guard(self.session)

    async def __call__(self, context: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        window = getattr(context.model, "context_window", None)
        return await self.fitted(messages, context.model.model_name, window, _tools(context))

    async def fitted(
        self,
        messages: list[ModelMessage],
        model: str | None = None,
        window: int | None = None,
        tools: Sequence[dict[str, Any]] = (),
    ) -> list[ModelMessage]:
        """What fits of a history. ``window`` is what the library knows of the ``model``'s; ``tools`` count, too."""
        instructions = next((one.instructions for one in reversed(messages) if isinstance(one, ModelRequest)), None)
        if window is None:
            # The library doesn't know the name, which may be that of a deployment. Who answered last is asked next.
            model = next((one.model_name for one in reversed(messages) if isinstance(one, ModelResponse)), None) or model
        going_on = {id(one) for before, one in pairwise(messages) if _run(one) is not None and _run(before) == _run(one)}
        objects = Objects(self._guard, lambda message: said(message, id(message) in going_on), made)
        return await objects.afit(messages, {"model": model, "tools": list(tools), "system": instructions}, window)


def _tools(context: RunContext[Any]) -> list[dict[str, Any]]:
    """The tools that a model is shown."""
    tools: dict[str, Any] = getattr(context, "tools", {})
    shown = getattr(context, "available_tool_names", tools)
    functions = [
        {"name": name, "description": tool.description, "parameters": tool.parameters_json_schema}
        for name, tool in tools.items()
        if name in shown
    ]
    return [{"type": "function", "function": function} for function in functions]


def _run(message: ModelMessage) -> str | None:
    """The run that a message is of, where the library notes that."""
    return getattr(message, "run_id", None)


RETRIES = tuple(getattr(types, name) for name in ("RetryPromptPart", "RetryFeedbackPart") if hasattr(types, name))
"""What a model is asked to do again: it is shown in a frame of words."""


def said(message: ModelMessage, goes_on: bool = False) -> list[Message]:
    """A message as OpenAI's Chat Completions has it: of a request one for each part that says something.

    What stands in the user's role behind what tools returned is theirs, too, where it ``goes_on`` with the run: a run that
    begins with what they returned has its prompt there. So is what the library asks a model to do again.
    """
    if isinstance(message, ModelResponse):
        return _answer(message)
    parts = _parts(message)
    first = next((at for at, part in enumerate(message.parts) if isinstance(part, ToolReturnPart)), len(message.parts))
    return [
        {**written, INJECTED: True} if _is_injected(message.parts[at], goes_on and at > first) else written
        for at, written in parts
    ]


def _is_injected(part: Any, is_returned: bool) -> bool:
    return isinstance(part, RETRIES) or (isinstance(part, UserPromptPart) and is_returned)


def _answer(message: ModelResponse) -> list[Message]:
    thoughts = [part.content for part in message.parts if isinstance(part, ThinkingPart) and part.content]
    calls = [{**_call(part), AT: at} for at, part in enumerate(message.parts) if isinstance(part, ToolCallPart)]
    blocks = [
        {**_block(part), AT: at}
        for at, part in enumerate(message.parts)
        if not isinstance(part, (ThinkingPart, ToolCallPart)) and part.has_content()
    ]
    answer: Message = {"role": "assistant", "content": _content(blocks)}
    if thoughts and (blocks or calls):
        answer["reasoning_content"] = "\n\n".join(thoughts)
    elif thoughts:
        # Who only thinks says nothing in this format, but it is sent.
        answer["content"] = [{"type": "thinking", "thinking": thought} for thought in thoughts]
    if calls:
        answer["tool_calls"] = calls
    return [answer] if thoughts or calls or blocks else []


def _call(part: ToolCallPart) -> dict[str, Any]:
    function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
    return {"id": part.tool_call_id, "type": "function", "function": function}


def _content(blocks: list[dict[str, Any]]) -> Any:
    """Blocks as content, which for one text is a text."""
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        return blocks[0]["text"]
    return blocks or None


def _parts(message: ModelRequest) -> list[tuple[int, Message]]:
    """The parts that say something, by their place, and what they say."""
    said = [(at, _part(part)) for at, part in enumerate(message.parts)]
    return [(at, one) for at, one in said if one is not None]


def _part(part: Any) -> Message | None:
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, ToolReturnPart):
        content = _marked(part.content_items(mode="str", wrap_if_error=False)) if part.files else _returned(part)
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
    if isinstance(part, RETRIES):
        words = part.model_response()
        if getattr(part, "tool_name", None) is None:
            return {"role": "user", "content": words}
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": words}
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": part.content if isinstance(part.content, str) else _marked(part.content)}
    words = getattr(part, "transcript", None)
    return {"role": "user", "content": words} if isinstance(words, str) and words else None


def _returned(part: ToolReturnPart) -> str:
    return part.model_response_str(wrap_if_error=False)


def _marked(content: Sequence[Any]) -> list[dict[str, Any]]:
    return [{**_block(one), AT: at} for at, one in enumerate(content)]


def _block(content: Any) -> dict[str, Any]:
    """A piece of content, or a part of an answer; what this format doesn't have is of its own kind, and counts as JSON."""
    kind = getattr(content, "kind", getattr(content, "part_kind", ""))
    if kind == "file":
        return _block(content.content)
    words = content if isinstance(content, str) else getattr(content, "content", getattr(content, "transcript", None))
    if kind in ("", "text", "text-content", "structured-content", "speech") and isinstance(words, str):
        return {"type": "text", "text": words}
    if kind == "image-url":
        return {"type": "image_url", "image_url": {"url": content.url}}
    if kind == "binary":
        url = f"data:{content.media_type};base64,{content.base64}"
        return {"type": "image_url", "image_url": {"url": url}} if content.is_image else _file({"file_data": url})
    if kind in ("document-url", "audio-url", "video-url"):
        return _file({"file_data": content.url})
    if kind == "uploaded-file":
        return _file({"file_id": content.file_id})
    shown: Any = to_jsonable_python(content, fallback=str, bytes_mode="base64")
    return {"type": kind or "part", "part": shown}


def _file(file: dict[str, str]) -> dict[str, Any]:
    return {"type": "file", "file": file}


def made(message: ModelMessage | None, left: dict[int, Message]) -> ModelMessage:
    """The message that says what is left; what wasn't changed of it stays."""
    if message is None:
        return _new(left[0])
    if isinstance(message, ModelResponse):
        return _response(message, said(message)[0], left[0])
    spoken = {at: (nth, was) for nth, (at, was) in enumerate(_parts(message))}
    parts: list[Any] = []
    own: list[Any] = list(message.parts)
    for at, part in enumerate(own):
        nth, was = spoken.get(at, (-1, {}))
        now = left.get(nth, was)
        if now.get("tool_call_id") != was.get("tool_call_id"):
            part = replace(part, tool_call_id=now["tool_call_id"])
        if now.get("content") != was.get("content"):
            parts.append(_edited(part, now.get("content") or ""))
        elif nth in left or nth < 0:
            parts.append(part)
    return replace(message, parts=parts)


def _edited(part: Any, content: Any) -> Any:
    """A part of a request with other content."""
    if isinstance(content, list):
        its = part.content_items() if isinstance(part, ToolReturnPart) else part.content
        before = _marked(part.content_items(mode="str", wrap_if_error=False) if isinstance(part, ToolReturnPart) else its)
        return replace(part, content=[_piece(block, before, its) for block in content])
    if isinstance(part, RETRIES):
        # Its words are put into the frame again when it is shown.
        before, after = replace(part, content="\0").model_response().split("\0")
        content = content.removeprefix(before).removesuffix(after)
    if hasattr(part, "transcript"):
        return UserPromptPart(content)
    return replace(part, content=content)


def _piece(block: dict[str, Any], before: list[dict[str, Any]], own: Sequence[Any]) -> Any:
    """One's own piece of content, if the block is as it was; else its text, which is what an edit leaves."""
    at = block.get(AT)
    if at is not None and block == before[at]:
        return own[at]
    return block.get("text", "")


def _response(message: ModelResponse, was: Message, now: Message) -> ModelResponse:
    before = {call[AT]: call for call in was.get("tool_calls", ())}
    calls = {call[AT]: call for call in now.get("tool_calls", ())}
    is_said = was.get("content") == now.get("content")
    is_thought = was.get("reasoning_content") == now.get("reasoning_content")
    shown = [] if is_said else _blocks(message, was, now)
    parts: list[Any] = []
    for at, part in enumerate(message.parts):
        if isinstance(part, ToolCallPart):
            if at in calls:
                parts.append(part if calls[at] == before[at] else _called(part, before[at], calls[at]))
        elif is_thought if isinstance(part, ThinkingPart) else is_said:
            parts.append(part)
        elif not isinstance(part, ThinkingPart):
            # What stands in the place of a part that left comes before the next that stays.
            while shown and shown[0][0] <= at:
                parts.append(shown.pop(0)[1])
    # Calls are last.
    first = next((at for at, part in enumerate(parts) if isinstance(part, ToolCallPart)), len(parts))
    parts[first:first] = [part for _, part in shown]
    return replace(message, parts=parts)


def _called(part: ToolCallPart, was: dict[str, Any], now: dict[str, Any]) -> ToolCallPart:
    """A call with the arguments that are left, and the id that it has where two had one."""
    words = now["function"]["arguments"]
    args = part.args if words == was["function"]["arguments"] else words
    return replace(part, args=args, tool_call_id=now["id"])


def _blocks(message: ModelResponse, was: Message, now: Message) -> list[tuple[int, Any]]:
    """The parts that blocks are of, changed or not, by their place; an edit that isn't of one has that of the one before."""
    places = [at for at, part in enumerate(message.parts) if not isinstance(part, (ThinkingPart, ToolCallPart))]
    before = {block.get(AT): block for block in was["content"]} if isinstance(was.get("content"), list) else {}
    content = now.get("content")
    if isinstance(content, str):
        at = places[0] if places else 0
        own = message.parts[at] if places else None
        return [(at, replace(own, content=content) if isinstance(own, TextPart) else TextPart(content))]
    shown: list[tuple[int, Any]] = []
    for block in content or ():
        at = block.get(AT, shown[-1][0] if shown else 0)
        own = message.parts[at] if AT in block else None
        if own is not None and block == before.get(at):
            shown.append((at, own))
        elif block.get("type") == "text":
            text = block["text"]
            shown.append((at, replace(own, content=text) if isinstance(own, TextPart) else TextPart(text)))
    return shown


def _new(message: Message) -> ModelMessage:
    content = message.get("content") or ""
    if message["role"] == "assistant":
        return ModelResponse([TextPart(content)])
    if message["role"] == "tool":
        return ModelRequest([ToolReturnPart(tool_name="", content=content, tool_call_id=message["tool_call_id"])])
    return ModelRequest([UserPromptPart(content)])
