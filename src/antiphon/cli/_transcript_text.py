"""What was said in a session, as text for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._messages import File, Image, Message
from ..chat import Session
from ..transcript import Turn
from ._screen import Ink, Screen, Words
from ._shown_text import cut, one_line
from ._shown_time import local

_STYLES = {"completed": "green", "failed": "red", "canceled": "yellow", "interrupted": "yellow", "waiting": "yellow"}
_RESULT = 200
"""Cells of a tool's arguments or result that are shown; --json gives all."""


def write_transcript(screen: Screen, session: Session) -> None:
    """Write a session's heading and every turn of it."""
    screen.line(*_heading(session))
    for number, turn in enumerate(session.turns(), 1):
        screen.line()
        _write(screen, turn, number=number)


def write_said(screen: Screen, text: str, *, sign: str) -> None:
    """Write what a person said, a sign before each line."""
    for line in text.split("\n"):
        screen.line(Ink(sign, "cyan"), Ink(line, "bold"))


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
        if message.role == "user":
            write_said(screen, _spoken(message), sign="> " if position == 0 else "+ ")
        else:
            for line in _lines(message, partial=partial):
                screen.line(*line)
    if turn.error:
        screen.line(Ink(f"! {turn.error}", style))
    for each in turn.feedback:
        said = [None if each.rating is None else f"{each.rating}", each.comment, each.preferred and "→ preferred:"]
        screen.line(Ink("* feedback: ", "cyan"), " ".join(str(word) for word in (*said, each.preferred) if word))


def _lines(message: Message, *, partial: bool) -> Iterator[Sequence[Words]]:
    if message.text:
        yield [Ink("… ", "yellow"), Ink(f"{message.text} (broken off)", "dim")] if partial else [message.text]
    for call in message.calls:
        arguments = bytes(call.arguments_json).decode(errors="replace") if call.raw is None else call.raw
        yield [Ink("@ ", "cyan"), f"{call.name} {cut(one_line(arguments), _RESULT)}"]
    for result in message.results:
        yield [Ink("x ", "red") if result.is_error else Ink("= ", "cyan"), cut(one_line(result.text), _RESULT)]


def _spoken(message: Message) -> str:
    media = [f"[{_about(part)}]" for part in message.parts if isinstance(part, Image | File)]
    return " ".join([*media, *([message.text] if message.text else [])])


def _about(part: Image | File) -> str:
    named = getattr(part, "name", None) or part.url
    return f"{part.media_type} {one_line(named)}" if named else part.media_type
