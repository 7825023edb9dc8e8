"""What every package has in common: the program, what it prints about itself, and how its files are dated."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
SUMMARY = "Keeps long-running LLM agents inside their context window: exact, undoable, cache-aware compaction"
# Of packages: the repository's own has links into it.
README = ROOT / "scripts/packages/README.md"
LICENSE = "MIT OR Apache-2.0"
# What the program has to stay under, in bytes.
MOST = 25_000_000
COMPLETIONS = {"bash": "epitome.bash", "zsh": "_epitome", "fish": "epitome.fish"}


def printed(*words, **more):
    """What a program prints. What it says on stderr is shown only if it fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


@dataclass(frozen=True)
class Product:
    version: str
    """As Rust and npm write it: `1.2.0-rc.1`."""
    moment: int
    """When the newest commit was made, in seconds: the date of every file, so that a second run gives the same bytes."""
    completions: dict[str, str]
    """A script for each shell."""
    pages: dict[str, str]
    """Manual pages, by the names of their files."""

    @property
    def python(self):
        """The version as Python writes it: `1.2.0rc1`."""
        return str(Version(self.version))

    @property
    def debian(self):
        """The version as Debian orders it: `1.2.0~rc.1` is older than `1.2.0`."""
        return self.version.replace("-", "~")


def product(program):
    """What the program, which runs on this machine, says of itself."""
    pages, wanted = {}, [()]
    while wanted:
        command = wanted.pop()
        # A command of a command is named in one word.
        page = printed(program, "man", *filter(None, [" ".join(command)]))
        name = "-".join(("epitome", *command))
        pages[f"{name}.1"] = page
        # A page names those of its commands; `help` has none of its own.
        named = re.findall(rf"\b{re.escape(name)}-(\w+)\(1\)", page.replace("\\-", "-"))
        wanted += [(*command, one) for one in dict.fromkeys(named) if one != "help"]
    version = printed(program, "--version").split()[1]
    completions = {shell: printed(program, "completions", shell) for shell in COMPLETIONS}
    return Product(version, moment(), completions, pages)


def moment():
    return int(os.environ.get("SOURCE_DATE_EPOCH") or printed("git", "log", "-1", "--format=%ct", cwd=ROOT))


def surroundings(triple):
    """What a build for a platform is told: no path of the machine that builds stands in what comes out."""
    printed("rustup", "target", "add", triple)
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    return {**os.environ, "RUSTFLAGS": f"--remap-path-prefix={ROOT}=epitome --remap-path-prefix={cargo}/registry/src=registry"}


def built(platform):
    """The optimised program."""
    asked = ["cargo", "zigbuild", "--release", "--locked", "-q", "-p", "epitome-cli", "--target", platform.triple]
    printed(*asked, cwd=ROOT, env=surroundings(platform.triple))
    metadata = json.loads(printed("cargo", "metadata", "--no-deps", "--format-version", "1", "--locked", cwd=ROOT))
    program = Path(metadata["target_directory"]) / platform.triple / "release" / "epitome"
    size = program.stat().st_size
    if size > MOST:
        raise SystemExit(f"{program} has {size:,} bytes, and at most {MOST:,} are allowed: see the levels in Cargo.toml")
    return program
