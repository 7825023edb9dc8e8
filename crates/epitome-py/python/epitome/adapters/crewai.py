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

from collections import deque
from typing import TYPE_CHECKING, Any

from crewai.hooks import LLMCallHookContext

from ..archive import Archive
from ..receipt import Receipt
from ..session import RECEIPTS
from .guard import Compactors
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
        self.receipts: deque[Receipt] = deque(maxlen=RECEIPTS)
        """What each of the newest 100 compactions did, the newest last."""
        self._archive = archive
        self._compactors = Compactors(summarizer, {"trigger": "80%", **options})

    def __call__(self, context: LLMCallHookContext) -> None:
        messages: Any = context.messages
        said = [plain({name: message[name] for name in SENT if name in message}) for message in messages]
        if not said:
            return
        # What CrewAI says of windows is a guess where it doesn't know the model: its name says more.
        model = getattr(getattr(context, "llm", None), "model", None)
        request = {"model": model, "messages": said} if isinstance(model, str) else {"messages": said}
        outcome = self._compactors.compact(request, "openai-chat", self._archive, None)
        if outcome is not None and outcome.receipt.triggered:
            self.receipts.append(outcome.receipt)
            messages[:] = owned(messages, said, outcome.messages["messages"], dict)
