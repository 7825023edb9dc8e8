"""Loops on the clients of OpenAI, Anthropic and Google, whose own models stand among the messages, and LiteLLM."""

from __future__ import annotations

from typing import Any

import epitome
import pytest
from epitome.adapters.clients import afitted, fitted

from ..sessions import REFUSED


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
