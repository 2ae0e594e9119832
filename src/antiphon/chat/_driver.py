"""Runs one turn: performs the loop's effects, one method each, and tells the turn's readers.

How a turn ends is the loop's to decide. What runs under these methods is unknown code (contexts, models,
responders): whatever it raises becomes an answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from msgspec import structs

from .._jsonable import NULL, freeze
from .._messages import Input, stored_input
from ..context import Shown
from ..errors import AntiphonError, JournalMoved, Misuse, StoreError, TurnOver
from ..journal._entries import ModelReplied, TurnAccepted, TurnSteered
from ..transcript._turn import Turn
from . import _events as events
from ._asking import Asking
from ._effects import Answered, Ask, Broken, Built, Done, Effect, Finish, MoreSteering, Show, Stopped, Write
from ._ground import Ground
from ._log import EventLog
from ._loop import Ended, Turning, run_turn
from ._plan import TurnPlan
from ._showing import Services, Showing
from ._summarizer import SummarizerOf

T = TypeVar("T")

SHUT_DOWN = "shut down"
"""The reason of a turn whose task was canceled from outside, as a loop does when it ends."""


class Driver:
    """One turn's run, from its acceptance to its outcome.

    Attributes:
        plan: what the turn is run with.
        log: what its readers are told.
        closing: whether the outcome is on its way: from then on nothing steers or cancels the turn.
    """

    def __init__(self, plan: TurnPlan, ground: Ground, *, log: EventLog) -> None:
        self.plan = plan
        self.log = log
        self.closing = False
        self._recorder = ground.recorder
        services = Services(SummarizerOf(plan, log.emit), ground.derived, ground.cache)
        self._showing = Showing(plan, ground.recorder, scope=ground.scope, services=services)
        self._asking = Asking(plan, self.log, transcript=ground.recorder.transcript)
        self._stop: Stopped | None = None
        self._interruptible: asyncio.Task[Any] | None = None
        self._methods: dict[type[Effect[Any]], Callable[[Any], Awaitable[Any]]] = {
            Show: self.show,
            Ask: self.ask,
            Write: self.write,
            Finish: self.finish,
        }

    # --- the run ----------------------------------------------------------------------------------------------

    async def accept(self) -> Turn | None:
        """Commit the input.

        Returns:
            None, or the turn that the session already has under this key: then nothing was written.

        Raises:
            StoreError: if the input could not be committed; nothing may act on it.
        """
        entry = self._recorder.entry(
            TurnAccepted,
            turn_id=self.plan.turn_id,
            input=self.plan.input,
            retry_of=self.plan.retry_of,
            key=self.plan.key,
            options_json=_frozen(self.plan.options, "options"),
            metadata_json=_frozen(self.plan.metadata, "metadata"),
        )
        while True:
            known = self.known()
            if known is not None:
                return known
            try:
                await self._through(self._recorder.write(entry))
            except JournalMoved:
                continue  # the recorder has read what came; with that, decide anew
            self.log.emit(events.TurnAccepted())
            return None

    def known(self) -> Turn | None:
        """The turn that the session already has under this key, as far as it is read, or None."""
        transcript = self._recorder.transcript
        turn_id = None if self.plan.key is None else transcript.with_key(self.plan.key)
        return None if turn_id is None else transcript.turn(turn_id)

    async def run(self) -> Ended:
        """Run the loop to its end."""
        turning = Turning(self.plan.turn_id, self.plan.limits, self._recorder.entry, self.plan.answers.told)
        loop = run_turn(turning)
        deadline = self._deadline()
        try:
            effect = next(loop)
            while True:
                effect = loop.send(await self._methods[type(effect)](effect))
        except StopIteration as end:
            ended: Ended = end.value
            return ended
        finally:
            if deadline is not None:
                deadline.cancel()

    def _deadline(self) -> asyncio.TimerHandle | None:
        seconds = self.plan.limits.seconds
        if seconds is None:
            return None
        reason = f"the time limit of {seconds:g} s is reached"
        return asyncio.get_running_loop().call_later(seconds, self.stop, reason)

    # --- effects ----------------------------------------------------------------------------------------------

    async def show(self, effect: Show) -> Built | Broken | Stopped:
        """Build what a call is shown."""
        try:
            built = await self._stoppable(self._showing.build(effect))
        except Exception as error:  # isolates: custom context
            return Broken(self._of_this_turn(error))
        if isinstance(built, Built):
            self._say_shorter(effect, built.shown)
            self.log.emit(events.ContextBuilt(trace=built.shown.trace))
        return built

    def _say_shorter(self, effect: Show, shown: Shown) -> None:
        if effect.refused is not None and shown.trace.total < effect.refused.trace.total:
            reason = f"{effect.refused.trace.total:,} tokens were too long; asking again with {shown.trace.total:,}"
            self.log.emit(events.Retrying(attempt=2, delay=0.0, reason=reason))

    async def ask(self, effect: Ask) -> Answered | Broken | Stopped:
        """Ask the model once."""
        try:
            reply = await self._stoppable(self._asking.ask(effect.shown))
        except Exception as error:  # isolates: model, responder
            return Broken(self._of_this_turn(error), self._asking.said)
        return structs.replace(reply, partial=self._asking.said) if isinstance(reply, Stopped) else Answered(reply)

    async def write(self, effect: Write) -> Done | Broken:
        """Commit entries that do not end the turn."""
        try:
            await self._through(self._recorder.write(*effect.entries))
        except StoreError as error:
            return Broken(self._of_this_turn(error))
        for entry in effect.entries:
            if isinstance(entry, ModelReplied):
                self.log.emit(events.ModelReplied(message=entry.message))
        return Done()

    async def finish(self, effect: Finish) -> Done | MoreSteering | Stopped | Broken:
        """Commit the outcome, if nothing has come in its way."""
        await self._through(self._recorder.drain())
        # From here to the put nothing awaits: no steering and no cancel can come between the look and the entry.
        if self._stop is not None and not effect.final:
            return self._stop
        if effect.seen is not None and self.steered > effect.seen:
            return MoreSteering()
        self.closing = True
        try:
            await self._through(self._recorder.write(effect.entry))
        except StoreError as error:
            return Broken(self._of_this_turn(error))
        return Done()

    # --- what comes from outside ------------------------------------------------------------------------------

    @property
    def steered(self) -> int:
        """How many steerings of this turn are committed."""
        turn = self._recorder.transcript.turn(self.plan.turn_id, live=(self.plan.turn_id,))
        return 0 if turn is None else len(turn.steering)

    async def steer(self, given: Input, *, key: str | None = None) -> None:
        """Commit more input for the running turn.

        Raises:
            TurnOver: if the outcome is on its way or there; nothing is written.
            StoreError: if it could not be committed.
        """
        said = stored_input(given)
        if self.closing or self.log.ended:
            raise TurnOver(self.plan.turn_id)
        entry = self._recorder.entry(TurnSteered, turn_id=self.plan.turn_id, input=said, key=key)
        await self._recorder.write(entry)
        self.log.emit(events.Steered(input=said))

    def stop(self, reason: str | None) -> None:
        """Stop the turn as soon as can be; a no-op once the outcome is on its way."""
        if self.closing or self._stop is not None:
            return
        self._stop = Stopped(reason)
        if self._interruptible is not None:
            self._interruptible.cancel()

    @property
    def shown(self) -> Shown | None:
        """What the last model call of this turn was shown."""
        return self._showing.last

    @property
    def stopped(self) -> Stopped | None:
        """The stop that was asked for, or None."""
        return self._stop

    async def _stoppable(self, work: Awaitable[T]) -> T | Stopped:
        """Do work that a stop may interrupt; a task canceled from outside is a stop too."""
        if self._stop is not None:
            _abandon(work)
            return self._stop
        self._interruptible = asyncio.current_task()
        try:
            found = await work
        except asyncio.CancelledError:
            if not _forgiven():
                raise Misuse("what answers the turn was canceled by something of its own") from None
            self._stop = self.stopped or Stopped(SHUT_DOWN)
            return self._stop
        finally:
            self._interruptible = None
        return self.stopped or found

    async def _through(self, commit: Awaitable[None]) -> None:
        """Commit, whatever happens to this task meanwhile; a cancellation stops the turn once that is done."""
        try:
            await commit
        except asyncio.CancelledError:
            _forgiven()
            self.stop(SHUT_DOWN)

    def _of_this_turn(self, error: Exception) -> Exception:
        if isinstance(error, AntiphonError):
            error.turn_id = self.plan.turn_id
        return error


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


def _frozen(value: Any, path: str) -> Any:
    return freeze(dict(value), path) if value else NULL
