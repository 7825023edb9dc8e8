"""What Strands' tools say comes through a compaction as it was: bytes as bytes, texts as texts."""

from __future__ import annotations

from base64 import b64encode
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("strands")

from epitome.adapters.strands import EpitomeConversationManager

PICTURE = b"\x89PNG" * 3
SIZES: list[str] = ["12 KB", "1024", "hello", b64encode(PICTURE).decode()]


@pytest.mark.parametrize("size", SIZES)
def test_texts_that_are_called_bytes_stay_texts(size: str) -> None:
    messages: list[Any] = [{"role": "user", "content": [{"text": "Look."}]}]
    for n in range(20):
        written = {"path": f"/x{n}", "bytes": size, "body": "x = 1\n" * 400}
        calls = [
            {"toolUseId": f"a{n}", "name": "write", "input": written},
            {"toolUseId": f"b{n}", "name": "cat", "input": {}},
        ]
        results = [[{"json": {"bytes": size}}], [{"text": "output line\n" * 400}]]
        messages.append({"role": "assistant", "content": [{"toolUse": call} for call in calls]})
        answers = [
            {"toolResult": {"toolUseId": call["toolUseId"], "status": "success", "content": result}}
            for call, result in zip(calls, results, strict=True)
        ]
        picture = {"image": {"format": "png", "source": {"bytes": PICTURE}}}
        messages.append({"role": "user", "content": [*answers, picture]})
    agent: Any = SimpleNamespace(messages=list(messages))
    manager = EpitomeConversationManager(window=40_000, strategies="outputs,arguments", stop="at-end")
    manager.apply_management(agent)
    assert len(manager.receipts) == 1 and len(agent.messages) == len(messages)
    asked, answered = agent.messages[1]["content"], agent.messages[2]["content"]
    assert agent.messages[1] is not messages[1] and len(asked[0]["toolUse"]["input"]["body"]) < 2_400
    assert agent.messages[2] is not messages[2] and len(answered[1]["toolResult"]["content"][0]["text"]) < 4_800
    assert asked[0]["toolUse"]["input"]["bytes"] == size
    assert [answered[0], answered[2]] == [messages[2]["content"][0], messages[2]["content"][2]]
