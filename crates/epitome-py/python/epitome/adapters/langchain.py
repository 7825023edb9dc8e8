"""LangChain and LangGraph: a middleware that keeps what the model is shown inside its window.

>>> from langchain.agents import create_agent
>>> from langchain_core.language_models import GenericFakeChatModel
>>> from langchain_core.messages import AIMessage, HumanMessage
>>> from epitome.adapters.langchain import EpitomeMiddleware
>>> middleware = EpitomeMiddleware(window=2_000)
>>> agent = create_agent(GenericFakeChatModel(messages=iter([AIMessage("Done.")])), middleware=[middleware])
>>> history = [HumanMessage("Find the port.")]
>>> for port in range(100):
...     history += [AIMessage(f"Port {port} refused the connection, as the others did."), HumanMessage("Go on.")]
>>> answer = agent.invoke({"messages": history})
>>> len(answer["messages"]), answer["messages"][-1].content, middleware.session.looked.entries < 100
(202, 'Done.', True)

The agent's state keeps every message; only what the model is shown is smaller.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.utils.function_calling import convert_to_openai_tool

from ..session import Session
from .guard import Guard
from .objects import AT, INJECTED, Message, Objects, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers


class EpitomeMiddleware(AgentMiddleware[Any, Any, Any]):
    """Keeps what the model is shown inside its window. Options are those of :class:`epitome.Session`."""

    def __init__(self, *, summarizer: Summarizers | None = None, **options: Unpack[Options]) -> None:
        super().__init__()
        self.session = Session(format="openai-chat", summarizer=summarizer, **options)
        self._objects = Objects(Guard(self.session), said, made)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(request.override(messages=self._objects.fit(request.messages, _frame(request), _window(request))))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        messages = await self._objects.afit(request.messages, _frame(request), _window(request))
        return await handler(request.override(messages=messages))


def _frame(request: ModelRequest[Any]) -> dict[str, Any]:
    tools = [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in request.tools]
    model = getattr(request.model, "model_name", None) or getattr(request.model, "model", None)
    return {"model": model if isinstance(model, str) else None, "tools": tools, "system": request.system_prompt}


def _window(request: ModelRequest[Any]) -> int | None:
    """The window of the model, as LangChain knows it."""
    return (getattr(request.model, "profile", None) or {}).get("max_input_tokens")


CALLS = ("tool_use", "tool_call", "function_call")
"""Kinds of blocks that repeat what a message's ``tool_calls`` say."""

BLOCKS = ("text", "image_url", "input_audio", "file", "refusal", "thinking", "reasoning")
"""Kinds of blocks that are read."""

ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def said(message: AnyMessage) -> list[Message]:
    """A message as OpenAI's Chat Completions has it."""
    content = message.content
    if isinstance(content, list):
        blocks = content
        if isinstance(message, AIMessage) and message.tool_calls:
            blocks = [block for block in content if not _is_call(block)]
        message = message.model_copy(update={"content": [_known(message, block) for block in blocks]})
    written: Any = convert_to_openai_messages([message])
    for one in written:
        if one["role"] not in ROLES:
            one.update(role="user", **{INJECTED: True})
        for at, call in enumerate(one.get("tool_calls", ())):
            call[AT] = at
    return [plain(one) for one in written] if isinstance(content, list) else list(written)


def _known(message: AnyMessage, block: Any) -> Any:
    """A block; where OpenAI's format doesn't have it, as one of a kind that nobody reads."""
    if isinstance(block, dict) and block.get("type") in ("input_text", "output_text") and "text" in block:
        return {"type": "text", "text": block["text"]}
    try:
        written: Any = convert_to_openai_messages([message.model_copy(update={"content": [block]})])
    except Exception:  # ValueError, KeyError and others, by the kind of block
        return {"type": "block", "block": block}
    shown = [it for one in written if isinstance(one["content"], list) for it in one["content"]]
    is_read = all(isinstance(it, dict) and it.get("type") in BLOCKS for it in shown)
    return block if is_read else {"type": "block", "block": block}


def _is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in CALLS


def _own(message: AnyMessage, content: Any) -> Any:
    """The content, with the message's own blocks for those that are as they were."""
    if not isinstance(content, list) or not isinstance(message.content, list):
        return content
    said_as: list[tuple[Any, Any]] = []
    for block in message.content:
        [one, *_] = said(message.model_copy(update={"content": [block], "tool_calls": []}))
        its = one["content"]
        said_as += [(it, block) for it in ([{"type": "text", "text": its}] if isinstance(its, str) and its else its)]
    shown: list[Any] = []
    for one in content:
        at = next((at for at, (it, _) in enumerate(said_as) if it == one), None)
        shown.append(one if at is None else said_as.pop(at)[1])
    return shown


def made(message: AnyMessage | None, left: dict[int, Message]) -> AnyMessage:
    """The message that says what is left; what wasn't changed of it stays."""
    if message is None:
        new: list[Any] = convert_to_messages([left[0]])
        made_new: AnyMessage = new[0]
        return made_new
    before = said(message)
    # What is several messages elsewhere is shown whole.
    if len(before) != 1:
        return message
    [was], now = before, left[0]
    update: dict[str, Any] = {}
    if now.get("content") != was.get("content"):
        update["content"] = _own(message, now.get("content") or "")
    if isinstance(message, AIMessage) and now.get("tool_calls") != was.get("tool_calls"):
        left_calls = {
            call[AT]: (call["id"], json.loads(call["function"]["arguments"])) for call in now.get("tool_calls", ())
        }
        update["tool_calls"] = [
            {**call, "id": left_calls[at][0], "args": left_calls[at][1]}
            for at, call in enumerate(message.tool_calls)
            if at in left_calls
        ]
        update.setdefault("content", _without(message.content, was["tool_calls"], left_calls))
        update["additional_kwargs"] = {
            name: value for name, value in message.additional_kwargs.items() if name != "tool_calls"
        }
    if now.get("tool_call_id") != was.get("tool_call_id"):
        update["tool_call_id"] = now["tool_call_id"]
    return message.model_copy(update=update)


def _without(content: Any, calls: list[Message], left: dict[int, tuple[str, Any]]) -> Any:
    """The content, in which a provider's own blocks repeat the calls, with the ``left`` ones' ids and arguments."""
    if not isinstance(content, list):
        return content
    # Blocks of calls that share an id stand in the order of the calls.
    places = [(call["id"], call[AT]) for call in calls]
    blocks = []
    for block in content:
        is_call = _is_call(block)
        # OpenAI's Responses have an id of the block besides.
        key = "call_id" if is_call and "call_id" in block else "id"
        place = next((place for place in places if place[0] == block.get(key)), None) if is_call else None
        if not is_call or key not in block:
            blocks.append(block)
        elif place is not None:
            places.remove(place)
            if place[1] in left:
                number, arguments = left[place[1]]
                said = {name: value for name, value in block.items() if name != "partial_json"}
                if key == "call_id":
                    blocks.append(said | {key: number, "arguments": json.dumps(arguments)})
                else:
                    blocks.append(said | {key: number, "input" if "input" in block else "args": arguments})
    return blocks
