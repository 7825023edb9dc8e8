"""What a compaction did, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import InputError


@dataclass(frozen=True)
class Size:
    """The size of a request. ``upper`` is the upper edge of the count's error; ``basis`` says where it comes from."""

    tokens: int
    upper: int
    basis: str
    bytes: int
    entries: int


@dataclass(frozen=True)
class Step:
    """What one strategy contributed."""

    strategy: str
    edits: int
    saved: int


@dataclass(frozen=True)
class Edited:
    """Entries ``first`` to ``last`` share a fate (``edit``, ``fold`` or ``drop``) and its reason."""

    first: int
    last: int
    fate: str
    reason: str
    saved: int


@dataclass(frozen=True)
class Checkpoint:
    """The checkpoint that was written, before the original message ``before_entry``."""

    id: str
    before_entry: int
    tokens: int
    human_messages: int
    human_messages_quoted: int


@dataclass(frozen=True)
class Receipt:
    """What a compaction did, or would do.

    ``outcome`` is ``target``, ``nothing-to-do``, ``not-triggered``, ``declined``, ``short`` or ``unreachable``.
    ``unmatched_pins`` are the pins that no message says. ``data`` is the whole receipt, as the command line writes it.
    """

    format: str
    model: str | None
    counter: str
    outcome: str
    triggered: bool
    reason: str
    target: int
    floor: int
    before: Size
    after: Size
    steps: tuple[Step, ...]
    edits: tuple[Edited, ...]
    checkpoint: Checkpoint | None
    kept_prefix: int
    fallbacks: tuple[str, ...]
    unmatched_pins: tuple[str, ...]
    data: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """The receipt that ``text`` is, as ``epitome compact --receipt`` writes it."""
        try:
            return cls._read(json.loads(text))
        except KeyError as error:
            raise InputError(f"{error.args[0]}: a receipt has it, and this hasn't", field=str(error.args[0])) from error
        except (TypeError, ValueError) as error:
            raise InputError(f"it isn't a receipt: {error}") from error

    @classmethod
    def _read(cls, data: Any) -> Receipt:
        checkpoint = data["checkpoint"]
        return cls(
            format=data["format"],
            model=data["model"],
            counter=data["counter"],
            outcome=data["outcome"],
            triggered=data["triggered"],
            reason=data["reason"],
            target=data["target"],
            floor=data["floor"],
            before=Size(**data["before"]),
            after=Size(**data["after"]),
            steps=tuple(Step(one["strategy"], one["edits"], one["saved"]) for one in data["steps"]),
            edits=tuple(Edited(one["from"], one["to"], one["fate"], one["reason"], one["saved"]) for one in data["edits"]),
            checkpoint=Checkpoint(**checkpoint) if checkpoint else None,
            kept_prefix=data["kept_prefix"]["entries"],
            fallbacks=tuple(data["fallbacks"]),
            unmatched_pins=tuple(data["unmatched_pins"]),
            data=data,
        )

    @property
    def saved(self) -> int:
        """Tokens that are less."""
        return self.before.tokens - self.after.tokens

    def __str__(self) -> str:
        before, after = self.before, self.after
        counts = f"{before.tokens:,} → {after.tokens:,} tokens, {before.entries} → {after.entries} messages"
        unmatched = f"; no message says the pins {list(self.unmatched_pins)}" if self.unmatched_pins else ""
        return f"{counts} (target {self.target:,}: {self.outcome}){unmatched}"

    def _repr_html_(self) -> str:
        from .picture import table

        left, rows = self.before.tokens, [("before", self.before.tokens, f"{self.before.entries} messages")]
        for step in self.steps:
            left -= step.saved
            rows.append((step.strategy, left, f"{step.edits} edits"))
        if self.checkpoint:
            rows.append(("checkpoint", left + self.checkpoint.tokens, "added"))
        rows.append(("after", self.after.tokens, f"{self.after.entries} messages"))
        return table(f"{self}; {self.reason}", rows)
