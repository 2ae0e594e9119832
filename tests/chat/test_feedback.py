"""Feedback and titles: kept beside turns, in order, whatever became of them."""

import asyncio
from typing import Any

import pytest

from antiphon import Chat, Store
from antiphon.errors import AppendFailed, Misuse, NotStorable, SessionBusy, SessionClosed
from antiphon.testing import ScriptedModel
from tests.chat.fakes import Act, ListStore, failure, gated, types_of

pytestmark = pytest.mark.anyio


async def test_feedback_on_every_outcome(store: Store) -> None:
    """Completed, failed, canceled and interrupted turns take feedback, several times, kept in order (J-024)."""
    gate, _, session = await gated(store)
    await session.ask("a", model=ScriptedModel("one"))
    await failure(session.ask("b", model=ScriptedModel(ValueError("no"))))
    turn = session.send("c")
    await gate.begun.wait()
    await turn.cancel()
    left = session.send("d")
    await left.accepted()
    other = await Chat("echo:", store=store).open_session("s")
    assert [turn.status for turn in other.turns()] == ["completed", "failed", "canceled", "interrupted"]
    for each in other.turns():
        await other.give_feedback(each.id, rating=-1, by="ana")
        await other.give_feedback(each.id, comment="so", preferred="better")
    gate.open()
    await left.result()
    for each in (await Chat("echo:", store=store).open_session("s")).turns():
        assert [(f.rating, f.comment, f.preferred, f.by) for f in each.feedback] == [
            (-1, None, None, "ana"),
            (None, "so", "better", None),
        ]


async def test_feedback_is_refused_while_the_turn_runs() -> None:
    """A running turn takes no feedback here, and says with what the session is busy."""
    gate, _, session = await gated()
    turn = session.send("hi")
    await turn.accepted()
    error = await failure(session.give_feedback(turn.id, rating=1))
    assert isinstance(error, SessionBusy)
    assert error.turn_id == turn.id
    gate.open()
    await turn.result()
    await session.give_feedback(turn.id, rating=0.5)
    assert [f.rating for f in session.turns()[0].feedback] == [0.5]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, Misuse),
        ({"rating": float("nan")}, NotStorable),
        ({"rating": "five"}, NotStorable),
        ({"comment": 5}, NotStorable),
    ],
)
async def test_feedback_that_cannot_be_kept(fields: dict[str, Any], error: type[Exception]) -> None:
    """Feedback that says nothing, or something that no journal keeps, is refused and writes nothing."""
    session = await Chat(ScriptedModel("x")).create_session()
    reply = await session.ask("hi")
    assert type(await failure(session.give_feedback(reply.turn_id, **fields))) is error
    assert "feedback.recorded" not in await types_of(session)


async def test_feedback_needs_its_turn() -> None:
    """An unknown turn is named."""
    session = await Chat("echo:").create_session("s")
    with pytest.raises(Misuse, match=r"no turn 'nope' in chat session 's'; session\.turns\(\) lists them"):
        await session.give_feedback("nope", rating=1)


async def test_feedback_that_cannot_be_written_is_told() -> None:
    """A refused append raises the store's error, and the turn has no such feedback."""
    store = ListStore()
    session = await Chat(ScriptedModel("x"), store=store).create_session("s")
    reply = await session.ask("hi")
    store.script = [Act(AppendFailed("s", "full"), writes=False)]
    assert isinstance(await failure(session.give_feedback(reply.turn_id, rating=1)), AppendFailed)
    assert session.turns()[0].feedback == ()


async def test_renaming(store: Store) -> None:
    """A title is committed when rename returns, can be taken back, and may be given while a turn runs."""
    gate, _, session = await gated(store)
    turn = session.send("hi")
    await turn.accepted()
    await session.rename("T")
    reopened = await Chat("echo:", store=store).open_session("s")
    assert session.title == reopened.title == "T"
    gate.open()
    await turn.result()
    await session.rename(None)
    assert isinstance(await failure(session.rename(5)), NotStorable)  # type: ignore[arg-type]
    assert session.title is None


async def test_a_canceled_rename_is_still_committed() -> None:
    """Canceling a write that is on its way cancels nothing that the journal could then hold in secret."""
    store = ListStore()
    session = await Chat("echo:", store=store).create_session("s")
    store.script = [Act(gate=(held := asyncio.Event()))]
    task = asyncio.create_task(session.rename("T"))
    await store.reached.wait()
    task.cancel()
    held.set()
    assert isinstance(await failure(task), asyncio.CancelledError)
    assert session.title == "T"


async def test_nothing_is_written_behind_a_closed_chat() -> None:
    """After aclose every way to write raises SessionClosed."""
    chat = Chat(ScriptedModel("x"))
    session = await chat.create_session("s")
    reply = await session.ask("hi")
    await chat.aclose()
    for write in (
        session.rename("T"),
        session.give_feedback(reply.turn_id, rating=1),
        session.record(input="a", output="b"),
        session.ask("hi"),
        chat.create_session(),
        chat.open_session("s"),
    ):
        assert isinstance(await failure(write), SessionClosed)
    assert [text async for text in session.journal()] != []
