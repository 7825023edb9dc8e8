"""Strands: a conversation manager.

>>> from types import SimpleNamespace
>>> from epitome.adapters.strands import EpitomeConversationManager
>>> manager = EpitomeConversationManager(window=2_000)
>>> messages = [{"role": "user", "content": [{"text": "Find the port."}]}]
>>> for port in range(100):
...     messages.append({"role": "assistant", "content": [{"text": f"Port {port} refused, as the others did."}]})
...     messages.append({"role": "user", "content": [{"text": "Go on with the next one."}]})
>>> agent = SimpleNamespace(messages=messages)  # an Agent(conversation_manager=manager)
>>> manager.apply_management(agent)
>>> len(agent.messages) < 100, manager.receipts[0].format
(True, 'bedrock')
"""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections import deque
from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any

from strands.agent.conversation_manager import ConversationManager
from strands.hooks import BeforeModelCallEvent, HookRegistry
from strands.types.exceptions import ContextWindowOverflowException
from strands.types.session import decode_bytes_values, encode_bytes_values

from ..archive import Archive
from ..errors import InputError
from ..receipt import Receipt
from ..session import RECEIPTS
from .guard import Compactors
from .objects import owned, plain, written

if TYPE_CHECKING:
    from strands import Agent
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers


SPEC = ("name", "description", "inputSchema")
"""What is sent of a tool."""


class EpitomeConversationManager(ConversationManager):
    """Compacts an agent's messages when ``trigger`` fires, by default at 80 % of the window, and where one overflows.

    It looks before each call of the model, and at the end of a run. Strands' messages are replaced, so that an ``archive``
    is the place to have them back from; a session manager keeps them, too, and what this one says in their place.
    """

    def __init__(
        self, *, archive: Archive | None = None, summarizer: Summarizers | None = None, **options: Unpack[Options]
    ) -> None:
        super().__init__()
        self.receipts: deque[Receipt] = deque(maxlen=RECEIPTS)
        """What each of the newest 100 compactions did, the newest last."""
        self._archive = archive
        self._when_due = Compactors(summarizer, {"trigger": "80%", **options})
        self._at_once = Compactors(summarizer, {**options, "trigger": None})
        # What the agent's first messages are instead of those that were removed.
        self._instead: list[Any] = []

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        super().register_hooks(registry, **kwargs)
        registry.add_callback(BeforeModelCallEvent, self._before)

    async def _before(self, event: BeforeModelCallEvent) -> None:
        await asyncio.to_thread(self.apply_management, event.agent)

    def get_state(self) -> dict[str, Any]:
        return {**super().get_state(), "instead": encode_bytes_values(self._instead)}

    def restore_from_session(self, state: dict[str, Any]) -> list[Any] | None:
        super().restore_from_session(state)
        self._instead = decode_bytes_values(state.get("instead", []))
        return list(self._instead)

    def apply_management(self, agent: Agent, **kwargs: Any) -> None:
        self._compact(self._when_due, agent)

    def reduce_context(self, agent: Agent, e: Exception | None = None, **kwargs: Any) -> None:
        if not self._compact(self._at_once, agent) and e is not None:
            raise ContextWindowOverflowException("nothing of the conversation can leave") from e

    def _compact(self, compactors: Compactors, agent: Agent) -> bool:
        """Whether the messages are fewer, or smaller."""
        own: list[Any] = list(agent.messages)
        try:
            said = written(own, _said)
        except InputError as error:
            compactors.tell(error, own)
            return False
        if not said:
            return False
        window = getattr(getattr(agent, "model", None), "context_window_limit", None)
        outcome = compactors.compact({**_frame(agent), "messages": said}, "bedrock", self._archive, window)
        if outcome is None or outcome.receipt.saved <= 0:
            return False
        encoded = {place for one, its in zip(own, said, strict=True) for place in _encoded(one, its)}
        shown: Any = owned(own, said, outcome.messages["messages"], lambda message: _raw(message, encoded))
        # All that were said stand behind what is shown now: those before, and those after what stood for them.
        self.removed_message_count += max(len(agent.messages) - len(self._instead), 0)
        self._instead = list(shown)
        self.receipts.append(outcome.receipt)
        agent.messages[:] = shown
        return True


def _frame(agent: Any) -> dict[str, Any]:
    """What is sent besides: system prompt and tools."""
    frame: dict[str, Any] = {}
    if system := getattr(agent, "system_prompt_content", None):
        frame["system"] = plain(system)
    registry = getattr(agent, "tool_registry", None)
    if tools := registry.get_all_tool_specs() if registry else []:
        specs = [{name: plain(tool[name]) for name in SPEC if name in tool} for tool in tools]
        frame["toolConfig"] = {"tools": [{"toolSpec": spec} for spec in specs]}
    return frame


def _said(message: Any) -> dict[str, Any]:
    # What Strands notes of a message besides isn't sent.
    return {"role": message["role"], "content": plain(message["content"])}


Path = tuple[str, ...]
"""Names of members, from the outermost on."""


def _encoded(own: Any, said: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Where bytes stand in ``own``, and what is said for them."""
    if isinstance(own, (bytes, bytearray)):
        yield path, said
    elif isinstance(own, Mapping):
        for name, member in own.items():
            if name in said:
                yield from _encoded(member, said[name], (*path, name))
    elif isinstance(own, (list, tuple)):
        for item, its in zip(own, said, strict=True):
            yield from _encoded(item, its, path)


def _raw(value: Any, encoded: Set[tuple[Path, str]], path: Path = ()) -> Any:
    """A message as Strands has it, with bytes in the place of what was ``encoded``: a tool has texts that look the same."""
    if isinstance(value, dict):
        return {name: _raw(member, encoded, (*path, name)) for name, member in value.items()}
    if isinstance(value, list):
        return [_raw(item, encoded, path) for item in value]
    return b64decode(value) if isinstance(value, str) and (path, value) in encoded else value
