"""One turn's run as a task: the session is held, the turn driven, the session let go, and only then told.

By the time the result settles, another process can already begin the next turn.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from .._messages import Input
from ..context import Shown
from ..errors import AntiphonError, TurnCanceled, TurnFailed, TurnInterrupted, TurnOver
from ..journal import TurnCompleted
from ..transcript._turn import Turn
from ._driver import Driver
from ._events import Canceled, Completed, Event, Failed, TurnAccepted, Waiting
from ._ground import Ground
from ._hold import held
from ._hooks import phase_of
from ._log import EventLog
from ._loop import Ended
from ._plan import TurnPlan
from ._reply import Reply
from ._sentences import sentence_of
from ._stopping import SHUT_DOWN

_logger = logging.getLogger("antiphon")

End = tuple[Event, BaseException | None]
"""The last event of a run, and what its result raises."""


class Run:
    """A turn that was sent.

    Attributes:
        turn_id: the turn.
        log: what its readers are told.
        accepted: done once the input is committed.
        result: the reply, or the error that ended the turn.
    """

    def __init__(
        self, plan: TurnPlan, ground: Ground, *, behind: Run | None, wait: bool, resumes: bool = False
    ) -> None:
        self.turn_id = plan.turn_id
        self.log = EventLog(plan.turn_id, tap=ground.listening.emit)
        self._driver = Driver(plan, ground, log=self.log)
        self._recorder = ground.recorder
        self._store = ground.store
        self._behind = behind
        self._wait = wait
        self._resumes = resumes
        loop = asyncio.get_running_loop()
        self.accepted: asyncio.Future[None] = loop.create_future()
        self.result: asyncio.Future[Reply] = loop.create_future()
        for future in (self.accepted, self.result):
            future.add_done_callback(_looked_at)
        self._task = asyncio.create_task(self._go(), name=f"turn {plan.turn_id}")
        # In a callback, because a task that is canceled before its first step runs nothing of its own.
        self._task.add_done_callback(self._ended)

    @property
    def over(self) -> bool:
        """Whether the run has ended; the turn may still be without outcome."""
        return self.result.done()

    @property
    def closing(self) -> bool:
        """Whether the turn's outcome is on its way or there: it takes nothing more."""
        return self._driver.closing

    @property
    def shown(self) -> Shown | None:
        """What the last model call of this run was shown."""
        return self._driver.shown

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

    async def _go(self) -> End:
        if self._resumes:
            return await self._take_up()
        known = self._driver.accepting.known()
        if known is None:
            await self._its_turn()
            async with held(self._store, self._recorder.transcript.session_id, wait=self._wait):
                known = await self._driver.accepting.accept()
                if known is None:
                    self.accepted.set_result(None)
                    return self._told(await self._driver.run())
        self.turn_id = self.log.turn_id = known.id
        self._driver.closing = True  # it is over, or nobody runs it
        self.log.emit(TurnAccepted())
        self.log.read_back()
        self.accepted.set_result(None)
        return end_of(known)

    async def _take_up(self) -> End:
        await self._its_turn()
        async with held(self._store, self._recorder.transcript.session_id, wait=self._wait):
            await self._driver.accepting.resume()
            self.accepted.set_result(None)
            return self._told(await self._driver.run())

    async def _its_turn(self) -> None:
        # One that gave up waiting leaves whom it waited for.
        while self._behind is not None:
            await self._behind.ended()
            self._behind = self._behind._behind

    def _ended(self, task: asyncio.Task[End]) -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        last, raised = task.result() if error is None else self._broken_off(error)
        _logger.debug("turn %s of session %s: %s", self.turn_id, self._recorder.transcript.session_id, last.type)
        self.log.emit(last)
        if isinstance(last, Completed | Waiting):
            self.result.set_result(last.reply)
        else:
            self.result.set_exception(raised or TurnInterrupted(self.turn_id))
        if not self.accepted.done():
            self.accepted.set_exception(raised or TurnInterrupted(self.turn_id))

    def _broken_off(self, error: BaseException) -> End:
        turn = self._recorder.transcript.turn(self.turn_id)
        if self.closing and turn is not None and turn.status != "interrupted":
            return end_of(turn)  # The lease would not be let go; what is committed counts.
        if isinstance(error, asyncio.CancelledError):
            stop = self._driver.stopped
            reason = SHUT_DOWN if stop is None else stop.reason
            return Canceled(reason=reason), TurnCanceled(self.turn_id, reason)
        if not isinstance(error, Exception):
            # SystemExit and its like are the process's, not the caller's.
            interrupted = TurnInterrupted(self.turn_id)
            interrupted.__cause__ = error
            error = interrupted
        if isinstance(error, AntiphonError):
            error.turn_id = error.turn_id or self.turn_id
        return Failed(error=sentence_of(error), phase="send" if self.accepted.done() else "accept"), error

    def _told(self, ended: Ended) -> End:
        outcome = ended.outcome
        error = TurnInterrupted(self.turn_id) if ended.error is None else ended.error
        turn = self._recorder.transcript.turn(self.turn_id)
        if outcome is None:
            assert turn is not None  # it waits, so it is there
            return _waiting(turn), None
        if isinstance(outcome, TurnCompleted):
            if ended.written and turn is not None:
                return Completed(reply=Reply.of(turn)), None
            return Failed(error=sentence_of(error), partial=outcome.reply.text), ended.error
        partial = outcome.partial or ""
        if ended.error is not None:
            phase = phase_of(type(error).__name__)
            return Failed(error=sentence_of(error), phase=phase, partial=partial), ended.error
        reason = getattr(outcome, "reason", None)
        return Canceled(reason=reason, partial=partial), TurnCanceled(self.turn_id, reason)


def end_of(turn: Turn) -> End:
    """The last event of a turn that is known from the journal, and the error that its result raises."""
    match turn.status:
        case "completed":
            return Completed(reply=Reply.of(turn)), None
        case "canceled":
            return Canceled(reason=turn.error, partial=turn.partial or ""), TurnCanceled(turn.id, turn.error)
        case "failed":
            kind, _, text = (turn.error or "error").partition(": ")
            failed = TurnFailed(turn.id, kind, text=text)
            return Failed(error=str(failed), phase=phase_of(kind), partial=turn.partial or ""), failed
        case "waiting":
            return _waiting(turn), None
        case _:
            interrupted = TurnInterrupted(turn.id)
            return Failed(error=str(interrupted)), interrupted


def _waiting(turn: Turn) -> Waiting:
    reply = Reply.of(turn)
    return Waiting(pending=reply.pending, reply=reply)


def _looked_at(future: asyncio.Future[Any]) -> None:
    # Nobody has to wait for a turn; its error is then no reason for a warning about one that nobody saw.
    if not future.cancelled():
        future.exception()
