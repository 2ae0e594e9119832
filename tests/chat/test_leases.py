"""Stores of others that lease sessions in ways of their own: what is committed counts, whatever their leases do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from antiphon import Chat, Completed
from antiphon.errors import StoreUnreadable
from antiphon.testing import ScriptedModel
from tests.chat.fakes import ListStore, failure, gated, passing

pytestmark = pytest.mark.anyio


class Leasing(ListStore):
    """A store with leases that fail, or take their time.

    Attributes:
        on_entry: raised instead of giving the lease.
        on_exit: raised instead of letting it go.
        gate: waited for before it is let go.
        cancels: cancels left standing in the task that let go.
    """

    on_entry: Exception | None = None
    on_exit: Exception | None = None
    gate: asyncio.Event | None = None
    leaving: asyncio.Event | None = None
    cancels: int | None = None

    @asynccontextmanager
    async def lease(self, session_id: str) -> AsyncIterator[None]:
        """Hold a session, more or less."""
        if self.on_entry is not None:
            raise self.on_entry
        yield
        task = asyncio.current_task()
        self.cancels = None if task is None else task.cancelling()
        if self.leaving is not None:
            self.leaving.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.on_exit is not None:
            raise self.on_exit


@pytest.mark.parametrize("error", [StoreUnreadable("here", "gone"), ZeroDivisionError("oh")], ids=["own", "foreign"])
async def test_a_lease_that_cannot_be_taken(error: Exception) -> None:
    """accepted() and result() raise what the lease raised; nothing is written, and nothing is asked."""
    store, model = Leasing(), ScriptedModel("x")
    session = await Chat(model, store=store).create_session("s")
    store.on_entry = error
    turn = session.send("hi")
    assert [await failure(turn.accepted()), await failure(turn.result())] == [error, error]
    assert (store.types(), model.requests) == (["session.created"], [])
    store.on_entry = None
    assert (await session.ask("hi")).text == "x"


async def test_a_lease_that_cannot_be_let_go() -> None:
    """A reply that is committed is the result, though letting the lease go failed."""
    store = Leasing()
    store.on_exit = ZeroDivisionError("oh")
    session = await Chat(ScriptedModel(["hello", ValueError("no")]), store=store).create_session("s")
    turn = session.send("hi")
    assert (await turn.result()).text == "hello"
    assert isinstance([event async for event in turn][-1], Completed)
    assert "ValueError: no" in str(await failure(session.ask("more")))


async def test_a_loop_that_ends_while_a_lease_is_let_go() -> None:
    """Canceled behind its outcome, a turn still gives its reply."""
    store = Leasing()
    store.gate, store.leaving = asyncio.Event(), asyncio.Event()
    session = await Chat(ScriptedModel("hello"), store=store).create_session("s")
    before = asyncio.all_tasks()
    turn = session.send("hi")
    await store.leaving.wait()
    for task in asyncio.all_tasks() - before:
        task.cancel()
    assert (await turn.result()).text == "hello"


async def test_a_cancel_that_was_heard_is_not_left_standing() -> None:
    """What runs behind a canceled turn in its task, such as timeouts of a lease, meets no cancel of old."""
    store = Leasing()
    gate, _, session = await gated(store)
    turn = session.send("hi")
    await gate.begun.wait()
    await turn.cancel()
    assert store.cancels == 0
    await passing(1)
    assert [turn.status for turn in session.turns()] == ["canceled"]
