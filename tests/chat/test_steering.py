"""Saying more while a turn runs: committed before it is acknowledged, shown to the next call, never lost."""

import asyncio

import pytest

from antiphon import Chat, Message, Steered, Text, ToolCall
from antiphon.errors import AppendFailed, TurnCanceled, TurnOver
from antiphon.models import ModelRequest
from antiphon.testing import ScriptedModel
from tests.chat.fakes import Act, ListStore, failure, gated, passing, types_of

pytestmark = pytest.mark.anyio


def texts(request: ModelRequest) -> list[str]:
    """What a model was shown, as text."""
    return [message.text or message.role for message in request.messages]


async def test_steering_is_committed_and_shown_to_the_next_call() -> None:
    """Steering during the last call keeps that reply as model.replied and asks once more, with the steering."""
    gate, _, session = await gated()
    turn = session.send("hi")
    await gate.begun.wait()
    await turn.steer("shorter")
    assert (await types_of(session))[-1] == "turn.steered"
    gate.open()
    reply = await turn.result()
    assert [m.text for m in gate.requests[1].messages] == ["hi", "answered", "shorter"]
    assert [m.text for m in session.turns()[0].messages] == ["hi", "answered", "shorter", "answered"]
    assert reply.text == "answered"
    assert [event.input async for event in turn if isinstance(event, Steered)] == ["shorter"]
    assert session.turns()[0].steering == ("shorter",)


async def test_steering_stands_between_the_rounds() -> None:
    """Two steers between rounds of tools read as input, round 1, steer 1, round 2, steer 2, reply (F127)."""
    steers = iter(["one", "two"])

    async def round(request: ModelRequest) -> Message | str:
        live = session.live_turn
        assert live is not None
        said = next(steers, None)
        if said is None:
            return "done"
        await live.steer(said)
        return Message("assistant", (Text(f"looking {said}"), ToolCall("c", "f")))

    model = ScriptedModel(round)
    session = await Chat(model).create_session()
    await session.ask("hi")
    order = ["hi", "looking one", "tool", "one", "looking two", "tool", "two"]
    assert texts(model.requests[-1]) == order
    assert [m.text or m.role for m in session.turns()[0].messages] == [*order, "done"]


async def test_steering_survives_a_cancel() -> None:
    """Steering acknowledged before a cancel stays on the turn, and a retry does not repeat it unasked (F123)."""
    gate, _, session = await gated()
    turn = session.send("hi")
    await gate.begun.wait()
    await turn.steer("remember me")
    await turn.cancel()
    (kept,) = session.turns()
    assert (kept.status, kept.steering) == ("canceled", ("remember me",))
    assert [message.text for message in kept.messages] == ["hi", "remember me"]


async def test_steering_a_turn_that_is_over_is_refused_at_once() -> None:
    """A finished turn, and one whose outcome is being written, takes no steering and nothing is written (F126)."""
    store = ListStore()
    session = await Chat(ScriptedModel("x"), store=store).create_session("s")
    store.script = [Act(), Act(gate=(held := asyncio.Event()))]
    turn = session.send("hi")
    await store.reached.wait()
    assert isinstance(await failure(turn.steer("late")), TurnOver)
    held.set()
    await turn.result()
    error = await failure(turn.steer("later"))
    assert str(error) == f"turn {turn.id!r} is over and cannot be steered; send a new turn"
    assert "turn.steered" not in store.types()


async def test_steering_a_canceled_turn_is_refused() -> None:
    """A canceled turn takes no steering; one canceled before it was accepted says so."""
    gate, _, session = await gated()
    turn = session.send("hi")
    await gate.begun.wait()
    await turn.cancel()
    assert isinstance(await failure(turn.steer("late")), TurnOver)
    never = session.send("again")
    await never.cancel()
    assert isinstance(await failure(never.steer("late")), TurnCanceled)


async def test_steering_waits_for_the_input() -> None:
    """Steering sent before the input is committed is written behind it."""
    store = ListStore()
    gate, _, session = await gated(store)
    store.script = [Act(gate=(held := asyncio.Event()))]
    turn = session.send("hi")
    steering = asyncio.create_task(turn.steer("more"))
    await store.reached.wait()
    held.set()
    await steering
    assert store.types().index("turn.accepted") < store.types().index("turn.steered")
    gate.open()
    await turn.result()


async def test_steering_that_cannot_be_written_costs_only_itself() -> None:
    """A refused steering raises the store's error to who steered; the turn goes on without it."""
    store = ListStore()
    gate, _, session = await gated(store)
    turn = session.send("hi")
    await gate.begun.wait()
    store.script = [Act(AppendFailed("s", "full"), writes=False)]
    assert isinstance(await failure(turn.steer("more")), AppendFailed)
    gate.open()
    assert (await turn.result()).text == "answered"
    assert session.turns()[0].steering == ()


async def test_steering_that_overtakes_the_outcome_is_answered() -> None:
    """Steering being committed when the reply is there comes before the outcome, and is shown (A07)."""
    store = ListStore()
    gate, _, session = await gated(store)
    turn = session.send("hi")
    await gate.begun.wait()
    store.reached.clear()
    store.script = [Act(gate=(held := asyncio.Event()))]
    steering = asyncio.create_task(turn.steer("wait"))
    await store.reached.wait()
    gate.open()
    await passing(10)
    held.set()
    await steering
    await turn.result()
    assert [m.text for m in gate.requests[1].messages] == ["hi", "answered", "wait"]


@pytest.mark.parametrize("steps", range(14))
async def test_steering_at_any_step_is_kept_or_refused(steps: int) -> None:
    """At whatever step steering comes, it is either on the turn and acknowledged, or refused and not written."""
    store = ListStore()
    model = ScriptedModel(lambda request: "ok")
    session = await Chat(model, store=store).create_session("s")
    turn = session.send("hi")
    await passing(steps)
    try:
        await turn.steer("more")
        acknowledged: tuple[str, ...] = ("more",)
    except TurnOver:
        acknowledged = ()
    await turn.result()
    assert session.turns()[0].steering == acknowledged
    assert store.types().count("turn.steered") == len(acknowledged)
    assert all("more" in texts(request) for request in model.requests[1:])
    assert (len(model.requests) == 2) >= bool(acknowledged and store.types().count("model.replied"))


async def test_when_busy_steer_gives_the_running_turn() -> None:
    """send(when_busy='steer') steers the running turn: accepted() is that of the steering, result() the turn's."""
    gate, _, session = await gated()
    first = session.send("hi", when_busy="steer")
    await gate.begun.wait()
    second = session.send("more", when_busy="steer")
    assert second.id == first.id
    await second.accepted()
    assert session.turns()[0].steering == ("more",)
    gate.open()
    assert await second.result() == await first.result()


async def test_when_busy_steer_behind_an_outcome_is_a_new_turn() -> None:
    """If the running turn takes nothing more, when_busy='steer' sends a turn of its own: no words are lost (F123)."""
    store = ListStore()
    session = await Chat(ScriptedModel(["one", "two"]), store=store).create_session("s")
    store.script = [Act(), Act(gate=(held := asyncio.Event()))]
    first = session.send("a")
    await store.reached.wait()
    second = session.send("b", when_busy="steer")
    held.set()
    assert (await second.result()).text == "two"
    assert second.id != first.id
    assert [turn.input for turn in session.turns()] == ["a", "b"]


@pytest.mark.parametrize("steps", range(14))
async def test_when_busy_steer_at_any_step_is_shown_or_told(steps: int) -> None:
    """Whenever it comes, what was sent to steer is shown to a model before result() gives a reply, or is TurnOver."""
    model = ScriptedModel(lambda request: "ok")
    session = await Chat(model, store=ListStore()).create_session("s")
    first = session.send("a")
    await passing(steps)
    second = session.send("b", when_busy="steer")
    try:
        await second.result()
        assert "b" in texts(model.requests[-1])
    except TurnOver:
        assert all("b" not in texts(request) for request in model.requests)
    await first.result()
