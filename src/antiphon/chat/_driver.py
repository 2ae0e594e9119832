"""Runs one turn: performs the loop's effects, one method each, and tells the turn's readers.

How a turn ends is the loop's to decide. What runs under these methods is unknown code (contexts, models,
responders): whatever it raises becomes an answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from msgspec import structs

from .._messages import Input, stored_input
from ..context import Shown
from ..errors import AntiphonError, StoreError, TurnOver
from ..journal._entries import (
    KnownEntry,
    ModelReplied,
    ToolReturned,
    ToolStarted,
    TurnFailed,
    TurnSteered,
)
from . import _events as events
from ._accepting import Accepting
from ._asking import Asking
from ._effects import (
    Answered,
    Ask,
    Broken,
    Built,
    Done,
    Effect,
    Finish,
    Judge,
    Judged,
    LookUp,
    MoreSteering,
    Open,
    RunCalls,
    Show,
    Stopped,
    Write,
)
from ._ground import Ground
from ._late_calling import LateCalling
from ._log import EventLog
from ._loop import Ended, run_turn
from ._open_calls import as_decided
from ._plan import TurnPlan
from ._showing import Services, Showing
from ._stopping import Stopping
from ._summarizer import SummarizerOf
from ._taking_up import taken_up

T = TypeVar("T")


class Driver:
    """One turn's run, from its acceptance to its outcome.

    Attributes:
        plan: what the turn is run with.
        log: what its readers are told.
        accepting: commits its input.
        closing: whether the outcome is on its way: from then on nothing steers or cancels the turn.
    """

    def __init__(self, plan: TurnPlan, ground: Ground, *, log: EventLog) -> None:
        self.plan = plan
        self.log = log
        self.closing = False
        self._recorder = ground.recorder
        services = Services(SummarizerOf(plan, log.emit), ground.derived, ground.cache)
        self._showing = Showing(plan, ground.recorder, scope=ground.scope, services=services)
        self._late = LateCalling(plan, ground.recorder, log=log)
        self._asking = Asking(plan, self.log, transcript=ground.recorder.transcript, calls=self._late.as_hooked)
        self._stopping = Stopping()
        self.accepting = Accepting(plan, ground.recorder, log=log, stopping=self._stopping)
        self._methods: dict[type[Effect[Any]], Callable[[Any], Awaitable[Any]]] = {
            Show: self.show,
            Ask: self.ask,
            Judge: self.judge,
            RunCalls: self.run_calls,
            LookUp: self.look_up,
            Write: self.write,
            Finish: self.finish,
        }

    # --- the run ----------------------------------------------------------------------------------------------

    async def run(self) -> Ended:
        """Run the loop to its end."""
        turn = self._recorder.transcript.turn(self.plan.turn_id, live=(self.plan.turn_id,))
        assert turn is not None  # a turn is accepted before it runs
        loop = run_turn(taken_up(turn, self.plan, entry=self._recorder.entry))
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
            built = await self._stopping.stoppable(self._showing.build(effect))
        except Exception as error:  # isolates: custom context, hook
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
            reply = await self._stopping.stoppable(self._asking.ask(effect.shown))
        except Exception as error:  # isolates: model, responder, hook
            return Broken(self._of_this_turn(error), self._asking.said)
        return structs.replace(reply, partial=self._asking.said) if isinstance(reply, Stopped) else Answered(reply)

    async def judge(self, effect: Judge) -> Judged | Stopped:
        """Decide what becomes of calls; a policy may ask elsewhere, so this takes its time."""
        return await self._stopping.stoppable(self._late.calling.judged(effect, offered=self._offered()))

    def _offered(self) -> Sequence[str]:
        """Names of the tools that the last call was offered, in this process or before it."""
        if self._showing.last is not None:
            return self._showing.last.tool_names
        turn = self._recorder.transcript.turn(self.plan.turn_id)
        return turn.traces[-1].tools if turn is not None and turn.traces else ()

    async def run_calls(self, effect: RunCalls) -> Done | Stopped | Broken:
        """Run calls; what each gives is committed as it ends."""
        try:
            stopped = await self._stopping.stoppable(self._late.calling.run(effect))
        except StoreError as error:
            return Broken(self._of_this_turn(error))
        return stopped if isinstance(stopped, Stopped) else Done()

    async def look_up(self, effect: LookUp) -> Open | Stopped:  # noqa: ARG002 - an effect without facts
        """Read which calls have no result; a turn that was stopped meanwhile waits for nobody."""
        await self._stopping.through(self._recorder.drain())
        return self._stopping.stopped or self._late.calling.open()

    async def write(self, effect: Write) -> Done | Broken:
        """Commit entries that do not end the turn."""
        try:
            await self._stopping.through(self._recorder.write(*effect.entries))
        except StoreError as error:
            return Broken(self._of_this_turn(error))
        for entry in effect.entries:
            self._tell(entry)
        return Done()

    def _tell(self, entry: KnownEntry) -> None:
        match entry:
            case ModelReplied(message=message):
                self.log.emit(events.ModelReplied(message=message))
            case ToolStarted():
                calls = {each.call.id: as_decided(each) for each in self._late.calling.open().calls}
                for id in entry.call_ids:
                    call = calls[id]
                    self.log.emit(events.ToolCalled(call_id=id, name=call.name, arguments=call.arguments))
            case ToolReturned():
                self._late.calling.tell(entry)

    async def finish(self, effect: Finish) -> Done | MoreSteering | Stopped | Broken:
        """Commit the outcome, if nothing has come in its way."""
        if isinstance(effect.entry, TurnFailed):
            await self._stopping.stoppable(self.plan.errors.ended(effect.entry))
        await self._stopping.through(self._recorder.drain())
        # From here to the put nothing awaits: no steering and no cancel can come between the look and the entry.
        if self.stopped is not None and not effect.final:
            return self.stopped
        if effect.seen is not None and self.steered > effect.seen:
            return MoreSteering()
        self.closing = True
        try:
            await self._stopping.through(self._recorder.write(effect.entry))
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
        if not self.closing:
            self._stopping.stop(reason)

    @property
    def shown(self) -> Shown | None:
        """What the last model call of this turn was shown."""
        return self._showing.last

    @property
    def stopped(self) -> Stopped | None:
        """The stop that was asked for, or None."""
        return self._stopping.stopped

    def _of_this_turn(self, error: Exception) -> Exception:
        self.plan.errors.meet(error)
        if isinstance(error, AntiphonError):
            error.turn_id = self.plan.turn_id
        return error
