"""Loops on the clients of OpenAI, Anthropic and Google, whose own models stand among the messages; LiteLLM; Strands."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import epitome
import pytest
from epitome.adapters.clients import afitted, fitted

REFUSED = "connection to 127.0.0.1 refused: errno 111, as every other one on this machine was"


async def test_a_loop_on_openai() -> None:
    openai = pytest.importorskip("openai")
    import httpx

    shown: list[dict[str, Any]] = []

    def answer(request: Any) -> Any:
        import json

        body = json.loads(request.content)
        shown.append(body)
        call = {"id": f"call_{len(shown)}", "type": "function", "function": {"name": "connect", "arguments": '{"port":1}'}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "finish_reason": "tool_calls", "message": message, "logprobs": None}
        return httpx.Response(
            200, json={"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice]}
        )

    transport = httpx.MockTransport(answer)
    client = openai.OpenAI(api_key="k", base_url="http://scripted/v1", http_client=httpx.Client(transport=transport))
    session = epitome.Session(window=2_000)
    messages: list[Any] = [{"role": "user", "content": "Find the port."}]
    for _ in range(60):
        call = fitted(session, model="gpt-5", messages=messages)
        message = client.chat.completions.create(**call).choices[0].message
        messages.append(message)
        messages.append({"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": REFUSED})
    assert len(messages) == 121 and session.receipts
    for body in shown:
        assert epitome.count(body).tokens < 2_000 and epitome.check(body) == []
    assert fitted(session, messages=messages)["messages"][-2] is messages[-2]


def test_parts_of_google_are_one_message() -> None:
    types = pytest.importorskip("google.genai").types
    part, picture = types.Part(text="What is it?"), types.Part.from_bytes(data=b"\x89PNG", mime_type="image/png")
    for contents in ([part], [picture, part], [{"text": "What is it?"}], [part, "And this?"]):
        call = fitted(epitome.Session(window=8_000), model="gemini-2.5-pro", contents=contents)
        assert call["contents"] is contents


def test_texts_among_contents_are_a_users(caplog: pytest.LogCaptureFixture) -> None:
    types = pytest.importorskip("google.genai").types
    contents: list[Any] = ["Find the port. Never touch port 22."]
    for n in range(150):
        contents.append(types.Content(role="model", parts=[types.Part(text=f"Port {n}: {REFUSED}")]))
        contents.append("Go on.")
    session = epitome.Session(window=2_000)
    shown = fitted(session, model="gemini-2.5-pro", contents=contents)["contents"]
    assert len(shown) < 150 and "Never touch port 22." in str(shown[0]) and shown[-2] is contents[-2]
    assert session.receipts[-1].data["human_messages"]["all"] == 151
    odd = {"model": "gemini-2.5-flash", "contents": [*contents, types.Part(text="And this?")]}
    with caplog.at_level("WARNING"):
        for _ in range(2):
            assert fitted(session, **odd) == odd
    assert [record.getMessage() for record in caplog.records if record.name == "epitome"] == [
        "a request of gemini-2.5-flash is sent as it is: contents[301]: a Part is no message, as others are"
    ]


def test_messages_may_be_an_iterator(caplog: pytest.LogCaptureFixture) -> None:
    messages = [{"role": "user", "content": f"And what does port {n} say?"} for n in range(300)]
    shown = fitted(epitome.Session(window=2_000), model="gpt-5", messages=iter(messages))["messages"]
    assert len(shown) < 300 and shown[-1] is messages[-1]
    given = iter(messages)
    with caplog.at_level("WARNING"):
        assert fitted(epitome.Session(window=2_000), model="gpt-4o", input=given)["input"] is given
    assert "no list" in caplog.text


async def test_a_loop_on_anthropic() -> None:
    anthropic = pytest.importorskip("anthropic")
    types = anthropic.types
    session = epitome.Session(model="claude-opus-4-5", window=3_000)
    messages: list[Any] = [{"role": "user", "content": "Find the port."}]
    for nth in range(60):
        call = await afitted(session, model="claude-opus-4-5", max_tokens=100, system="Be brief.", messages=messages)
        assert call["max_tokens"] == 100 and call["system"] == "Be brief."
        wire = {**call, "messages": [epitome.adapters.objects.plain(message) for message in call["messages"]]}  # type: ignore[attr-defined]
        assert epitome.count(wire).tokens < 3_000 and epitome.check(wire) == []
        use = types.ToolUseBlock(id=f"toolu_{nth}", name="connect", input={"port": nth}, type="tool_use")
        messages.append({"role": "assistant", "content": [types.TextBlock(text="Next.", type="text"), use]})
        result = {"type": "tool_result", "tool_use_id": use.id, "content": REFUSED}
        messages.append({"role": "user", "content": [result]})
    assert session.receipts and session.receipts[0].format == "anthropic"


def test_a_loop_on_google_genai() -> None:
    types = pytest.importorskip("google.genai.types")
    session = epitome.Session(window=2_000)
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text="Find the port.")])]
    for nth in range(60):
        call = fitted(session, model="gemini-3-pro", contents=contents)
        whole = [
            types.Content.model_validate(content) if isinstance(content, dict) else content for content in call["contents"]
        ]
        wire = [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in whole]
        assert epitome.count(wire, format="gemini").tokens < 2_000 and epitome.check(wire, format="gemini") == []
        said = types.FunctionCall(name="connect", args={"port": nth})
        contents.append(types.Content(role="model", parts=[types.Part(function_call=said, thought_signature=b"\x00\xff")]))
        answer = types.FunctionResponse(name="connect", response={"result": REFUSED})
        contents.append(types.Content(role="user", parts=[types.Part(function_response=answer)]))
    assert session.receipts and session.receipts[0].format == "gemini"
    assert fitted(session, contents=contents)["contents"][-1] is contents[-1]


def test_a_call_without_messages_is_refused() -> None:
    with pytest.raises(epitome.InputError, match="a list of messages is wanted"):
        fitted(epitome.Session(window=1_000), model="m", prompt="x")


async def test_litellm_is_kept_inside_its_window() -> None:
    litellm = pytest.importorskip("litellm")
    from epitome.adapters.litellm import EpitomeLogger

    logger = EpitomeLogger(window=2_000)
    data = {"model": "gpt-5", "messages": [{"role": "user", "content": f"What does port {n} say now?"} for n in range(200)]}
    sent = await logger.async_pre_call_hook(None, None, data, "completion")
    assert len(sent["messages"]) < 200 and sent["messages"][-1] is data["messages"][-1] and sent["model"] == "gpt-5"
    image = {"model": "dall-e-3", "prompt": "a port"}
    assert await logger.async_pre_call_hook(None, None, image, "image_generation") is image
    assert issubclass(EpitomeLogger, litellm.integrations.custom_logger.CustomLogger)


def test_strands_is_kept_inside_its_window(tmp_path: Any) -> None:
    pytest.importorskip("strands")
    from epitome.adapters.strands import EpitomeConversationManager
    from strands import Agent
    from strands.models import Model
    from strands.types.exceptions import ContextWindowOverflowException

    class Scripted(Model):
        def __init__(self) -> None:
            self.shown: list[Any] = []

        def update_config(self, **_: Any) -> None: ...
        def get_config(self) -> Any:
            return {}

        def structured_output(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        async def stream(self, messages: Any, *_: Any, **__: Any) -> Any:
            self.shown.append([dict(message) for message in messages])
            if len(self.shown) == 5:
                raise ContextWindowOverflowException("too long")
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "It refused the connection, as all of the others did."}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}

    archive = epitome.Archive(tmp_path / "archive")
    manager = EpitomeConversationManager(window=2_000, archive=archive)
    model = Scripted()
    agent = Agent(model=model, conversation_manager=manager, callback_handler=None)
    for turn in range(60):
        agent(f"And what does port {turn} of the server say when it is asked for its name?")
    # What overflowed was compacted as far as that went, and what was due landed.
    assert [one.outcome for one in manager.receipts][-1] == "target" and len(manager.receipts) >= 2
    assert manager.removed_message_count > 0
    assert epitome.count(agent.messages, format="bedrock").tokens < 2_000
    assert epitome.check(agent.messages, format="bedrock", excluding=["bedrock/extra-member"]) == []
    assert archive.recall("port 7 of the server")
    agent.messages[:] = agent.messages[-2:]
    with pytest.raises(ContextWindowOverflowException):
        manager.reduce_context(agent, ContextWindowOverflowException("too long"))


async def test_adk_is_kept_inside_its_window() -> None:
    pytest.importorskip("google.adk")
    from epitome.adapters.google import EpitomePlugin
    from google.adk.agents import Agent
    from google.adk.apps import App
    from google.adk.models import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    class Scripted(BaseLlm):
        model: str = "scripted"
        shown: list[Any] = []  # noqa: RUF012

        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            self.shown.append(list(llm_request.contents))
            if len(self.shown) < 60:
                call = types.FunctionCall(name="connect", args={"port": 8000 + len(self.shown)})
                part = types.Part(function_call=call, thought_signature=b"\x00\xff")
            else:
                part = types.Part(text="Found it.")
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    def connect(port: int) -> str:
        """Connects to a port."""
        return REFUSED

    model, plugin = Scripted(shown=[]), EpitomePlugin(window=2_000)
    agent = Agent(name="finder", model=model, instruction="Be brief.", tools=[connect])
    runner = InMemoryRunner(app=App(name="finder", root_agent=agent, plugins=[plugin]))
    await runner.run_debug("Find the port.", quiet=True)
    assert len(model.shown) == 60 and len(plugin.session.receipts) >= 2
    for contents in model.shown:
        wire = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in contents]
        assert epitome.count(wire, format="gemini").tokens < 2_000 and epitome.check(wire, format="gemini") == []


def test_crewai_is_kept_inside_its_window() -> None:
    hooks = pytest.importorskip("crewai.hooks")
    from epitome.adapters.crewai import EpitomeHook

    hook = EpitomeHook(window=2_000)
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Find the port.", "files": {}},
    ]
    first = list(messages)
    for nth in range(60):
        call = {"id": f"c{nth}", "type": "function", "function": {"name": "connect", "arguments": f'{{"port":{nth}}}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call], "raw_tool_call_parts": [object()]})
        messages.append({"role": "tool", "tool_call_id": f"c{nth}", "content": REFUSED})
        hook(hooks.LLMCallHookContext(messages=messages))
        wire = [
            {name: value for name, value in one.items() if name not in ("files", "raw_tool_call_parts")} for one in messages
        ]
        assert epitome.count(wire).tokens < 2_000 and epitome.check(wire, format="openai-chat") == []
    assert hook.receipts and messages[0] is first[0] and messages[1] is first[1]
    assert "raw_tool_call_parts" in messages[-2]
    for model, is_smaller in (("openai/gpt-4o", True), ("my-own", False)):
        context = hooks.LLMCallHookContext(messages=[{"role": "user", "content": "Look. " * 500}] * 500)
        context.llm = SimpleNamespace(model=model)
        EpitomeHook()(context)
        assert (len(context.messages) < 500) == is_smaller


def test_images_of_smolagents_count_and_leave_a_mark() -> None:
    smolagents: Any = pytest.importorskip("smolagents")
    from epitome.adapters.smolagents import EpitomeModel
    from PIL import Image

    def message(role: str, *content: Any) -> Any:
        blocks = [
            {"type": "text", "text": one} if isinstance(one, str) else {"type": "image", "image": one} for one in content
        ]
        return smolagents.ChatMessage(smolagents.MessageRole(role), blocks)

    class Under(smolagents.Model):  # type: ignore[misc]
        pass

    large = EpitomeModel(Under(model_id="gpt-5"))
    large.shown([message("user", "Look.", Image.new("RGB", (2000, 2000)))] * 30)
    assert large.session.looked is not None and large.session.looked.tokens > 30 * 500

    pictures = [Image.new("RGB", (64, 64), (nth, 0, 0)) for nth in range(41)]
    messages = [message("user", "Task", pictures[40])]
    for nth in range(20):
        call = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": {"n": nth}}}]
        messages.append(message("tool-call", f"Calling tools:\n{call}"))
        messages.append(message("tool-response", "Observation:\n" + "refused\n" * 200, pictures[nth]))
        messages.append(message("user", f"Look at this, number {nth}.", pictures[20 + nth]))
    for strategies in ("media", "excerpts", "outputs", "ladder"):
        options: Any = {"target": "40%", "strategies": strategies, "trigger": lambda sizes: "long"}
        shown = EpitomeModel(Under(model_id="gpt-5"), **options).shown(messages)
        for one in shown:
            same = [was for was in messages if was is one]
            was = next((was for was in messages if was.role == one.role and was.content[0] == one.content[0]), None)
            images = [block["image"] for block in one.content if block["type"] == "image"]
            assert all(any(image is picture for picture in pictures) for image in images)
            if not same and not images and (was is not None or one.role == smolagents.MessageRole.TOOL_RESPONSE):
                assert "image" in str(one.content), one.content


def test_smolagents_are_kept_inside_their_window() -> None:
    smolagents: Any = pytest.importorskip("smolagents")
    from epitome.adapters.smolagents import EpitomeModel, groups, said

    class Scripted(smolagents.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(model_id="scripted")
            self.shown: list[Any] = []

        def generate(self, messages: Any, *more: Any, **how: Any) -> Any:
            self.shown.append(list(messages))
            nth = len(self.shown)
            name, arguments = ("connect", {"port": 8000 + nth}) if nth < 60 else ("final_answer", {"answer": "Found it."})
            function = smolagents.models.ChatMessageToolCallFunction(name=name, arguments=arguments)
            call = smolagents.models.ChatMessageToolCall(function=function, id=f"c{nth}", type="function")
            return smolagents.ChatMessage(smolagents.MessageRole.ASSISTANT, "Next.", tool_calls=[call])

    @smolagents.tool  # type: ignore[untyped-decorator, unused-ignore]
    def connect(port: int) -> str:
        """Connects to a port.

        Args:
            port: Which one.
        """
        return REFUSED

    under = Scripted()
    model = EpitomeModel(under, window=4_500, model="gpt-5")
    agent = smolagents.ToolCallingAgent(tools=[connect], model=model, max_steps=100, verbosity_level=0)
    assert agent.run("Find the port.") == "Found it."
    assert len(under.shown) == 60 and model.session.receipts and len(agent.memory.steps) == 61
    for messages in under.shown:
        wire = [one for group in groups(messages) for one in said(group)]
        assert epitome.count(wire).tokens < 4_500 and epitome.check(wire, format="openai-chat") == []
    # What tools said are nobody's words.
    human = model.session.receipts[0].data["human_messages"]
    assert human["all"] == 1 and human["shown"] == 1, human
