"""LiteLLM: a callback that keeps every call inside its model's window, in the SDK and in the proxy.

>>> import asyncio, litellm
>>> from epitome.adapters.litellm import EpitomeLogger
>>> logger = EpitomeLogger(window=2_000)
>>> litellm.callbacks = [logger]
>>> messages = [{"role": "user", "content": f"And what does port {port} of the server say?"} for port in range(150)]
>>> answer = asyncio.run(litellm.acompletion("gpt-5", messages=messages, mock_response="Nothing."))
>>> litellm.callbacks = []
>>> logger.session.looked.triggered, logger.session.looked.entries < 150
(True, True)

In the proxy's configuration: ``callbacks: my_module.logger``. LiteLLM asks callbacks before ``acompletion`` and such, not
before ``completion``; around that is :func:`epitome.adapters.clients.fitted`. Name the messages (``messages=``): LiteLLM
shows callbacks none that are given by position.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

from ..errors import InputError
from ..session import Session
from .guard import Guard
from .objects import Models

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers

BESIDES = ("model", "system", "tools")

CALLS = ("acompletion", "completion", "anthropic_messages", "aanthropic_messages", "aresponses", "responses")
"""The calls that send a conversation. Others have a list, too: what is judged, embedded or stored has to be whole."""


class EpitomeLogger(CustomLogger):
    """Keeps the messages of each call inside the window of its model. Options are those of :class:`epitome.Session`.

    A model that neither Epitome nor LiteLLM knows is sent what came, with a warning in the log ``epitome``.
    """

    def __init__(self, *, summarizer: Summarizers | None = None, **options: Unpack[Options]) -> None:
        super().__init__()
        self.session = Session(summarizer=summarizer, **options)
        self._guard = Guard(self.session)
        self._models = Models(self._guard)

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any) -> Any:
        """The proxy's: before the call is sent on."""
        return await self._fitted(data, call_type)

    async def async_pre_call_deployment_hook(self, kwargs: Any, call_type: Any) -> Any:
        """The SDK's: before the call is sent."""
        return await self._fitted(kwargs, call_type)

    async def _fitted(self, data: Any, call_type: Any) -> Any:
        if call_type not in CALLS:
            return data
        key = next((key for key in ("messages", "input") if isinstance(data.get(key), list)), None)
        # Of what is given by position the log alone knows.
        log = data.get("litellm_logging_obj")
        unseen = getattr(log, "messages", None) if key is None and "messages" not in data else None
        if isinstance(unseen, list) and any(isinstance(message, dict) for message in unseen):
            self._guard.tell(
                InputError("messages by position aren't shown to callbacks: say messages=", field="messages"), log
            )
        if key is None or not all(isinstance(message, dict) or hasattr(message, "model_dump") for message in data[key]):
            return data
        request = {**data, "model": data.get("model") or getattr(log, "model", None)}
        return {**data, key: (await self._models.afit(request, BESIDES, key, _window(request)))[key]}


def _window(data: Any) -> int | None:
    """The window of a call's model, as LiteLLM knows it."""
    model, provider = data.get("model") or "", data.get("custom_llm_provider")
    if not provider and "/" not in model and model not in litellm.model_cost:
        # LiteLLM would print where its providers are listed.
        return None
    try:
        known: Any = litellm.get_model_info(model, provider)
    except Exception:  # it knows none, and has no one exception for that
        return None
    window = known.get("max_input_tokens")
    return window if isinstance(window, int) and window > 0 else None
