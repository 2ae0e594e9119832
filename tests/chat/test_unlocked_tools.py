"""Tools that a layer unlocks: offered while it is there, refused where it was left out."""

from typing import Any

import pytest

from antiphon import (
    Chat,
    Layer,
    LayeredContext,
    Message,
    Session,
    Toolbox,
    ToolCall,
    ToolPolicy,
    View,
    estimate_tokens,
    source,
    tool,
)
from antiphon.testing import ScriptedModel

pytestmark = pytest.mark.anyio


@tool(read_only=True)
def order(number: int) -> str:
    """Look up an order."""
    return f"{number}: shipped"


def refunding(ran: list[int]) -> Any:
    """A tool that notes what it was run with."""

    @tool(name="refund")
    def refund(number: int) -> str:
        """Pay an order back."""
        ran.append(number)
        return "paid back"

    return refund


@source("skill")
def skill(view: View) -> Layer | None:
    """Unlocks refunds where they are spoken of; a long text makes it too large for a small window."""
    if "refund" not in view.query:
        return None
    return Layer("skill:refunds", "How to refund. " * (2_000 if "long" in view.query else 1), unlocks=["refund"])


CALL = Message("assistant", (ToolCall.of("c", "refund", arguments={"number": 17}),))


async def talking(replies: list[Any], ran: list[int], **given: Any) -> tuple[ScriptedModel, Session]:
    """A session whose refunds must be unlocked."""
    model = ScriptedModel(replies)
    box = Toolbox([order, refunding(ran)], base=["order"])
    context = LayeredContext(window=8_000, sources=[skill])
    return model, await Chat(model, tools=box, context=context, **given).create_session()


def offered(model: ScriptedModel) -> list[list[str]]:
    """What each request offered."""
    return [[spec.name for spec in request.tools] for request in model.requests]


async def test_an_included_layer_unlocks_its_tools() -> None:
    """The tool is offered behind the others, and runs."""
    ran: list[int] = []
    model, session = await talking([CALL, "done"], ran)
    await session.ask("a refund, please")
    assert offered(model) == [["order", "refund"]] * 2
    assert ran == [17]


@pytest.mark.parametrize("said", ["where is it?", "a long refund"], ids=["absent", "dropped"])
async def test_without_its_layer_a_tool_is_refused(said: str) -> None:
    """A call of a tool whose layer is not there, or did not fit, is answered with an error and runs nothing."""
    ran: list[int] = []
    model, session = await talking([CALL, "done"], ran)
    await session.ask(said)
    assert offered(model)[0] == ["order"]
    assert ran == []
    assert "no tool 'refund' is offered" in session.turns()[0].messages[2].results[0].text


async def test_an_unlocked_tool_stays_offered_until_history_is_cut() -> None:
    """A turn without the layer offers the tool still, so that the start of the request is the same."""
    ran: list[int] = []
    model, session = await talking(["yes", "and", "so"], ran)
    for said in ("a refund, please", "thanks", "bye"):
        await session.ask(said)
    assert offered(model) == [["order", "refund"]] * 3
    assert [trace.shared for trace in session.traces()][1:] != [0, 0]


async def test_unlocking_is_no_permission() -> None:
    """What the policy denies stays denied, whatever unlocks it."""
    ran: list[int] = []
    _, session = await talking([CALL, "done"], ran, policy=ToolPolicy(deny=["refund"]))
    await session.ask("a refund, please")
    assert ran == []
    assert "may not be run: deny: 'refund'" in session.turns()[0].messages[2].results[0].text


async def test_an_unlocked_tool_is_worth_no_refusal() -> None:
    """Where a later turn has no room for a tool that is offered only because it was before, it is let go."""
    ran: list[int] = []
    model, session = await talking(["yes", "so"], ran)
    await session.ask("a refund, please")
    first = session.traces()[0]
    room = first.headroom + sum(line.tokens for line in first.layers if line.id in ("skill:refunds", "input"))
    words = 1
    while estimate_tokens("word " * words) < room + 20:
        words += 1
    await session.ask("word " * words)
    assert offered(model) == [["order", "refund"], ["order"]]
