"""One turn's run as a task: the session is held, the turn driven, the session let go, and only then told.

By the time the result settles, another process can already begin the next turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from .._messages import Input
from ..errors import AntiphonError, SessionBusy, TurnCanceled, TurnFailed, TurnInterrupted, TurnOver
from ..journal._entries import TurnCompleted
from ..stores._store import LeasesSessions, Store
from ..transcript._turn import Turn
from ._driver import SHUT_DOWN, Driver
from ._events import Canceled, Completed, Event, Failed, TurnAccepted
from ._loop import Ended
from ._plan import TurnPlan
from ._recorder import Recorder
from ._reply import Reply

_logger = logging.getLogger("antiphon")

WAIT = 60.0
"""Seconds that `when_busy="wait"` waits for a turn of another process."""

_POLL = 0.05
"""Seconds between two looks at a lease: no lock of the system's tells when it is let go."""


class Run:
    """A turn that was sent.

    Attributes:
        turn_id: the turn.
        log: what its readers are told.
        accepted: done once the input is committed.
        result: the reply, or the error that ended the turn.
    """

    def __init__(
        self, plan: TurnPlan, recorder: Recorder, *, store: Store, scope: str | None, behind: Run | None, wait: bool
    ) -> None:
        self.turn_id = plan.turn_id
        self._driver = Driver(plan, recorder, scope=scope)
        self.log = self._driver.log
        self._recorder = recorder
        self._store = store
        self._behind = behind
        self._wait = wait
        loop = asyncio.get_running_loop()
        self.accepted: asyncio.Future[None] = loop.create_future()
        self.result: asyncio.Future[Reply] = loop.create_future()
        for future in (self.accepted, self.result):
            future.add_done_callback(_looked_at)
        self._task = asyncio.create_task(self._go(), name=f"turn {plan.turn_id}")

    @property
    def over(self) -> bool:
        """Whether the run has ended; the turn may still be without outcome."""
        return self.result.done()

    async def ended(self) -> None:
        """Wait until the run has ended, however."""
        await asyncio.wait({self.result})

    async def steer(self, said: Input, *, key: str | None = None) -> None:
        """See `LiveTurn.steer`; the turn must have been accepted."""
        if self.over:
            raise TurnOver(self.turn_id)
        await self._driver.steer(said, key=key)

    async def cancel(self, reason: str | None) -> None:
        """See `LiveTurn.cancel`."""
        if not self.over:
            self._driver.stop(reason)
            if not self.accepted.done():
                self._task.cancel()
            await self.ended()

    async def _go(self) -> None:
        try:
            last, error = await self._held()
        except asyncio.CancelledError:
            stop = self._driver.stopped
            reason = SHUT_DOWN if stop is None else stop.reason
            last, error = Canceled(reason=reason), TurnCanceled(self.turn_id, reason)
        except Exception as refusal:  # isolates: wrapped store
            if isinstance(refusal, AntiphonError):
                refusal.turn_id = refusal.turn_id or self.turn_id
            last, error = Failed(error=str(refusal), phase="accept"), refusal
        _logger.debug("turn %s of session %s: %s", self.turn_id, self._recorder.transcript.session_id, last.type)
        self.log.emit(last)
        self._settle(last, error)

    def _settle(self, last: Event, error: BaseException | None) -> None:
        if error is None and isinstance(last, Completed):
            self.result.set_result(last.reply)
        else:
            self.result.set_exception(error or TurnInterrupted(self.turn_id))
        if not self.accepted.done():
            self.accepted.set_exception(error or TurnInterrupted(self.turn_id))

    async def _held(self) -> tuple[Event, BaseException | None]:
        known = self._driver.known()
        if known is None:
            if self._behind is not None:
                await self._behind.ended()
            async with self._lease():
                known = await self._driver.accept()
                if known is None:
                    self.accepted.set_result(None)
                    return self._told(await self._driver.run())
        self.turn_id = known.id
        self.log.emit(TurnAccepted())
        self.accepted.set_result(None)
        return end_of(known)

    def _told(self, ended: Ended) -> tuple[Event, BaseException | None]:
        outcome = ended.outcome
        turn = self._recorder.transcript.turn(self.turn_id)
        if isinstance(outcome, TurnCompleted):
            if ended.written and turn is not None:
                return Completed(reply=Reply.of(turn)), None
            return Failed(error=str(ended.error), partial=outcome.reply.text), ended.error
        partial = outcome.partial or ""
        if ended.error is not None:
            return Failed(error=str(ended.error), partial=partial), ended.error
        reason = getattr(outcome, "reason", None)
        return Canceled(reason=reason, partial=partial), TurnCanceled(self.turn_id, reason)

    @asynccontextmanager
    async def _lease(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if isinstance(self._store, LeasesSessions):
                await self._enter(stack, self._store)
            yield

    async def _enter(self, stack: AsyncExitStack, store: LeasesSessions) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + (WAIT if self._wait else 0.0)
        while True:
            try:
                await stack.enter_async_context(store.lease(self._recorder.transcript.session_id))
                return
            except SessionBusy:
                if loop.time() >= until:
                    raise
            await asyncio.sleep(_POLL)


def end_of(turn: Turn) -> tuple[Event, BaseException | None]:
    """The last event of a turn that is known from the journal, and the error that its result raises."""
    match turn.status:
        case "completed":
            return Completed(reply=Reply.of(turn)), None
        case "canceled":
            return Canceled(reason=turn.error, partial=turn.partial or ""), TurnCanceled(turn.id, turn.error)
        case "failed":
            kind, _, text = (turn.error or "error").partition(": ")
            failed = TurnFailed(turn.id, kind, text=text)
            return Failed(error=str(failed), partial=turn.partial or ""), failed
        case _:
            interrupted = TurnInterrupted(turn.id)
            return Failed(error=str(interrupted)), interrupted


def _looked_at(future: asyncio.Future[Any]) -> None:
    # Nobody has to wait for a turn; its error is then no reason for a warning about one that nobody saw.
    if not future.cancelled():
        future.exception()
