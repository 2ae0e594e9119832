"""`antiphon ask`: one turn. The reply is shown as it comes, and both are kept."""

from __future__ import annotations

from typing import Any

import click

from .._messages import Input, Text
from ._going_on import Before, Wanted, looked_up, one_way, opened, turn_options, wanted_model
from ._interruptible import run
from ._media import attachment
from ._model_choice import chosen_model
from ._place import Place, at_a_place
from ._question import question
from ._screen import errors
from ._told_reply import Form, Telling
from ._tool_choice import ToolChoice, offered, with_tools


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
@with_tools
def command(
    place: Place, choice: ToolChoice, /, *, prompt: str | None, attached: tuple[str, ...], **options: Any
) -> int:
    """Ask a model, and keep what was said.

    What comes through standard input stands before PROMPT, with a blank line between. A session that goes on
    keeps its model and its instructions unless others are given.

    Tools that are not read-only are not run here unless --allow names them: their calls wait, the exit code is 3, and
    what waits is decided with `antiphon approve`, `deny` or `answer`, after which `antiphon resume` goes on.
    """
    one_way(continue_=options["go_on"], session=options["session"])
    one_way(json=options["as_json"], jsonl=options["as_jsonl"])
    form = Form.of(options)
    wanted = Wanted(create=True, **options)
    said = _said(prompt, attached)
    before = run(looked_up(place, wanted))
    model = chosen_model(wanted_model(place, wanted, before=before))
    asked_with = turn_options(place, wanted, before=before, model=model)
    return run(_ask(place, said, before=before, asked_with=dict(asked_with), form=form, choice=choice))


def _said(prompt: str | None, attached: tuple[str, ...]) -> Input:
    text = question(prompt, needed=not attached)
    if not attached:
        return text
    # What is looked at stands before what is asked of it (platform.claude.com, "Vision": images before text).
    return [*map(attachment, attached), *([Text(text)] if text else [])]


async def _ask(
    place: Place, said: Input, *, before: Before, asked_with: dict[str, Any], form: Form, choice: ToolChoice
) -> int:
    model = asked_with["model"]
    async with (
        offered(choice, beside=errors()) as offer,
        place.chat(model, tools=offer.tools, policy=offer.policy) as chat,
    ):
        session = await opened(chat, place, session_id=before.session_id)
        telling = Telling(session=session, place=place, form=form, offer=offer, asked_with=asked_with)
        return await telling.told(session.send(said, **asked_with))
