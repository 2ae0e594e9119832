"""What people decide on calls that wait: run it, perhaps with other arguments; do not; or what it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._jsonable import NULL, Jsonable, freeze
from .._messages import ToolResult
from ..errors import JournalMoved, Misuse
from ..journal._entries import KnownEntry, ToolDecided
from ..tools import PendingCall
from ..transcript import Turn
from ._open_calls import pending_calls
from ._recorder import Recorder
from ._returned import returned_entry
from ._taking_up import last_turn


class Decides:
    """The part of a session with which people decide on calls that wait."""

    _recorder: Recorder

    def pending(self) -> Sequence[PendingCall]:
        """The calls of the last turn that wait for a person, each with the reason why."""
        return pending_of(self._recorder)

    async def approve(
        self, call_id: str | PendingCall, *, by: str, arguments: Mapping[str, Jsonable] | None = None
    ) -> None:
        """Let a waiting call run when its turn is resumed: this call, once. A policy that denies it still does.

        Args:
            call_id: the call; or what `pending` gave of it, which then must still be what waits: ids come again.
            by: who decides.
            arguments: in place of the model's.

        Raises:
            Misuse: if no such call waits; a newer message puts them all aside.
            NotStorable: if the arguments are not JSON.
            StoreError: if it could not be committed.
        """
        await decided(self._recorder, call_id, decision="allow", by=by, arguments=arguments)

    async def deny(self, call_id: str | PendingCall, *, by: str, reason: str | None = None) -> None:
        """Refuse a waiting call; the model is told so, with the reason.

        Raises:
            Misuse, StoreError: see `approve`.
        """
        await decided(self._recorder, call_id, decision="deny", by=by, reason=reason)

    async def answer(self, call_id: str | PendingCall, output: Jsonable, *, by: str) -> None:
        """Say what a waiting call gave, without running it: it was done by hand, or had taken effect before.

        Raises:
            Misuse, NotStorable, StoreError: see `approve`.
        """
        await answered(self._recorder, call_id, output=output, by=by)


def pending_of(recorder: Recorder) -> Sequence[PendingCall]:
    """The calls of the session's last turn that wait for a person."""
    last = last_turn(recorder.transcript)
    return () if last is None else pending_calls(last)


async def decided(
    recorder: Recorder,
    call_id: str | PendingCall,
    *,
    decision: str,
    by: str,
    arguments: Mapping[str, Jsonable] | None = None,
    reason: str | None = None,
) -> None:
    """Commit that a person allows or denies a call.

    Raises:
        Misuse: if no such call waits, or nobody decides.
        NotStorable: if the arguments are not JSON.
        StoreError: if it could not be committed.
    """
    given = NULL if arguments is None else freeze(dict(arguments), "arguments")
    fields: dict[str, Any] = {"decision": decision, "by": _named(by), "reason": reason, "arguments_json": given}
    await _written(recorder, call_id, fields=fields)


async def answered(recorder: Recorder, call_id: str | PendingCall, *, output: Jsonable, by: str) -> None:
    """Commit what a call gave, as a person says; it is not run.

    Raises:
        Misuse: if no such call waits, or nobody says so.
        NotStorable: if the output is not JSON.
        StoreError: if it could not be committed.
    """
    fields: dict[str, Any] = {"decision": "answer", "by": _named(by)}
    await _written(recorder, call_id, fields=fields, output=freeze(output, "output"))


async def _written(
    recorder: Recorder, call_id: str | PendingCall, *, fields: Mapping[str, Any], output: Any = None
) -> None:
    while True:
        # What others of this process have decided and is on its way counts; from here to the put nothing awaits.
        await recorder.drain()
        turn, call = _waiting(recorder, call_id)
        entries: list[KnownEntry] = [recorder.entry(ToolDecided, turn_id=turn.id, call_id=call.id, **fields)]
        if output is not None:
            entries.append(returned_entry(recorder.entry, turn.id, result=ToolResult(call.id, call.name, output)))
        try:
            return await recorder.write(*entries)
        except JournalMoved:
            continue  # the recorder has read what came: the call may be decided, or its turn put aside


def _waiting(recorder: Recorder, call_id: str | PendingCall) -> tuple[Turn, PendingCall]:
    turn = last_turn(recorder.transcript)
    waiting = () if turn is None else pending_calls(turn)
    id = call_id if isinstance(call_id, str) else call_id.id
    found = next((each for each in waiting if each.id == id), None)
    if turn is None or found is None:
        listed = ", ".join(repr(each.id) for each in waiting) or "none"
        raise Misuse(f"no call {id!r} waits for a decision", f"those that wait: {listed}")
    if isinstance(call_id, PendingCall) and replace(call_id, reason=found.reason) != found:
        raise Misuse(f"another call waits under {id!r} by now", "look at session.pending() and decide on that")
    return turn, found


def _named(by: str) -> str:
    if not str(by or "").strip():
        raise Misuse("nobody is named who decides", "give by='who'")
    return by
