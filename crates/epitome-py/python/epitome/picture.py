"""Tables with bars, for notebooks."""

from collections.abc import Sequence
from html import escape

WIDTH = 240
"""Pixels of the longest bar."""


def table(title: str, rows: Sequence[tuple[str, int, str]]) -> str:
    """A row for each name, its tokens and what else is to be said; the bars are as long as there are tokens.

    >>> "a &lt; b" in table("a < b", [("all", 3, "")])
    True
    """
    most = max((tokens for _, tokens, _ in rows), default=0) or 1
    lines = "".join(
        f"<tr><td>{escape(name)}</td><td align='right'>{tokens:,}</td><td>"
        f"<svg width='{WIDTH}' height='12' role='img'>"
        f"<rect width='{WIDTH * tokens // most}' height='12' fill='#2563eb'/></svg>"
        f"</td><td>{escape(more)}</td></tr>"
        for name, tokens, more in rows
    )
    return f"<table><caption>{escape(title)}</caption>{lines}</table>"
