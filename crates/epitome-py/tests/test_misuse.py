"""What is wrong is an exception of the package that names the argument; what changes meanwhile is seen."""

from __future__ import annotations

import asyncio
import threading
import time
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import epitome
import pytest
from epitome import Compactor, Edit, Part, Summary

from .sessions import long_session

HALF = "\ud800"
FAR = Part(1 << 20, 0, "text", "user", "human", "", "x", 1)
LIST: list[Any] = []
LIST.append(LIST)


def strategy(answer: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: epitome.compact(long_session(), target="30%", strategies=[answer])


def summarizer(answer: Any) -> Callable[[], Any]:
    return lambda: epitome.compact(long_session(), target="30%", summarizer=lambda request: answer)


def archive(ask: Callable[[epitome.Archive], Any]) -> Callable[[Path], Any]:
    return lambda folder: ask(epitome.Archive(folder / "archive"))


CASES: list[tuple[str, type[epitome.EpitomeError], Callable[..., Any]]] = [
    ("strategies", epitome.OptionError, strategy(lambda context: None)),
    ("strategies", epitome.OptionError, strategy(lambda context: 5)),
    ("strategies", epitome.OptionError, strategy(lambda context: [5])),
    ("strategies", epitome.OptionError, strategy(lambda context: [Edit(context.parts[0], HALF)])),
    ("strategies", epitome.OptionError, strategy(lambda context: [Edit(context.parts[0], 5)])),  # type: ignore[arg-type]
    ("strategies", epitome.OptionError, strategy(lambda context: [Edit(None, "x")])),  # type: ignore[arg-type]
    ("strategies", epitome.OptionError, strategy(lambda context: [Edit(FAR, "x")])),
    ("summarizer", epitome.OptionError, summarizer(Summary(None))),  # type: ignore[arg-type]
    ("summarizer", epitome.OptionError, summarizer(Summary("x", "y"))),  # type: ignore[arg-type]
    ("summarizer", epitome.OptionError, summarizer(Summary("x", -1))),
    ("summarizer", epitome.OptionError, summarizer(HALF)),
    ("archived", epitome.ArchiveError, archive(lambda it: it.restore("x.y"))),
    ("archived", epitome.ArchiveError, archive(lambda it: it.restore("x.-1"))),
    ("archived", epitome.OptionError, archive(lambda it: it.restore(None))),  # type: ignore[arg-type]
    ("words", epitome.InputError, archive(lambda it: it.recall(HALF))),
    ("words", epitome.OptionError, archive(lambda it: it.recall(None))),  # type: ignore[arg-type]
    ("limit", epitome.OptionError, archive(lambda it: it.recall("port", limit=-1))),
    ("tokens", epitome.OptionError, archive(lambda it: it.recall("port", tokens=-1))),
    ("folder", epitome.OptionError, lambda: epitome.Archive(3)),  # type: ignore[arg-type]
    ("folder", epitome.ArchiveError, lambda: epitome.Archive("a\0b")),
    ("archive", epitome.OptionError, lambda: epitome.compact(long_session(), archive=3)),  # type: ignore[arg-type]
    ("to", epitome.OptionError, lambda: epitome.convert(long_session(), None)),  # type: ignore[arg-type]
    ("target", epitome.OptionError, lambda: epitome.compact(long_session(), target=-1)),
    ("pins", epitome.OptionError, lambda: epitome.compact(long_session(), pins=[-1])),
    ("keep_recent", epitome.OptionError, lambda: epitome.compact(long_session(), keep_recent=-1)),
    ("pins", epitome.OptionError, lambda: epitome.compact(long_session(), pins=[""])),
    ("format", epitome.OptionError, lambda: epitome.compact(long_session(), format=5)),  # type: ignore[arg-type]
    ("format", epitome.InputError, lambda: epitome.compact(long_session(), format="chat")),
    ("excluding", epitome.OptionError, lambda: epitome.check(long_session(), excluding=None)),  # type: ignore[arg-type]
    ("excluding", epitome.OptionError, lambda: epitome.repair(long_session(), excluding=[5])),  # type: ignore[list-item]
    ("to", epitome.OptionError, lambda: epitome.convert(long_session(), f"anthropic:{HALF}")),
    ("session", epitome.OptionError, archive(lambda it: it.recall("x", session=5))),  # type: ignore[arg-type]
    ("session", epitome.InputError, archive(lambda it: it.recall("x", session=HALF))),
    ("folder", epitome.ArchiveError, lambda: epitome.compact(long_session(), archive=f"/tmp/{HALF}")),
    ("messages", epitome.OptionError, lambda: epitome.Session(None)),  # type: ignore[arg-type]
    ("request", epitome.OptionError, lambda: epitome.Session(request="x")),  # type: ignore[arg-type]
    ("request", epitome.OptionError, lambda: epitome.Session(request={"input": "Go."})),
    ("window", epitome.OptionError, lambda: epitome.Session().fit(long_session(), window="1k")),  # type: ignore[arg-type]
    ("window", epitome.OptionError, lambda: epitome.Session().fit(long_session(), window=-1)),
    ("window", epitome.OptionError, lambda: epitome.Session().fit(long_session(), window=0)),
    ("window", epitome.OptionError, lambda: epitome.Session().fit(long_session(), window=1 << 70)),
    ("injected", epitome.OptionError, lambda: epitome.Session().fit(long_session(), injected=[-1])),
    ("target", epitome.OptionError, lambda: epitome.compact(long_session(), target=20.5)),  # type: ignore[arg-type]
    ("format", epitome.InputError, lambda: epitome.Receipt.from_json('{"checkpoint": null}')),
    # Before any call.
    ("model", epitome.OptionError, lambda: epitome.Session(model="nobody-knows-it")),
]


@pytest.mark.parametrize(("field", "kind", "ask"), CASES)
def test_what_is_wrong_is_named(field: str, kind: type[epitome.EpitomeError], ask: Any, tmp_path: Path) -> None:
    with pytest.raises(kind) as caught:
        ask(tmp_path) if ask.__qualname__.startswith("archive.") else ask()
    assert type(caught.value) is kind and caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ") and not any(
        word in str(caught.value) for word in ("variant", "conversion", "integer")
    )


CHAT = [
    {"role": "user", "content": "Never touch port 22."},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "connect", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": "refused"},
    {"role": "user", "content": "Go on."},
]
GEMINI = [{"role": "user", "parts": [{"text": "Never touch port 22."}]}, {"role": "model", "parts": [{"text": "Yes."}]}]
CLAUDE = [
    {"role": "user", "content": [{"type": "text", "text": "Never touch port 22."}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "connect", "input": {}}]},
]


@pytest.mark.parametrize(
    ("messages", "format", "entry", "field"),
    [
        (CHAT, "gemini", 0, "parts"),
        (CHAT, "anthropic", 1, None),
        (CHAT, "bedrock", 1, None),
        (CHAT, "openai-responses", 1, None),
        (GEMINI, "openai-chat", 0, "content"),
        (GEMINI, "anthropic", 0, "content"),
        (GEMINI, "bedrock", 0, "content"),
        (CLAUDE, "gemini", 0, "parts"),
        (CLAUDE, "openai-chat", 1, None),
        (CLAUDE, "bedrock", 1, None),
        ([CHAT[0], "Never push to main."], "openai-chat", 1, None),
        ([CHAT[0], [CHAT[0]]], "openai-chat", 1, None),
        ([CHAT[0], None], "openai-chat", 1, None),
        ([CHAT[0], {"role": "User", "content": "x"}], "openai-chat", 1, "role"),
    ],
)
def test_messages_of_another_format_than_was_said_are_refused(
    messages: list[Any], format: str, entry: int, field: str | None
) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: epitome.compact(messages, target="20k", format=format),
        lambda: epitome.Session(messages, window=9_000, format=format).view(),
    ]
    for call in calls:
        with pytest.raises(epitome.InputError) as caught:
            call()
        assert (caught.value.entry, caught.value.field) == (entry, field)
        assert str(caught.value).startswith(f"messages[{entry}]")
    # What is wrong with them is for `check` to say.
    assert epitome.check(messages, format=format)


def test_a_request_that_names_its_model_may_say_what_is_new_but_no_words_are_lost() -> None:
    new = {"model": "gpt-5", "messages": [CHAT[0], {"role": "narrator", "content": "x"}]}
    assert epitome.compact(new, target="20k") == new
    for lost in ("Never push to main.", {"role": "user", "parts": [{"text": "x"}]}):
        with pytest.raises(epitome.InputError) as caught:
            epitome.compact({"model": "gpt-5", "messages": [CHAT[0], lost]}, target="20k")
        assert caught.value.entry == 1


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock"])
@pytest.mark.parametrize("words", ['{"port": 80', "[1, 2]", '{"port":1},"name":"rm_rf"', "connect", ""])
def test_a_strategy_puts_nothing_but_arguments_into_calls(format: str, words: str) -> None:
    def edits(context: Any) -> list[Edit]:
        return [Edit(part, words) for part in context.parts if part.kind == "call"]

    request = epitome.convert(long_session(), format).request
    with pytest.raises(epitome.OptionError, match="edits the arguments") as caught:
        epitome.compact(request, target="20%", strategies=[edits], format=format)
    assert caught.value.field == "strategies"


def test_a_tool_that_takes_words_may_be_given_others() -> None:
    messages = long_session()
    for message in messages[1::2]:
        [call] = message["tool_calls"]
        message["tool_calls"] = [{"id": call["id"], "type": "custom", "custom": {"name": "sh", "input": "nmap " * 20}}]

    def brief(context: Any) -> list[Edit]:
        return [Edit(part, "nmap …") for part in context.parts if part.kind == "call"]

    smaller = epitome.compact(messages, target="90%", strategies=[brief])
    assert smaller[1]["tool_calls"][0]["custom"] == {"name": "sh", "input": "nmap …"} and epitome.check(smaller) == []


@pytest.mark.parametrize("kind", ["counter", "trigger", "strategies", "summarizer"])
@pytest.mark.parametrize("is_async", [False, True])
def test_a_session_isnt_asked_by_what_it_asks(kind: str, is_async: bool) -> None:
    def asks(_: Any) -> Any:
        if session:
            session[0].view()
        return {"counter": 1, "trigger": "due", "strategies": [], "summarizer": "x"}[kind]

    session: list[epitome.Session] = []
    options: Any = {kind: [asks, "fold"] if kind == "strategies" else asks}
    session.append(epitome.Session(long_session(), window=2_000, target=1_000, **options))
    for _ in range(2):
        with pytest.raises(epitome.CompactionError, match="asked by its own"):
            asyncio.run(session[0].aview()) if is_async else session[0].view()


def test_a_session_may_be_asked_by_another_one() -> None:
    inner = epitome.Session(long_session(), window=2_000)
    outer = epitome.Session(long_session(), window=2_000, trigger=lambda _: "due" if len(inner.view()) < 201 else None)
    assert len(outer.view()) < 201


def test_half_a_character_in_json_is_refused() -> None:
    with pytest.raises(epitome.InputError, match="half a character"):
        epitome.compact('[{"role": "user", "content": "\ud800"}]')


def test_a_list_in_itself_has_a_short_place() -> None:
    with pytest.raises(epitome.InputError) as caught:
        epitome.compact([{"role": "user", "content": LIST}])
    assert caught.value.entry == 0 and caught.value.field is not None
    assert caught.value.field.startswith("content[0]") and len(caught.value.field) < 100


def test_the_folder_of_an_archive_is_opened(tmp_path: Path) -> None:
    smaller = epitome.compact(long_session(), target="20%", archive=str(tmp_path / "archive"))
    assert len(smaller) < 201 and epitome.recall("port 8042", tmp_path / "archive")


def test_every_function_is_a_strategy_with_a_label() -> None:
    def refused(context: Any) -> list[Edit]:
        return [Edit(part, "refused") for part in context.parts if part.kind == "result"]

    def label(name: str) -> str:
        refused.__name__ = name
        [step] = epitome.plan(long_session(), target="70%", strategies=[refused]).steps
        return step.strategy

    assert label("a_function_with_a_rather_long_name_for_it") == "a-function-with-a-rather-long-n"
    assert [label(name) for name in ("große__", "<lambda>", "__", "ж")] == ["groe", "lambda", "python", "python"]


@pytest.mark.parametrize("change", ["pop", "append", "replace", "other list", "other model"])
def test_a_request_that_is_changed_meanwhile_is_refused(change: str) -> None:
    request: dict[str, Any] = {"model": "gpt-5", "messages": long_session()}
    calls = 0

    def counter(text: str) -> int:
        nonlocal calls
        calls += 1
        if calls == 50:
            if change == "pop":
                request["messages"].pop()
            elif change == "append":
                request["messages"].append({"role": "user", "content": "new"})
            elif change == "replace":
                request["messages"][200] = {"role": "tool", "tool_call_id": "call_8099", "content": "new"}
            elif change == "other list":
                request["messages"] = list(request["messages"])
            else:
                request["model"] = "gpt-4o"
        return len(text) // 4

    with pytest.raises(epitome.InputError, match="changed during the call") as caught:
        epitome.compact(request, target="30%", counter=counter)
    wanted = {"pop": 200, "append": 201, "replace": 200}.get(change)
    assert caught.value.entry == wanted


def test_messages_may_be_added_during_a_view() -> None:
    async def slow(_: Any) -> str:
        session.append({"role": "user", "content": "Also port 9000."})
        raise epitome.NoSummary("not now")

    session = epitome.Session(long_session(), window=2_000, summarizer=slow)
    asyncio.run(session.aview())
    assert session.receipts and session.messages[-1]["content"] == "Also port 9000."
    assert session.view()[-1]["content"] == "Also port 9000."

    session, done, errors = epitome.Session(window=2_000), threading.Event(), []

    def views() -> None:
        while not done.is_set():
            try:
                session.view()
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=views) for _ in range(2)]
    for thread in threads:
        thread.start()
    for message in long_session():
        session.append(message)
        time.sleep(0.0005)
    done.set()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_request_is_counted_for_its_own_model() -> None:
    sizes = {}
    for model in ("gpt-5", "claude-opus-4-5"):
        alone = epitome.Session(window=1_000_000)
        alone.fit({"model": model, "max_tokens": 5, "messages": long_session()})
        sizes[model] = alone.looked
    assert sizes["gpt-5"] != sizes["claude-opus-4-5"]
    session = epitome.Session(window=1_000_000)
    for model in ("gpt-5", "claude-opus-4-5", "gpt-5"):
        session.fit({"model": model, "max_tokens": 5, "messages": long_session()})
        assert session.looked == sizes[model]


def test_a_window_may_be_told_with_the_request() -> None:
    session = epitome.Session()
    request = {"model": "my-own", "messages": long_session()}
    with pytest.raises(epitome.OptionError, match="window=") as caught:
        session.fit(request)
    assert caught.value.field == "window"
    assert len(session.fit(request, window=2_000)["messages"]) < 201
    # Another one is asked for again, whatever came before.
    with pytest.raises(epitome.OptionError, match="window="):
        session.fit(request)


def test_stop_iteration_ends_a_task() -> None:
    def stop(_: Any) -> Any:
        raise StopIteration

    for option in ("trigger", "summarizer", "counter"):
        calls = 0

        def late(text: Any) -> int:
            nonlocal calls
            calls += 1
            return stop(text) if calls > 5 else len(text)

        options: dict[str, Any] = {"target": "30%", option: late if option == "counter" else stop}
        with pytest.raises(RuntimeError, match="StopIteration"):
            asyncio.run(asyncio.wait_for(epitome.acompact(long_session(), **options), 60))


def test_requests_are_read_in_a_thread(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from epitome import _native

    main, places, request = threading.current_thread(), [], _native.Request

    def read(*words: Any) -> Any:
        places.append(threading.current_thread() is main)
        return request(*words)

    monkeypatch.setattr(_native, "Request", read)
    asyncio.run(Compactor(target="20%").acompact(long_session(), archive=tmp_path / "archive"))
    asyncio.run(epitome.Session(window=2_000).afit(long_session()))
    assert places == [False, False]


def test_no_summary_isnt_the_fault_of_a_server() -> None:
    def none(_: Any) -> str:
        raise epitome.NoSummary("not today")

    receipt = Compactor(target="30%", summarizer=none).compact(long_session()).receipt
    why = receipt.data["summary"]["calls"][0]["why"]
    assert "not today" in why and "server" not in why


def test_a_session_keeps_its_newest_receipts() -> None:
    session = epitome.Session(window=600)
    for nth in range(110):
        session.fit([{"role": "user", "content": f"Conversation {nth}"}, *long_session(20)[1:]])
    assert len(session.receipts) == 100


def test_the_types_of_arguments_can_be_asked_for() -> None:
    functions = [epitome.compact, epitome.acompact, epitome.plan, epitome.count, epitome.stats, epitome.recall]
    for function in (*functions, epitome.Session.__init__, Compactor.__init__, Compactor.compact, epitome.Options):
        assert typing.get_type_hints(function)


def test_a_request_that_grows_while_it_is_read_is_read() -> None:
    messages, held, done = long_session(3_000), [dict[str, Any]()], threading.Event()

    def grow() -> None:
        nth = 0
        while not done.is_set():
            nth += 1
            held[0][f"metadata{nth}"] = nth
            time.sleep(0)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        for _ in range(30):
            held[0] = {"model": "gpt-5", "messages": messages, "metadata0": 0}
            epitome._native.Request(held[0])
    finally:
        done.set()
        thread.join()
