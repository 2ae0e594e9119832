"""Decides what a send is: a new turn, one that waits its turn, more for the running one, or one that is known."""

from __future__ import annotations

import asyncio
from typing import Any

from .._ids import keyed_turn_id, new_id
from .._messages import StoredInput
from ..context import Shown
from ..errors import SessionBusy, SessionClosed
from ..transcript import Turn
from ._ground import Ground
from ._inside import must_be_outside
from ._live_turn import LiveTurn
from ._plan import TurnPlan
from ._planner import Planner
from ._run import Run
from ._taking_up import may_be_resumed


class Sending:
    """The running turns of one session.

    Attributes:
        shown: what the last model call here was shown, or None.
    """

    def __init__(self, planner: Planner, ground: Ground) -> None:
        self._planner = planner
        self._ground = ground
        self._transcript = ground.recorder.transcript
        self._id = ground.recorder.transcript.session_id
        self._runs: list[Run] = []
        self._steering: dict[asyncio.Task[None], tuple[str | None, LiveTurn]] = {}
        self.shown: Shown | None = None

    def running(self) -> list[Run]:
        """The runs that have not ended, the running one first."""
        self._runs = [run for run in self._runs if not run.over]
        return self._runs

    def must_be_idle(self) -> None:
        """Refuse while a turn runs.

        Raises:
            SessionBusy: naming it.
        """
        if running := self.running():
            raise SessionBusy(self._id, turn_id=running[0].turn_id)

    def send(self, said: StoredInput, *, retry_of: str | None, options: dict[str, Any], owner: object) -> LiveTurn:
        """See `Session.send`; `owner` is kept while the turn runs."""
        if self._planner.closed:
            raise SessionClosed(self._id)
        key, when_busy = options.get("key"), options.pop("when_busy", "raise")
        running = self.running()
        repeated = None if key is None else self._repeated(key, running)
        if repeated is not None:
            return repeated
        known = key is not None and self._transcript.with_key(key) is not None
        if running and when_busy == "steer" and not known and not running[0].closing:
            return self._steer(running[0], said, key=key)
        if when_busy == "raise" and not known:
            self.must_be_idle()
        if running and when_busy == "wait":
            must_be_outside(self._id)
        turn_id = new_id() if key is None else self._keyed(key)
        plan = self._planner.plan(turn_id, said, retry_of=retry_of, options=options)
        return self._start(plan, wait=when_busy == "wait", known=known, owner=owner)

    def resume(self, turn: Turn, *, options: dict[str, Any], owner: object) -> LiveTurn:
        """See `Session.resume`; what was asked for the turn alone holds, where it is kept, unless other is given."""
        if self._planner.closed:
            raise SessionClosed(self._id)
        wait = options.pop("when_busy", "raise") == "wait"
        if not wait:
            self.must_be_idle()
        may_be_resumed(self._transcript, turn.id)
        plan = self._planner.plan(turn.id, turn.input, options=self._planner.kept(turn.options, given=options))
        return self._start(plan, wait=wait, known=False, owner=owner, resumes=True)

    def _keyed(self, key: str) -> str:
        return self._transcript.with_key(key) or keyed_turn_id(self._id, key)

    def _repeated(self, key: str, running: list[Run]) -> LiveTurn | None:
        on_its_way = next((turn for given, turn in self._steering.values() if given == key), None)
        run = next((run for run in running if run.turn_id == self._keyed(key)), None)
        return on_its_way or (None if run is None else LiveTurn(run, run.accepted))

    def _start(self, plan: TurnPlan, *, wait: bool, known: bool, owner: object, resumes: bool = False) -> LiveTurn:
        behind = self._runs[-1] if self._runs else None
        run = Run(plan, self._ground, behind=behind, wait=wait, resumes=resumes)
        if not known:  # One that is only read back holds nobody up.
            self._runs.append(run)
        self._planner.running.add(run)
        run.result.add_done_callback(lambda _: self._forget(run, owner))
        return LiveTurn(run, run.accepted)

    def _forget(self, run: Run, _: object) -> None:
        # Called back by the run, which so keeps the owner: the Chat holds sessions weakly, and one with a running
        # turn must still be the one that is found.
        self.shown = run.shown or self.shown
        self._planner.running.discard(run)
        self.running()

    def _steer(self, run: Run, said: StoredInput, *, key: str | None) -> LiveTurn:
        accepted = asyncio.get_running_loop().create_future()
        turn = LiveTurn(run, accepted)

        async def steer() -> None:
            await asyncio.shield(run.accepted)
            await run.steer(said, key=key)

        task = asyncio.create_task(steer())
        self._steering[task] = (key, turn)
        task.add_done_callback(lambda done: _passed_on(done, accepted))
        task.add_done_callback(lambda done: self._steering.pop(done, None))
        return turn

    async def settle(self, *, drain: float | None) -> None:
        """Let the running turns end, for `drain` seconds (None: however long), then cancel them."""
        running = self.running()
        if running:
            await asyncio.wait({run.result for run in running}, timeout=drain)
        # All at once: one that waits for another must not start when that one is canceled.
        await asyncio.gather(*(run.cancel("the chat was closed") for run in self.running()))
        await self._ground.recorder.drain()


def _passed_on(done: asyncio.Task[None], accepted: asyncio.Future[None]) -> None:
    if accepted.done():
        return
    error = asyncio.CancelledError() if done.cancelled() else done.exception()
    if error is None:
        accepted.set_result(None)
    else:
        accepted.set_exception(error)
        accepted.exception()
