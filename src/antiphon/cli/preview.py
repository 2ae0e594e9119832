"""`antiphon preview`: what a model would be shown."""

from __future__ import annotations

from typing import Any

import click

from ..chat import Chat
from ..context import Context, Shown
from ._as_json import shown_json
from ._context_choice import Windowed, chosen_context, contextual
from ._going_on import Before, Wanted, looked_up, one_way, turn_options, wanted_model
from ._interruptible import run
from ._model_choice import chosen_model
from ._place import Place, at_a_place
from ._question import question
from ._screen import Ink, Screen, errors, output
from ._tool_choice import Offer, ToolChoice, offered, with_tools
from ._trace_table import write_trace


@click.command
@click.argument("given", nargs=-1, metavar="[SESSION] PROMPT")
@click.option("-m", "--model", metavar="NAME", help="Who would answer. [env: ANTIPHON_MODEL]")
@click.option("-s", "--system", metavar="TEXT", help="Instructions for the model. [env: ANTIPHON_SYSTEM]")
@click.option("-c", "--continue", "go_on", is_flag=True, help="In the session that changed last.")
@contextual
@click.option("--texts", is_flag=True, help="Show the texts, too.")
@click.option("--json", "as_json", is_flag=True, help="Give one JSON object.")
@at_a_place
@with_tools
def command(
    place: Place, choice: ToolChoice, /, *, given: tuple[str, ...], texts: bool, as_json: bool, **options: Any
) -> int:
    """Show what a model would be shown if PROMPT were sent now. No model is asked, and nothing is kept.

    Without SESSION, what a new session would begin with.
    """
    if len(given) > 2:
        raise click.UsageError("put the prompt in quotes")
    session = given[0] if len(given) == 2 else None
    one_way(positional=session, continue_=options["go_on"])
    context = _context(options.pop("name"), window=options.pop("window"), keep_recent=options.pop("keep_recent"))
    wanted = Wanted(session=session, create=False, **options)
    said = question(given[-1] if given else None)
    before = run(looked_up(place, wanted))
    model = chosen_model(wanted_model(place, wanted, before=before))
    asked_with = turn_options(place, wanted, before=before, model=model)
    options = {"context": context, **asked_with}
    shown = run(_shown(place, said, before=before, asked_with=options, choice=choice))
    if as_json:
        output().json(shown_json(shown, texts=texts))
    else:
        _write(output(), shown, texts=texts)
    return 0


def _context(name: str | None, *, window: int | None, keep_recent: int | None) -> Context | None:
    """The context that the options name; None is the one that a turn would be sent with."""
    if name is None and keep_recent is None and window is None:
        return None
    context = chosen_context(name or ("full" if keep_recent is None else "layered"), keep_recent=keep_recent)
    return context if window is None else Windowed(context, window)


async def _shown(place: Place, said: str, *, before: Before, asked_with: dict[str, Any], choice: ToolChoice) -> Shown:
    model = asked_with["model"]
    async with offered(choice, beside=errors()) as offer, _chat(place, model, before=before, offer=offer) as chat:
        if before.session_id is None:
            session = await chat.create_session(scope=place.scope)
        else:
            session = await chat.open_session(before.session_id, scope=place.scope)
        return await session.preview(said, **asked_with)


def _chat(place: Place, model: str, *, before: Before, offer: Offer) -> Chat:
    if before.session_id is None:
        # A session that is only thought of stands in memory, and is gone with this process.
        return Chat(model, tools=offer.tools)
    return place.chat(model, tools=offer.tools)


def _write(screen: Screen, shown: Shown, *, texts: bool) -> None:
    write_trace(screen, shown.trace, number=None)
    if not texts:
        return
    said = [("system", shown.system)] if shown.system else []
    for role, text in [
        *said,
        *((message.role, _text(message.to_json().get("content", ""))) for message in shown.messages),
    ]:
        screen.line()
        screen.line(Ink(f"--- {role}", "cyan"))
        screen.line(text)


def _text(content: Any) -> str:
    parts = [content] if isinstance(content, str) else [part.get("text", f"[{part['type']}]") for part in content]
    return "\n".join(parts)
