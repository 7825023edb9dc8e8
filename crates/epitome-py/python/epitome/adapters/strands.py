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

from base64 import b64decode
from typing import TYPE_CHECKING, Any

from strands.agent.conversation_manager import ConversationManager
from strands.types.exceptions import ContextWindowOverflowException

from ..archive import Archive
from ..compactor import Compactor
from ..receipt import Receipt
from .objects import owned, plain

if TYPE_CHECKING:
    from strands import Agent
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers


class EpitomeConversationManager(ConversationManager):
    """Compacts an agent's messages when ``trigger`` fires, by default at 80 % of the window, and where one overflows.

    Strands' messages are replaced, so that an ``archive`` is the place to have them back from.
    """

    def __init__(
        self, *, archive: Archive | None = None, summarizer: Summarizers | None = None, **options: Unpack[Options]
    ) -> None:
        super().__init__()
        self.receipts: list[Receipt] = []
        """What each compaction did."""
        self._archive = archive
        when_due: Any = {"trigger": "80%", **options}
        at_once: Any = {**options, "trigger": None}
        self._when_due = Compactor(summarizer=summarizer, **when_due)
        self._at_once = Compactor(summarizer=summarizer, **at_once)

    def apply_management(self, agent: Agent, **kwargs: Any) -> None:
        self._compact(self._when_due, agent)

    def reduce_context(self, agent: Agent, e: Exception | None = None, **kwargs: Any) -> None:
        if not self._compact(self._at_once, agent) and e is not None:
            raise ContextWindowOverflowException("nothing of the conversation can leave") from e

    def _compact(self, compactor: Compactor, agent: Agent) -> bool:
        """Whether the messages are fewer, or smaller."""
        # What Strands notes of a message besides isn't sent.
        said = [{"role": message["role"], "content": plain(message["content"])} for message in agent.messages]
        if not said:
            return False
        outcome = compactor.compact(said, format="bedrock", archive=self._archive)
        if outcome.receipt.saved <= 0:
            return False
        shown: Any = owned(agent.messages, said, outcome.messages, _raw)
        self.removed_message_count += max(len(agent.messages) - len(shown), 0)
        self.receipts.append(outcome.receipt)
        agent.messages[:] = shown
        return True


def _raw(value: Any) -> Any:
    """A message with images and documents as Strands has them: bytes."""
    if isinstance(value, dict):
        return {
            name: b64decode(member) if name == "bytes" and isinstance(member, str) else _raw(member)
            for name, member in value.items()
        }
    return [_raw(item) for item in value] if isinstance(value, list) else value
