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
What stands in Google's ``config`` isn't counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import InputError
from ..session import Session
from .objects import Message, Models

BESIDES = ("model", "system", "instructions", "tools", "max_tokens", "thinking")


def fitted(session: Session, **call: Any) -> dict[str, Any]:
    """The keyword arguments ``call``, with no more messages than fit."""
    key = _key(call)
    return Models(session, _maker(key)).fit(call, BESIDES, key) if key else call


async def afitted(session: Session, **call: Any) -> dict[str, Any]:
    """The same without blocking the event loop."""
    key = _key(call)
    return await Models(session, _maker(key)).afit(call, BESIDES, key) if key else call


def _maker(key: str) -> Callable[[Message], Any]:
    """What makes a message of the client's own."""
    if key != "contents":
        return lambda message: message
    from .google import content

    return content


def _key(call: dict[str, Any]) -> str | None:
    """Which argument is the list of messages; none where what is sent is a text, or texts, or one message."""
    given = [key for key in ("messages", "input", "contents") if key in call]
    for key in given:
        if isinstance(call[key], (list, tuple)):
            return key if all(_is_message(key, one) for one in call[key]) else None
    if given:
        return None
    raise InputError("a list of messages is wanted: messages=, input= or contents=", field="messages")


def _is_message(key: str, one: object) -> bool:
    """Whether it is a message. A list of parts is one message to Google's client."""
    if key == "contents":
        return "parts" in one if isinstance(one, Mapping) else hasattr(one, "parts")
    return isinstance(one, Mapping) or hasattr(one, "model_dump")
