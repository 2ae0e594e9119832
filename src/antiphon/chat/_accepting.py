"""The first step of a turn: its input is committed, or that it is taken up again, before anything acts on it."""

from __future__ import annotations

from typing import Any

from .._jsonable import NULL, freeze
from ..errors import JournalMoved
from ..journal._entries import TurnAccepted, TurnResumed
from ..transcript import Turn
from . import _events as events
from ._log import EventLog
from ._plan import TurnPlan
from ._recorder import Recorder
from ._stopping import Stopping
from ._taking_up import may_be_resumed, superseded_by_newer


class Accepting:
    """The acceptance of one turn."""

    def __init__(self, plan: TurnPlan, recorder: Recorder, *, log: EventLog, stopping: Stopping) -> None:
        self._plan = plan
        self._recorder = recorder
        self._log = log
        self._stopping = stopping

    async def accept(self) -> Turn | None:
        """Commit the input.

        Returns:
            None, or the turn that the session already has under this key: then nothing was written.

        Raises:
            StoreError: if the input could not be committed; nothing may act on it.
        """
        entry = self._recorder.entry(
            TurnAccepted,
            turn_id=self._plan.turn_id,
            input=self._plan.input,
            retry_of=self._plan.retry_of,
            key=self._plan.key,
            options_json=_frozen(self._plan.options, "options"),
            metadata_json=_frozen(self._plan.metadata, "metadata"),
        )
        while True:
            # A decision that is on its way counts; from here to the put nothing awaits.
            await self._recorder.drain()
            known = self.known()
            if known is not None:
                return known
            try:
                superseded = superseded_by_newer(self._recorder.transcript, self._recorder.entry)
                await self._stopping.through(self._recorder.write(*superseded, entry))
            except JournalMoved:
                continue  # the recorder has read what came; with that, decide anew
            self._log.emit(events.TurnAccepted())
            return None

    async def resume(self) -> None:
        """Commit that the turn is taken up again.

        Raises:
            Misuse: if it is over, or not the session's last.
            StoreError: if that could not be committed.
        """
        await self._recorder.catch_up()
        while True:
            may_be_resumed(self._recorder.transcript, self._plan.turn_id)
            try:
                await self._stopping.through(
                    self._recorder.write(self._recorder.entry(TurnResumed, turn_id=self._plan.turn_id))
                )
            except JournalMoved:
                continue
            self._log.emit(events.TurnAccepted())
            return

    def known(self) -> Turn | None:
        """The turn that the session already has under this key, as far as it is read, or None."""
        transcript = self._recorder.transcript
        turn_id = None if self._plan.key is None else transcript.with_key(self._plan.key)
        return None if turn_id is None else transcript.turn(turn_id)


def _frozen(value: Any, path: str) -> Any:
    return freeze(dict(value), path) if value else NULL
