"""`antiphon sessions`: what is kept, last changed first."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

import click

from ..chat import Chat, SessionSummary
from ..errors import StoreError
from ._as_json import summary_json
from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import Ink, Words, errors, output
from ._shown_time import ago
from ._table import write_table

_STYLES = {"damaged": "red", "interrupted": "yellow", "waiting": "yellow", "running": "green", "idle": "dim"}


@click.command
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="Give a JSON array.")
@at_a_place
def command(place: Place, *, limit: int, as_json: bool) -> int:
    """List the sessions, last changed first. A damaged one is marked and hides no other."""
    found = run(_listed(place, limit + 1))
    if as_json:
        output().json([summary_json(each) for each in found[:limit]])
        return 0
    if not found:
        errors().sentence(f"no chat sessions in {place.shown}; `antiphon ask` begins one")
        return 0
    now = time.time()
    rows = [_row(each, now) for each in found[:limit]]
    write_table(output(), ["session", "turns", "changed", "status", "title"], rows=rows)
    if any(each.status == "waiting" for each in found[:limit]):
        errors().sentence(f"`antiphon pending{place.again}` shows what waits")
    if len(found) > limit:
        errors().sentence(f"older ones are not shown; --limit {2 * limit} shows more")
    return 0


async def _listed(place: Place, limit: int) -> list[SessionSummary]:
    async with place.chat() as chat:
        found = [each async for each in chat.sessions(scope=place.scope, limit=limit)]
        return [await _looked_at(each, chat, place=place) for each in found]


async def _looked_at(summary: SessionSummary, chat: Chat, *, place: Place) -> SessionSummary:
    """The same, where it waits marked so: a look at a part of a long session takes that for broken off."""
    if summary.status != "interrupted" or summary.turns is not None:
        return summary
    with suppress(StoreError):
        if (await place.open(chat, session_id=summary.id)).pending():
            return replace(summary, status="waiting")
    return summary


def _row(summary: SessionSummary, now: float) -> list[Words]:
    # A listing looks at a bounded part of each journal; where that is not all of it, the turns are not counted.
    turns = "many" if summary.turns is None and summary.problem is None else str(summary.turns or 0)
    words: Words = summary.title or ""
    if summary.problem is not None:
        turns, words = "?", Ink(summary.problem, "red")
    return [summary.id, turns, ago(now - summary.changed), Ink(summary.status, _STYLES[summary.status]), words]
