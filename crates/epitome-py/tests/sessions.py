"""Conversations for tests."""

from __future__ import annotations

from typing import Any

REFUSED = "connection to 127.0.0.1 refused: errno 111, as every other one on this machine was"


def long_session(steps: int = 100) -> list[dict[str, Any]]:
    """A session of many calls, in the form of OpenAI's Chat Completions."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find the port that answers. Never touch port 22."}]
    for port in range(8000, 8000 + steps):
        call = {"id": f"call_{port}", "type": "function", "function": {"name": "connect", "arguments": f'{{"port":{port}}}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        said = f"connection to 127.0.0.1:{port} refused after {port % 97} ms, errno 111 é"
        messages.append({"role": "tool", "tool_call_id": f"call_{port}", "content": said})
    return messages
