"""`antiphon resume`: go on with a turn that waited for a person, or was broken off."""

from __future__ import annotations

from typing import Any

import click

from ._going_on import Wanted, looked_up, one_way, turn_options, wanted_model
from ._interruptible import run
from ._model_choice import chosen_model
from ._place import Place, at_a_place
from ._screen import errors
from ._told_reply import Form, Telling
from ._tool_choice import ToolChoice, offered, with_tools
from ._waiting_calls import must_be_offered


@click.command
@click.argument("session", required=False)
@click.option("-m", "--model", metavar="NAME", help="Who answers; by default who was asked.")
@click.option("-u", "--usage", is_flag=True, help="Say how many tokens it took.")
@click.option("--json", "as_json", is_flag=True, help="Give one JSON object instead of the text.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Give each event as it happens, one JSON object a line.")
@at_a_place
@with_tools
def command(place: Place, choice: ToolChoice, /, *, session: str | None, model: str | None, **options: Any) -> int:
    """Go on with the last turn of SESSION, by default of the one that changed last.

    Give the --tools and --mcp that it was asked with. Calls that gave a result are not run again. The exit code is 3
    if a call still waits for a decision, or another one does by then.
    """
    one_way(json=options["as_json"], jsonl=options["as_jsonl"])
    form = Form.of(options)
    wanted = Wanted(session, create=False, go_on=session is None, model=model, system=None)
    before = run(looked_up(place, wanted))
    named = chosen_model(wanted_model(place, wanted, before=before))
    asked_with = turn_options(place, wanted, before=before, model=named)
    return run(_resume(place, str(before.session_id), asked_with=dict(asked_with), form=form, choice=choice))


async def _resume(place: Place, session_id: str, *, asked_with: dict[str, Any], form: Form, choice: ToolChoice) -> int:
    model = asked_with["model"]
    async with (
        offered(choice, beside=errors()) as offer,
        place.chat(model, tools=offer.tools, policy=offer.policy) as chat,
    ):
        session = await place.open(chat, session_id=session_id)
        must_be_offered(session, offer.find)
        telling = Telling(session=session, place=place, form=form, offer=offer, asked_with=asked_with)
        return await telling.told(session.resume(**asked_with))
