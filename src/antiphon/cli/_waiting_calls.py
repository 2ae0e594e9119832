"""Calls that wait for a person: which there are, how they are shown, and what must be there to go on."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from .._messages import ToolCall
from ..chat import Chat, Session
from ..chat._open_calls import open_calls
from ..context._stubs import READ_RESULT
from ..errors import SessionNotFound, StoreError, ToolError
from ..tools import PendingCall, Tool, prepared
from ._call_text import exact
from ._endings import Refused
from ._place import Place
from ._screen import Ink, Screen
from ._shown_text import one_line

Find = Callable[[str], Tool | None]
"""Gives the tool of a name, or None."""


class WaitingCall(NamedTuple):
    """A call that waits.

    Attributes:
        session: its session.
        pending: the call, and why it waits.
        call: the same as the model made it.
    """

    session: str
    pending: PendingCall
    call: ToolCall

    @property
    def arguments(self) -> str:
        """The whole arguments, every character of them visible; what is no JSON object as the model wrote it."""
        return exact(self.pending.arguments) if self.call.raw is None else exact(self.call.raw)

    def to_json(self) -> dict[str, Any]:
        """For other programs."""
        found = {"session": self.session, "turn": self.pending.turn_id, "call": self.pending.id}
        found |= {"tool": self.pending.name, "reason": self.pending.reason}
        if self.call.raw is not None:
            return {**found, "arguments": None, "raw": self.call.raw}
        return {**found, "arguments": self.pending.arguments}


def waiting_in(session: Session) -> list[WaitingCall]:
    """The calls of a session's last turn that wait, in their order."""
    pending = session.pending()
    if not pending:
        return []
    made = {call.id: call for message in session.turns()[-1].messages for call in message.calls}
    return [WaitingCall(session.id, each, made[each.id]) for each in pending]


async def all_waiting(chat: Chat, place: Place) -> list[WaitingCall]:
    """The calls that wait in any session, of the one that changed last first; a damaged one hides no other."""
    # A listing that has not looked at all of a session takes one that waits for interrupted.
    statuses = ("waiting", "interrupted")
    ids = [each.id async for each in chat.sessions(scope=place.scope, status=statuses, limit=None)]
    found: list[WaitingCall] = []
    for session_id in ids:
        with suppress(SessionNotFound, StoreError):
            found += waiting_in(await chat.open_session(session_id, scope=place.scope))
    return found


def write_waiting(screen: Screen, call: WaitingCall, *, arguments: str | None = None) -> None:
    """Write a call that waits: its tool, why it waits, and its whole arguments, or those in their place."""
    pending = call.pending
    screen.line(
        Ink("? ", "yellow"), Ink(one_line(pending.name), "bold"), Ink(f" waits: {one_line(pending.reason)}", "dim")
    )
    if call.call.raw is not None and arguments is None:
        screen.line(Ink("  the arguments are no JSON object; the model wrote", "yellow"))
    for line in (arguments or call.arguments).split("\n"):
        screen.line("  ", line)


def how_to_decide(calls: Sequence[WaitingCall], *, again: str) -> str:
    """Say how to decide on calls of one session.

    Args:
        calls: those that wait.
        again: the options that mean their place.
    """
    call = "CALL" if len(calls) > 1 else shlex.quote(calls[0].pending.id)
    named = f" (CALL is one of {', '.join(shlex.quote(each.pending.id) for each in calls)})" if len(calls) > 1 else ""
    resume = f"antiphon resume {shlex.quote(calls[0].session)}{again}"
    return f"to decide: antiphon approve {call}{again}, or deny, or answer{named}; to go on then: {resume}"


def fitted(call: ToolCall, tool: Tool | None) -> Any:
    """The arguments that a call runs with: repaired and checked where its tool is known, else as they are.

    Raises:
        ToolError: if they do not fit.
    """
    return call.arguments if tool is None else prepared(tool, call).decoded


def repaired(call: ToolCall, tool: Tool | None) -> Any:
    """The same, or None where the arguments do not fit: then the model is told so, and nothing runs."""
    try:
        return fitted(call, tool)
    except ToolError:
        return None


def must_be_offered(session: Session, find: Find) -> None:
    """Refuse to go on where a call that may run would only be answered that there is no such tool.

    Raises:
        Refused: naming the tool.
    """
    turns = session.turns()
    for each in open_calls(turns[-1]) if turns else ():
        name = each.call.name
        if each.phase in ("allowed", "started", "called") and find(name) is None and name != READ_RESULT.name:
            raise Refused(
                f"call {each.call.id!r} asks for the tool {name!r}, which is not offered here; give the --tools or"
                " --mcp that it comes from"
            )
