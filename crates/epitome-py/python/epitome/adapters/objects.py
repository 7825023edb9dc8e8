"""Lists of a library's own objects, fitted by a session without losing anything of what isn't changed."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, Generic, TypeVar

from ..errors import InputError
from ..summary import threaded
from .guard import Fitting, Telling

Object = TypeVar("Object")
Said = TypeVar("Said")

Message = dict[str, Any]
"""A message of OpenAI's Chat Completions."""

SENT = (str, int, float, Mapping, list, tuple)
"""What arguments are that are sent."""

PLACE = "entry"
"""The member of a message that says which object it is of, and which of its messages: it comes through a compaction."""


AT = "at"
"""The member of a block or call that says which it is: it comes through an edit, and through a new id."""

INJECTED = "injected"
"""The member of a message of the user's role that no person wrote. It isn't sent."""


class Objects(Generic[Object]):
    """Fits lists of a library's objects into a window.

    ``say`` writes an object as messages of OpenAI's Chat Completions; those with a true member ``INJECTED`` are no person's.
    An object of which all messages come back as they
    were is shown as it is. ``make`` is asked for what else is shown: given the object and those of its messages that
    are left, by their places, or ``None`` and a message that is new. An object that says nothing stays where it is.
    """

    def __init__(
        self,
        session: Fitting,
        say: Callable[[Object], list[Message]],
        make: Callable[[Object | None, dict[int, Message]], Object],
    ) -> None:
        self.session = session
        self._say = say
        self._make = make

    def fit(
        self, objects: Sequence[Object], frame: Mapping[str, Any] | None = None, window: int | None = None
    ) -> list[Object]:
        """What to send of ``objects``. ``frame`` is what is sent besides: a model, tools, a ``system`` message.

        ``window`` is what the framework knows of the model's.
        """
        try:
            said = self._said(objects)
        except InputError as error:
            return self._as_they_are(objects, frame, error)
        whole, injected = self._whole(said, frame)
        return self._shown(objects, said, self.session.fit(whole, window=window, injected=injected))

    async def afit(
        self, objects: Sequence[Object], frame: Mapping[str, Any] | None = None, window: int | None = None
    ) -> list[Object]:
        """The same without blocking the event loop."""
        try:
            said = await threaded(self._said, objects)
        except InputError as error:
            return self._as_they_are(objects, frame, error)
        whole, injected = self._whole(said, frame)
        return self._shown(objects, said, await self.session.afit(whole, window=window, injected=injected))

    def _as_they_are(self, objects: Sequence[Object], frame: Mapping[str, Any] | None, error: InputError) -> list[Object]:
        told(self.session, error, frame)
        return list(objects)

    def _said(self, objects: Sequence[Object]) -> list[list[Message]]:
        return [
            [{**message, PLACE: f"{nth}.{piece}"} for piece, message in enumerate(its)]
            for nth, its in enumerate(written(objects, self._say))
        ]

    def _whole(self, said: list[list[Message]], frame: Mapping[str, Any] | None) -> tuple[dict[str, Any], list[int]]:
        """The whole request, and which of its messages no person wrote."""
        whole = {name: value for name, value in (frame or {}).items() if value and name != "system"}
        system = [{"role": "system", "content": frame["system"]}] if frame and frame.get("system") else []
        messages = [*system, *(message for messages in said for message in messages)]
        injected = [at for at, message in enumerate(messages) if message.pop(INJECTED, False)]
        return {**whole, "messages": messages}, injected

    def _shown(self, objects: Sequence[Object], said: list[list[Message]], whole: dict[str, Any]) -> list[Object]:
        shown: list[Object] = []
        messages = whole["messages"]
        # The system message isn't among the objects.
        if messages and messages[0]["role"] == "system" and PLACE not in messages[0]:
            messages = messages[1:]
        silent = [nth for nth, its in enumerate(said) if not its]
        for nth, group in groupby(enumerate(messages), key=lambda one: _object(*one)):
            if nth < 0:
                shown.extend(self._make(None, {0: message}) for _, message in group)
                continue
            while silent and silent[0] < nth:
                shown.append(objects[silent.pop(0)])
            left = {int(message[PLACE].split(".")[1]): message for _, message in group}
            same = [piece for piece, message in left.items() if message is said[nth][piece]]
            if len(same) == len(said[nth]):
                shown.append(objects[nth])
            else:
                shown.append(self._make(objects[nth], left))
        return [*shown, *(objects[nth] for nth in silent)]


def _object(at: int, message: Message) -> int:
    """Which object a message is of; one that is new is of none, and stands alone."""
    place = message.get(PLACE)
    return int(place.split(".")[0]) if place is not None else -1 - at


class Models:
    """Fits messages in which a client's own models may stand: pydantic models and bytes, at any depth.

    A message that isn't changed is shown as it is. ``make`` makes the client's own of one that is, which is a dict.
    """

    def __init__(self, session: Fitting, make: Callable[[Message], Any] = lambda message: message) -> None:
        self.session = session
        self._make = make

    def fit(
        self,
        request: Mapping[str, Any],
        names: Sequence[str],
        key: str,
        window: int | None = None,
        injected: Sequence[int] = (),
    ) -> dict[str, Any]:
        """The keyword arguments ``request``, with less in the list ``key``. ``names`` are those that count besides.

        ``window`` is what the framework knows of the model's; ``injected`` are the messages that no person wrote.
        """
        try:
            said, whole = self._said(request, names, key)
        except InputError as error:
            return self._as_it_is(request, error)
        sent = self.session.fit(whole, window=window, injected=injected)
        return {**request, key: self._shown(request[key], said, sent[key])}

    async def afit(
        self,
        request: Mapping[str, Any],
        names: Sequence[str],
        key: str,
        window: int | None = None,
        injected: Sequence[int] = (),
    ) -> dict[str, Any]:
        """The same without blocking the event loop."""
        try:
            said, whole = await threaded(self._said, request, names, key)
        except InputError as error:
            return self._as_it_is(request, error)
        sent = await self.session.afit(whole, window=window, injected=injected)
        return {**request, key: self._shown(request[key], said, sent[key])}

    def _as_it_is(self, request: Mapping[str, Any], error: InputError) -> dict[str, Any]:
        told(self.session, error, request)
        return dict(request)

    def _said(self, request: Mapping[str, Any], names: Sequence[str], key: str) -> tuple[list[Any], dict[str, Any]]:
        said = written(request[key], plain)
        # `None`, and what says that an argument isn't given (`NOT_GIVEN`, `omit`), isn't sent.
        besides = {name: _member(name, request[name]) for name in names if isinstance(request.get(name), SENT)}
        return said, {**besides, key: said}

    def _shown(self, own: Sequence[Any], said: list[Any], sent: Sequence[Any]) -> list[Any]:
        return owned(own, said, sent, self._make)


def told(session: Fitting, error: InputError, request: object) -> None:
    """Warns that a request is sent as it is, where that ends no call."""
    if not isinstance(session, Telling):
        raise error
    session.tell(error, request)


def written(messages: Sequence[Object], write: Callable[[Object], Said]) -> list[Said]:
    """What ``write`` makes of each of the messages; one of which it makes nothing is named."""
    said: list[Said] = []
    for nth, message in enumerate(messages):
        try:
            said.append(write(message))
        except Exception as error:  # what a library's own writer raises is its own affair
            raise InputError(f"messages[{nth}]: {error}", entry=nth) from error
    return said


def _member(name: str, value: Any) -> Any:
    try:
        return plain(value)
    except Exception as error:
        raise InputError(f"{name}: {error}", field=name) from error


def owned(own: Sequence[Any], said: list[Any], sent: Sequence[Any], make: Callable[[Message], Any]) -> list[Any]:
    """What is sent, with one's own messages for those that are as they were said."""
    places = {id(message): nth for nth, message in enumerate(said)}
    return [own[places[id(message)]] if id(message) in places else make(message) for message in sent]


def plain(value: Any) -> Any:
    """``value`` as JSON has it: pydantic models as dicts, bytes as base64."""
    if isinstance(value, Mapping):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode()
    if hasattr(value, "model_dump"):
        # What a client makes of an answer besides, it doesn't send.
        how: Any = {"by_alias": True, "exclude_none": True, "exclude": getattr(value, "__api_exclude__", None)}
        said = value.model_dump(mode="json", **how)
        return _numbers(said, value.model_dump(**how)) if _has_null(said) else said
    return value


def _has_null(said: Any) -> bool:
    members = said.values() if isinstance(said, dict) else said if isinstance(said, list) else ()
    return said is None or any(map(_has_null, members))


def _numbers(said: Any, own: Any) -> Any:
    """What a model says, with the numbers that JSON hasn't where it says null for them."""
    if said is None and isinstance(own, float):
        return own
    if isinstance(said, dict) and isinstance(own, Mapping):
        return {name: _numbers(member, own.get(name)) for name, member in said.items()}
    if isinstance(said, list) and isinstance(own, (list, tuple)) and len(said) == len(own):
        return [_numbers(item, its) for item, its in zip(said, own, strict=True)]
    return said
