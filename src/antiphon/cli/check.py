"""`antiphon check`: every session read wholly, and the exact place of what is damaged."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import click

from ..errors import SessionNotFound, StoreError
from ..journal import Line
from ..transcript import replay
from ._endings import REFUSED
from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import Ink, Words, errors, output


@dataclass(frozen=True, slots=True)
class Finding:
    """What reading one session wholly has found.

    Attributes:
        session: its id.
        turns, entries: how many there are.
        interrupted: how many turns have no outcome.
        torn: bytes behind the last entry that a crash left there; no acknowledged entry is among them.
        problem: why it cannot be read, or None.
    """

    session: str
    turns: int = 0
    entries: int = 0
    interrupted: int = 0
    torn: int = 0
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON."""
        found: dict[str, Any] = {"session": self.session, "ok": self.problem is None}
        if self.problem is not None:
            return found | {"problem": self.problem}
        return found | {
            "turns": self.turns,
            "entries": self.entries,
            "interrupted": self.interrupted,
            "tornBytes": self.torn,
        }


@click.command
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--json", "as_json", is_flag=True, help="Give a JSON array.")
@at_a_place
def command(place: Place, *, sessions: tuple[str, ...], as_json: bool) -> int:
    """Read every session, or those named, wholly; nothing is changed. The exit code is 2 if one is damaged."""
    findings = run(_findings(place, sessions))
    if as_json:
        output().json([each.to_json() for each in findings])
    else:
        for finding in findings:
            output().line(*_line(finding))
        damaged = sum(finding.problem is not None for finding in findings)
        errors().sentence(f"{len(findings)} read in {place.shown}, {damaged} damaged")
    return REFUSED if any(finding.problem is not None for finding in findings) else 0


async def _findings(place: Place, named: tuple[str, ...]) -> list[Finding]:
    if named:
        return [await _finding(place, session_id) for session_id in named]
    async with place.chat() as chat:
        ids = [each.id async for each in chat.sessions(scope=place.scope, limit=None)]
    found: list[Finding] = []
    for session_id in ids:
        with suppress(SessionNotFound):  # Someone deleted it since it was listed.
            found.append(await _finding(place, session_id))
    return found


async def _finding(place: Place, session_id: str) -> Finding:
    reading = place.store().read(session_id)  # The store looks at the id before a path is made of it.
    size = 0
    with suppress(OSError):
        size = place.journal(session_id).stat().st_size
    read: list[int] = []

    async def measured() -> AsyncIterator[Line]:
        async for line in reading:
            read.append(len(line.data) + 1)
            yield line

    try:
        transcript = await replay(session_id, measured(), where=str(place.journal(session_id)))
    except StoreError as error:
        return Finding(session_id, problem=str(error))
    created = transcript.created
    if created is None or (place.scope is not None and created.scope != place.scope):
        raise SessionNotFound(session_id, place.shown)
    interrupted = sum(turn.status == "interrupted" for turn in transcript.turns())
    torn = max(0, size - sum(read))
    return Finding(session_id, transcript.turn_count, transcript.lines, interrupted, torn)


def _line(finding: Finding) -> list[Words]:
    if finding.problem is not None:
        return [Ink("damaged", "red"), f"  {finding.session}  {finding.problem}"]
    counted = [
        f"{finding.turns:,} turn{'' if finding.turns == 1 else 's'}",
        f"{finding.entries:,} entr{'y' if finding.entries == 1 else 'ies'}",
    ]
    if finding.interrupted:
        counted.append(f"{finding.interrupted} interrupted")
    if finding.torn:
        counted.append(f"{finding.torn} bytes of a write that a crash cut off, to be replaced by the next one")
    return [Ink("fine   ", "green"), f"  {finding.session}  {', '.join(counted)}"]
