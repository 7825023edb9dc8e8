"""A conversation that stays inside a window."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from time import sleep
from typing import Any, TypeVar

from . import _native
from .compactor import Body, Options, Unpack, places, prepared
from .errors import CompactionError, OptionError
from .receipt import Receipt
from .summary import Summarizers, adrive, chain, drive, threaded

Whole = TypeVar("Whole", bound=list[Any] | Body | bytes | str)
"""A list of messages, or a whole request. What comes out has the same form."""


WAIT = 0.01
"""Seconds between two looks at a conversation that another thread or task is compacting."""


RECEIPTS = 100
"""How many receipts are kept of compactions."""


@dataclass
class _Look:
    """A look at a session that somebody may be inside of."""

    session: int
    is_over: bool = False


class _Pending:
    """The compaction that a look began, until it is brought back.

    A task may be cancelled while a thread looks for it: what that begins is brought back, too.
    """

    def __init__(self, native: _native.Session) -> None:
        self._native = native
        self._lock = Lock()
        self._begun: _native.Begun | None = None
        self._is_left = False

    def look(self, request: _native.Request, window: int | None) -> tuple[Any, str, _native.Begun | None]:
        looked = self._native.look(request, window)
        with self._lock:
            self._begun = looked[2]
            is_left = self._is_left
        if is_left:
            self.leave()
        return looked

    def take(self) -> _native.Begun | None:
        """The compaction, for the one who brings it back."""
        with self._lock:
            begun, self._begun = self._begun, None
        return begun

    def leave(self) -> None:
        """Brings it back as one that failed, now or when it is begun."""
        with self._lock:
            self._is_left = True
        begun = self.take()
        if begun is not None:
            self._native.commit(begun)


_LOOKS: ContextVar[tuple[_Look, ...]] = ContextVar("_LOOKS", default=())
"""The looks that this thread or task is inside of, in the functions that they ask."""


def _waits(send: object, begun: object) -> bool:
    """Whether somebody else compacts the conversation, before which nothing is sent. Who takes too long is given up."""
    return send is None and begun is None


@dataclass(frozen=True)
class Look:
    """What a look at a conversation came to: whether it was compacted, why or why not, and its tokens as they are sent."""

    triggered: bool
    reason: str
    tokens: int
    entries: int


class Session:
    """Keeps conversations inside their model's window, request by request.

    It compacts when ``trigger`` fires (by default at 80 % of the window) and lands at 30 % of the window, or at ``target``.
    Between two compactions what is sent only grows at its end, so that the provider's prompt cache keeps working.

    >>> session = Session(window=2_000, counter="o200k")
    >>> session.append({"role": "user", "content": "Find the port."})
    >>> for n in range(100):
    ...     session.append({"role": "assistant", "content": f"I tried port {n}, which was refused as the others were."})
    ...     session.append({"role": "user", "content": "Go on."})
    >>> len(session.messages), len(session.view()) < 100, session.looked.triggered
    (201, True, True)
    """

    def __init__(
        self,
        messages: Iterable[Mapping[str, Any]] = (),
        *,
        request: Mapping[str, Any] | None = None,
        format: str | None = None,
        summarizer: Summarizers | None = None,
        **options: Unpack[Options],
    ) -> None:
        if not _is_list(messages):
            raise OptionError(f"messages: a {type(messages).__name__} isn't a list of messages", field="messages")
        if request is not None and not isinstance(request, Mapping):
            raise OptionError(f"request: a {type(request).__name__} is no request: a dict is wanted", field="request")
        self._request = dict(request or {})
        lists = [key for key in ("input", "contents") if key in self._request]
        self._key = lists[0] if lists else "messages"
        first = self._request.get(self._key) or ()
        if not _is_list(first):
            raise OptionError(f"request: its {self._key} aren't a list of messages", field="request")
        self.messages: list[Mapping[str, Any]] = [*first, *messages]
        """All that was said, with the messages of ``request`` first."""
        self.looked: Look | None = None
        """What the last look came to."""
        self.receipts: deque[Receipt] = deque(maxlen=RECEIPTS)
        """What each of the newest 100 compactions did, the newest last."""
        self._format = format
        self._summarizers = chain(summarizer)
        named = [(one.name, one.window) for one in self._summarizers]
        self._native = _native.Session(_native.Compactor(prepared(options), named))

    def append(self, *messages: Mapping[str, Any]) -> None:
        """Adds messages at the end."""
        self.messages.extend(messages)

    def view(self) -> list[Any]:
        """The messages to send now; where it is time, they are compacted first.

        With ``request``, tools and system prompt count too. What is added meanwhile is in the next view.
        """
        return self._list(self.fit(self._whole()))

    async def aview(self) -> list[Any]:
        """The same without blocking the event loop."""
        return self._list(await self.afit(self._whole()))

    def _whole(self) -> Any:
        # A copy: other threads may add messages meanwhile.
        messages = list(self.messages)
        return {**self._request, self._key: messages} if self._request else messages

    def _list(self, whole: Any) -> list[Any]:
        messages: list[Any] = whole[self._key] if self._request else whole
        return messages

    def fit(self, messages: Whole, *, window: int | None = None, injected: Sequence[int] = ()) -> Whole:
        """What to send of ``messages``, all that was said in a conversation so far: a list, or a whole request.

        The conversation is known again by what it says, so that one session may be asked for several. Each request is
        counted for its own model, if none was named. ``window`` is that of the model where nothing else says it.
        ``injected`` are the places of messages of the user's role that no person wrote.
        """
        with self._looking(window):
            request = _native.Request(messages, self._format, places(injected))
            with self._given_back() as pending:
                send, stats, begun = pending.look(request, window)
                while _waits(send, begun):
                    sleep(WAIT)
                    send, stats, begun = pending.look(request, window)
                if begun is not None:
                    drive(begun.compaction, self._summarizers)
                sent: Whole = self._sent(request, window, send, stats, pending)
            return sent

    async def afit(self, messages: Whole, *, window: int | None = None, injected: Sequence[int] = ()) -> Whole:
        """The same without blocking the event loop; summarizers may be async."""
        import asyncio

        with self._looking(window):
            request = await threaded(_native.Request, messages, self._format, places(injected))
            with self._given_back() as pending:
                send, stats, begun = await threaded(pending.look, request, window)
                while _waits(send, begun):
                    await asyncio.sleep(WAIT)
                    send, stats, begun = await threaded(pending.look, request, window)
                if begun is not None:
                    await adrive(begun.compaction, self._summarizers)
                sent: Whole = await threaded(self._sent, request, window, send, stats, pending)
            return sent

    @contextmanager
    def _looking(self, window: int | None) -> Iterator[None]:
        """Around a look: a function that it asks would wait for itself if it looked, too."""
        if window is not None and (not isinstance(window, int) or not 0 < window < 1 << 64):
            raise OptionError(f"window: {window!r} isn't a number of tokens, from 1", field="window")
        within = [look for look in _LOOKS.get() if not look.is_over]
        if any(look.session == id(self) for look in within):
            raise CompactionError("a session is asked by its own counter, trigger, strategy or summarizer")
        look = _Look(id(self))
        _LOOKS.set((*within, look))
        try:
            yield
        finally:
            # What was begun meanwhile has a copy of the variable, and goes on.
            look.is_over = True

    @contextmanager
    def _given_back(self) -> Iterator[_Pending]:
        """A compaction that ends with an exception is brought back as one that failed: the next look may begin another."""
        pending = _Pending(self._native)
        try:
            yield pending
        except BaseException:
            pending.leave()
            raise

    def _sent(self, request: _native.Request, window: int | None, send: Any, stats: str, pending: _Pending) -> Any:
        begun = pending.take()
        adopted = begun is not None and self._native.commit(begun)
        if begun is not None:
            self.receipts.append(Receipt.from_json(begun.compaction.outcome()[1]))
        if send is None or adopted:
            send, stats, _ = self._native.show(request, window)
        told = json.loads(stats)
        after = told["after"]
        reason = begun.cause if begun is not None else told["reason"]
        self.looked = Look(adopted, reason, after["tokens"], after["entries"])
        return send


def _is_list(messages: object) -> bool:
    return isinstance(messages, Iterable) and not isinstance(messages, (str, bytes, Mapping))
