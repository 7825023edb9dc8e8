"""What smolagents' memory says in the user's role."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("smolagents")

from epitome.adapters.smolagents import EpitomeModel
from PIL import Image
from smolagents import ChatMessage, MessageRole, Model


class Scripted(Model):  # type: ignore[misc, unused-ignore]
    """A model whose answers nobody reads."""

    def generate(self, messages: Any, *more: Any, **how: Any) -> ChatMessage:
        return ChatMessage(MessageRole.ASSISTANT, "Done.")


def user(*content: Any) -> ChatMessage:
    blocks = [{"type": "text", "text": one} if isinstance(one, str) else {"type": "image", "image": one} for one in content]
    return ChatMessage(MessageRole.USER, blocks)


def test_roles_may_be_plain_strings() -> None:
    role: Any = "user"
    messages = [ChatMessage(role, f"And what does port {n} of the server say?") for n in range(300)]
    model = EpitomeModel(Scripted(), window=3_000)
    shown = model.shown(messages)
    assert len(shown) < 300 and shown[-1] is messages[-1]
    assert model.session.receipts[-1].data["human_messages"]["all"] == 300
    # What the library doesn't take is for it to say.
    odd: Any = [ChatMessage("wizard", "x")]  # type: ignore[arg-type, unused-ignore]
    assert model.shown(odd) == odd


def test_what_an_agent_says_to_itself_is_no_persons() -> None:
    picture = Image.new("RGB", (20, 20))
    first, second = user("New task:\nOnly read."), user("New task:\nNever delete b2.cfg.", picture)
    steps = [
        message
        for n in range(60)
        for message in (
            ChatMessage(MessageRole.ASSISTANT, f"I will read m{n}.py. " * 20),
            user("Now proceed and carry out this plan."),
            user(picture),
        )
    ]
    model = EpitomeModel(Scripted(), window=3_000)
    shown = model.shown([first, *steps, second, *steps])
    assert first in shown and second in shown and len(shown) < 100
    assert model.session.receipts[-1].data["human_messages"]["all"] == 2
    # Who speaks to a model without an agent is a person.
    model = EpitomeModel(Scripted(), window=3_000)
    model.shown([user(f"And what does port {n} of the server say?") for n in range(300)])
    assert model.session.receipts[-1].data["human_messages"]["all"] == 300
