"""Which session a question belongs to, and what it was asked with before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from ..chat import Chat, Session, TurnOptions
from ..errors import SessionNotFound
from ._model_choice import named_model
from ._place import Place, shortened


class Wanted(NamedTuple):
    """What the options say.

    Attributes:
        session: go on with this session; None begins a new one, unless `go_on`.
        create: begin it under that id if it is not there.
        go_on: go on with the session that changed last.
        model, system: who answers, and by which instructions; None leaves that to others.
    """

    session: str | None
    create: bool
    go_on: bool
    model: str | None
    system: str | None


class Before(NamedTuple):
    """A session as it is before something is asked.

    Attributes:
        session_id: the session; None is a new one.
        turns: how many turns it has.
        options: what was asked for in the last of them.
    """

    session_id: str | None = None
    turns: int = 0
    options: Mapping[str, Any] = {}


def one_way(**ways: object) -> None:
    """Refuse more than one way to say which session is meant.

    Raises:
        click.UsageError
    """
    given = [name for name, value in ways.items() if value]
    if len(given) > 1:
        named = ["SESSION" if name == "positional" else f"--{name.removesuffix('_')}" for name in given]
        raise click.UsageError(f"{' and '.join(named)} exclude each other")


async def looked_up(place: Place, wanted: Wanted) -> Before:
    """Look up the session that is meant.

    Raises:
        Refused: if there is none to go on with.
        StoreError: if it is not there, or cannot be read.
    """
    if not wanted.go_on and wanted.session is None:
        return Before()
    async with place.chat() as chat:
        session_id = await place.last(chat) if wanted.session is None else wanted.session
        try:
            turns = (await place.open(chat, session_id=session_id)).turns()
        except SessionNotFound:
            if not wanted.create:
                raise
            turns = ()
    return Before(session_id, len(turns), turns[-1].options if turns else {})


def wanted_model(place: Place, wanted: Wanted, *, before: Before) -> str | None:
    """Give the model that someone named, or None."""
    asked = before.options.get("model")
    return named_model(wanted.model, before=asked, environ=os.environ, configured=place.configured)


def turn_options(place: Place, wanted: Wanted, *, before: Before, model: str) -> TurnOptions:
    """Give what each turn is asked with. A session that goes on keeps its instructions unless others are given."""
    configured = place.configured.system
    system = wanted.system
    if system is None and before.turns:
        system = before.options.get("instructions")
    elif system is None:
        system = os.environ.get("ANTIPHON_SYSTEM") or (configured and configured.value)
    return {"model": model, "instructions": system} if system else {"model": model}


async def opened(chat: Chat, place: Place, *, session_id: str | None) -> Session:
    """Open the session, or begin it; None is a new one under a new id."""
    place.prepare()
    if session_id is None:
        return await chat.create_session(scope=place.scope)
    return await chat.open_session(session_id, scope=place.scope, create=True)


def heading(place: Place, *, model: str, session_id: str) -> str:
    """Say once who answers and where it is kept; and, if a file chose who answers, which one."""
    chosen = place.configured.model
    by_file = chosen is not None and chosen.value == model and chosen.file.parent.name == ".antiphon"
    named_by = f" (named in {shortened(chosen.file)})" if chosen is not None and by_file else ""
    return f"model {model}{named_by} · store {place.shown} · session {session_id}"
