"""`antiphon import`: begin a session with a conversation that was kept elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import click

from .._messages import Message
from ..chat import Session
from ._interruptible import run
from ._message_file import read_messages
from ._place import Place, at_a_place
from ._screen import errors, output

_MOST_TOLD = 10


@click.command
@click.argument("file")
@click.option("--id", "session_id", metavar="ID", help="The session's id; by default a random one.")
@click.option("--title", metavar="TEXT", help="The session's title.")
@at_a_place
def command(place: Place, *, file: str, session_id: str | None, title: str | None) -> int:
    """Begin a session with the messages of FILE, and print its id; `-` reads them from the standard input.

    FILE holds OpenAI-style messages: a JSON list, an object with `messages`, or one message a line.
    """
    messages = read_messages(file)
    session, lost = run(_imported(place, messages, session_id=session_id, title=title))
    output().line(session.id)
    screen = errors()
    for sentence in told(session, messages, lost=lost):
        screen.sentence(sentence)
    return 0


async def _imported(
    place: Place, messages: Sequence[Message], *, session_id: str | None, title: str | None
) -> tuple[Session, list[str]]:
    place.prepare()
    async with place.chat() as chat:
        with Lost() as lost:
            session = await chat.import_session(messages, id=session_id, scope=place.scope)
        if title:
            await session.rename(title)
    return session, lost.found


class Lost(logging.Handler):
    """Hears what an import could not carry over, as long as the block lasts.

    Attributes:
        found: one phrase each.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Take one."""
        if isinstance(record.args, tuple) and record.args:
            self.found.append(str(record.args[-1]))

    def __enter__(self) -> Lost:
        logging.getLogger("antiphon").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("antiphon").removeHandler(self)


def told(session: Session, messages: Sequence[Message], *, lost: Sequence[str]) -> list[str]:
    """What was kept and what was not, a sentence each."""
    turns = session.turns()
    kept = sum(len(turn.messages) for turn in turns)
    unanswered = sum(turn.status != "completed" for turn in turns)
    system = sum(message.role == "system" for message in messages)
    found = [f"imported {_counted(len(turns), 'turn')}, {_counted(kept, 'message')}"]
    if unanswered:
        found.append(f"without a reply, so no model is shown it: {_counted(unanswered, 'turn')}")
    if system:
        found.append(f"left out: {_counted(system, 'system message')}; give instructions with `antiphon ask -s`")
    found += [f"left out: {each}" for each in lost[:_MOST_TOLD]]
    if len(lost) > _MOST_TOLD:
        found.append(f"left out: {len(lost) - _MOST_TOLD:,} more")
    return found


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
