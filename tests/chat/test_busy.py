"""One turn at a time: refused, in a queue, or in another Chat."""

import asyncio

import pytest

from antiphon import Chat, Store
from antiphon.errors import SessionBusy, TurnCanceled
from antiphon.testing import ScriptedModel
from tests.chat.fakes import Gate, ListStore, failure, gated, passing, said

pytestmark = pytest.mark.anyio


async def test_busy_names_the_running_turn() -> None:
    """A second send is refused at once, by the id of the running turn; nothing of it is written (J-129)."""
    gate, _, session = await gated()
    turn = session.send("one")
    with pytest.raises(SessionBusy, match="is running; wait for it, or steer or cancel it") as busy:
        session.send("two")
    assert busy.value.turn_id == turn.id
    live = session.live_turn
    assert live is not None
    assert live.id == turn.id
    gate.open()
    await turn.result()
    assert session.live_turn is None
    assert len(session.turns()) == 1


async def test_waiting_turns_run_in_order() -> None:
    """Turns that wait run one after another, in the order in which they were sent, each seeing those before."""
    gate, _, session = await gated()
    turns = [session.send(str(i), when_busy="wait") for i in range(4)]
    gate.open()
    await asyncio.gather(*(turn.result() for turn in turns))
    assert [turn.input for turn in session.turns()] == ["0", "1", "2", "3"]
    assert [len(request.messages) for request in gate.requests] == [1, 3, 5, 7]


@pytest.mark.parametrize("leases", [False, True], ids=["without-leases", "with-leases"])
async def test_a_canceled_waiter_lets_nobody_pass(leases: bool) -> None:
    """Canceling a turn that waits writes nothing of it, and whoever waits behind it still waits for the first."""
    gate, _, session = await gated(None if leases else ListStore())
    first, second, third = (session.send(text, when_busy="wait") for text in "abc")
    await gate.begun.wait()
    await second.cancel("no more")
    assert isinstance(await failure(second.accepted()), TurnCanceled)
    await passing(20)
    assert [(turn.input, turn.status) for turn in session.turns()] == [("a", "running")]
    gate.open()
    await asyncio.gather(first.result(), third.result())
    assert [turn.input for turn in session.turns()] == ["a", "c"]
    assert [len(request.messages) for request in gate.requests] == [1, 3]


async def test_a_failed_turn_lets_the_next_begin() -> None:
    """A turn that waits begins when the one before has ended, however that ended."""
    session = await Chat(ScriptedModel([ValueError("no"), "two"])).create_session()
    first, second = session.send("a"), session.send("b", when_busy="wait")
    assert isinstance(await failure(first.result()), ValueError)
    assert (await second.result()).text == "two"


async def test_another_chat_is_refused_while_a_turn_runs(store: Store) -> None:
    """A session held elsewhere is busy: accepted() and result() say so, and nothing is written."""
    gate, _, session = await gated(store)
    turn = session.send("one")
    await turn.accepted()
    other = await Chat(ScriptedModel("x"), store=store).open_session("s")
    refused = other.send("two")
    busy, same = await failure(refused.accepted()), await failure(refused.result())
    assert busy is same
    assert isinstance(busy, SessionBusy)
    assert isinstance(await failure(other.record(input="a", output="b")), SessionBusy)
    gate.open()
    await turn.result()
    assert [turn.input for turn in session.turns()] == ["one"]
    assert len((await Chat("echo:", store=store).open_session("s")).turns()) == 1


async def test_waiting_for_another_chat(store: Store) -> None:
    """when_busy='wait' waits for a turn of another Chat too, and then sees it."""
    gate, _, session = await gated(store)
    turn = session.send("one")
    await turn.accepted()
    model = ScriptedModel("two")
    other = await Chat(model, store=store).open_session("s")
    waiting = other.send("more", when_busy="wait")
    await asyncio.sleep(0.02)
    gate.open()
    await turn.result()
    assert (await waiting.result()).text == "two"
    assert [message.text for message in model.requests[0].messages] == ["one", "answered", "more"]


async def test_a_wait_for_another_chat_can_be_canceled(store: Store) -> None:
    """Canceled while it waits for another Chat, a turn writes nothing and leaves the session alone."""
    gate, _, session = await gated(store)
    turn = session.send("one")
    await turn.accepted()
    other = await Chat(ScriptedModel("x"), store=store).open_session("s")
    waiting = other.send("more", when_busy="wait")
    await asyncio.sleep(0.01)
    await asyncio.wait_for(waiting.cancel(), 5)
    gate.open()
    await turn.result()
    assert (await other.ask("next")).text == "x"


async def test_steering_needs_a_turn_of_this_process(store: Store) -> None:
    """when_busy='steer' with a turn of another Chat is busy: steering is for turns of this process (A11)."""
    gate, _, session = await gated(store)
    turn = session.send("one")
    await turn.accepted()
    other = await Chat(ScriptedModel("x"), store=store).open_session("s")
    assert isinstance(await failure(other.ask("more", when_busy="steer")), SessionBusy)
    gate.open()
    await turn.result()


async def test_the_lease_is_let_go_before_the_result_is_there(store: Store) -> None:
    """The moment a result, or the last event, is there, another Chat can begin the next turn (A11)."""
    mine = Chat(ScriptedModel(lambda request: "mine"), store=store)
    theirs = Chat(ScriptedModel(lambda request: "theirs"), store=store)
    await mine.create_session("s")
    for _ in range(3):
        turn = (await mine.open_session("s")).send("a")
        async for _event in turn:
            pass
        assert (await (await theirs.open_session("s")).ask("b")).text == "theirs"
    assert len(said(await mine.open_session("s"))) == 12


async def test_a_stale_session_goes_on(store: Store) -> None:
    """A session that slept while others wrote goes on without being opened again: turns, titles, feedback, records."""
    mine = await Chat(ScriptedModel(lambda request: "mine"), store=store).create_session("s")
    first = await mine.ask("a")
    theirs = await Chat(ScriptedModel(lambda request: "theirs"), store=store).open_session("s")
    await theirs.ask("b")
    await mine.give_feedback(first.turn_id, rating=1)
    await theirs.ask("c")
    await mine.rename("T")
    await theirs.ask("d")
    assert (await mine.record(input="e", output="f")).status == "completed"
    await theirs.ask("g")
    await mine.ask("h")
    assert [turn.input for turn in mine.turns()] == ["a", "b", "c", "d", "e", "g", "h"]
    assert (await Chat("echo:", store=store).open_session("s")).turns() == mine.turns()


async def test_a_turn_runs_though_its_session_was_dropped() -> None:
    """Who drops a Session, and opens it again, gets the one whose turn is running."""
    gate = Gate()
    chat = Chat(responder=gate)
    await chat.create_session("s")
    turn = (await chat.open_session("s")).send("hi")
    await gate.begun.wait()
    found = (await chat.open_session("s")).live_turn
    assert found is not None
    assert found.id == turn.id
    del found
    await chat.aclose(drain=0)
    assert isinstance(await failure(turn.result()), TurnCanceled)
