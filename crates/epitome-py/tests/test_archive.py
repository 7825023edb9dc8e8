"""What is hidden is kept, found and had back; sessions go on inside their window."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import epitome
import pytest

from .sessions import long_session


def test_what_is_hidden_is_found_and_had_back(tmp_path: Path) -> None:
    messages = long_session()
    archive = epitome.Archive(tmp_path / "archive")
    outcome = epitome.Compactor(target="10%").compact(messages, archive=archive)
    assert outcome.archived and outcome.receipt.data["originals"] == "archive"
    assert json.loads(archive.restore(outcome.archived)) == messages
    hits = archive.recall("127.0.0.1:8042", limit=3)
    assert any("8042" in hit.text for hit in hits) and hits[0].session == outcome.archived.split(".")[0]
    assert epitome.recall(hits[0].id, archive)[0].id == hits[0].id
    [session] = archive.sessions()
    assert (session.entries, session.views) == (201, 1)
    # The same again is no further view.
    assert epitome.Compactor(target="10%").compact(messages, archive=archive).archived == outcome.archived
    archive.forget(session.session)
    assert archive.sessions() == [] and archive.recall("8042") == []
    with pytest.raises(epitome.ArchiveError):
        archive.restore(outcome.archived)


def test_the_version_is_that_of_the_engine() -> None:
    assert epitome.__version__.count(".") == 2


def test_an_archive_that_isnt_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not an archive")
    with pytest.raises(epitome.ArchiveError, match="file"):
        epitome.Archive(tmp_path / "file")


def test_a_session_only_grows_between_compactions() -> None:
    session = epitome.Session(window=3_000, counter="o200k")
    sent: list[Any] = []
    compactions = 0
    for message in long_session(300):
        session.append(message)
        if message["role"] == "assistant":
            continue
        view = session.view()
        assert epitome.count(view, counter="o200k").tokens < 3_000 and epitome.check(view) == []
        assert session.looked is not None
        if session.looked.triggered:
            compactions += 1
            assert "of a window of 3,000" in session.looked.reason
        else:
            assert view[: len(sent)] == sent
        assert view[-1] is message
        sent = view
    assert compactions == len(session.receipts) > 3 and len(session.messages) == 601


def test_a_session_counts_the_whole_request() -> None:
    request = {"model": "claude-opus-4-5", "system": "Be brief. " * 400, "max_tokens": 100}
    session = epitome.Session(request=request, window=4_000)
    for n in range(100):
        session.append({"role": "user", "content": f"What of port {n}?"})
        session.append({"role": "assistant", "content": f"Port {n} refused the connection, as the one before it did."})
    session.append({"role": "user", "content": "And now?"})
    assert len(session.view()) < 201 and session.looked is not None and session.looked.triggered


def test_a_session_needs_a_window() -> None:
    with pytest.raises(epitome.OptionError, match="needs the window") as caught:
        epitome.Session().fit(long_session())
    assert caught.value.field == "window"


async def test_a_session_may_be_awaited() -> None:
    session = epitome.Session(long_session(), window=2_000)
    view = await session.aview()
    assert len(view) < 201 and len(session.receipts) == 1
    assert await session.aview() == view


def test_a_session_serves_many_conversations_at_once() -> None:
    session = epitome.Session(window=2_000, counter="o200k")

    def talk(nth: int) -> list[Any]:
        said: list[Any] = []
        sent: list[Any] = []
        for message in long_session(60):
            if not said:
                message["content"] += f" You are number {nth}."
            said.append(message)
            if message["role"] != "assistant":
                sent = session.fit(said)
                assert sent[0] is said[0] and sent[-1] is message
                assert epitome.count(sent, counter="o200k").tokens < 2_000
        return sent

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(talk, range(8)))
    assert len(session.receipts) == 8
    for nth, sent in enumerate(results):
        assert sent[0]["content"].endswith(f"You are number {nth}.") and len(sent) == len(results[0])


def test_receipts_are_drawn() -> None:
    receipt = epitome.plan(long_session(), target="20%")
    assert receipt.saved > 0 and "→" in str(receipt)
    assert "<table>" in receipt._repr_html_() and "fold" in receipt._repr_html_()
    with pytest.raises(AttributeError):
        receipt.target = 3  # type: ignore[misc]
    assert "<table>" in epitome.stats(long_session())._repr_html_()


def test_a_rule_that_is_broken_is_named() -> None:
    broken = [{"role": "user", "content": "Go."}, {"role": "tool", "tool_call_id": "a", "content": "5433"}]
    with pytest.raises(epitome.RuleError) as caught:
        epitome.enforce(broken, format="openai-chat")
    assert caught.value.entry == 1 and caught.value.rule == "chat/orphan"
    epitome.enforce(broken, format="openai-chat", excluding=[str(caught.value.rule)])
    with pytest.raises(epitome.OptionError, match="no rule"):
        epitome.check(broken, excluding=["nonsense"])
