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
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage, convert_to_messages, convert_to_openai_messages
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
    """A message as OpenAI's Chat Completions has it, for each of its parts."""
    return [_said(part) for part in _parts(message)]


def _parts(message: AnyMessage) -> list[AnyMessage]:
    """The results that stand as blocks in a message, as messages, and what it says besides."""
    if isinstance(message, AIMessage) or not isinstance(message.content, list):
        return [message]
    results: list[Any] = [block for block in message.content if _is_result(block)]
    besides = [block for block in message.content if not _is_result(block)]
    if not results:
        return [message]
    told = [ToolMessage(block.get("content") or "", tool_call_id=block["tool_use_id"]) for block in results]
    return [*told, message.model_copy(update={"content": besides})] if besides else [*told]


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result" and "tool_use_id" in block


def _said(message: AnyMessage) -> Message:
    content = message.content
    # Calls whose arguments are no JSON are sent, too, and answered.
    invalid = _invalid(message)
    if isinstance(content, list):
        blocks = content
        if isinstance(message, AIMessage) and (message.tool_calls or invalid):
            blocks = [block for block in content if not _is_call(block)]
        message = message.model_copy(update={"content": [_known(message, block) for block in blocks]})
    written: Any = convert_to_openai_messages([message])
    [one] = written
    if one["role"] not in ROLES:
        one.update(role="user", **{INJECTED: True})
    for call in invalid:
        function = {"name": call["name"] or "", "arguments": call["args"] or ""}
        one.setdefault("tool_calls", []).append({"type": "function", "id": call["id"], "function": function})
    for at, call in enumerate(one.get("tool_calls", ())):
        call[AT] = at
    shown: Message = plain(one) if isinstance(content, list) else one
    return shown


def _invalid(message: AnyMessage) -> list[Any]:
    """The calls whose arguments are no JSON, as far as they can be answered."""
    return [call for call in message.invalid_tool_calls if call["id"]] if isinstance(message, AIMessage) else []


def _known(message: AnyMessage, block: Any) -> Any:
    """A block; where OpenAI's format doesn't have it, as one of a kind that nobody reads."""
    if isinstance(block, dict) and block.get("type") in ("input_text", "output_text") and "text" in block:
        return {"type": "text", "text": block["text"]}
    if isinstance(block, dict) and block.get("type") == "tool_result":
        # It would be a message of its own.
        return {"type": "block", "block": block}
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
        its = _said(message.model_copy(update={"content": [block], "tool_calls": [], "invalid_tool_calls": []}))["content"]
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
    parts = _parts(message)
    if parts[0] is message:
        return _edited(message, left[0])
    shown: dict[int, Any] = {nth: _edited(part, left[nth]) for nth, part in enumerate(parts) if nth in left}
    results: list[Any] = [block for block in message.content if _is_result(block)]
    content: list[Any] = []
    for nth, block in enumerate(results):
        if nth in shown:
            number, words = shown[nth].tool_call_id, shown[nth].content
            is_same = words == parts[nth].content
            content.append({**block, "tool_use_id": number, **({} if is_same else {"content": words})})
    if len(results) in shown:
        its = shown[len(results)].content
        content += its if isinstance(its, list) else [{"type": "text", "text": its}]
    return message.model_copy(update={"content": content})


def _edited(message: AnyMessage, now: Message) -> AnyMessage:
    """A message that is one elsewhere, with what is left of it."""
    was = _said(message)
    update: dict[str, Any] = {}
    if now.get("content") != was.get("content"):
        update["content"] = _own(message, now.get("content") or "")
    if isinstance(message, AIMessage) and now.get("tool_calls") != was.get("tool_calls"):
        calls = {call[AT]: (call["id"], call["function"]["arguments"]) for call in now.get("tool_calls", ())}
        update["tool_calls"] = [
            {**call, "id": calls[at][0], "args": json.loads(calls[at][1])}
            for at, call in enumerate(message.tool_calls)
            if at in calls
        ]
        update["invalid_tool_calls"] = [
            {**call, "id": calls[at][0], "args": calls[at][1]}
            for at, call in enumerate(_invalid(message), len(message.tool_calls))
            if at in calls
        ]
        update.setdefault("content", _without(message.content, was["tool_calls"], calls))
        update["additional_kwargs"] = {
            name: value for name, value in message.additional_kwargs.items() if name != "tool_calls"
        }
    if now.get("tool_call_id") != was.get("tool_call_id"):
        update["tool_call_id"] = now["tool_call_id"]
    return message.model_copy(update=update)


def _without(content: Any, calls: list[Message], left: dict[int, tuple[str, str]]) -> Any:
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
                said = {name: value for name, value in block.items() if name != "partial_json"} | {key: number}
                if key == "call_id":
                    blocks.append(said | {"arguments": arguments})
                elif _is_json(arguments):
                    blocks.append(said | {"input" if "input" in block else "args": json.loads(arguments)})
                else:
                    blocks.append({**block, key: number})
    return blocks


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
