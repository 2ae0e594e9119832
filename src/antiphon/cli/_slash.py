"""The commands of a conversation: lines that begin with a slash."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from ._conversation import Conversation
from ._endings import Refused
from ._fate_table import write_fates
from ._screen import Ink, Words
from ._table import write_table
from ._trace_table import call_of, write_trace
from ._transcript_text import write_transcript
from ._turn_choice import turn_numbers
from .why import fates_of

_ENDING = 1.0
"""Seconds for which feedback waits for a turn that is about to end."""

_COMMAND = re.compile(r"/(\w*)(?:\s+(.*))?", re.DOTALL)


class Slash(NamedTuple):
    """A command: what follows it, what `/help` says of it, and what it does with what follows."""

    follows: str
    says: str
    act: Callable[[Conversation, str], Awaitable[None]]


def read_command(line: str) -> tuple[str, str] | None:
    """Give a command's name and what follows it; None where the line is said to the model.

    `/etc/hosts` is no command, and two slashes stand for one.
    """
    found = _COMMAND.fullmatch(line.strip())
    return None if found is None else (found[1], (found[2] or "").strip())


def said(line: str) -> str:
    """Give what is said to the model by a line that is no command."""
    return line[1:] if line.startswith("//") else line


async def obey(conversation: Conversation, name: str, *, rest: str) -> None:
    """Do what a command says.

    Raises:
        Refused: if there is no such command, or it lacks what must follow it, or cannot be done now.
        AntiphonError: what the library refuses.
    """
    found = COMMANDS.get(name)
    if found is None:
        raise Refused(f"there is no command /{name}; /help lists them, and two slashes begin a text with one")
    if found.follows.isupper() and not rest:
        raise Refused(f"say it as /{name} {found.follows}")
    await found.act(conversation, rest)


async def _help(conversation: Conversation, _: str) -> None:
    rows: list[list[Words]] = [[f"/{name} {each.follows}".rstrip(), each.says] for name, each in COMMANDS.items()]
    rows += [[f"/{QUIT}, Ctrl-D", "leave; everything that was said is kept"]]
    rows += [["Ctrl-C", "stop the reply; what had come of it is kept"]]
    rows += [["Alt-Enter", "a line break; pasted ones are kept"], ["up, Ctrl-R", "what was said before, to edit"]]
    write_table(conversation.screen, ["type", "to"], rows=rows, last="wrapped")


async def _steer(conversation: Conversation, rest: str) -> None:
    await conversation.steer(rest)


async def _retry(conversation: Conversation, _: str) -> None:
    conversation.retry()


async def _feedback(conversation: Conversation, rest: str) -> None:
    rating = {"+": 1.0, "-": -1.0}.get(rest[0])
    comment = rest if rating is None else rest[1:].strip()
    session = conversation.session
    with suppress(TimeoutError):  # A reply that can be read whole may still be on its way to the disk.
        await asyncio.wait_for(conversation.idle(), _ENDING)
    turns = session.turns()
    await session.give_feedback(turns[-1].id, rating=rating, comment=comment or None)
    conversation.screen.sentence(f"kept beside turn {len(turns)}")


async def _trace(conversation: Conversation, _: str) -> None:
    trace = call_of(conversation.session, None, number=None)
    write_trace(conversation.screen, trace, number=turn_numbers(conversation.session)[trace.turn_id])


async def _why(conversation: Conversation, rest: str) -> None:
    fates, numbers = await fates_of(conversation.session, rest)
    write_fates(conversation.screen, fates, numbers=numbers)


async def _show(conversation: Conversation, _: str) -> None:
    write_transcript(conversation.screen, conversation.session)


async def _rename(conversation: Conversation, rest: str) -> None:
    await (await conversation.begin()).rename(rest)
    conversation.screen.line("it is called ", Ink(rest, "bold"), " now")


async def _clear(conversation: Conversation, _: str) -> None:
    await conversation.session.clear_context()
    conversation.screen.sentence("the model is shown nothing of what was said until here; all of it is kept")


async def _tools(conversation: Conversation, _: str) -> None:
    offer = conversation.offer
    if not offer.tools:
        raise Refused("no tools are offered; --tools and --mcp offer some")
    rows: list[list[Words]] = [[each.name, await offer.says_of(each), each.description] for each in offer.tools]
    write_table(conversation.screen, ["tool", "when called", "what it does"], rows=rows, last="wrapped")


async def _pending(conversation: Conversation, _: str) -> None:
    await conversation.decide()


async def _resume(conversation: Conversation, _: str) -> None:
    await conversation.resume()


async def _compact(conversation: Conversation, rest: str) -> None:
    conversation.compact(rest or None)


QUIT = "quit"
COMMANDS: Mapping[str, Slash] = {
    "help": Slash("", "list the commands", _help),
    "steer": Slash("TEXT", "say more while a reply comes, as Enter alone does then", _steer),
    "retry": Slash("", "ask the last turn again; the old reply is kept", _retry),
    "pending": Slash("", "decide on the calls that wait", _pending),
    "resume": Slash("", "go on with a turn that was broken off, or is decided", _resume),
    "tools": Slash("", "see which tools are offered, and which of them ask", _tools),
    "feedback": Slash("+|-|TEXT", "keep what you think of the last turn, as in /feedback + just right", _feedback),
    "trace": Slash("", "see what the model was shown in the last call, piece by piece", _trace),
    "why": Slash("WORDS", "see where words were in every call, and where they got lost", _why),
    "show": Slash("", "see everything that was said", _show),
    "rename": Slash("TITLE", "give the session a title", _rename),
    "compact": Slash("[focus]", "summarise what was said for the model, and keep above all what you name", _compact),
    "clear": Slash("", "let the model start anew; nothing is erased", _clear),
}
