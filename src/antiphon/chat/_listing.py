"""What a listing says of a session, from the bounded look that its store took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .._messages import input_text
from ..errors import StoreError
from ..journal._codec import Line, decode
from ..journal._entries import (
    Entry,
    FeedbackRecorded,
    SessionCreated,
    SessionRenamed,
    ToolAsked,
    ToolDecided,
    ToolReturned,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnEntry,
    TurnFailed,
)
from ..journal._lifecycle import NotAllowed
from ..stores._store import Listed
from ..transcript._replay import Transcript

SessionStatus = Literal["idle", "running", "waiting", "interrupted", "damaged"]
"""What a session's last turn says of it. A turn that runs in another process reads as interrupted."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session of a listing.

    Attributes:
        id: the session.
        title: its title, else the first words said in it as far as the look reached, else None.
        scope: its owner, or None.
        turns: how many turns it has; None where the store's bounded look did not reach all of them.
        status: idle, running (here), waiting, interrupted or damaged.
        changed: POSIX seconds of its last change.
        problem: what is wrong with it, or None.
    """

    id: str
    title: str | None
    scope: str | None
    turns: int | None
    status: SessionStatus
    changed: float
    problem: str | None = None


def summary_of(listed: Listed, *, running: bool) -> SessionSummary:
    """Read what one look has found."""
    entries, problem = _entries(listed)
    created = next((entry for entry in entries if isinstance(entry, SessionCreated)), None)
    whole = _whole(listed, entries) if problem is None else None
    if listed.whole and whole is None and problem is None:
        problem = "its entries do not follow from one another; `antiphon check` says where"
    return SessionSummary(
        id=listed.id,
        title=_title(created, entries),
        scope=None if created is None else created.scope,
        turns=None if whole is None else whole.turn_count,
        status=_status(entries, whole, running=running, damaged=problem is not None),
        changed=listed.changed,
        problem=problem,
    )


def _entries(listed: Listed) -> tuple[list[Entry], str | None]:
    lines: list[Line] = [*([listed.first] if listed.first else []), *listed.tail]
    try:
        return [decode(line.data) for line in lines], listed.problem
    except StoreError as error:
        return [], listed.problem or str(error)


def _whole(listed: Listed, entries: list[Entry]) -> Transcript | None:
    if not listed.whole:
        return None
    transcript = Transcript(listed.id)
    try:
        for entry in entries:
            transcript.apply(entry)
    except NotAllowed:
        return None
    return transcript


def _title(created: SessionCreated | None, entries: list[Entry]) -> str | None:
    renamed = next((entry for entry in reversed(entries) if isinstance(entry, SessionRenamed)), None)
    title = renamed.title if renamed is not None else (created.title if created is not None else None)
    if title:
        return title
    first = next((entry for entry in entries if isinstance(entry, TurnAccepted)), None)
    return None if first is None else " ".join(input_text(first.input).split())[:60] or None


def _status(entries: list[Entry], whole: Transcript | None, *, running: bool, damaged: bool) -> SessionStatus:
    if damaged:
        return "damaged"
    if running:
        return "running"
    if whole is not None:
        last = whole.turns()[-1:]
        return _of_turn(last[0].status) if last else "idle"
    return _of_last(entries)


def _of_last(entries: list[Entry]) -> SessionStatus:
    """What the end of a journal says of the last turn, of which the beginning may lie before it."""
    told = [entry for entry in entries if isinstance(entry, TurnEntry) and not isinstance(entry, FeedbackRecorded)]
    if not told:
        return "idle"
    own = [entry for entry in told if entry.turn_id == told[-1].turn_id]
    if any(isinstance(entry, TurnCompleted | TurnFailed | TurnCanceled) for entry in own):
        return "idle"
    asked: set[str] = set()
    for entry in own:
        if isinstance(entry, ToolAsked):
            asked.add(entry.call_id)
        elif isinstance(entry, ToolDecided | ToolReturned):
            asked.discard(entry.call_id)
    return "waiting" if asked else "interrupted"


def _of_turn(status: str) -> SessionStatus:
    return "waiting" if status == "waiting" else "interrupted" if status == "interrupted" else "idle"
