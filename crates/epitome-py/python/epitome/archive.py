"""Archives: what compactions hide, kept so that it can be found and had back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from . import _native


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
        self._native = _native.Archive(fspath(folder))

    def recall(self, words: str, *, limit: int = 10, tokens: int = 2000, session: str | None = None) -> list[Hit]:
        """What was removed and answers ``words`` (or has that id), best first, in at most ``tokens`` tokens."""
        hits = json.loads(self._native.recall(words, limit, tokens, session))
        return [Hit(**_known(hit, Hit)) for hit in hits]

    def restore(self, archived: str) -> bytes:
        """The bytes that a compaction was made from: by its outcome's ``archived``, or a session's newest."""
        session, _, view = archived.partition(".")
        return self._native.restore(session, int(view) if view else None)

    def sessions(self) -> list[StoredSession]:
        """What is in it."""
        return [StoredSession(**_known(one, StoredSession)) for one in json.loads(self._native.sessions())]

    def forget(self, session: str) -> None:
        """Erases a session: no byte is left of it."""
        self._native.forget(session)


def recall(words: str, archive: Archive | str | PathLike[str], *, limit: int = 10, tokens: int = 2000) -> list[Hit]:
    """What compactions removed and answers ``words``. See :meth:`Archive.recall`."""
    opened = archive if isinstance(archive, Archive) else Archive(archive)
    return opened.recall(words, limit=limit, tokens=tokens)


def _known(told: dict[str, Any], kind: Any) -> dict[str, Any]:
    return {name: told.get(name) for name in kind.__dataclass_fields__}
