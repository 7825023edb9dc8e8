"""How adapters learn a window, and what becomes of a request that can't be judged: it goes through as it is.

The window is what the options say, else that of the model that they or the request name, else what the framework knows.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ..archive import Archive
from ..compactor import Compactor, Messages, Outcome
from ..errors import InputError, OptionError
from ..session import Session, Whole
from ..summary import Summarizers


class Fitting(Protocol):
    """What fits messages into a window: a session, or one with a guard."""

    def fit(self, messages: Whole, *, window: int | None = None, injected: Sequence[int] = ()) -> Whole: ...

    async def afit(self, messages: Whole, *, window: int | None = None, injected: Sequence[int] = ()) -> Whole: ...


@runtime_checkable
class Telling(Protocol):
    """What warns of a request that can't be judged, instead of ending the call of a framework."""

    def tell(self, error: InputError | OptionError, request: object) -> None: ...


class Guard:
    """A session that doesn't end the call of a framework.

    A request whose window nobody knows, or that can't be read, is sent as it is, with a warning. What functions of one's
    own raise reaches the caller.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._unjudged = Unjudged()

    def fit(self, messages: Whole, *, window: int | None = None, injected: Sequence[int] = ()) -> Whole:
        try:
            return self._session.fit(messages, window=window, injected=injected)
        except (InputError, OptionError) as error:
            self.tell(error, messages)
            return messages

    async def afit(self, messages: Whole, *, window: int | None = None, injected: Sequence[int] = ()) -> Whole:
        try:
            return await self._session.afit(messages, window=window, injected=injected)
        except (InputError, OptionError) as error:
            self.tell(error, messages)
            return messages

    def tell(self, error: InputError | OptionError, request: object) -> None:
        """Warns that a request is sent as it is."""
        self._unjudged.tell(error, _model(request))


class Compactors:
    """Compactors for frameworks whose messages are replaced: with the same options, for each window that one knows."""

    def __init__(self, summarizer: Summarizers | None, options: Mapping[str, Any]) -> None:
        self._summarizer = summarizer
        self._options = options
        # At once, so that an option that makes no sense is an error before any call.
        self._made: dict[int | None, Compactor] = {None: Compactor(summarizer=summarizer, **self._said())}
        self._unjudged = Unjudged()

    def _said(self, **more: Any) -> Any:
        return {**self._options, **more}

    def compact(
        self,
        messages: Messages,
        format: str,
        archive: Archive | None,
        window: int | None,
        injected: Sequence[int] = (),
    ) -> Outcome[Messages] | None:
        """The compaction of ``messages``; ``None`` where they can't be judged."""
        if any(self._options.get(name) is not None for name in ("window", "model")):
            window = None
        if window not in self._made:
            self._made[window] = Compactor(summarizer=self._summarizer, **self._said(window=window or None))
        try:
            return self._made[window].compact(messages, format=format, archive=archive, injected=injected)
        except (InputError, OptionError) as error:
            self.tell(error, messages)
            return None

    def tell(self, error: InputError | OptionError, request: object) -> None:
        """Warns that a request is sent as it is."""
        self._unjudged.tell(error, _model(request))


def _model(messages: object) -> str:
    return str(messages.get("model") or "") if isinstance(messages, Mapping) else ""


MOST = 100
"""Kinds of requests that are warned of: who writes the names of models may write any number."""


class Unjudged:
    """Warns in the log ``epitome`` of requests that are sent as they are: of each model and kind once."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def tell(self, error: InputError | OptionError, model: str) -> None:
        """Warns; where the ``error`` is about neither the window nor the messages, raises it."""
        if isinstance(error, OptionError) and error.field != "window":
            raise error
        kind = (model, type(error).__name__)
        if kind not in self._told and len(self._told) < MOST:
            self._told.add(kind)
            of = f" of {model}" if model else ""
            logging.getLogger("epitome").warning("a request%s is sent as it is: %s", of, str(error).partition("\n")[0])
