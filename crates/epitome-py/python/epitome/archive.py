"""Archives: what compactions hide, kept so that it can be found and had back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike, fsdecode
from typing import Any

from . import _native
from .errors import ArchiveError, InputError, OptionError, unicode


@dataclass(frozen=True)
class Hit:
    """A stretch of a message that was removed: ``entry`` is its index in the ``session``, ``id`` has all of it back."""

    id: str
    text: str
    session: str
    entry: int
    turn: int
    role: str
    origin: str
    tool: str | None
    time: str | None
    tokens: int


@dataclass(frozen=True)
class StoredSession:
    """A conversation in an archive."""

    session: str
    format: str
    entries: int
    views: int


class Archive:
    """An archive in a folder, which is made if there is none. The command line reads it, too (``epitome recall``).

    >>> import tempfile
    >>> archive = Archive(tempfile.mkdtemp() + "/archive")
    >>> archive.recall("which port")
    []
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        if not isinstance(folder, (str, bytes, PathLike)):
            raise OptionError(f"folder: a {type(folder).__name__} is no path", field="folder")
        path = fsdecode(folder)
        if "\0" in path:
            raise ArchiveError("folder: no path has a zero byte", field="folder")
        if not unicode(path):
            raise ArchiveError("folder: half a character (a lone surrogate) is in it", field="folder")
        self._native = _native.Archive(path)

    @classmethod
    def of(cls, archive: Archive | str | PathLike[str]) -> Archive:
        """``archive``, opened if it is a path."""
        if isinstance(archive, Archive):
            return archive
        if isinstance(archive, (str, PathLike)):
            return cls(archive)
        raise OptionError(f"archive: an Archive or its folder is wanted, not a {type(archive).__name__}", field="archive")

    def recall(self, words: str, *, limit: int = 10, tokens: int = 2000, session: str | None = None) -> list[Hit]:
        """What was removed and answers ``words`` (or has that id), best first, in at most ``tokens`` tokens."""
        for name, number in (("limit", limit), ("tokens", tokens)):
            if not isinstance(number, int) or not 0 <= number < 1 << 63:
                raise OptionError(f"{name}: {number!r} is no whole number from 0 on", field=name)
        of = None if session is None else _said("session", session)
        hits = json.loads(self._native.recall(_said("words", words), limit, tokens, of))
        return [Hit(**_known(hit, Hit)) for hit in hits]

    def restore(self, archived: str) -> bytes:
        """The bytes that a compaction was made from: by its outcome's ``archived``, or a session's newest."""
        session, _, view = _said("archived", archived).partition(".")
        if view and not (view.isascii() and view.isdigit() and int(view) < 1 << 64):
            raise ArchiveError(
                f"archived: {archived!r} names no view: SESSION or SESSION.NUMBER is wanted", field="archived"
            )
        return self._native.restore(session, int(view) if view else None)

    def sessions(self) -> list[StoredSession]:
        """What is in it."""
        return [StoredSession(**_known(one, StoredSession)) for one in json.loads(self._native.sessions())]

    def forget(self, session: str) -> None:
        """Erases a session: no byte is left of it."""
        self._native.forget(_said("session", session))


def recall(words: str, archive: Archive | str | PathLike[str], *, limit: int = 10, tokens: int = 2000) -> list[Hit]:
    """What compactions removed and answers ``words``. See :meth:`Archive.recall`."""
    return Archive.of(archive).recall(words, limit=limit, tokens=tokens)


def _said(name: str, text: str) -> str:
    if not isinstance(text, str):
        raise OptionError(f"{name}: a str is wanted, not a {type(text).__name__}", field=name)
    if not unicode(text):
        raise InputError(f"{name}: half a character (a lone surrogate) is in it", field=name)
    return text


def _known(told: dict[str, Any], kind: Any) -> dict[str, Any]:
    return {name: told.get(name) for name in kind.__dataclass_fields__}
