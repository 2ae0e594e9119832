"""What was said in a session, as text for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._jsonable import NULL, thaw
from .._messages import File, Image, Message
from ..chat import Session
from ..chat._open_calls import pending_calls
from ..journal import ToolDecided
from ..transcript import Turn
from ._call_text import called, exact, returned, written
from ._screen import Ink, Screen, Words
from ._shown_text import one_line
from ._shown_time import local

_STYLES = {"completed": "green", "failed": "red", "canceled": "yellow", "interrupted": "yellow", "waiting": "yellow"}
_DECIDED = {"allow": "allowed", "deny": "refused", "answer": "answered"}


def write_transcript(screen: Screen, session: Session, *, full: bool = False) -> None:
    """Write a session's heading and every turn of it; `full` writes arguments and results whole."""
    screen.line(*_heading(session))
    for number, turn in enumerate(session.turns(), 1):
        screen.line()
        _write(screen, turn, number=number, full=full)


def write_said(screen: Screen, text: str, *, sign: str) -> None:
    """Write what a person said, a sign before each line."""
    for line in text.split("\n"):
        screen.line(Ink(sign, "cyan"), Ink(line, "bold"))


def _heading(session: Session) -> list[Words]:
    count = len(session.turns())
    known = [session.title, f"{count} turn" if count == 1 else f"{count} turns"]
    known += [] if session.scope is None else [f"scope {session.scope}"]
    return ["session ", Ink(session.id, "bold"), *(f" · {one_line(each)}" for each in known if each)]


def _write(screen: Screen, turn: Turn, *, number: int, full: bool) -> None:
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
            for line in _lines(message, partial=partial, full=full):
                screen.line(*line)
    for line in _decisions(turn):
        screen.line(*line)
    if turn.error:
        screen.line(Ink(f"! {turn.error}", style))
    for each in turn.feedback:
        said = [None if each.rating is None else f"{each.rating}", each.comment, each.preferred and "→ preferred:"]
        screen.line(Ink("* feedback: ", "cyan"), " ".join(str(word) for word in (*said, each.preferred) if word))


def _lines(message: Message, *, partial: bool, full: bool) -> Iterator[Sequence[Words]]:
    if message.text:
        yield [Ink("… ", "yellow"), Ink(f"{message.text} (broken off)", "dim")] if partial else [message.text]
    for call in message.calls:
        yield called(call.name, written(call), full=full)
    for result in message.results:
        yield returned(result, full=full)


def _decisions(turn: Turn) -> Iterator[Sequence[Words]]:
    """What people decided on calls, and what they have not decided yet; arguments always whole."""
    for entry in turn.entries:
        if isinstance(entry, ToolDecided):
            said = f"call {one_line(entry.call_id)} was {_DECIDED[entry.decision]} by {one_line(entry.by)}"
            said += f": {one_line(entry.reason)}" if entry.reason else ""
            if bytes(entry.arguments_json) != bytes(NULL):
                said += f", with the arguments {exact(thaw(entry.arguments_json), indent=None)}"
            yield [Ink("? ", "cyan"), said]
    for call in pending_calls(turn):
        name, why = one_line(call.name), one_line(call.reason)
        yield [Ink("? ", "yellow"), f"{name} waits as call {one_line(call.id)}: {why}"]


def _spoken(message: Message) -> str:
    media = [f"[{_about(part)}]" for part in message.parts if isinstance(part, Image | File)]
    return " ".join([*media, *([message.text] if message.text else [])])


def _about(part: Image | File) -> str:
    named = getattr(part, "name", None) or part.url
    return f"{part.media_type} {one_line(named)}" if named else part.media_type
