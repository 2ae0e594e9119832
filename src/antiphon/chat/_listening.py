"""Listeners of a session: functions that are called with events of a class, as they happen."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from ._events import Event

E = TypeVar("E", bound=Event)
Listener = Callable[[Any], object]

_logger = logging.getLogger("antiphon")


class SessionEvents:
    """Calls functions with the events of a session's turns in this process, and of its state.

    A listener may be sync or async; one that raises costs only itself. `Event` itself stands for every class.
    """

    def __init__(self) -> None:
        self._listeners: list[tuple[type[Event], Listener, bool]] = []
        self._running: set[asyncio.Future[object]] = set()

    def on(self, kind: type[E], listener: Callable[[E], object], /) -> None:
        """Call `listener` with every event of this class from now on."""
        self._listeners.append((kind, listener, False))

    def once(self, kind: type[E], listener: Callable[[E], object], /) -> None:
        """Call `listener` with the next event of this class, and no more."""
        self._listeners.append((kind, listener, True))

    def off(self, kind: type[E], listener: Callable[[E], object], /) -> None:
        """Call `listener` no more; one that was not there stays away."""
        self._listeners = [each for each in self._listeners if each[:2] != (kind, listener)]

    def emit(self, event: Event) -> None:
        """Tell everyone who listens."""
        for each in list(self._listeners):
            kind, listener, only_once = each
            if isinstance(event, kind) and each in self._listeners:
                if only_once:
                    self._listeners.remove(each)
                self._call(listener, event)

    def _call(self, listener: Listener, event: Event) -> None:
        try:
            given = listener(event)
            if inspect.isawaitable(given):
                task = asyncio.ensure_future(cast(Coroutine[Any, Any, object], given))
                self._running.add(task)
                task.add_done_callback(self._ended)
        except Exception:  # isolates: listener
            _logger.exception("a listener of %s raised", event.type)

    def _ended(self, task: asyncio.Future[object]) -> None:
        self._running.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _logger.error("a listener raised", exc_info=task.exception())
