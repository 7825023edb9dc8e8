"""OpenAI Agents SDK: a filter of what the model is shown, and a session that gives back what fits.

>>> from agents import RunConfig
>>> from epitome.adapters.openai_agents import EpitomeFilter
>>> config = RunConfig(call_model_input_filter=EpitomeFilter())

``EpitomeSession`` puts the same around any session of the SDK's: what was said stays there, and what fits is given back.

>>> import asyncio
>>> from agents import SQLiteSession
>>> from epitome.adapters.openai_agents import EpitomeSession
>>> session = EpitomeSession(SQLiteSession("conversation"), window=2_000)
>>> async def main():
...     for port in range(150):
...         await session.add_items([{"role": "user", "content": f"And what does port {port} of the server say?"}])
...     return len(await session.under.get_items()), len(await session.get_items())
>>> kept, given = asyncio.run(main())
>>> kept, given < 150
(150, True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents.memory import SessionABC
from agents.models import get_default_model
from agents.run_config import CallModelData, ModelInputData

from ..session import Session
from .guard import Guard
from .objects import Models, plain

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory import Session as SdkSession
    from typing_extensions import Unpack

    from ..compactor import Options
    from ..summary import Summarizers


class EpitomeFilter:
    """A ``call_model_input_filter`` that keeps input inside the window. Options are those of :class:`epitome.Session`."""

    def __init__(self, *, summarizer: Summarizers | None = None, **options: Unpack[Options]) -> None:
        self.session = Session(format="openai-responses", summarizer=summarizer, **options)
        self._models = Models(Guard(self.session))

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        shown = data.model_data
        request: dict[str, Any] = {"input": shown.input}
        if shown.instructions:
            request["instructions"] = shown.instructions
        model = get_default_model() if data.agent.model is None else data.agent.model
        # The SDK's own models have their name, too.
        request["model"] = getattr(model, "model", model)
        tools = [_tool(tool) for tool in data.agent.tools if hasattr(tool, "params_json_schema")]
        if tools:
            request["tools"] = tools
        fitted = await self._models.afit(request, ("model", "instructions", "tools"), "input")
        return ModelInputData(input=fitted["input"], instructions=shown.instructions)


def _tool(tool: Any) -> dict[str, Any]:
    schema = {"description": tool.description, "parameters": plain(tool.params_json_schema)}
    return {"type": "function", "name": tool.name, **schema}


class EpitomeSession(SessionABC):
    """A session that keeps all in another one, ``under`` it, and gives back what fits into the window.

    The SDK asks it when a run begins: what a run adds is held inside the window by :class:`EpitomeFilter`.
    """

    def __init__(self, under: SdkSession, *, summarizer: Summarizers | None = None, **options: Unpack[Options]) -> None:
        self.under = under
        self.session_id = under.session_id
        self.session_settings = under.session_settings
        self.session = Session(format="openai-responses", summarizer=summarizer, **options)
        self._models = Models(Guard(self.session))

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """What fits; with a ``limit`` the newest items as they are."""
        items = await self.under.get_items(limit)
        if limit is not None or not items:
            return items
        fitted: list[TResponseInputItem] = (await self._models.afit({"input": items}, (), "input"))["input"]
        return fitted

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        await self.under.add_items(items)

    async def pop_item(self) -> TResponseInputItem | None:
        return await self.under.pop_item()

    async def clear_session(self) -> None:
        await self.under.clear_session()
