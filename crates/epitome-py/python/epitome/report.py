"""What messages are: their tokens, what breaks rules, how another format says them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from . import _native
from .compactor import Compactor, Messages
from .errors import OptionError, RuleError, unicode
from .strategy import Counter


@dataclass(frozen=True)
class Count:
    """Tokens, the upper edge of their error, and where they come from."""

    tokens: int
    upper: int
    basis: str
    counter: str


@dataclass(frozen=True)
class Stats:
    """What fills messages: ``kinds`` are tokens by kind of content, ``tools`` what each tool's calls weigh."""

    format: str
    model: str | None
    window: int | None
    count: Count
    bytes: int
    entries: int
    steps: int
    turns: int
    open_calls: int
    kinds: Mapping[str, int]
    tools: Mapping[str, Mapping[str, int]]

    def _repr_html_(self) -> str:
        from .picture import table

        kinds = sorted(self.kinds.items(), key=lambda kind: -kind[1])
        title = f"{self.count.tokens:,} tokens in {self.entries} messages"
        return table(title, [(kind.replace("_", " "), tokens, "") for kind, tokens in kinds])


@dataclass(frozen=True)
class Finding:
    """A rule of the provider that message ``entry`` breaks, what it demands, and the error that it would give.

    What stands around the messages is told by the path of its ``member``.
    """

    rule: str
    entry: int
    detail: str
    demand: str = field(repr=False)
    error: str = field(repr=False)
    mendable: bool = True
    member: str | None = None


@dataclass(frozen=True)
class Mended:
    """What was mended."""

    rule: str
    entry: int | None
    detail: str
    mend: str


@dataclass(frozen=True)
class Repaired(Generic[Messages]):
    """Messages with every breach mended the least way, and what only their author can mend."""

    messages: Messages
    mended: tuple[Mended, ...]
    left: tuple[Finding, ...]


@dataclass(frozen=True)
class Converted:
    """A request in another format; ``lost`` is what that can't say, ``wanting`` what it demands and nobody said."""

    request: dict[str, Any]
    lost: tuple[Mapping[str, Any], ...]
    mended: tuple[Mended, ...]
    left: tuple[Finding, ...]
    wanting: tuple[str, ...]


def count(
    messages: Messages, *, counter: str | Counter | None = None, model: str | None = None, format: str | None = None
) -> Count:
    """The tokens of ``messages``.

    >>> count([{"role": "user", "content": "Hello, world"}], counter="o200k").basis
    'exact'
    """
    return stats(messages, counter=counter, model=model, format=format).count


def stats(
    messages: Messages, *, counter: str | Counter | None = None, model: str | None = None, format: str | None = None
) -> Stats:
    """What fills ``messages``: tokens by kind and by tool.

    >>> stats([{"role": "user", "content": "Hello, world"}]).kinds["human"]
    3
    """
    options: dict[str, Any] = {"counter": counter, "model": model}
    native = Compactor(**options)._native
    told = json.loads(_native.survey(_native.Request(messages, format), native))
    counted = Count(told.pop("tokens"), told.pop("upper"), told.pop("basis"), told.pop("counter"))
    return Stats(count=counted, **told)


def check(messages: Messages, *, excluding: Sequence[str] = (), format: str | None = None) -> list[Finding]:
    """The rules of the provider that ``messages`` break; ``excluding`` leaves rules out.

    >>> broken = [{"role": "tool", "tool_call_id": "a", "content": "5433"}]
    >>> check(broken, format="openai-chat")[0].entry
    0
    """
    found = json.loads(_native.check(_native.Request(messages, format), _rules(excluding)))
    return [Finding(**one) for one in found]


def enforce(messages: Messages, *, excluding: Sequence[str] = (), format: str | None = None) -> None:
    """Raises :class:`epitome.RuleError` for the first rule that ``messages`` break."""
    for one in check(messages, excluding=excluding, format=format):
        raise RuleError(f"messages[{one.entry}] {one.rule}: {one.detail}: {one.demand}", entry=one.entry, rule=one.rule)


def repair(messages: Messages, *, excluding: Sequence[str] = (), format: str | None = None) -> Repaired[Messages]:
    """``messages`` with every breach mended the least way.

    >>> broken = [{"role": "user", "content": "Go."}, {"role": "tool", "tool_call_id": "a", "content": "5433"}]
    >>> repaired = repair(broken, format="openai-chat")
    >>> len(repaired.mended), check(repaired.messages)
    (1, [])
    """
    mended, report = _native.mend(_native.Request(messages, format), _rules(excluding))
    told = json.loads(report)
    return Repaired(mended, _mends(told), _left(told))


def convert(messages: Messages, to: str, *, format: str | None = None) -> Converted:
    """A request in the format ``to``, which may name a model: ``"anthropic:claude-opus-5-5"``.

    >>> convert([{"role": "user", "content": "Go."}], "anthropic:claude-opus-5-5").request["messages"]
    [{'role': 'user', 'content': 'Go.'}]
    """
    if not isinstance(to, str):
        raise OptionError(f"to: the name of a format is wanted, not a {type(to).__name__}", field="to")
    if not unicode(to):
        raise OptionError("to: half a character (a lone surrogate) is in it", field="to")
    name, _, model = to.partition(":")
    text, report = _native.translate(_native.Request(messages, format), name, model or None)
    told = json.loads(report)
    return Converted(json.loads(text), tuple(told["lost"]), _mends(told), _left(told), tuple(told["wanting"]))


def _rules(excluding: Sequence[str]) -> list[str]:
    is_list = isinstance(excluding, Sequence) and not isinstance(excluding, str)
    if not is_list or not all(isinstance(rule, str) and unicode(rule) for rule in excluding):
        raise OptionError(f"excluding: {excluding!r:.100} isn't a list of the names of rules", field="excluding")
    return list(excluding)


def _mends(told: Mapping[str, Any]) -> tuple[Mended, ...]:
    return tuple(Mended(one["rule"], one.get("entry"), one["detail"], one["mend"]) for one in told["mended"])


def _left(told: Mapping[str, Any]) -> tuple[Finding, ...]:
    return tuple(Finding(**one) for one in told["left"])
