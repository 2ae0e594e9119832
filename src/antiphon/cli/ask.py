"""`antiphon ask`: one turn. The reply is shown as it comes, and both are kept."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import click

from ..chat import Chat, Session, TurnOptions
from ..errors import SessionNotFound
from ._as_json import reply_json
from ._interruptible import run
from ._live_reply import followed
from ._model_choice import chosen_model
from ._place import Place, at_a_place
from ._question import question
from ._screen import errors, output


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the options say; see the command."""

    model: str | None
    system: str | None
    go_on: bool
    session: str | None
    as_json: bool


@click.command
@click.argument("prompt", required=False)
@click.option("-m", "--model", metavar="NAME", help="Who answers, as in local:smollm2 or echo:. [env: ANTIPHON_MODEL]")
@click.option("-s", "--system", metavar="TEXT", help="Instructions for the model.")
@click.option("-c", "--continue", "go_on", is_flag=True, help="Go on with the session that changed last.")
@click.option("--session", metavar="ID", help="Go on with this session, or begin it under this id.")
@click.option("--json", "as_json", is_flag=True, help="Give one JSON object instead of the text.")
@at_a_place
def command(place: Place, /, *, prompt: str | None, **options: Any) -> int:
    """Ask a model, and keep what was said.

    What comes through standard input stands before PROMPT, with a blank line between. A session that goes on
    keeps its model and its instructions unless others are given.
    """
    wanted = Wanted(**options)
    if wanted.go_on and wanted.session is not None:
        raise click.UsageError("--continue and --session exclude each other")
    text = question(prompt)
    run(_ask(place, wanted, text=text))
    return 0


async def _ask(place: Place, wanted: Wanted, *, text: str) -> None:
    session_id, asked_before = await _before(place, wanted)
    model = chosen_model(wanted.model, before=asked_before.get("model"), environ=os.environ)
    options: TurnOptions = {"model": model}
    system = asked_before.get("instructions") if wanted.system is None else wanted.system
    if system:
        options["instructions"] = system
    place.prepare()
    async with place.chat(model) as chat:
        session = await _session(chat, session_id, scope=place.scope)
        heading = f"model {model} · store {place.shown} · session {session.id}"
        screen = None if wanted.as_json else output()
        reply = await followed(session.send(text, **options), screen, beside=errors(), heading=heading)
    if wanted.as_json:
        output().json(reply_json(reply, session_id=session.id, model=model, store=place.folder))
    elif reply.finish_reason != "stop":
        errors().sentence(f"the reply ended early: {reply.finish_reason}")


async def _before(place: Place, wanted: Wanted) -> tuple[str | None, dict[str, Any]]:
    """Give the session to go on with, and what was asked for in its last turn; None and nothing for a new one."""
    if not wanted.go_on and wanted.session is None:
        return None, {}
    async with place.chat() as chat:
        session_id = wanted.session or await place.last(chat)
        try:
            turns = (await place.open(chat, session_id=session_id)).turns()
        except SessionNotFound:
            if wanted.go_on:
                raise
            turns = ()
    return session_id, turns[-1].options if turns else {}


async def _session(chat: Chat, session_id: str | None, *, scope: str | None) -> Session:
    if session_id is None:
        return await chat.create_session(scope=scope)
    return await chat.open_session(session_id, scope=scope, create=True)
