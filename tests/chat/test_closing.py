"""Ends: a Chat that is closed, a loop that shuts down, and that nothing runs on behind them."""

import asyncio
import gc
import weakref
from pathlib import Path

import pytest

from antiphon import Chat, FileStore, InMemoryStore, LiveTurn, Message, Session, Store, TurnRequest, View
from antiphon.errors import SessionClosed, TurnCanceled
from antiphon.testing import ScriptedModel
from antiphon.transcript import replay
from tests.chat.fakes import Gate, ListStore, failure, gated, passing, types_of


@pytest.mark.anyio
async def test_draining_lets_turns_end() -> None:
    """aclose lets running turns end, and those that wait behind them, and starts no new one."""
    gate, chat, session = await gated()
    turns = [session.send("a"), session.send("b", when_busy="wait")]
    await gate.begun.wait()
    closing = asyncio.create_task(chat.aclose())
    await passing(5)
    with pytest.raises(SessionClosed):
        session.send("c", when_busy="wait")
    assert not closing.done()
    gate.open()
    await closing
    assert [(await turn.result()).text for turn in turns] == ["answered", "answered"]


@pytest.mark.anyio
async def test_closing_cancels_what_does_not_end() -> None:
    """Behind the drain running turns are canceled, and what waits behind them never begins."""
    gate, chat, session = await gated()
    running, *waiting = (session.send(text, when_busy="wait") for text in "abc")
    await gate.begun.wait()
    await chat.aclose(drain=0.01)
    for turn in (running, *waiting):
        error = await failure(turn.result())
        assert isinstance(error, TurnCanceled)
        assert error.reason == "the chat was closed"
    assert await types_of(session) == ["session.created", "turn.accepted", "turn.shown", "turn.canceled"]
    assert len(gate.requests) == 1


@pytest.mark.anyio
async def test_all_sessions_share_one_drain() -> None:
    """The drain is the time for all sessions together, not for each in turn."""
    gate, chat, first = await gated()
    turns = [first.send("a"), *[(await chat.create_session()).send("a") for _ in range(20)]]
    loop = asyncio.get_running_loop()
    await gate.begun.wait()
    begun = loop.time()
    await chat.aclose(drain=0.05)
    assert loop.time() - begun < 0.5
    assert [type(await failure(turn.result())) for turn in turns] == [TurnCanceled] * 21


@pytest.mark.anyio
async def test_a_block_drains_and_an_error_cancels() -> None:
    """`async with Chat` lets turns end at its end, and cancels them at once when it is left by an error."""
    async with Chat(ScriptedModel("hello", delay=0.005)) as chat:
        turn = (await chat.create_session()).send("hi")
    assert (await turn.result()).text == "hello"
    gate, turns = Gate(), list[LiveTurn]()

    async def left_by_an_error() -> None:
        async with Chat(responder=gate) as chat:
            turns.append((await chat.create_session()).send("hi"))
            await gate.begun.wait()
            raise ZeroDivisionError

    assert isinstance(await failure(left_by_an_error()), ZeroDivisionError)
    assert isinstance(await failure(turns[0].result()), TurnCanceled)


@pytest.mark.anyio
async def test_closing_twice_and_at_once() -> None:
    """Closing again, or from several tasks, is the same as closing."""
    gate, chat, session = await gated()
    session.send("hi")
    await gate.begun.wait()
    await asyncio.gather(*(chat.aclose(drain=0.01) for _ in range(3)))
    await chat.aclose()
    assert [turn.status for turn in session.turns()] == ["canceled"]


@pytest.mark.anyio
async def test_closing_while_a_session_is_being_opened() -> None:
    """A session that was being opened while the Chat was closed starts no turn."""
    store = ListStore()
    await Chat("echo:", store=store).create_session("s")
    chat = Chat(ScriptedModel("x"), store=store)
    opening = asyncio.create_task(chat.open_session("s"))
    await passing(1)
    await chat.aclose()
    assert isinstance(await failure((await opening).ask("hi")), SessionClosed)


class Slow(InMemoryStore):
    """A store whose calls take several steps of the loop."""

    async def append(self, *args: object, **kwargs: object) -> None:
        """Append, slowly."""
        await passing(3)
        await super().append(*args, **kwargs)  # type: ignore[arg-type]
        await passing(3)


async def left(store: Store, steps: int, sent: list[LiveTurn]) -> None:
    """Begin a turn and leave after some steps, closing nothing."""

    async def context(view: View) -> list[Message]:
        await passing(2)
        return []

    async def responder(request: TurnRequest) -> str:
        await passing(2)
        return "hello"

    session = await Chat(responder=responder, store=store, context=context).create_session("s")
    sent.append(session.send("hi"))
    await passing(steps)


@pytest.mark.parametrize("slow", [False, True], ids=["fast", "slow"])
@pytest.mark.parametrize("steps", range(0, 40, 1))
def test_a_loop_that_ends_commits_the_outcome(steps: int, slow: bool) -> None:
    """asyncio.run that ends at any step of a turn returns, and an accepted turn has its outcome (A13)."""
    store, sent = Slow() if slow else InMemoryStore(), list[LiveTurn]()
    asyncio.run(left(store, steps, sent))
    turns = asyncio.run(replay("s", store.read("s"), where="memory")).turns()
    if not turns:
        return
    (turn,) = turns
    assert turn.status in ("completed", "canceled")
    if turn.status == "canceled":
        assert turn.error == "shut down"
    assert turn.partial is None


@pytest.mark.parametrize("pause", [0.0, 0.0005, 0.001, 0.002, 0.004])
def test_a_loop_that_ends_commits_the_outcome_to_a_file(pause: float, tmp_path: Path) -> None:
    """The same with file calls on threads that go on while the loop ends."""

    async def begin() -> None:
        chat = Chat(responder=Gate(), store=FileStore(tmp_path))
        (await chat.create_session("s")).send("hi")
        await asyncio.sleep(pause)

    asyncio.run(begin())
    turns = asyncio.run(replay("s", FileStore(tmp_path).read("s"), where="files")).turns()
    assert [(turn.status, turn.error) for turn in turns] in ([], [("canceled", "shut down")])


def test_a_loop_that_ends_with_waiting_turns() -> None:
    """Turns in a queue are canceled with the loop: at most the running one is in the journal."""
    gate, store = Gate(), InMemoryStore()

    async def begin() -> None:
        session = await Chat(responder=gate, store=store).create_session("s")
        for text in "abc":
            session.send(text, when_busy="wait")
        await gate.begun.wait()

    asyncio.run(begin())
    turns = asyncio.run(replay("s", store.read("s"), where="memory")).turns()
    assert [(turn.input, turn.status) for turn in turns] == [("a", "canceled")]


def test_a_chat_outlives_its_loop() -> None:
    """Sessions of a Chat can be used in a second loop, one after the other."""
    chat = Chat(ScriptedModel(["one", "two"]))
    session = asyncio.run(chat.create_session("s"))
    assert [asyncio.run(session.ask(text)).text for text in "ab"] == ["one", "two"]
    assert asyncio.run(chat.open_session("s")) is session


@pytest.mark.anyio
async def test_dropped_sessions_leave_nothing() -> None:
    """A thousand sessions opened, used and dropped leave no Session, no task and no entry in the Chat (F191)."""
    store = InMemoryStore()
    chat = Chat(ScriptedModel(lambda request: "ok"), store=store)
    tasks = asyncio.all_tasks()
    kept = weakref.WeakSet[Session]()
    for i in range(1_000):
        session = await chat.create_session(str(i))
        if i % 10 == 0:
            await session.ask("hi")
        kept.add(session)
        del session
    await passing(5)
    gc.collect()
    assert (len(kept), len(chat._shelf.sessions), len(chat._planner.running)) == (0, 0, 0)
    assert asyncio.all_tasks() == tasks
    assert store._leases == {}


@pytest.mark.anyio
async def test_a_queue_of_turns_is_let_go() -> None:
    """Turns that waited for one another are not kept by those behind them."""
    chat = Chat(ScriptedModel(lambda request: "ok"))
    session = await chat.create_session()
    turns = [session.send(str(i), when_busy="wait") for i in range(20)]
    runs = weakref.WeakSet([turn._run for turn in turns])
    last = turns[-1]
    await last.result()
    del turns
    gc.collect()
    assert len(runs) == 1, "only the one that is still held"


@pytest.mark.anyio
async def test_a_turn_that_nobody_holds_is_not_collected() -> None:
    """A running turn whose Session, LiveTurn and everything it waits for were dropped is still there to be closed."""
    begun = asyncio.Event()

    async def responder(request: TurnRequest) -> str:
        begun.set()
        await asyncio.Event().wait()
        return "never"

    chat = Chat(responder=responder)
    (await chat.create_session("s")).send("hi")
    await begun.wait()
    gc.collect()
    await chat.aclose(drain=0)
    assert [line.type async for line in chat.store.read("s")][-1] == "turn.canceled"


@pytest.mark.anyio
async def test_failed_turns_that_nobody_reads_are_silent() -> None:
    """A failed turn whose result nobody asks for raises nothing and warns of nothing."""
    heard: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: heard.append(context))
    session = await Chat(ScriptedModel([ValueError("no"), ValueError("no")])).create_session()
    assert isinstance(await failure(session.ask("hi")), ValueError)
    session.send("hi")
    while session.live_turn is not None:
        await passing(1)
    gc.collect()
    await passing(2)
    assert heard == []
