"""The report as text."""

from stock.shelf import short, totals


def report(lines):
    """A table of all items; what is short is marked."""
    missing = short(lines)
    sums = totals(lines)
    width = max((len(item) for item in sums), default=4)
    rows = [f"{'item':<{width}}  count  order"]
    for item in sorted(sums):
        order = missing.get(item, "")
        rows.append(f"{item:<{width}}  {sums[item]:>5}  {order:>5}")
    rows.append("")
    rows.append(f"{len(missing)} of {len(sums)} items are short")
    return "\n".join(rows)
