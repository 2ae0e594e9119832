"""The state of a session: values by key, in its journal, that tell who subscribes when they change."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Callable

import msgspec

from .._jsonable import NULL, Jsonable, freeze, thaw
from ..journal import StateChanged
from . import _events as events
from ._hooks import heard
from ._listening import SessionEvents
from ._recorder import Recorder

Subscriber = Callable[[Jsonable, Jsonable], object]
"""Called with the new value and the old one."""

_logger = logging.getLogger("antiphon")


class State:
    """Values of a session, each any JSON, kept in its journal."""

    def __init__(
        self, recorder: Recorder, listening: SessionEvents, *, hook: Callable[..., object] | None = None
    ) -> None:
        self._recorder = recorder
        self._events = listening
        self._hook = hook
        self._subscribers: list[tuple[str, Subscriber]] = []
        self._changing = asyncio.Lock()

    def get(self, key: str, default: Jsonable = None) -> Jsonable:
        """The value of `key`, decoded anew, or `default`."""
        entry = self._recorder.transcript.state.get(key)
        return default if entry is None else entry.value

    async def set(self, key: str, value: Jsonable) -> None:
        """Change a value; an equal one writes nothing and tells nobody.

        Returns when it is committed and the hook and every subscriber were called, one after another.

        Raises:
            NotStorable: if the value is not JSON.
            StoreError: if it could not be committed.
        """
        entry = self._recorder.entry(StateChanged, key=key, value_json=freeze(value, f"state {key!r}"))
        async with self._changing:  # who sets at the same time sees the other's value as the old one
            before = self._recorder.transcript.state.get(key)
            if before is not None and _canonical(before.value_json) == _canonical(entry.value_json):
                return
            await self._recorder.write(entry)
        old = NULL if before is None else before.value_json
        await heard("on_state_change", self._hook, key, thaw(old), entry.value)
        for name, subscriber in list(self._subscribers):
            if name == key:
                await _told(subscriber, entry.value, old=thaw(old))
        self._events.emit(events.StateChanged(key=key, value=entry.value, old=thaw(old)))

    def subscribe(self, key: str, subscriber: Subscriber, /) -> Callable[[], None]:
        """Call `subscriber` with (new, old) whenever this process changes `key`; the function given back ends that."""
        each = (key, subscriber)
        self._subscribers.append(each)
        return lambda: self._subscribers.remove(each) if each in self._subscribers else None


def _canonical(value: msgspec.Raw) -> str:
    # Not compared as Python values: there 1 equals True.
    return json.dumps(thaw(value), sort_keys=True)


async def _told(subscriber: Subscriber, new: Jsonable, *, old: Jsonable) -> None:
    try:
        given = subscriber(new, old)
        if inspect.isawaitable(given):
            await given
    except Exception:  # isolates: listener
        _logger.exception("a subscriber of the state raised")
