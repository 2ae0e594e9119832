"""`antiphon ask`: one turn. The reply is shown as it comes, and both are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from .._messages import Input, Text
from .._usage import Usage
from ..chat import Reply
from ._as_json import reply_json
from ._going_on import Before, Wanted, heading, looked_up, one_way, opened, turn_options, wanted_model
from ._interruptible import run
from ._live_reply import Tell, as_json_lines, as_text, followed
from ._media import attachment
from ._model_choice import chosen_model
from ._place import Place, at_a_place
from ._question import question
from ._screen import errors, output


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How the reply is told: as text, as one JSON object, or one event a line; and whether tokens are said."""

    as_json: bool
    as_jsonl: bool
    usage: bool


@click.command
@click.argument("prompt", required=False)
@click.option("-m", "--model", metavar="NAME", help="Who answers, as in local:smollm2 or echo:. [env: ANTIPHON_MODEL]")
@click.option("-s", "--system", metavar="TEXT", help="Instructions for the model. [env: ANTIPHON_SYSTEM]")
@click.option("-a", "--attachment", "attached", metavar="FILE", multiple=True, help="Send a file or an https address.")
@click.option("-c", "--continue", "go_on", is_flag=True, help="Go on with the session that changed last.")
@click.option("--session", metavar="ID", help="Go on with this session, or begin it under this id.")
@click.option("-u", "--usage", is_flag=True, help="Say how many tokens it took.")
@click.option("--json", "as_json", is_flag=True, help="Give one JSON object instead of the text.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Give each event as it happens, one JSON object a line.")
@at_a_place
def command(place: Place, /, *, prompt: str | None, attached: tuple[str, ...], **options: Any) -> int:
    """Ask a model, and keep what was said.

    What comes through standard input stands before PROMPT, with a blank line between. A session that goes on
    keeps its model and its instructions unless others are given.
    """
    one_way(continue_=options["go_on"], session=options["session"])
    one_way(json=options["as_json"], jsonl=options["as_jsonl"])
    form = Form(**{name: options.pop(name) for name in ("as_json", "as_jsonl", "usage")})
    wanted = Wanted(create=True, **options)
    said = _said(prompt, attached)
    before = run(looked_up(place, wanted))
    model = chosen_model(wanted_model(place, wanted, before=before))
    asked_with = turn_options(place, wanted, before=before, model=model)
    run(_ask(place, said, before=before, asked_with=dict(asked_with), form=form))
    return 0


def _said(prompt: str | None, attached: tuple[str, ...]) -> Input:
    text = question(prompt, needed=not attached)
    if not attached:
        return text
    # What is looked at stands before what is asked of it (platform.claude.com, "Vision": images before text).
    return [*map(attachment, attached), *([Text(text)] if text else [])]


async def _ask(place: Place, said: Input, *, before: Before, asked_with: dict[str, Any], form: Form) -> None:
    model = asked_with["model"]
    async with place.chat(model) as chat:
        session = await opened(chat, place, session_id=before.session_id)
        about = heading(place, model=model, session_id=session.id)
        reply = await followed(session.send(said, **asked_with), _teller(form, about))
    if form.as_json:
        output().json(reply_json(reply, session_id=session.id, model=model, store=place.folder))
    elif reply.finish_reason != "stop":
        errors().sentence(f"the reply ended early: {reply.finish_reason}")
    if form.usage:
        errors().sentence(_took(reply))


def _teller(form: Form, about: str) -> Tell:
    if form.as_jsonl:
        return as_json_lines(output(), beside=errors(), heading=about)
    return as_text(None if form.as_json else output(), beside=errors(), heading=about)


def _took(reply: Reply) -> str:
    usage = reply.usage
    if usage == Usage():
        return "tokens: the model reported none"
    parts = [f"{usage.input:,} in", f"{usage.output:,} out"]
    parts += [f"{usage.cached:,} of those in from cache"] if usage.cached else []
    parts += [f"{usage.reasoning:,} of those out for reasoning"] if usage.reasoning else []
    return f"tokens: {', '.join(parts)}"
