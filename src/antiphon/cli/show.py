"""`antiphon show`: the transcript of one session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from .._messages import File, Image, Message
from ..chat import Session
from ..transcript import Turn
from ._as_json import turn_json
from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import Ink, Screen, Words, output
from ._shown_text import cut, one_line
from ._shown_time import local

_STYLES = {"completed": "green", "failed": "red", "canceled": "yellow", "interrupted": "yellow", "waiting": "yellow"}
_RESULT = 200
"""Cells of a tool's arguments or result that are shown; --json gives all."""


@click.command
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True, help="Give a JSON array of turns.")
@at_a_place
def command(place: Place, *, session: str | None, as_json: bool) -> int:
    """Show every turn of SESSION, by default of the one that changed last."""
    opened = run(_opened(place, session))
    screen = output()
    if as_json:
        screen.json([turn_json(turn) for turn in opened.turns()])
        return 0
    screen.line(*_heading(opened))
    for number, turn in enumerate(opened.turns(), 1):
        screen.line()
        _write(screen, turn, number=number)
    return 0


async def _opened(place: Place, session_id: str | None) -> Session:
    async with place.chat() as chat:
        return await place.open(chat, session_id=session_id)


def _heading(session: Session) -> list[Words]:
    count = len(session.turns())
    known = [session.title, f"{count} turn" if count == 1 else f"{count} turns"]
    known += [] if session.scope is None else [f"scope {session.scope}"]
    return ["session ", Ink(session.id, "bold"), *(f" · {one_line(each)}" for each in known if each)]


def _write(screen: Screen, turn: Turn, *, number: int) -> None:
    style = _STYLES.get(turn.status, "dim")
    about = [turn.model, local(turn.accepted_at), f"retries turn {turn.retry_of}" if turn.retry_of else None]
    more = "".join(f" · {one_line(each)}" for each in about if each)
    screen.line(Ink(f"turn {number}", "bold"), " · ", Ink(turn.status, style), Ink(more, "dim"))
    for position, message in enumerate(turn.messages):
        # What of a reply came before it failed or was canceled stands last, and must not read as a reply.
        partial = bool(turn.partial) and position == len(turn.messages) - 1
        for line in _lines(message, first=position == 0, partial=partial):
            screen.line(*line)
    if turn.error:
        screen.line(Ink(f"! {turn.error}", style))
    for each in turn.feedback:
        said = [None if each.rating is None else f"{each.rating:g}", each.comment, each.preferred and "→ preferred:"]
        screen.line(Ink("* feedback: ", "cyan"), " ".join(str(word) for word in (*said, each.preferred) if word))


def _lines(message: Message, *, first: bool, partial: bool) -> Iterator[Sequence[Words]]:
    if message.role == "user":
        sign = "> " if first else "+ "
        yield from ((Ink(sign, "cyan"), Ink(line, "bold")) for line in _spoken(message).split("\n"))
        return
    if message.text:
        yield (
            [Ink("… ", "yellow"), Ink(message.text, "dim"), Ink(" (broken off)", "yellow")]
            if partial
            else [message.text]
        )
    for call in message.calls:
        arguments = bytes(call.arguments_json).decode(errors="replace") if call.raw is None else call.raw
        yield [Ink("@ ", "cyan"), f"{call.name} {cut(one_line(arguments), _RESULT)}"]
    for result in message.results:
        yield [Ink("x ", "red") if result.is_error else Ink("= ", "cyan"), cut(one_line(result.text), _RESULT)]


def _spoken(message: Message) -> str:
    media = [f"[{part.media_type}]" for part in message.parts if isinstance(part, Image | File)]
    return " ".join([*([message.text] if message.text else []), *media])
