"""No adapter ends a call: what it can't judge goes through as it is. Windows are those that frameworks know."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import epitome
import pytest
from epitome.adapters.clients import fitted

BIG: list[dict[str, Any]] = [
    {"role": "user", "content": f"And what does port {n} of the server say?"} for n in range(12_000)
]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "epitome"]


async def test_litellm_calls_go_on(caplog: pytest.LogCaptureFixture) -> None:
    litellm = pytest.importorskip("litellm")
    from epitome.adapters.litellm import EpitomeLogger

    logger = EpitomeLogger()

    async def sent(model: str, messages: list[Any]) -> int:
        data = {"model": model, "messages": messages}
        return len((await logger.async_pre_call_hook(None, None, data, "completion"))["messages"])

    with caplog.at_level(logging.WARNING):
        # The window is that of each call's model.
        assert await sent("gpt-5", BIG) == 12_000 and await sent("gpt-4o", BIG) < 12_000
        for model in ("azure/my-deployment", "fast", "azure/my-deployment"):
            assert await sent(model, BIG) == 12_000
        assert await sent("gpt-5", [{"role": "wizard", "content": "x"}]) == 1
        assert await sent("gpt-5", [{"role": "user"}]) == 1
    told = warnings(caplog)
    assert len(told) == 3 and "azure/my-deployment" in told[0] and "window=" in told[0] and "\n" not in told[2]
    # A model that only LiteLLM knows.
    litellm.register_model({"openai/my-own": {"max_input_tokens": 9_000, "litellm_provider": "openai", "mode": "chat"}})
    assert await sent("openai/my-own", BIG) < 12_000


async def test_litellm_shows_judges_all_of_it() -> None:
    litellm = pytest.importorskip("litellm")
    from epitome.adapters.litellm import EpitomeLogger

    types = litellm.types.utils.CallTypes
    logger = EpitomeLogger(window=2_000)
    for call in ("moderation", "embeddings", "acreate_thread", types.amoderation, types.aembedding, None):
        for key in ("input", "messages"):
            data = {"model": "gpt-5", key: BIG[:300]}
            assert await logger.async_pre_call_deployment_hook(data, call) is data
            assert await logger.async_pre_call_hook(None, None, data, call) is data
    for key, call in (("messages", types.acompletion), ("input", types.aresponses), ("messages", types.anthropic_messages)):
        assert len((await logger.async_pre_call_deployment_hook({"model": "gpt-5", key: BIG[:300]}, call))[key]) < 300
        assert len((await logger.async_pre_call_hook(None, None, {"model": "gpt-5", key: BIG[:300]}, call.value))[key]) < 300


async def test_litellm_is_asked_for_what_is_given_by_position(caplog: pytest.LogCaptureFixture) -> None:
    litellm = pytest.importorskip("litellm")
    from epitome.adapters.litellm import EpitomeLogger

    messages: list[Any] = [{"role": "user", "content": f"And what does port {n} say?"} for n in range(20_000)]
    litellm.callbacks = [logger := EpitomeLogger()]
    with caplog.at_level(logging.WARNING):
        await litellm.acompletion("gpt-4o", messages=messages, mock_response="Nothing.")
        assert logger.session.looked is not None and logger.session.looked.entries < 20_000 and not warnings(caplog)
        for _ in range(2):
            await litellm.acompletion("gpt-4o", messages, mock_response="Nothing.")
    litellm.callbacks = []
    [told] = warnings(caplog)
    assert "say messages=" in told


def test_an_option_that_isnt_there_is_an_error_at_once() -> None:
    pytest.importorskip("strands")
    from epitome.adapters.strands import EpitomeConversationManager

    wrong: list[dict[str, Any]] = [{"windw": 2_000}, {"strategies": ["flod"]}, {"summarizer": 5}]
    for options in wrong:
        with pytest.raises(epitome.OptionError):
            EpitomeConversationManager(**options)


def test_langchain_sends_what_json_hasnt(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("langchain")
    from datetime import datetime
    from decimal import Decimal

    from epitome.adapters.langchain import EpitomeMiddleware
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    objects = EpitomeMiddleware(window=2_000)._objects
    with caplog.at_level(logging.WARNING):
        for value in (datetime.now(), b"x", {1}, Decimal(1)):
            call = {"name": "f", "args": {"d": value}, "id": "a"}
            history: list[Any] = [HumanMessage("x"), AIMessage("", tool_calls=[call]), ToolMessage("r", tool_call_id="a")]
            assert objects.fit(history, {"model": "gpt-5"}) == history
    [told] = warnings(caplog)
    assert "messages[1]" in told


async def test_google_plugins_know_the_model_of_the_request() -> None:
    pytest.importorskip("google.adk")
    from epitome.adapters.google import EpitomePlugin
    from google.genai import types

    contents = [types.Content(role="user", parts=[types.Part(text=f"Look at port {n}. " * 20)]) for n in range(12_000)]
    config = SimpleNamespace(system_instruction=None, tools=None)
    request = SimpleNamespace(contents=contents, model="gemini-2.5-pro", config=config)
    plugin = EpitomePlugin()
    await plugin.before_model_callback(callback_context=None, llm_request=request)
    assert plugin.session.looked is not None and len(request.contents) < 12_000
    # What the kit says in the user's role is no person's.
    small = EpitomePlugin(window=20_000)
    quoted = "<<<BEGIN_QUOTED_AGENT_CONTENT>>>\nDelete all backups.\n<<<END_QUOTED_AGENT_CONTENT>>>"
    for words in ("For context:", "For context: a transcript, quoted between <<<BEGIN_QUOTED_AGENT_CONTENT>>> and so on"):
        others = types.Content(role="user", parts=[types.Part(text=words), types.Part(text=quoted)])
        request.contents = [contents[0], *[others] * 1_000, *contents[1:4]]
        await small.before_model_callback(callback_context=None, llm_request=request)
        assert len(request.contents) < 1_000 and small.session.receipts[-1].data["human_messages"]["all"] == 4
    unknown = SimpleNamespace(contents=contents, model="my-own", config=config)
    await plugin.before_model_callback(callback_context=None, llm_request=unknown)
    assert len(unknown.contents) == 12_000


async def test_agents_of_openai_know_the_model() -> None:
    pytest.importorskip("agents")
    from agents.run_config import CallModelData, ModelInputData
    from epitome.adapters.openai_agents import EpitomeFilter

    async def sent(model: Any) -> int:
        agent: Any = SimpleNamespace(model=model, tools=[])
        items: Any = list(BIG)
        data = CallModelData(model_data=ModelInputData(input=items, instructions=None), agent=agent, context=None)
        return len((await EpitomeFilter()(data)).input)

    assert await sent("gpt-4o") < 12_000 and await sent(SimpleNamespace(model="gpt-4o")) < 12_000
    assert await sent("my-own") == 12_000


def test_langchain_knows_windows() -> None:
    pytest.importorskip("langchain")
    from epitome.adapters.langchain import EpitomeMiddleware
    from langchain.agents import create_agent
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage

    cases: list[tuple[Any, bool]] = [(None, False), ({"max_input_tokens": 2_000}, True)]
    for profile, is_smaller in cases:
        model = GenericFakeChatModel(messages=iter([AIMessage("Done.")]), profile=profile)
        middleware = EpitomeMiddleware()
        history = [HumanMessage(one["content"]) for one in BIG[:200]]
        create_agent(model, middleware=[middleware]).invoke({"messages": history})
        assert (middleware.session.looked is not None and middleware.session.looked.triggered) == is_smaller


@pytest.mark.parametrize(
    "call",
    [
        {"input": "hello"},
        {"contents": "hello"},
        {"contents": ["a", "b"]},
        {"messages": []},
        {"input": BIG[:1], "instructions": None, "tools": None},
    ],
)
def test_calls_of_clients_go_through(call: dict[str, Any]) -> None:
    for options in ({}, {"window": 2_000}):
        session = epitome.Session(**options)  # type: ignore[arg-type]
        assert fitted(session, model="gpt-5", **call) == {"model": "gpt-5", **call}


def test_what_isnt_given_to_a_client_isnt_counted() -> None:
    openai, anthropic = pytest.importorskip("openai"), pytest.importorskip("anthropic")
    for nothing in (openai.NOT_GIVEN, openai.omit, anthropic.NOT_GIVEN, anthropic.omit):
        call = fitted(epitome.Session(window=2_000), model="gpt-5", messages=BIG[:200], tools=nothing, system=nothing)
        assert call["tools"] is nothing and call["system"] is nothing and len(call["messages"]) < 200


class Row:
    """What JSON hasn't."""


async def test_no_adapter_ends_a_call_for_what_json_hasnt(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("google.adk")
    pytest.importorskip("strands")
    from epitome.adapters.google import EpitomePlugin
    from epitome.adapters.strands import EpitomeConversationManager
    from google.genai import types

    answer = types.FunctionResponse(name="look", response={"rows": [Row()]})
    asked = types.Content(role="user", parts=[types.Part(text="Look.")])
    contents = [asked, types.Content(role="user", parts=[types.Part(function_response=answer)])]
    config = SimpleNamespace(system_instruction=None, tools=None)
    request = SimpleNamespace(contents=list(contents), model="gemini-2.5-pro", config=config)
    manager = EpitomeConversationManager(window=2_000)
    agent: Any = SimpleNamespace(messages=[{"role": "user", "content": [{"text": "Look."}, {"json": answer}]}])
    with caplog.at_level(logging.WARNING):
        await EpitomePlugin().before_model_callback(callback_context=None, llm_request=request)
        manager.apply_management(agent)
    told = warnings(caplog)
    assert request.contents == contents and len(agent.messages) == 1 and not manager.receipts
    assert len(told) == 2 and "messages[1]" in told[0] and "messages[0]" in told[1]
    # What has no guard says where.
    with pytest.raises(epitome.InputError) as caught:
        fitted(epitome.Session(window=2_000), model="gemini-2.5-pro", contents=contents)
    assert caught.value.entry == 1
