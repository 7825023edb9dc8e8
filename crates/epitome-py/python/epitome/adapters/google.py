"""Google: contents of ``google-genai``, and a plugin for its Agent Development Kit.

>>> from google.adk.agents import Agent
>>> from google.adk.apps import App
>>> from epitome.adapters.google import EpitomePlugin
>>> plugin = EpitomePlugin()
>>> app = App(name="finder", root_agent=Agent(name="finder", model="gemini-2.5-pro"), plugins=[plugin])

The session of the kit keeps every event; only what the model is shown is smaller.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from google.genai import types

from ..errors import InputError
from ..session import Session
from .guard import Guard
from .objects import Message, Models

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers

try:
    from google.adk.plugins.base_plugin import BasePlugin
except ImportError:  # only the client is installed
    BasePlugin = object  # type: ignore[assignment, misc]


def content(message: Message) -> types.Content:
    """A message as the client has it."""
    # As JSON, in which bytes are base64.
    return types.Content.model_validate_json(json.dumps(message))


FENCES = ("<<<BEGIN_QUOTED_AGENT_CONTENT>>>", "<<<BEGIN_SYSTEM_INSTRUCTION>>>")
"""What the kit puts around what other agents did, and around instructions, that it says in the user's role."""

CONTEXT = "For context:"
"""The whole first part of what other agents did, in versions without fences. A person goes on behind it."""

NUDGES = ("Continue processing previous requests as instructed. ", "Handle the requests as specified in the System ")
"""How it begins what makes a model go on."""


def _is_injected(content: types.Content) -> bool:
    words = content.parts[0].text if content.role == "user" and content.parts else None
    return words is not None and (words == CONTEXT or words.startswith(NUDGES) or any(fence in words for fence in FENCES))


def frame(config: Any) -> dict[str, Any]:
    """What of a configuration counts: instructions, and tools that aren't functions of Python."""
    if config is None:
        return {}
    try:
        whole = types.GenerateContentConfig.model_validate(config)
    except ValueError as error:
        raise InputError(f"config: {error}", field="config") from error
    system = whole.system_instruction
    shown: dict[str, Any] = {}
    if system:
        its: Any = system if isinstance(system, list) else getattr(system, "parts", None) or [system]
        shown["systemInstruction"] = {"parts": [{"text": one} if isinstance(one, str) else one for one in its]}
    if tools := [tool for tool in whole.tools or () if isinstance(tool, types.Tool)]:
        shown["tools"] = tools
    return shown


class EpitomePlugin(BasePlugin):
    """Keeps the contents of each request inside the window. Options are those of :class:`epitome.Session`."""

    def __init__(self, *, summarizer: Summarizers | None = None, **options: Unpack[Options]) -> None:
        super().__init__(name="epitome")
        self.session = Session(format="gemini", summarizer=summarizer, **options)
        self._models = Models(Guard(self.session), content)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """What the kit calls before each request; it sends what is left."""
        contents = {"contents": llm_request.contents, "model": llm_request.model}
        request: dict[str, Any] = {**contents, **frame(llm_request.config)}
        injected = [at for at, one in enumerate(llm_request.contents) if _is_injected(one)]
        names = ("model", "systemInstruction", "tools")
        fitted = await self._models.afit(request, names, "contents", injected=injected)
        llm_request.contents = fitted["contents"]
