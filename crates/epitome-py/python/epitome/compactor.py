"""Compacting messages."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypedDict, TypeVar, Union

from . import _native
from .archive import Archive
from .errors import OptionError
from .receipt import Receipt
from .strategy import Counter, Strategy, Trigger, asked
from .summary import Summarizer, Summarizers, adrive, chain, drive, threaded

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
else:
    # Python 3.10 has none; who asks for the types of a function's arguments finds a name there, too.
    Unpack = getattr(typing, "Unpack", typing.Optional)

Archives = Union[Archive, str, PathLike[str]]
"""An archive, or the folder of one."""


class Body(Protocol):
    """A dict, as type checkers know it: a ``TypedDict`` has both methods, too, and a ``Mapping`` hasn't."""

    def keys(self) -> Any: ...
    def __ior__(self, other: Any, /) -> Any: ...


Messages = TypeVar("Messages", bound=list[Any] | Body | bytes | str)
"""Messages: a list of dicts, a whole request in a dict, or JSON. What comes out has the same form.

A tuple is taken, too, and comes back as a list, as a ``bytearray`` does as ``bytes``: that isn't among the types. Other
sequences and mappings are refused.
"""


class Options(TypedDict, total=False):
    """How to compact. What isn't said is as on the command line, where each option has the same name.

    - ``target``: where to land: tokens (``20_000``, ``"20k"``) or a share of the input (``"25%"``, by default ``"30%"``);
      by default at most half of the window, too.
    - ``trigger``: when to compact: ``"80%"`` of the window, ``"120k"`` tokens, ``"100items"``; or a function.
    - ``keep_recent``: what stays verbatim: ``"10items"``, ``"4units"``, ``"5steps"``, ``"2turns"``, ``"8000tokens"``.
    - ``pins``: messages that stay: by words that they say, or by index.
    - ``preserved_tools``, ``read_only``: tools whose calls stay; tools whose calls change nothing.
    - ``strategies``: what is done, in order: names, tables of options, functions.
    - ``counter``: the name of a token counter (``"o200k"``, ``"claude"``), or a function; by default that of the model.
    - ``model``, ``window``: who reads it, and how much that takes; by default the request's own model.
    - ``focus``, ``instructions``, ``sections``, ``summary_tokens``: what summarizers are asked for.
    - ``on_failure``: what happens without a summary: ``"extractive"``, ``"skip"`` or ``"error"``.
    - ``recall_channel``: how the model can have back what it isn't shown; the checkpoint says so.
    """

    target: int | str
    trigger: str | Trigger
    keep_recent: int | str
    task: Literal["keep", "fold"]
    stop: Literal["at-target", "at-end"]
    counting: Literal["whole", "sampled"]
    pins: Sequence[str | int]
    preserved_tools: Sequence[str]
    read_only: Sequence[str]
    preset: str
    strategies: str | Mapping[str, Any] | Strategy | Sequence[str | Mapping[str, Any] | Strategy]
    counter: str | Counter
    model: str
    window: int | str
    focus: str
    instructions: Sequence[str]
    sections: Sequence[str]
    summary_tokens: int
    on_failure: Literal["extractive", "skip", "error"]
    recall_channel: str


@dataclass(frozen=True)
class Outcome(Generic[Messages]):
    """A compaction that is done.

    ``messages`` has the form of what was handed in; each message that wasn't changed is the same object. ``archived`` names
    the session and the view in the archive, if something was hidden.
    """

    messages: Messages
    receipt: Receipt
    archived: str | None = None

    def _repr_html_(self) -> str:
        return self.receipt._repr_html_()


class Compactor:
    """Compacts messages, always in the same way. It may be used by several threads at once.

    >>> compactor = Compactor(target=120, counter="o200k")
    >>> messages = [{"role": "user", "content": "Which port?"}] + [
    ...     {"role": role, "content": f"Attempt {n}: the port {n} was refused again, as it was before."}
    ...     for n in range(20) for role in ("assistant", "user")
    ... ]
    >>> outcome = compactor.compact(messages)
    >>> outcome.receipt.after.tokens < outcome.receipt.before.tokens
    True
    >>> outcome.messages[-1] is messages[-1]
    True
    """

    def __init__(self, *, summarizer: Summarizers | None = None, **options: Unpack[Options]) -> None:
        self._summarizers: tuple[Summarizer, ...] = chain(summarizer)
        self._native = _native.Compactor(prepared(options), [(one.name, one.window) for one in self._summarizers])

    def compact(
        self,
        messages: Messages,
        *,
        format: str | None = None,
        archive: Archives | None = None,
        injected: Sequence[int] = (),
    ) -> Outcome[Messages]:
        """Compacts ``messages``, and keeps what that hides in ``archive`` first. ``format`` is found if it isn't said.

        ``injected`` are the places of messages of the user's role that no person wrote.
        """
        compaction = self._begin(messages, format, archive, injected)
        drive(compaction, self._summarizers)
        return _done(compaction)

    async def acompact(
        self,
        messages: Messages,
        *,
        format: str | None = None,
        archive: Archives | None = None,
        injected: Sequence[int] = (),
    ) -> Outcome[Messages]:
        """The same without blocking the event loop; summarizers may be async. A cancelled task leaves all as it was."""
        compaction = await threaded(self._begin, messages, format, archive, injected)
        await adrive(compaction, self._summarizers)
        return await threaded(_done, compaction)

    def plan(self, messages: Messages, *, format: str | None = None) -> Receipt:
        """What :meth:`compact` would do."""
        return self.compact(messages, format=format).receipt

    def _begin(
        self, messages: Any, format: str | None, archive: Archives | None, injected: Sequence[int]
    ) -> _native.Compaction:
        opened = Archive.of(archive)._native if archive is not None else None
        return self._native.begin(_native.Request(messages, format, places(injected)), opened)


def compact(
    messages: Messages,
    *,
    format: str | None = None,
    archive: Archives | None = None,
    summarizer: Summarizers | None = None,
    **options: Unpack[Options],
) -> Messages:
    """A smaller version of ``messages`` that every provider accepts, in the same form. See :class:`Options`.

    >>> compact([{"role": "user", "content": "Fix the build."}], target="20k")
    [{'role': 'user', 'content': 'Fix the build.'}]

    :class:`Compactor` gives the receipt, too.
    """
    compactor = Compactor(summarizer=summarizer, **options)
    return compactor.compact(messages, format=format, archive=archive).messages


async def acompact(
    messages: Messages,
    *,
    format: str | None = None,
    archive: Archives | None = None,
    summarizer: Summarizers | None = None,
    **options: Unpack[Options],
) -> Messages:
    """:func:`compact` without blocking the event loop; ``summarizer`` may be async."""
    compactor = Compactor(summarizer=summarizer, **options)
    return (await compactor.acompact(messages, format=format, archive=archive)).messages


def plan(messages: Messages, *, format: str | None = None, **options: Unpack[Options]) -> Receipt:
    """What :func:`compact` would do, as a receipt.

    >>> plan([{"role": "user", "content": "Fix the build."}]).outcome
    'unreachable'
    >>> plan([{"role": "user", "content": "Fix the build."}], target="20k").outcome
    'nothing-to-do'
    """
    return Compactor(**options).plan(messages, format=format)


def prepared(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the native half takes them: functions of its own see dicts."""
    asks: dict[str, Callable[[Any], Any]] = asked
    return {name: asks[name](value) if name in asks else value for name, value in options.items()}


def places(injected: Sequence[int]) -> list[int]:
    """The places of messages, checked."""
    if not isinstance(injected, Sequence) or not all(isinstance(at, int) and 0 <= at < 1 << 63 for at in injected):
        raise OptionError(f"injected: {injected!r:.100} are no places of messages, from 0", field="injected")
    return list(injected)


def _done(compaction: _native.Compaction) -> Outcome[Any]:
    messages, receipt, kept = compaction.outcome()
    return Outcome(messages, Receipt.from_json(receipt), f"{kept[0]}.{kept[1]}" if kept else None)
