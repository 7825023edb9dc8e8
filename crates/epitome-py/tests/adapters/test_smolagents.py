"""smolagents' messages there and back, and what its memory says in the user's role."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import epitome
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("smolagents")

from epitome.adapters.smolagents import EpitomeModel, groups, made, said
from PIL import Image
from smolagents import (
    ActionStep,
    ChatMessage,
    MessageRole,
    Model,
    PlanningStep,
    TaskStep,
    Timing,
    ToolCall,
    ToolCallingAgent,
    tool,
)
from smolagents.memory import SystemPromptStep
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, get_clean_message_list, tool_role_conversions
from smolagents.utils import AgentError

from ..sessions import REFUSED
from .drawn import arguments, check_places, histories, ids, long, strategies, targets, texts, words


class Scripted(Model):  # type: ignore[misc, unused-ignore]
    """A model whose answers nobody reads."""

    def generate(self, messages: Any, *more: Any, **how: Any) -> ChatMessage:
        return ChatMessage(MessageRole.ASSISTANT, "Done.")


def user(*content: Any) -> ChatMessage:
    blocks = [{"type": "text", "text": one} if isinstance(one, str) else {"type": "image", "image": one} for one in content]
    return ChatMessage(MessageRole.USER, blocks)


def test_images_of_smolagents_count_and_leave_a_mark() -> None:
    def message(role: str, *content: Any) -> Any:
        blocks = [
            {"type": "text", "text": one} if isinstance(one, str) else {"type": "image", "image": one} for one in content
        ]
        return ChatMessage(MessageRole(role), blocks)

    large = EpitomeModel(Scripted(model_id="gpt-5"))
    large.shown([message("user", "Look.", Image.new("RGB", (2000, 2000)))] * 30)
    assert large.session.looked is not None and large.session.looked.tokens > 30 * 500

    pictures = [Image.new("RGB", (64, 64), (nth, 0, 0)) for nth in range(41)]
    messages = [message("user", "Task", pictures[40])]
    for nth in range(20):
        call = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": {"n": nth}}}]
        messages.append(message("tool-call", f"Calling tools:\n{call}"))
        messages.append(message("tool-response", "Observation:\n" + "refused\n" * 200, pictures[nth]))
        messages.append(message("user", f"Look at this, number {nth}.", pictures[20 + nth]))
    for wanted in ("media", "excerpts", "outputs", "ladder"):
        options: Any = {"target": "40%", "strategies": wanted, "trigger": lambda sizes: "long"}
        shown = EpitomeModel(Scripted(model_id="gpt-5"), **options).shown(messages)
        for one in shown:
            same = [was for was in messages if was is one]
            was = next((was for was in messages if was.role == one.role and was.content[0] == one.content[0]), None)
            images = [block["image"] for block in one.content if block["type"] == "image"]
            assert all(any(image is picture for picture in pictures) for image in images)
            if not same and not images and (was is not None or one.role == MessageRole.TOOL_RESPONSE):
                assert "image" in str(one.content), one.content


def test_smolagents_are_kept_inside_their_window() -> None:
    class Calling(Model):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__(model_id="scripted")
            self.shown: list[Any] = []

        def generate(self, messages: Any, *more: Any, **how: Any) -> Any:
            self.shown.append(list(messages))
            nth = len(self.shown)
            name, arguments = ("connect", {"port": 8000 + nth}) if nth < 60 else ("final_answer", {"answer": "Found it."})
            function = ChatMessageToolCallFunction(name=name, arguments=arguments)
            call = ChatMessageToolCall(function=function, id=f"c{nth}", type="function")
            return ChatMessage(MessageRole.ASSISTANT, "Next.", tool_calls=[call])

    @tool  # type: ignore[untyped-decorator, unused-ignore]
    def connect(port: int) -> str:
        """Connects to a port.

        Args:
            port: Which one.
        """
        return REFUSED

    under = Calling()
    model = EpitomeModel(under, window=4_500, model="gpt-5")
    agent = ToolCallingAgent(tools=[connect], model=model, max_steps=100, verbosity_level=0)
    assert agent.run("Find the port.") == "Found it."
    assert len(under.shown) == 60 and model.session.receipts and len(agent.memory.steps) == 61
    for messages in under.shown:
        wire = [one for group in groups(messages) for one in said(group)]
        assert epitome.count(wire).tokens < 4_500 and epitome.check(wire, format="openai-chat") == []
    # What tools said are nobody's words.
    human = model.session.receipts[0].data["human_messages"]
    assert human["all"] == 1 and human["shown"] == 1, human


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


pictures = st.integers(0, 255).map(lambda red: Image.new("RGB", (64, 64), (red, 0, 0)))
given_to_tools: Any = arguments | texts | st.just({"set": {1}, "bytes": b"x"}) | st.just({1: (2, 1e999)})


class Silent:
    """A logger that an error asks for."""

    def log_error(self, message: str) -> None: ...


@st.composite
def turns(draw: st.DrawFn) -> list[ChatMessage]:
    """What a task and its steps leave in an agent's memory, and what one who speaks to a model writes by hand."""
    if draw(st.booleans()):
        raw = object()
        return [ChatMessage(MessageRole.USER, draw(words)), ChatMessage(MessageRole.ASSISTANT, draw(words), raw=raw)]
    messages = TaskStep(draw(words), draw(st.none() | st.lists(pictures, min_size=1, max_size=2))).to_messages()
    if draw(st.booleans()):
        plan = ChatMessage(MessageRole.ASSISTANT, "plan")
        messages += PlanningStep([], plan, draw(words), Timing(0.0)).to_messages()
    for nth in range(draw(st.integers(0, 3))):
        calls = [ToolCall("run", draw(given_to_tools), number) for number in ids(draw)]
        is_code = draw(st.booleans())
        step = ActionStep(
            nth,
            Timing(0.0),
            model_output=draw(st.none() | words),
            tool_calls=[ToolCall("python_interpreter", draw(words), "call_1")]
            if is_code
            else draw(st.just(calls) | st.none()),
            error=AgentError("bad\n" * 9, Silent()) if draw(st.integers(0, 3)) == 0 else None,  # type: ignore[arg-type, unused-ignore]
            observations=draw(st.none() | texts | st.just("line\n" * 300)),
            observations_images=draw(st.none() | st.lists(pictures, min_size=1, max_size=1)),
        )
        messages += step.to_messages()
    final = ActionStep(9, Timing(0.0), model_output=draw(words), observations=draw(texts))
    return [*messages, *final.to_messages(), ChatMessage(MessageRole.ASSISTANT, [{"type": "text", "text": draw(words)}])]


def blocks(message: ChatMessage) -> list[Any]:
    """The content of a message, as the library joins it with that of its neighbour."""
    return [{"type": "text", "text": message.content}] if isinstance(message.content, str) else message.content or []


@given(turns())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_messages_come_back_from_json(messages: list[ChatMessage]) -> None:
    for group in groups([*SystemPromptStep("Be brief.").to_messages(), *messages]):
        back = made(group, dict(enumerate(deepcopy(said(group)))))
        assert back.messages == [replace(one, content=blocks(one)) for one in group.messages]


@given(histories(turns()), targets, strategies)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_messages_are_kept_or_valid(messages: list[ChatMessage], target: str, wanted: str) -> None:
    system, newest = SystemPromptStep("Be brief.").to_messages(), TaskStep("And now?").to_messages()
    own = [*system, *messages, *newest]
    copies = [(message.role, deepcopy(message.content)) for message in own]
    model = EpitomeModel(Scripted(), trigger=long, target=target, strategies=wanted)
    shown = model.shown(own)
    assert len(model.session.receipts) == 1
    assert [(message.role, message.content) for message in own] == copies
    assert shown[0] is system[0] and shown[-1] is newest[0]
    blocks = [block for message in own if isinstance(message.content, list) for block in message.content]
    for message in check_places(own, shown):
        assert isinstance(message.content, list)
        for block in message.content:
            assert block in blocks or block.keys() == {"type", "text"}
    # The library joins neighbours of one role.
    assert get_clean_message_list(shown, tool_role_conversions, convert_images_to_image_urls=True)
    wire = [one for group in groups(shown) for one in said(group)]
    assert epitome.check(wire, format="openai-chat") == []


def test_tools_count() -> None:
    @tool  # type: ignore[untyped-decorator, unused-ignore]
    def connect(port: int) -> str:
        """Connects to a port.

        Args:
            port: Which one.
        """
        return "refused"

    connect.description = "Connects to a port. " * 100
    messages = TaskStep("Find the port.").to_messages()
    sizes = []
    for more, how in (((), {}), ((), {"tools_to_call_from": [connect]}), ((None, None, [connect]), {})):
        model = EpitomeModel(Scripted(model_id="gpt-5"))
        model.generate(messages, *more, **how)
        assert model.session.looked is not None
        sizes.append(model.session.looked.tokens)
    assert sizes[1] > sizes[0] + 400 and sizes[1] == sizes[2]
