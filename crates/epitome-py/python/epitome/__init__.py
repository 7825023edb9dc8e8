"""Keeps long-running LLM agents inside their context window.

>>> import epitome
>>> messages = [{"role": "user", "content": "Fix the build. Never push to main."}]
>>> epitome.compact(messages, target="20k") == messages  # small enough: nothing was done
True
"""

from ._native import VERSION as __version__
from .archive import Archive, Hit, StoredSession, recall
from .compactor import Compactor, Options, Outcome, acompact, compact, plan
from .errors import (
    ArchiveError,
    CompactionError,
    EpitomeError,
    InputError,
    NoSummary,
    OptionError,
    RuleError,
)
from .receipt import Checkpoint, Edited, Receipt, Size, Step
from .report import (
    Converted,
    Count,
    Finding,
    Mended,
    Repaired,
    Stats,
    check,
    convert,
    count,
    enforce,
    repair,
    stats,
)
from .session import Look, Session
from .strategy import Edit, Measurements, Part, StrategyContext
from .summary import Summarizer, Summary, SummaryRequest

__all__ = [
    "Archive",
    "ArchiveError",
    "Checkpoint",
    "CompactionError",
    "Compactor",
    "Converted",
    "Count",
    "Edit",
    "Edited",
    "EpitomeError",
    "Finding",
    "Hit",
    "InputError",
    "Look",
    "Measurements",
    "Mended",
    "NoSummary",
    "OptionError",
    "Options",
    "Outcome",
    "Part",
    "Receipt",
    "Repaired",
    "RuleError",
    "Session",
    "Size",
    "Stats",
    "Step",
    "StoredSession",
    "StrategyContext",
    "Summarizer",
    "Summary",
    "SummaryRequest",
    "__version__",
    "acompact",
    "check",
    "compact",
    "convert",
    "count",
    "enforce",
    "plan",
    "recall",
    "repair",
    "stats",
]
