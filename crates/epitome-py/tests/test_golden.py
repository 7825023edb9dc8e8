"""What the binary does, byte for byte: run with ``EPITOME`` as its path."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import epitome
import pytest

from .sessions import long_session

ROOT = Path(os.environ.get("EPITOME_ROOT") or Path(__file__).resolve().parents[3])
BINARY = os.environ.get("EPITOME", str(ROOT / "target/debug/epitome"))

pytestmark = pytest.mark.skipif(not Path(BINARY).is_file(), reason="the binary isn't built")


def inputs() -> Iterator[Path]:
    for folder in ("examples", "fixtures/cases", "fixtures/captures"):
        for path in sorted((ROOT / folder).rglob("*.json*")):
            if path.suffix in (".json", ".jsonl") and path.stat().st_size < 3_000_000:
                yield path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    # No settings but the defaults.
    surroundings = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    return subprocess.run([BINARY, *arguments], capture_output=True, env=surroundings, cwd=folder, timeout=300)


def same_receipt(ours: epitome.Receipt, theirs: dict[str, Any]) -> None:
    # The binary says beside it which file it read.
    assert theirs.pop("source")["file"]
    assert {**ours.data, "about": None} == {**theirs, "about": None}


@pytest.mark.parametrize("path", list(inputs()), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_binary_does_the_same(path: Path, tmp_path: Path) -> None:
    content, out = path.read_bytes(), tmp_path / "out.json"
    for options in (["--target", "20%"], []):
        done = run(tmp_path, "compact", str(path), *options, "--json", "-o", str(out))
        said: dict[str, Any] = {"target": options[1]} if options else {}
        if done.returncode not in (0, 3):
            assert done.returncode == 65, done.stderr
            with pytest.raises(epitome.InputError):
                epitome.compact(content, **said)
            continue
        outcome = epitome.Compactor(**said).compact(content)
        assert outcome.messages == out.read_bytes()
        same_receipt(outcome.receipt, json.loads(done.stdout))
        try:
            whole = json.loads(content)
        except ValueError:
            continue
        if not isinstance(whole, (dict, list)) or epitome.stats(content).entries == 0:
            continue
        # As objects: the text is another one, the messages are the same.
        smaller = epitome.compact(whole, **said)
        if json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode() == content.strip():
            assert smaller == json.loads(outcome.messages)


def test_the_binary_and_the_package_share_archives(tmp_path: Path) -> None:
    path = ROOT / "examples/claude-code/session-9eda1058.jsonl"
    store = tmp_path / "store"
    done = run(tmp_path, "compact", str(path), "--target", "30%", "--archive", str(store), "--json", "-o", "smaller.json")
    named = json.loads(done.stdout)["archived"]
    archive = epitome.Archive(store)
    assert archive.restore(f"{named['session']}.{named['view']}") == path.read_bytes()
    found = json.loads(run(tmp_path, "recall", "thread pool", "--archive", str(store), "--json").stdout)["hits"]
    assert found and [hit["id"] for hit in found] == [hit.id for hit in archive.recall("thread pool")]
    # And the other way.
    request = ROOT / "examples/tau-bench/00_task2_trial1.json"
    body = run(tmp_path, "convert", str(request), "--to", "openai-chat").stdout
    outcome = epitome.Compactor(target="20%").compact(body, archive=archive)
    restored = run(tmp_path, "restore", str(outcome.archived), "--archive", str(store))
    assert restored.stdout == body, restored.stderr


@pytest.mark.parametrize("path", list(inputs()), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_binary_counts_and_checks_the_same(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    done = run(tmp_path, "stats", str(path), "--json")
    if done.returncode != 0:
        with pytest.raises(epitome.InputError):
            epitome.stats(content)
        return
    told, ours = json.loads(done.stdout), epitome.stats(content)
    assert (ours.count.tokens, ours.count.upper, ours.count.counter) == (told["tokens"], told["upper"], told["counter"])
    assert dict(ours.kinds) == {one["kind"]: one["tokens"] for one in told["kinds"] if one["tokens"]}
    assert (ours.entries, ours.steps, ours.turns, ours.open_calls) == tuple(
        told[name] for name in ("entries", "steps", "turns", "open_calls")
    )
    findings = json.loads(run(tmp_path, "check", str(path), "--json").stdout)["findings"]
    assert [(one.rule, one.entry, one.detail) for one in epitome.check(content)] == [
        (one["rule"], one["entry"], one["detail"]) for one in findings
    ]
    out = tmp_path / "mended.json"
    run(tmp_path, "check", str(path), "--repair", "-o", str(out))
    assert epitome.repair(content).messages == out.read_bytes()


def test_messages_of_another_format_than_was_said_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(long_session()))
    for command in ("compact", "plan"):
        done = run(tmp_path, command, str(path), "--from", "gemini")
        assert done.returncode == 65 and b"gemini" in done.stderr, done.stderr
    assert run(tmp_path, "compact", str(path), "--from", "openai-chat", "--target", "20%").returncode == 0
    assert run(tmp_path, "check", str(path), "--from", "gemini").returncode not in (0, 65)
