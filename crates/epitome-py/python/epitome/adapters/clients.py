"""Loops on the plain clients of OpenAI, Anthropic and Google: one function around the keyword arguments of a call.

>>> from epitome import Session
>>> from epitome.adapters.clients import fitted
>>> session = Session(window=2_000)
>>> messages = [{"role": "user", "content": f"And what does port {port} of the server say?"} for port in range(150)]
>>> call = fitted(session, model="gpt-5", messages=messages, temperature=0)
>>> call["model"], call["temperature"], len(call["messages"]) < 150
('gpt-5', 0, True)

Then ``client.chat.completions.create(**call)``. So it is with ``client.responses.create`` (``input=``),
``client.messages.create`` (Anthropic's) and ``client.models.generate_content`` (``contents=``). What these clients
answer may be put among the messages as it is. A call that has no list of messages goes through as it is: ``input="hello"``.
So does one in which something else stands among messages, with a warning in the log ``epitome``.
"""

from __future__ import annotations

from collections import UserList, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import InputError
from ..session import Session
from .guard import Unjudged
from .objects import Message, Models

BESIDES = ("model", "system", "instructions", "systemInstruction", "tools", "max_tokens", "thinking")


LISTS = (Iterator, deque, UserList)
"""What OpenAI's and Anthropic's clients take for a list in ``messages``."""

_UNJUDGED = Unjudged()
"""Warns of calls whose messages can't be read."""


def fitted(session: Session, **call: Any) -> dict[str, Any]:
    """The keyword arguments ``call``, with no more messages than fit."""
    key, call = _listed(call)
    return {**call, key: Models(session, _maker(key)).fit(_whole(key, call), BESIDES, key)[key]} if key else call


async def afitted(session: Session, **call: Any) -> dict[str, Any]:
    """The same without blocking the event loop."""
    key, call = _listed(call)
    return {**call, key: (await Models(session, _maker(key)).afit(_whole(key, call), BESIDES, key))[key]} if key else call


def _whole(key: str, call: dict[str, Any]) -> dict[str, Any]:
    """The call with what counts of Google's configuration."""
    if key != "contents" or call.get("config") is None:
        return call
    from .google import frame

    return {**call, **frame(call["config"])}


def _maker(key: str) -> Callable[[Message], Any]:
    """What makes a message of the client's own."""
    if key != "contents":
        return lambda message: message
    from .google import content

    return content


def _listed(call: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Which argument is the list of messages; none where what is sent is a text, or texts, or one message."""
    given = [key for key in ("messages", "input", "contents") if key in call]
    if not given:
        raise InputError("a list of messages is wanted: messages=, input= or contents=", field="messages")
    for key in given:
        if key == "messages" and isinstance(call[key], LISTS):
            call = {**call, key: list(call[key])}
        if isinstance(call[key], (list, tuple)):
            return _among(key, call)
        if isinstance(call[key], LISTS):
            _tell(call, f"{key}: a {type(call[key]).__name__} is no list")
    return None, call


def _among(key: str, call: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """The same for a call with a list, which may hold the parts of one message."""
    messages = call[key]
    if not any(_is_message(key, one) for one in messages):
        return None if messages else key, call
    if key == "contents":
        # A text among contents is a user's to Google's client, too.
        messages = [{"role": "user", "parts": [{"text": one}]} if isinstance(one, str) else one for one in messages]
    odd = next((at for at, one in enumerate(messages) if not _is_message(key, one)), None)
    if odd is not None:
        _tell(call, f"{key}[{odd}]: a {type(messages[odd]).__name__} is no message, as others are")
        return None, call
    return key, {**call, key: messages}


def _tell(call: dict[str, Any], what: str) -> None:
    """Warns that a call goes through as it is, though it may be too long."""
    _UNJUDGED.tell(InputError(what), str(call.get("model") or ""))


def _is_message(key: str, one: object) -> bool:
    """Whether it is a message. A list of parts is one message to Google's client."""
    if key == "contents":
        return "parts" in one if isinstance(one, Mapping) else hasattr(one, "parts")
    return isinstance(one, Mapping) or hasattr(one, "model_dump")
