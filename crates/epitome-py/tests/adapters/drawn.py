"""What is drawn for the messages of libraries, and what holds of what is shown of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, TypeVar

import epitome
from hypothesis import strategies as st

Drawn = TypeVar("Drawn")

numbers = count()
short = st.text(st.characters(codec="utf-8"), max_size=100).map(lambda text: f"{text}{next(numbers)}")
words = short | short.map(lambda text: f"{text} " * 60)
"""Words that nobody says twice: of equal messages any may be shown. Some are enough for a checkpoint to be worth it."""

texts = st.just("") | words
picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
"""Bytes of which neither kind of base64 is the other."""
arguments: Any = st.dictionaries(
    st.sampled_from(["path", "é", "a b", ""]),
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | st.lists(texts, max_size=2),
    max_size=3,
)
strategies = st.sampled_from(["ladder", "fold", "outputs,arguments", "excerpts,fold", "media,reasoning"])
targets = st.sampled_from(["60%", "30%"])


def long(sizes: epitome.Measurements) -> str | None:
    return "long" if sizes.messages > 5 else None


ODD = ("call_", "a b|", 'é"', "0" * 60)


def ids(draw: st.DrawFn, beginnings: Sequence[str] = ODD) -> list[str]:
    """Ids of some calls, as odd as they may be."""
    return [draw(st.sampled_from(beginnings)) + str(draw(st.uuids())) for _ in range(draw(st.integers(1, 3)))]


def histories(turns: st.SearchStrategy[list[Drawn]]) -> st.SearchStrategy[list[Drawn]]:
    return st.lists(turns, min_size=3, max_size=12).map(lambda turns: [message for turn in turns for message in turn])


def check_places(own: Sequence[Any], shown: Sequence[Any]) -> list[Any]:
    """What is shown that isn't one's own. One's own stand in their order, and a checkpoint where something left."""
    places = {id(one): at for at, one in enumerate(own)}
    known = [places.get(id(one)) for one in shown]
    ordered = [at for at in known if at is not None and own.count(own[at]) == shown.count(own[at]) == 1]
    assert ordered == sorted(set(ordered))
    marks = [at for at, one in enumerate(shown) if known[at] is None and "<checkpoint " in str(one)]
    assert len(marks) <= 1, [shown[at] for at in marks]
    for mark in marks:
        before = max((at for at in known[:mark] if at in ordered), default=-1)
        after = min((at for at in known[mark:] if at in ordered), default=len(own))
        assert after > before + 1, "something left where the checkpoint stands"
    return [one for at, one in zip(known, shown, strict=True) if at is None]
