"""A newer message puts a waiting turn aside: in one append, and for good."""

import asyncio

import pytest

from antiphon import Session
from antiphon.errors import AppendFailed, Misuse
from antiphon.journal import ToolReturned, TurnCanceled
from tests.chat.fakes import Act, failure, passing, said
from tests.chat.rounds import Ran, calls, reopened, shown_calls, talking

pytestmark = pytest.mark.anyio

ASKED = calls(("a", "act", {"text": "x"}), ("b", "act", {"text": "y"}))


def told(session: Session, turn: int = 0) -> list[str]:
    """What the calls of a turn were answered."""
    entries = session.turns()[turn].entries
    return [bytes(entry.output_json).decode() for entry in entries if isinstance(entry, ToolReturned)]


async def test_a_newer_message_settles_the_waiting_turn_in_one_append() -> None:
    """Its calls are answered, it is canceled, and the new input is accepted, all or nothing.

    HolmesGPT/holmesgpt#2097.
    """
    ran = Ran()
    model, store, session = await talking([ASKED, "so"], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    assert (await session.ask("never mind")).text == "so"
    assert store.appends[2] == ["tool.returned", "tool.returned", "turn.canceled", "turn.accepted"]
    first = session.turns()[0]
    assert (first.status, first.error) == ("canceled", "superseded")
    assert told(session) == ['"not run: a newer message came"'] * 2
    assert shown_calls(model.requests[1].messages) == []
    assert said(session) == [("user", "never mind"), ("assistant", "so")]


async def test_later_decisions_are_refused() -> None:
    """Nobody can approve, deny, answer or resume what was put aside; nothing of it ever runs."""
    ran = Ran()
    _, store, session = await talking([ASKED, "so"], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    first = session.turns()[0].id
    await session.ask("never mind")
    before = store.types()
    for deciding in (session.approve("a", by="ana"), session.deny("b", by="ana"), session.answer("a", 1, by="ana")):
        assert isinstance(await failure(deciding), Misuse)
    with pytest.raises(Misuse, match="is not the last of its session"):
        session.resume(first)
    assert (session.pending(), ran.effects, store.types()) == ((), [], before)


async def test_an_approval_that_was_given_is_put_aside_too() -> None:
    """Approved and not resumed, beside a call that waits: the newer message counts."""
    ran = Ran()
    _, _, session = await talking([ASKED, "so"], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    await session.approve("a", by="ana")
    await session.ask("never mind")
    assert (ran.effects, session.turns()[0].status) == ([], "canceled")
    assert told(session) == ['"not run: a newer message came"'] * 2


@pytest.mark.parametrize("decide", ["approve", "deny"])
async def test_a_turn_on_which_all_is_decided_is_put_aside(decide: str) -> None:
    """Approved or denied and not resumed, a turn that a newer message overtakes is canceled, and nothing of it runs."""
    ran = Ran()
    _, store, session = await talking([calls(("a", "act")), "so"], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    await getattr(session, decide)("a", by="ana")
    await session.ask("never mind")
    _, copy = await reopened(store, ["next"], [ran.tool()])
    with pytest.raises(Misuse):
        copy.resume(copy.turns()[0].id)
    assert (ran.effects, copy.turns()[1].output) == ([], "so")


async def test_an_append_that_is_refused_leaves_the_turn_waiting() -> None:
    """When the newer input cannot be written, nothing was put aside."""
    ran = Ran()
    _, store, session = await talking([calls(("a", "act", {"text": "x"})), "so"], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    store.script = [Act(AppendFailed("s", "full"), writes=False)]
    assert isinstance(await failure(session.ask("never mind")), AppendFailed)
    assert session.turns()[0].status == "waiting"
    await session.approve("a", by="ana")
    assert (await session.resume().result()).text == "so"
    assert ran.effects == ["x"]


async def test_a_decision_that_comes_between_is_seen() -> None:
    """A decision of elsewhere that is committed first makes the newer message settle what it finds then."""
    ran = Ran()
    _, store, session = await talking([ASKED, "so"], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    _, other = await reopened(store, [], [])
    await other.answer("a", "by hand", by="ana")
    assert (await session.ask("never mind")).text == "so"
    assert told(session) == ['"by hand"', '"not run: a newer message came"']


async def test_a_decision_on_its_way_is_seen() -> None:
    """A decision of this process that is not committed yet counts as one that is."""
    ran = Ran()
    _, store, session = await talking([ASKED, "so"], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    deciding = asyncio.create_task(session.answer("a", "by hand", by="ana"))
    await passing(2)
    assert (await session.ask("never mind")).text == "so"
    await deciding
    assert told(session) == ['"by hand"', '"not run: a newer message came"']
    assert store.types().count("turn.canceled") == 1


async def test_what_had_been_started_is_not_said_to_be_unrun() -> None:
    """A call that a dead run left started, beside one that waits, may have taken effect, and is answered so."""
    ran = Ran()
    asked = calls(("a", "act"), ("b", "free"))
    _, store, session = await talking([asked], [ran.tool(needs_approval=True), ran.tool("free")])
    await session.ask("hi")
    assert store.types()[-1] == "tool.returned"
    store.lines["s"].pop()
    _, copy = await reopened(store, ["so"], [])
    assert copy.turns()[0].status == "waiting"
    await copy.ask("never mind")
    first, second = told(copy)
    assert first == '"not run: a newer message came"'
    assert "it may have taken effect" in second


async def test_a_newer_message_of_elsewhere_refuses_the_decision() -> None:
    """Who decides in a session that has not read of it yet is refused, and nothing is written."""
    ran = Ran()
    _, store, session = await talking([ASKED], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    _, other = await reopened(store, ["so"], [ran.tool(needs_approval=True)])
    await other.ask("never mind")
    before = store.types()
    assert isinstance(await failure(session.approve("a", by="ana")), Misuse)
    with pytest.raises(Misuse):
        session.resume()
    assert (store.types(), ran.effects) == (before, [])


async def test_the_same_key_puts_nothing_aside() -> None:
    """Sending the waiting turn's own input again, by its key, is that turn."""
    ran = Ran()
    _, store, session = await talking([ASKED], [ran.tool(needs_approval=True)])
    await session.ask("hi", key="k")
    before = store.types()
    reply = await session.ask("hi", key="k")
    assert (len(reply.pending), store.types()) == (2, before)


async def test_a_retry_puts_the_turn_aside() -> None:
    """A waiting turn that is tried again is a newer message's."""
    ran = Ran()
    _, _, session = await talking([ASKED, "so"], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    assert (await session.retry().result()).text == "so"
    assert [turn.status for turn in session.turns()] == ["canceled", "completed"]


async def test_a_recorded_turn_puts_the_waiting_one_aside() -> None:
    """A turn from elsewhere is a newer one too: what it overtakes waits for nobody any more."""
    ran = Ran()
    _, _, session = await talking([ASKED], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    await session.record(input="never mind", output="so")
    assert [turn.status for turn in session.turns()] == ["canceled", "completed"]


async def test_a_turn_without_question_is_left_as_it_is() -> None:
    """Only a turn that waits is settled: one that was broken off stays interrupted."""
    ran = Ran()
    _, store, session = await talking([calls(("a", "act"))], [ran.tool()])
    store.script = [
        Act(),
        Act(),
        Act(AppendFailed("s", "full"), writes=False),
        Act(AppendFailed("s", "full"), writes=False),
    ]
    await failure(session.ask("hi"))
    _, copy = await reopened(store, ["so"], [ran.tool()])
    assert copy.turns()[0].status == "interrupted"
    await copy.ask("go on")
    assert copy.turns()[0].status == "interrupted"
    assert not [entry for entry in copy.turns()[0].entries if isinstance(entry, TurnCanceled)]
