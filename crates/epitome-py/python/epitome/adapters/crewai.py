"""CrewAI: a hook before each call of a model.

>>> from crewai.hooks import LLMCallHookContext, register_before_llm_call_hook
>>> from epitome.adapters.crewai import EpitomeHook
>>> hook = EpitomeHook(window=2_000)
>>> register_before_llm_call_hook(hook)
>>> messages = [{"role": "user", "content": f"And what does port {port} of the server say?"} for port in range(150)]
>>> context = LLMCallHookContext(messages=messages)
>>> hook(context)
>>> len(context.messages) < 150, len(hook.receipts)
(True, 1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crewai.hooks import LLMCallHookContext

from ..archive import Archive
from ..compactor import Compactor
from ..receipt import Receipt
from .objects import owned, plain

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers

SENT = ("role", "content", "tool_calls", "tool_call_id", "name")


class EpitomeHook:
    """Compacts the messages of a call when ``trigger`` fires, by default at 80 % of the window.

    CrewAI's list is changed in its place, so that an ``archive`` is where its messages can be had back from.
    """

    def __init__(
        self, *, archive: Archive | None = None, summarizer: Summarizers | None = None, **options: Unpack[Options]
    ) -> None:
        self.receipts: list[Receipt] = []
        """What each compaction did."""
        self._archive = archive
        when_due: Any = {"trigger": "80%", **options}
        self._compactor = Compactor(summarizer=summarizer, **when_due)

    def __call__(self, context: LLMCallHookContext) -> None:
        messages: Any = context.messages
        said = [plain({name: message[name] for name in SENT if name in message}) for message in messages]
        if not said:
            return
        outcome = self._compactor.compact(said, format="openai-chat", archive=self._archive)
        if outcome.receipt.triggered:
            self.receipts.append(outcome.receipt)
            messages[:] = owned(messages, said, outcome.messages, dict)
