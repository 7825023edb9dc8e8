"""Counters, triggers and strategies that are written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import OptionError, unicode

Counter = Callable[[str], int | tuple[int, int]]
"""A function from a text to its tokens; for an estimate, to tokens and the upper edge of its error."""


@dataclass(frozen=True)
class Measurements:
    """What a trigger looks at: sizes of the request that is about to be sent. Tokens are counted, ``upper`` is the most that
    they may be."""

    messages: int
    steps: int
    turns: int
    tokens: int
    upper: int
    bytes: int
    window: int | None


Trigger = Callable[[Measurements], str | None]
"""A function that says why it is time to compact, or ``None``."""


@dataclass(frozen=True)
class Part:
    """A piece of a message that may be edited: ``kind`` is ``text``, ``reasoning``, ``call``, ``result`` or ``media``;
    ``origin`` says who speaks: ``human``, ``injected``, ``model``, ``tool`` or ``checkpoint``. ``tool`` is the name of the
    tool, ``entry`` the index of the message."""

    slot: int
    entry: int
    kind: str
    role: str
    origin: str
    tool: str
    text: str
    tokens: int


@dataclass(frozen=True)
class StrategyContext:
    """What a strategy looks at: the tokens so far, those to land at, and the older parts that may be edited."""

    tokens: int
    target: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Edit:
    """``part`` says ``text`` (for a call: its arguments, as JSON) from now on, or with ``None`` leaves."""

    part: Part
    text: str | None


Strategy = Callable[[StrategyContext], Iterable[Edit]]
"""A function that proposes edits, in the order in which they should be made. Its name is what receipts show."""


def _trigger(trigger: Any) -> Any:
    if not callable(trigger):
        return trigger

    def fires(told: dict[str, Any]) -> Any:
        return trigger(Measurements(**told))

    return fires


def _strategies(strategies: Any) -> Any:
    if callable(strategies):
        return _strategy(strategies)
    if isinstance(strategies, (str, Mapping)) or not isinstance(strategies, Sequence):
        return strategies
    return [_strategy(one) if callable(one) else one for one in strategies]


def _strategy(strategy: Strategy) -> Any:
    def propose(told: dict[str, Any]) -> Iterable[tuple[int, str | None]]:
        parts = tuple(Part(**part) for part in told["parts"])
        edits = strategy(StrategyContext(told["tokens"], told["target"], parts))
        if not isinstance(edits, Iterable):
            raise _wrong(f"{name} returned a {type(edits).__name__}, not Edits")
        slots = {part.slot for part in parts}
        return [_edit(name, edit, slots) for edit in edits]

    name = propose.__name__ = getattr(strategy, "__name__", type(strategy).__name__)
    return propose


def _edit(name: str, edit: object, slots: set[int]) -> tuple[int, str | None]:
    if not isinstance(edit, Edit) or not isinstance(edit.part, Part):
        raise _wrong(f"{name} proposed {edit!r:.100}, which is no Edit of a Part")
    if edit.part.slot not in slots:
        raise _wrong(f"{name} edits a part ({edit.part.slot}) that isn't among those that may be edited")
    if edit.text is not None and not (isinstance(edit.text, str) and unicode(edit.text)):
        raise _wrong(f"{name} proposed the text {edit.text!r:.100}: whole characters in a str are wanted, or None")
    return edit.part.slot, edit.text


def _wrong(what: str) -> OptionError:
    return OptionError(f"strategies: {what}", field="strategies")


asked: dict[str, Callable[[Any], Any]] = {"trigger": _trigger, "strategies": _strategies}
"""Options that may be functions of dataclasses."""
