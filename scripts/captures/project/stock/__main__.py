"""The command line: `python3 -m stock report FILE`."""

import sys

from stock.report import report
from stock.shelf import read


def main(words):
    if len(words) != 2 or words[0] != "report":
        print("usage: python3 -m stock report FILE", file=sys.stderr)
        return 2
    with open(words[1], encoding="utf-8", newline="") as file:
        lines = read(file)
    print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
