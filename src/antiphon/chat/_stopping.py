"""Stopping a turn: what may be broken off is, what is being committed is not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from ..errors import Misuse
from ._effects import Stopped

T = TypeVar("T")

SHUT_DOWN = "shut down"
"""The reason of a turn whose task was canceled from outside, as a loop does when it ends."""


class Stopping:
    """The stop of one turn, and the work that it breaks off."""

    def __init__(self) -> None:
        self._stop: Stopped | None = None
        self._interruptible: asyncio.Task[Any] | None = None

    @property
    def stopped(self) -> Stopped | None:
        """The stop that was asked for, or None."""
        return self._stop

    def _asked(self) -> Stopped | None:
        # It may have been asked for while something was awaited.
        return self._stop

    def stop(self, reason: str | None) -> None:
        """Stop the turn as soon as can be; the first reason counts."""
        if self.stopped is not None:
            return
        self._stop = Stopped(reason)
        if self._interruptible is not None:
            self._interruptible.cancel()

    async def stoppable(self, work: Awaitable[T]) -> T | Stopped:
        """Do work that a stop may interrupt; a task canceled from outside is a stop too."""
        if self.stopped is not None:
            _abandon(work)
            return self.stopped
        self._interruptible = asyncio.current_task()
        try:
            found = await work
        except asyncio.CancelledError:
            if not _forgiven():
                raise Misuse("what answers the turn was canceled by something of its own") from None
            self._stop = self._asked() or Stopped(SHUT_DOWN)
            return self._stop
        finally:
            self._interruptible = None
        return self._asked() or found

    async def through(self, commit: Awaitable[None]) -> None:
        """Commit, whatever happens to this task meanwhile; a cancellation stops the turn once that is done."""
        try:
            await commit
        except asyncio.CancelledError:
            _forgiven()
            self.stop(SHUT_DOWN)


def _forgiven() -> bool:
    """Whether this task was canceled, which is now heard: left standing it would break timeouts around it."""
    task = asyncio.current_task()
    if task is None or task.cancelling() == 0:
        return False
    task.uncancel()
    return True


def _abandon(work: Awaitable[Any]) -> None:
    close = getattr(work, "close", None)
    if close is not None:
        close()
