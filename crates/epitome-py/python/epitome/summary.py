"""Summarizers: who is asked, and what."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, Union

from .errors import NoSummary, OptionError, unicode

if TYPE_CHECKING:
    from . import _native


@dataclass(frozen=True)
class SummaryRequest:
    """What a summarizer is asked for.

    ``prompt`` is all of it as one message for a model: the summary ``so_far``, the fenced ``transcript``, and the
    ``instruction`` last. ``max_tokens`` is the most that the answer may have.
    """

    prompt: str
    instruction: str
    transcript: str
    so_far: str
    max_tokens: int
    reason: str | None


@dataclass(frozen=True)
class Summary:
    """A summary, and the tokens that it took."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


Result = TypeVar("Result")

Answer = Union[str, Summary]
"""What a summarizer returns."""

SummaryFunction = Callable[[SummaryRequest], Answer | Awaitable[Answer]]
"""A function that is asked for a summary; it may be async for :func:`epitome.acompact`."""


@dataclass(frozen=True)
class Summarizer:
    """A function under a name, for a model with a window of so many tokens: a longer history is given to it in parts."""

    call: SummaryFunction
    name: str = ""
    window: int | None = None


Summarizers = Union[SummaryFunction, Summarizer, Sequence[SummaryFunction | Summarizer]]
"""Who is asked for summaries, in order."""


def chain(summarizers: Summarizers | None) -> tuple[Summarizer, ...]:
    """The summarizers, each under a name of its own."""
    if summarizers is None:
        return ()
    given = list(summarizers) if isinstance(summarizers, Sequence) else [summarizers]
    named: list[Summarizer] = []
    for one in given:
        one = one if isinstance(one, Summarizer) else Summarizer(one)
        if not callable(one.call):
            raise OptionError(f"summarizer: {one.call!r} can't be called", field="summarizer")
        name = one.name or getattr(one.call, "__name__", type(one.call).__name__)
        taken = {other.name for other in named}
        number = 2
        while name in taken:
            name, number = f"{name.rstrip('0123456789').rstrip('-')}-{number}", number + 1
        named.append(Summarizer(one.call, name, one.window))
    return tuple(named)


def drive(compaction: _native.Compaction, summarizers: Sequence[Summarizer]) -> None:
    """Runs a compaction to its end."""
    try:
        while (asks := compaction.run()) is not None:
            for number, nth, request, prompt in asks:
                try:
                    answer = summarizers[nth].call(_request(request, prompt))
                except NoSummary as none:
                    compaction.fail(number, str(none))
                    continue
                if isinstance(answer, Awaitable):
                    if isinstance(answer, Coroutine):
                        answer.close()
                    name = summarizers[nth].name
                    raise OptionError(f"summarizer: {name} is async, so await `acompact`", field="summarizer")
                _supply(compaction, number, answer)
    except BaseException:
        compaction.cancel()
        raise


async def adrive(compaction: _native.Compaction, summarizers: Sequence[Summarizer]) -> None:
    """The same beside other tasks: the engine works in a thread, async summarizers on the loop."""
    import asyncio

    try:
        while (asks := await threaded(compaction.run)) is not None:
            tasks = [
                asyncio.ensure_future(_ask(compaction, number, summarizers[nth], _request(request, prompt)))
                for number, nth, request, prompt in asks
            ]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
    except BaseException:
        compaction.cancel()
        raise


async def _ask(compaction: _native.Compaction, number: int, summarizer: Summarizer, request: SummaryRequest) -> None:
    import asyncio

    try:
        if asyncio.iscoroutinefunction(summarizer.call):
            answer = await summarizer.call(request)
        else:
            answer = await threaded(summarizer.call, request)
            if isinstance(answer, Awaitable):
                answer = await answer
    except NoSummary as none:
        compaction.fail(number, str(none))
        return
    await threaded(_supply, compaction, number, answer)


async def threaded(call: Callable[..., Result], *words: object) -> Result:
    """``call`` in a thread. No future carries ``StopIteration``: as in any coroutine it becomes a ``RuntimeError``."""
    import asyncio

    def within() -> Result:
        try:
            return call(*words)
        except StopIteration as error:
            raise RuntimeError("a function raised StopIteration") from error

    return await asyncio.to_thread(within)


def _request(text: str, prompt: str) -> SummaryRequest:
    told = json.loads(text)
    return SummaryRequest(
        prompt=prompt,
        instruction=told["instruction"],
        transcript=told["transcript"],
        so_far=told["so_far"],
        max_tokens=told["max_tokens"],
        reason=told.get("reason"),
    )


def _supply(compaction: _native.Compaction, number: int, answer: object) -> None:
    if isinstance(answer, str):
        answer = Summary(answer)
    if not isinstance(answer, Summary):
        raise OptionError(f"summarizer: it returned a {type(answer).__name__}, not a str or Summary", field="summarizer")
    if not isinstance(answer.text, str) or not unicode(answer.text):
        raise OptionError("summarizer: the text of a Summary is a str of whole characters", field="summarizer")
    for tokens in (answer.input_tokens, answer.output_tokens):
        if not isinstance(tokens, int) or not 0 <= tokens < 1 << 64:
            raise OptionError(f"summarizer: {tokens!r} isn't a number of tokens", field="summarizer")
    compaction.supply(number, answer.text, answer.input_tokens, answer.output_tokens)
