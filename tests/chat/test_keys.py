"""Idempotency keys: one key in one session is one turn, whoever repeats it, and whenever."""

import asyncio
import uuid

import pytest

from antiphon import Chat, Completed, Store
from antiphon.errors import AppendUncertain, SessionBusy, TurnCanceled, TurnFailed, TurnInterrupted
from antiphon.testing import ScriptedModel
from tests.chat.fakes import Act, ListStore, failure, gated, types_of

pytestmark = pytest.mark.anyio


async def test_the_turn_id_is_that_of_the_key() -> None:
    """A key always gives the same turn id, a UUID of version 5, another one in another session (A09)."""
    chat = Chat(ScriptedModel(lambda request: "x"))
    ids = []
    for session_id in ("a", "b"):
        session = await chat.create_session(session_id)
        ids.append((await session.ask("hi", key="k")).turn_id)
        assert [turn.key for turn in session.turns()] == ["k"]
    assert ids[0] != ids[1]
    assert [uuid.UUID(id).version for id in ids] == [5, 5]
    assert ids[0] == "f2fd1913-21bd-5f8a-ac27-9ffdc1671937", "or keys given before an upgrade start a second turn"


async def test_the_same_key_twice_at_once_is_one_turn() -> None:
    """Two sends with one key in the same breath are one turn with one input and one reply (F097)."""
    gate, _, session = await gated()
    first, second = session.send("hi", key="k"), session.send("hi", key="k")
    assert first.id == second.id
    gate.open()
    assert await first.result() == await second.result()
    assert len(gate.requests) == 1
    assert (await types_of(session)).count("turn.accepted") == 1


async def test_without_a_key_the_second_is_refused() -> None:
    """Two sends without keys are two turns: the second is busy, and says with what (F095)."""
    gate, _, session = await gated()
    first = session.send("hi")
    with pytest.raises(SessionBusy) as busy:
        session.send("hi")
    assert busy.value.turn_id == first.id
    gate.open()
    await first.result()


@pytest.mark.parametrize("reopen", [False, True], ids=["same-object", "reopened"])
async def test_a_finished_key_gives_its_turn(store: Store, reopen: bool) -> None:
    """Repeated after its end, in this process or another, a key gives the turn's outcome and asks nobody."""
    model = ScriptedModel(["one", "two"])
    session = await Chat(model, store=store).create_session("s")
    reply = await session.ask("hi", key="k")
    await session.ask("next")
    if reopen:
        session = await Chat(model, store=store).open_session("s")
    turn = session.send("anything", key="k")
    assert (await turn.result()) == reply
    assert turn.id == reply.turn_id
    events = [event async for event in turn]
    assert [event.type for event in events] == ["turn.accepted", "turn.completed"]
    assert {event.turn_id for event in events} == {turn.id}
    assert len(model.requests) == len(session.turns()) == 2


async def test_a_finished_key_is_answered_while_another_turn_runs() -> None:
    """A turn that is only read back neither waits for the running one nor holds up the next."""
    gate, _, session = await gated()
    gate.open()
    await session.ask("one", key="k")
    gate.opened.clear()
    gate.begun.clear()
    running = session.send("two")
    await gate.begun.wait()
    again = session.send("one", key="k")
    assert (await asyncio.wait_for(again.result(), 5)).text == "answered"
    gate.open()
    await running.result()
    session.send("one", key="k")
    third = session.send("three")
    assert (await third.result()).text == "answered"


async def test_a_key_that_ended_badly_ends_so_again() -> None:
    """A key whose turn failed or was canceled raises that again, as of then."""
    gate, chat, session = await gated()
    await failure(session.ask("a", key="f", model=ScriptedModel(ValueError("no"))))
    turn = session.send("b", key="c")
    await gate.begun.wait()
    await turn.cancel("enough")
    session = await Chat(responder=gate, store=chat.store).open_session("s")
    failed, canceled = await failure(session.ask("a", key="f")), await failure(session.ask("b", key="c"))
    assert isinstance(failed, TurnFailed)
    assert (failed.kind, failed.text) == ("ValueError", "no")
    assert isinstance(canceled, TurnCanceled)
    assert canceled.reason == "enough"
    assert len(session.turns()) == 2


async def test_a_key_whose_input_was_refused_is_free() -> None:
    """A key whose turn never began may be used again."""
    store = ListStore(script=[Act(OSError("gone"), writes=False)])
    session = await Chat(ScriptedModel("ok"), store=store).create_session("s")
    await failure(session.ask("hi", key="k"))
    assert (await session.ask("hi", key="k")).text == "ok"


async def test_a_key_in_doubt_is_never_written_twice() -> None:
    """If it could not be told whether a key's input was written, and it was, the key gives that turn (F097)."""
    store = ListStore(script=[Act(AppendUncertain("s", "no answer"))])
    session = await Chat(ScriptedModel("ok"), store=store).create_session("s")
    assert isinstance(await failure(session.ask("hi", key="k")), AppendUncertain)
    assert isinstance(await failure(session.ask("hi", key="k")), TurnInterrupted)
    assert store.types() == ["session.created", "turn.accepted"]
    assert (await session.retry().result()).text == "ok"
    assert len((await Chat("echo:", store=store).open_session("s")).turns()) == 2


async def test_a_key_of_another_process_is_found(store: Store) -> None:
    """A stale session that is given a key which another process has finished gives that turn."""
    mine = await Chat(ScriptedModel("mine"), store=store).create_session("s")
    theirs = await Chat(ScriptedModel("theirs"), store=store).open_session("s")
    await theirs.ask("hi", key="k")
    turn = mine.send("hi", key="k")
    assert (await turn.result()).text == "theirs"
    assert [event.type async for event in turn] == ["turn.accepted", "turn.completed"]
    assert len(mine.turns()) == 1


async def test_the_same_key_during_steering_is_one_steering() -> None:
    """Steering repeated with its key, at once or later, is written once."""
    gate, _, session = await gated()
    turn = session.send("hi")
    await gate.begun.wait()
    for sent in [session.send("more", key="k", when_busy="steer") for _ in range(3)]:
        await sent.accepted()
    again = session.send("more", key="k", when_busy="steer")
    assert again.id == turn.id
    await again.accepted()
    assert (await types_of(session)).count("turn.steered") == 1
    gate.open()
    await turn.result()


async def test_a_steering_key_names_the_turn_it_steered(store: Store) -> None:
    """After the turn ended, a steering's key gives the turn that took it, by its own id."""
    gate, _, session = await gated(store)
    turn = session.send("hi")
    await gate.begun.wait()
    await session.send("more", key="k", when_busy="steer").accepted()
    gate.open()
    reply = await turn.result()
    reopened = await Chat(responder=gate, store=store).open_session("s")
    again = reopened.send("more", key="k")
    assert again.id == turn.id
    assert (await again.result()).text == reply.text
    last = [event async for event in again][-1]
    assert isinstance(last, Completed)
    assert last.turn_id == turn.id


async def test_a_key_that_waits_is_found_too() -> None:
    """A repeated key finds its turn while that still waits for another one."""
    gate, _, session = await gated()
    session.send("one")
    second = session.send("two", key="k", when_busy="wait")
    assert session.send("two", key="k").id == second.id
    gate.open()
    await second.result()
    assert len(session.turns()) == 2
