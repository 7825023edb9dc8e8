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

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from ..session import Session
from .guard import Guard
from .objects import Message, Objects, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers


class EpitomeHistory:
    """Keeps a history inside the window. Options are those of :class:`epitome.Session`."""

    def __init__(self, *, summarizer: Summarizers | None = None, **options: Unpack[Options]) -> None:
        self.session = Session(format="openai-chat", summarizer=summarizer, **options)
        self._objects = Objects(Guard(self.session), said, made)

    async def __call__(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        instructions = next((one.instructions for one in reversed(messages) if isinstance(one, ModelRequest)), None)
        return await self._objects.afit(messages, {"system": instructions})


def said(message: ModelMessage) -> list[Message]:
    """A message as OpenAI's Chat Completions has it: of a request one for each part."""
    if isinstance(message, ModelResponse):
        texts = [part.content for part in message.parts if isinstance(part, TextPart)]
        calls = [_call(part) for part in message.parts if isinstance(part, ToolCallPart)]
        answer: Message = {"role": "assistant", "content": "\n\n".join(texts) or None}
        return [{**answer, "tool_calls": calls} if calls else answer]
    return [_part(part) for part in message.parts]


def _call(part: ToolCallPart) -> dict[str, Any]:
    function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
    return {"id": part.tool_call_id, "type": "function", "function": function}


def _part(part: Any) -> Message:
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, ToolReturnPart):
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response_str()}
    if isinstance(part, RetryPromptPart):
        if part.tool_name is None:
            return {"role": "user", "content": part.model_response()}
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response()}
    content = getattr(part, "content", "")
    if isinstance(content, str):
        return {"role": "user", "content": content}
    return {"role": "user", "content": [_content(one) for one in content]}


def _content(content: Any) -> dict[str, Any]:
    if isinstance(content, str):
        return {"type": "text", "text": content}
    if getattr(content, "kind", "") == "image-url":
        return {"type": "image_url", "image_url": {"url": content.url}}
    if getattr(content, "is_image", False):
        return {"type": "image_url", "image_url": {"url": f"data:{content.media_type};base64,{plain(content.data)}"}}
    return {"type": "text", "text": str(getattr(content, "url", "") or getattr(content, "content", ""))}


def made(message: ModelMessage | None, left: dict[int, Message]) -> ModelMessage:
    """The message that says what is left; what wasn't changed of it stays."""
    if message is None:
        return _new(left[0])
    before = said(message)
    if isinstance(message, ModelResponse):
        return _response(message, before[0], left[0])
    parts = [
        part if left[at].get("content") == before[at].get("content") else replace(part, content=left[at]["content"])
        for at, part in enumerate(message.parts)
        if at in left
    ]
    return replace(message, parts=parts)


def _response(message: ModelResponse, was: Message, now: Message) -> ModelResponse:
    parts: list[Any] = list(message.parts)
    if now.get("content") != was.get("content"):
        texts = [at for at, part in enumerate(parts) if isinstance(part, TextPart)]
        shown = [TextPart(now["content"])] if now.get("content") else []
        parts = [
            one for at, part in enumerate(parts) for one in (shown if at in texts[:1] else [] if at in texts else [part])
        ]
    arguments = {call["id"]: call["function"]["arguments"] for call in now.get("tool_calls", ())}
    same = {call["id"]: call["function"]["arguments"] for call in was.get("tool_calls", ())}
    shown_parts = [
        part
        if not isinstance(part, ToolCallPart) or arguments.get(part.tool_call_id) == same[part.tool_call_id]
        else replace(part, args=arguments[part.tool_call_id])
        for part in parts
        if not isinstance(part, ToolCallPart) or part.tool_call_id in arguments
    ]
    return replace(message, parts=shown_parts)


def _new(message: Message) -> ModelMessage:
    content = message.get("content") or ""
    if message["role"] == "assistant":
        return ModelResponse([TextPart(content)])
    if message["role"] == "tool":
        return ModelRequest([ToolReturnPart(tool_name="", content=content, tool_call_id=message["tool_call_id"])])
    return ModelRequest([UserPromptPart(content)])
