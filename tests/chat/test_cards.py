"""Tools whose results are shown to people as cards: a model that is offered one is told where they stand."""

import pytest

from antiphon import Chat, FullContext, LayeredContext, tool
from antiphon.testing import ScriptedModel

pytestmark = pytest.mark.anyio


@tool(card=True)
def chart(values: list[int]) -> str:
    """Draw a chart."""
    return f"{len(values)} values drawn"


@tool
def plain() -> str:
    """Do nothing that is seen."""
    return "done"


@pytest.mark.parametrize("context", [FullContext(), LayeredContext(window=8_000)], ids=["full", "layered"])
async def test_a_card_tool_brings_its_note(context: FullContext | LayeredContext) -> None:
    """The note is a pinned line of the trace behind the instructions, once for all tools with cards."""
    model = ScriptedModel(lambda request: "fine")
    chat = Chat(model, context=context, instructions="Be kind.", tools=[chart, plain], card_note="Cards stand below.")
    reply = await (await chat.create_session()).ask("draw")
    assert model.requests[0].system == "Be kind.\n\nCards stand below."
    lines = {layer.id: layer for layer in reply.trace.layers}
    assert lines["card-note"].tokens > 0
    assert lines["card-note"].where == "system"


@pytest.mark.parametrize(("tools", "note"), [([plain], "Cards."), ([chart], "")], ids=["no-card", "empty-note"])
async def test_no_note_where_there_is_no_card(tools: list[object], note: str) -> None:
    """Without a tool that has cards, or with an empty note, the system text is left alone."""
    model = ScriptedModel(lambda request: "fine")
    chat = Chat(model, tools=tools, card_note=note)  # type: ignore[arg-type]
    await (await chat.create_session()).ask("draw")
    assert model.requests[0].system == ""


async def test_the_default_note_says_where_cards_are() -> None:
    """Nobody has to write one."""
    model = ScriptedModel(lambda request: "fine")
    await (await Chat(model, tools=[chart]).create_session()).ask("draw")
    assert "card" in model.requests[0].system
