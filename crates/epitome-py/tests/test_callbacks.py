"""Counters, triggers, strategies and summarizers in Python; their exceptions are the caller's."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import epitome
import pytest
from epitome import Compactor, Edit, Measurements, StrategyContext, Summarizer, Summary, SummaryRequest

from .sessions import long_session

SUMMARY = """## Goal
Find the one that answers.
## Constraints
The user forbade to touch the port of SSH.
## Decisions
Try them in order, because none is more likely than another.
## State
Every attempt so far was refused.
## Next step
Go on with the one behind the last.
## Files
None was read.
## Errors and fixes
Connections were refused; there is no fix yet.
## Facts
All of it is on this machine.
"""


class Broken(Exception):
    pass


def broken(*_: Any) -> Any:
    raise Broken("on purpose")


def summed(outcome: epitome.Outcome[Any]) -> dict[str, Any]:
    summary: dict[str, Any] = outcome.receipt.data["summary"]
    return summary


def test_a_counter_counts() -> None:
    texts: list[str] = []

    def words(text: str) -> int:
        texts.append(text)
        return len(text.split())

    count = epitome.count([{"role": "user", "content": "one two three"}], counter=words)
    assert count.counter == "words" and count.basis == "exact" and "one two three" in texts
    assert epitome.count([{"role": "user", "content": "x"}], counter=lambda text: (1, 5)).basis == "estimated"


@pytest.mark.parametrize("answer", ["3", None, -1, 1.5, (1,), (1, "x")])
def test_a_counter_that_counts_nothing_is_named(answer: Any) -> None:
    with pytest.raises(epitome.OptionError) as caught:
        epitome.compact(long_session(), counter=lambda text: answer)
    assert caught.value.field == "counter"


def test_a_counter_that_failed_is_asked_again() -> None:
    failed = False

    def shaky(text: str) -> int:
        nonlocal failed
        if len(text) > 64 and not failed:
            failed = True
            raise Broken
        return len(text) // 4

    compactor = Compactor(target="20%", counter=shaky)
    with pytest.raises(Broken):
        compactor.compact(long_session())
    assert failed
    sure = Compactor(target="20%", counter=lambda text: len(text) // 4)
    assert compactor.plan(long_session()).before == sure.plan(long_session()).before


@pytest.mark.parametrize("what", ["counter", "trigger", "summarizer"])
def test_a_session_goes_on_after_an_exception(what: str) -> None:
    calls = 0

    def shaky(answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(asked: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == 3 or (what == "summarizer" and calls == 1):
                raise Broken
            return answer(asked)

        return call

    options: dict[str, Any] = {
        "counter": lambda text: len(text) // 4,
        "trigger": lambda sizes: "large" if sizes.tokens > 1_500 else None,
        "summarizer": lambda request: SUMMARY,
    }
    sure = epitome.Session(window=2_000, **options).fit(long_session())
    session = epitome.Session(window=2_000, **{**options, what: shaky(options[what])})
    with pytest.raises(Broken):
        for _ in range(3):
            session.fit(long_session())
    assert calls in (1, 3)
    assert session.fit(long_session()) == sure


def test_a_trigger_says_when() -> None:
    seen: list[Measurements] = []

    def often(sizes: Measurements) -> str | None:
        seen.append(sizes)
        return "often enough" if sizes.messages > 100 else None

    messages = long_session()
    outcome = Compactor(trigger=often, target="20%").compact(messages)
    assert outcome.receipt.triggered and outcome.receipt.reason == "often enough"
    assert seen[0].messages == 201 and seen[0].steps == 100 and seen[0].window is None
    few = Compactor(trigger=often).compact(messages[:3])
    assert few.receipt.outcome == "not-triggered" and few.messages == messages[:3]


def test_a_strategy_proposes_edits() -> None:
    def no_ports(context: StrategyContext) -> Iterable[Edit]:
        results = [part for part in context.parts if part.kind == "result" and part.tool == "connect"]
        return [Edit(part, "refused") for part in results]

    messages = long_session()
    outcome = Compactor(strategies=[no_ports], target="70%", stop="at-end").compact(messages)
    assert [step.strategy for step in outcome.receipt.steps] == ["no-ports"]
    assert outcome.messages[2]["content"] == "refused" and outcome.messages[1] is messages[1]
    both = Compactor(strategies=[no_ports, "fold"], target="20%").plan(messages)
    assert [step.strategy for step in both.steps] == ["no-ports", "fold"]


@pytest.mark.parametrize(
    "options",
    [{"counter": broken}, {"trigger": broken}, {"strategies": [broken]}, {"summarizer": broken}],
    ids=lambda options: next(iter(options)),
)
def test_what_a_callback_raises_reaches_the_caller(options: dict[str, Any]) -> None:
    with pytest.raises(Broken, match="on purpose"):
        epitome.compact(long_session(), target="20%", **options)
    with pytest.raises(Broken, match="on purpose"):
        asyncio.run(epitome.acompact(long_session(), target="20%", **options))
    if "summarizer" not in options:
        with pytest.raises(Broken, match="on purpose"):
            epitome.Session(window=1_000, **options).fit(long_session())
    # Nothing is left over for the next call on this thread.
    assert len(epitome.compact(long_session(), target="20%")) < 201


def test_a_summarizer_writes_the_summary() -> None:
    asked: list[SummaryRequest] = []

    def mine(request: SummaryRequest) -> Summary:
        asked.append(request)
        return Summary(SUMMARY, input_tokens=100, output_tokens=20)

    outcome = Compactor(target="30%", summarizer=mine, focus="the ports").compact(long_session())
    assert asked and "the ports" in asked[0].prompt and "errno 111" in asked[0].transcript
    assert summed(outcome)["by"] == "mine", summed(outcome)
    assert summed(outcome)["spent"]["input"] == 100


def test_the_next_summarizer_is_asked() -> None:
    def absent(_: SummaryRequest) -> str:
        raise epitome.NoSummary("not today")

    def mine(_: SummaryRequest) -> str:
        return SUMMARY

    outcome = Compactor(target="30%", summarizer=[absent, Summarizer(mine, window=100_000)]).compact(long_session())
    assert summed(outcome)["by"] == "mine" and "not today" in summed(outcome)["calls"][0]["why"]
    alone = Compactor(target="30%", summarizer=absent).compact(long_session())
    assert alone.receipt.outcome == "target" and summed(alone)["by"] is None
    with pytest.raises(epitome.CompactionError, match="not today"):
        epitome.compact(long_session(), target="30%", summarizer=absent, on_failure="error")


def test_an_async_summarizer_is_awaited() -> None:
    async def mine(_: SummaryRequest) -> str:
        await asyncio.sleep(0)
        return SUMMARY

    outcome = asyncio.run(Compactor(target="30%", summarizer=mine).acompact(long_session()))
    assert summed(outcome)["by"] == "mine"
    with pytest.raises(epitome.OptionError, match="acompact"):
        epitome.compact(long_session(), target="30%", summarizer=mine)
    with pytest.raises(epitome.OptionError, match="returned a int"):
        epitome.compact(long_session(), target="30%", summarizer=lambda request: 3)  # type: ignore[arg-type, return-value]


def test_what_a_look_began_for_a_cancelled_task_is_given_back() -> None:
    inside, goes_on = threading.Event(), threading.Event()

    def due(_: Measurements) -> str:
        inside.set()
        goes_on.wait(60)
        return "due"

    session = epitome.Session(window=2_000, target="30%", trigger=due)

    async def main() -> int:
        task = asyncio.create_task(session.afit(long_session()))
        await asyncio.to_thread(inside.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        goes_on.set()
        return len(await asyncio.wait_for(session.afit(long_session()), 30))

    assert asyncio.run(main()) < 201


def test_a_cancelled_task_leaves_all_as_it_was() -> None:
    began, ended = asyncio.Event(), []

    async def slow(_: SummaryRequest) -> str:
        began.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(True)
            raise
        return SUMMARY

    async def main() -> None:
        messages = long_session()
        task = asyncio.ensure_future(epitome.acompact(messages, target="30%", summarizer=slow))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == [True] and messages == long_session()

    asyncio.run(main())


def test_one_conversation_is_compacted_once() -> None:
    asked = 0

    def slow(_: SummaryRequest) -> str:
        nonlocal asked
        asked += 1
        time.sleep(0.2)
        return SUMMARY

    messages = long_session()
    session = epitome.Session(window=2_000, summarizer=slow)
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(session.fit, [messages] * 6))
    assert len(session.receipts) == 1 and asked == 1 and len(results[0]) < 201 and results == [results[0]] * 6

    async def main() -> None:
        tasks = [session.afit([*messages, {"role": "user", "content": "Go on." * 2_000}]) for _ in range(6)]
        views = await asyncio.gather(*tasks)
        assert views == [views[0]] * 6 and len(session.receipts) == 2

    asyncio.run(main())


def test_who_is_asked_and_asks_is_collected() -> None:
    class Owner:
        def __init__(self) -> None:
            options: dict[str, Any] = {"counter": self.count, "trigger": self.fires, "strategies": [self.edit]}
            self.compactor = Compactor(**options)
            self.session = epitome.Session(window=2_000, **options)

        def count(self, text: str) -> int:
            return len(text) // 4

        def fires(self, sizes: Measurements) -> str | None:
            return "long" if sizes.messages > 10 else None

        def edit(self, context: StrategyContext) -> list[Edit]:
            return [Edit(part, "refused") for part in context.parts if part.kind == "result"]

    owner = Owner()
    assert owner.compactor.compact(long_session()).receipt.triggered and owner.session.fit(long_session())
    gc.collect()
    # What is in use isn't collected.
    assert owner.compactor.compact(long_session()).receipt.triggered and owner.session.fit(long_session(120))
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_the_loop_goes_on_meanwhile() -> None:
    async def main() -> int:
        turns = 0
        task = asyncio.ensure_future(epitome.acompact(long_session(3000), target="20%", counter=slow))
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    def slow(text: str) -> int:
        time.sleep(0.0001)
        return len(text) // 4

    assert asyncio.run(main()) > 10


def test_other_threads_go_on_meanwhile() -> None:
    messages = long_session(2000)
    turns, done = 0, threading.Event()

    def work() -> None:
        epitome.compact(messages, target="20%")
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        turns += 1
        time.sleep(0)
    thread.join()
    assert turns > 1


def _forked(work: Callable[[], str]) -> str:
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=lambda: queue.put(work()))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    return str(queue.get())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_process_may_go_on(tmp_path: Path) -> None:
    messages = long_session()
    compactor, session = Compactor(target="20%"), epitome.Session(window=2_000)
    session.fit(messages)
    archive = epitome.Archive(tmp_path / "archive")
    compactor.compact(messages, archive=archive)
    assert _forked(lambda: str(len(compactor.compact(messages).messages))) == str(len(compactor.compact(messages).messages))
    assert _forked(lambda: str(len(session.fit(messages)))) == str(len(session.fit(messages)))

    def used() -> str:
        try:
            archive.recall("port")
        except epitome.ArchiveError as error:
            return str(error)
        return "it was used"

    assert "open it again after a fork" in _forked(used)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_session_that_was_in_use_at_a_fork_is_refused() -> None:
    began, goes_on = threading.Event(), threading.Event()

    def slow(text: str) -> int:
        if threading.current_thread() is not threading.main_thread():
            began.set()
            goes_on.wait(60)
        return len(text) // 4

    session = epitome.Session(window=2_000, counter=slow)
    session.fit(long_session(10))
    thread = threading.Thread(target=lambda: session.fit(long_session()))
    thread.start()
    assert began.wait(60)

    def used() -> str:
        try:
            session.fit(long_session(10))
        except epitome.CompactionError as error:
            return str(error)
        return "it was used"

    assert "make a new one here" in _forked(used)
    goes_on.set()
    thread.join()
