"""`antiphon what-if`: a session's calls as another context would have had them shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ..chat import Chat
from ..chat._what_if import what_if
from ..chat._what_if_result import HEADINGS, WhatIf
from ..context import Context
from ._aligned import write_aligned
from ._context_choice import CONTEXTS, chosen_context, contextual
from ._endings import Refused
from ._interruptible import run
from ._message_file import read_messages
from ._place import Place, at_a_place
from ._screen import Ink, Screen, Words, errors, output
from .import_ import Lost

_SOMETIMES = {1: {"1"}, 3: {"0", ""}, 4: {"0", ""}}
"""Columns that stand there only where they say more than this: calls, system and tools."""


@click.command
@click.argument("session", required=False)
@contextual
@click.option("-m", "--model", metavar="NAME", help="Whose window counts; nobody is asked.")
@click.option("--calls", "every_call", is_flag=True, help="A line for every model call, not only one a turn.")
@click.option("--plot", metavar="FILE.svg", type=click.Path(dir_okay=False), help="Draw it into this file, too.")
@click.option("--json", "as_json", is_flag=True, help="Give one JSON object.")
@at_a_place
def command(place: Place, /, *, session: str | None, every_call: bool, as_json: bool, **options: Any) -> int:
    """Show what each model call of SESSION would have been shown under another context or window.

    No model is asked, and nothing is written. SESSION is by default the one that changed last; a file that ends in
    .json or .jsonl is read as by `antiphon import`, and kept nowhere.
    """
    window, model = options["window"], options["model"]
    context = chosen_context(options["name"] or CONTEXTS[0], keep_recent=options["keep_recent"])
    found = run(_built(place, session, context=context, window=window, model=model))
    if not found.calls:
        raise Refused("nothing was said in this session yet, so nothing would have been shown")
    if options["plot"]:
        Path(options["plot"]).write_text(found.plot(), encoding="utf-8")
    if as_json:
        output().json(found.to_json())
    else:
        _write(output(), found, every_call=every_call)
    if options["plot"]:
        errors().sentence(f"drawn into {options['plot']}")
    return 0


async def _built(place: Place, named: str | None, *, context: Context, window: int | None, model: str | None) -> WhatIf:
    if named is not None and is_file(named):
        async with Chat() as chat:
            with Lost():  # It was said, or will be, when the file is imported to stay.
                session = await chat.import_session(read_messages(named))
            return await what_if(session, context, window=window, model=model)
    async with place.chat() as chat:
        session = await place.open(chat, session_id=named)
        return await what_if(session, context, window=window, model=model)


def is_file(named: str) -> bool:
    """Whether a file of messages is meant, and not a session."""
    return named.endswith((".json", ".jsonl")) and Path(named).is_file()


def _write(screen: Screen, found: WhatIf, *, every_call: bool) -> None:
    lines = [["turn", "call" if every_call else "calls", *HEADINGS[2:]], *found.cells(every_call=every_call)]
    told = [n for n in range(len(HEADINGS)) if n not in _SOMETIMES or {line[n] for line in lines[1:]} - _SOMETIMES[n]]
    headings, *rows = [[line[n] for n in told] for line in lines]
    write_aligned(screen, headings, rows=[_inked(row) for row in rows], right=range(len(told) - 1))
    screen.line()
    for line in found.account:
        screen.line(line)


def _inked(row: Sequence[str]) -> list[Words]:
    *figures, happened = row
    style = "red" if "refused: " in happened else "yellow"
    return [*figures, Ink(happened, style)]
