"""The tools that the loops of the SDKs offer to the model, and what they give back: always the same."""

import base64
import pathlib
import re
import subprocess

PROJECT = pathlib.Path("/home/user/project")


def read_file(path: str, first: int = 1) -> str:
    """Reads a file of the repository. Gives its text with line numbers.

    Args:
        path: Path from the root of the repository.
        first: First line, from 1.
    """
    lines = (PROJECT / path).read_text().split("\n")[first - 1 :]
    return "\n".join(f"{n:>5}\t{line}" for n, line in enumerate(lines, start=first))


def run(command: str) -> str:
    """Runs a command in the root of the repository. Gives its output and exit code.

    Args:
        command: As one would type it into a shell.
    """
    done = subprocess.run(
        ["bash", "-c", f'{command} 2>&1; echo "exit code $?"'], cwd=PROJECT, capture_output=True, text=True
    )
    return re.sub(r"in \d\.\d+s", "in 0.002s", done.stdout)


TOOLS = {"read_file": read_file, "run": run}
SHAPES = {
    "read_file": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "first": {"type": "integer", "minimum": 1}},
        "required": ["path"],
    },
    "run": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}


def result(name, words):
    """What a tool gives back, as text."""
    try:
        return TOOLS[name](**words)
    except Exception as error:
        return f"Error: {error}"


def picture(path="docs/shelves.png"):
    """A picture as base64."""
    return base64.b64encode((PROJECT / path).read_bytes()).decode()


TASK = (
    "The tests of this repository fail. Find out why, mend it, and say what you changed. "
    "Äußere Ordnung zählt: keep the style."
)
NEXT = "Good. Now add a test for an item on three shelves."
RULES = (
    "You are a careful programmer. You work in one repository through the tools that you are given.\n\n"
    + (PROJECT / "AGENTS.md").read_text()
)
