"""What can go wrong, as exceptions with fields."""

from __future__ import annotations


class EpitomeError(Exception):
    """What went wrong, and where.

    ``entry`` is the index of the message, ``field`` the path in it or the name of the option, ``rule`` the provider's rule;
    each is ``None`` where it isn't about one.
    """

    def __init__(self, message: str, *, entry: int | None = None, field: str | None = None, rule: str | None = None) -> None:
        super().__init__(message)
        self.entry = entry
        self.field = field
        self.rule = rule


class InputError(EpitomeError, ValueError):
    """The messages can't be read, or were changed during the call."""


class OptionError(EpitomeError, ValueError):
    """An option makes no sense; ``field`` names it."""


class RuleError(EpitomeError, ValueError):
    """The provider would refuse the request; ``rule`` names its rule."""


class CompactionError(EpitomeError, RuntimeError):
    """The compaction failed. Nothing was changed."""


class ArchiveError(EpitomeError, RuntimeError):
    """The archive can't be written or read, or has no such content."""


class NoSummary(Exception):
    """Raised by a summarizer that has no summary to give: ``on_failure`` says what happens then.

    Any other exception of a summarizer ends the compaction, and reaches its caller as it is.
    """


def unicode(text: str) -> bool:
    """Whether ``text`` is Unicode: no half of a character is in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
