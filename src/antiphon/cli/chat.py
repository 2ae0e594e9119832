"""`antiphon chat`: a conversation in the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any

import click

from .._ids import new_session_id
from ..chat import Chat, TurnOptions
from ..errors import AntiphonError
from ._configuration import users_file, write_model
from ._conversation import Conversation
from ._edited_lines import EditedLines
from ._endings import Refused, sentence
from ._going_on import Before, Wanted, heading, looked_up, one_way, opened, turn_options, wanted_model
from ._interruptible import run
from ._lines import Lines, PlainLines, Typed
from ._model_choice import chosen_model
from ._place import Place, at_a_place, shortened
from ._screen import errors, output
from ._slash import QUIT, obey, read_command, said
from ._tool_choice import ToolChoice, offered, with_tools

_OFFERED = 1_000
"""Inputs of the session that can be called back for editing."""


@click.command
@click.argument("positional", metavar="[SESSION]", required=False)
@click.option("-m", "--model", metavar="NAME", help="Who answers, as in local:smollm2. [env: ANTIPHON_MODEL]")
@click.option("-s", "--system", metavar="TEXT", help="Instructions for the model. [env: ANTIPHON_SYSTEM]")
@click.option("-c", "--continue", "go_on", is_flag=True, help="Go on with the session that changed last.")
@click.option("--session", metavar="ID", help="Go on with this session, or begin it under this id.")
@at_a_place
@with_tools
def command(place: Place, choice: ToolChoice, /, *, positional: str | None, go_on: bool, **options: Any) -> int:
    """Talk with a model. A line that is typed while it answers steers it; Ctrl-C stops the reply.

    Goes on with SESSION if one is given, else begins a new one. Everything is kept as it is said. Tools that are not
    read-only wait until you say yes, unless --allow names them.
    """
    session = options["session"]
    one_way(positional=positional, continue_=go_on, session=session)
    if not (sys.stdin and sys.stdin.isatty()):
        raise Refused("standard input is no terminal, and a conversation needs one; use `antiphon ask`")
    wanted = Wanted(positional or session, session is not None, go_on, options["model"], options["system"])
    before = run(looked_up(place, wanted))
    named = chosen_model(wanted_model(place, wanted, before=before), choose=asked_once)
    asked_with = turn_options(place, wanted, before=before, model=named)
    run(_talk(place, before, options=asked_with, choice=choice))
    return 0


def asked_once(found: Sequence[str]) -> str:
    """Ask who answers, and write it down."""
    screen = errors()
    screen.sentence("no model is chosen yet; these can be asked here, at no cost:")
    for number, name in enumerate(found, 1):
        screen.line(f"  {number}  {name}")
    number = click.prompt("which one?", type=click.IntRange(1, len(found)), default=1, err=True)
    name, file = found[number - 1], users_file(os.environ)
    write_model(name, file)
    screen.sentence(f"written to {shortened(file)}; -m asks another one")
    return name


async def _talk(place: Place, before: Before, *, options: TurnOptions, choice: ToolChoice) -> None:
    model = str(options["model"])
    session_id = before.session_id or new_session_id()
    async with (
        offered(choice, beside=errors()) as offer,
        place.chat(model, tools=offer.tools, policy=offer.policy) as chat,
    ):
        lines = await _lines(chat, place, before=before)
        screen = lines.screen
        screen.sentence(heading(place, model=model, session_id=session_id))
        screen.sentence("/help lists what else can be typed; Ctrl-C stops a reply, Ctrl-D leaves", style="dim")
        conversation = Conversation(chat, place, screen=screen, session_id=session_id, options=options, offer=offer)
        if before.turns:
            await _begin_again(conversation, before)
        await converse(conversation, lines)
    if before.turns or place.journal(session_id).exists():
        output().sentence(f"kept in {place.shown}; to go on: antiphon chat -c{place.again}")


async def _begin_again(conversation: Conversation, before: Before) -> None:
    turns = "1 turn" if before.turns == 1 else f"{before.turns} turns"
    conversation.screen.sentence(f"goes on after {turns}, which /show shows", style="dim")
    session = await conversation.begin()
    waiting, last = session.pending(), session.turns()[-1]
    if waiting:
        calls = "1 call" if len(waiting) == 1 else f"{len(waiting)} calls"
        said = f"the last turn waits for a decision on {calls}: /pending asks you, saying something else puts it aside"
    elif last.status in ("interrupted", "waiting"):
        said = "the last turn was broken off: /resume goes on with it"
    else:
        return
    conversation.screen.sentence(said, style="yellow")


async def _lines(chat: Chat, place: Place, *, before: Before) -> Lines:
    if not sys.stdout.isatty() or os.environ.get("TERM", "").lower() in ("dumb", "unknown", ""):
        return PlainLines(output())
    history: list[str] = []
    if before.turns:
        turns = (await opened(chat, place, session_id=before.session_id)).turns()
        history = [text for turn in turns for text in (turn.input, *turn.steering) if isinstance(text, str)]
    stream: IO[str] = sys.stdout
    return EditedLines(stream, history[-_OFFERED:])


async def converse(conversation: Conversation, lines: Lines) -> None:
    """Do what is typed, until the end."""
    conversation.ask_anew = lines.ask_anew
    with _ctrl_c(conversation, lines), lines.opened():
        while (line := await lines.read(conversation)) is not None or conversation.leave_open():
            if line is not None and not await _entered(conversation, line):
                break
    await conversation.leave()
    await lines.finish()


async def _entered(conversation: Conversation, line: Typed) -> bool:
    """Do what a line says; False leaves the conversation."""
    free = line.asks is not None and line.asks.free
    asked = None if free else read_command(line.text)
    if asked is not None and asked[0] == QUIT:
        return False
    try:
        if asked is not None:
            await obey(conversation, asked[0], rest=asked[1])
        else:
            await _said(conversation, line)
    except (AntiphonError, click.ClickException, OSError) as error:
        conversation.screen.sentence(sentence(error), style="yellow")
    return True


async def _said(conversation: Conversation, line: Typed) -> None:
    if conversation.asks is not None and conversation.asks is not line.asks:
        # It was typed before something was asked: whatever it says, it is no answer.
        raise Refused("not sent: first decide on the call that waits; the arrow keys bring your line back")
    if conversation.asks is not None:
        await conversation.answer(line.text)
    elif line.text.strip() and line.asks is None:
        await conversation.say(said(line.text))


@contextlib.contextmanager
def _ctrl_c(conversation: Conversation, lines: Lines) -> Iterator[None]:
    """Let Ctrl-C stop the reply and not the program, wherever it comes from."""
    loop = asyncio.get_running_loop()

    def press(_number: int, _frame: object) -> None:
        if lines.blocks:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(lines.interrupt, conversation)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
