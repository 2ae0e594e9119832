"""Calls of the blocking facade: what the async methods do, from any thread."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path

import pytest

from antiphon import FileStore, Store, TurnRequest
from antiphon.blocking import Chat
from antiphon.errors import CorruptJournal, SessionNotFound, TurnCanceled
from tests.blocking.fakes import SECONDS, Gate, echo, session_of
from tests.blocking.program import main

USER: ContextVar[str] = ContextVar("USER", default="nobody")


@pytest.fixture
def chat() -> Iterator[Chat]:
    """A Chat that answers with what was said."""
    with Chat(responder=echo) as chat:
        yield chat


def test_a_users_program(tmp_path: Path) -> None:
    """The program whose types are checked runs."""
    assert main(tmp_path)[:2] == ["you said Where is order 17?", "you said And 18?"]


def test_an_iteration_gives_every_event(chat: Chat) -> None:
    """Iterating a turn gives its events from the first to the last, each time anew."""
    turn = session_of(chat).send("hello")
    kinds = [event.type for event in turn]
    assert kinds == ["turn.accepted", "turn.shown", "text.delta", "turn.completed"]
    assert [event.type for event in turn.events(after=2)] == kinds[2:]
    assert list(turn.text_stream) == ["hello"]


def test_steering_and_canceling() -> None:
    """A turn takes steering while it runs, and a cancel waits until it is committed."""
    gate = Gate()
    with Chat(responder=gate) as chat:
        session = session_of(chat)
        with session.send("one") as turn:
            assert gate.begun.wait(SECONDS)
            turn.steer("two")
            turn.cancel("changed my mind")
        with pytest.raises(TurnCanceled, match="changed my mind"):
            turn.result()
        types = [entry.type for entry in session.journal()]
        gate.opened.set()
    assert types == ["session.created", "turn.accepted", "turn.shown", "turn.steered", "turn.canceled"]


def test_errors_are_the_async_ones(chat: Chat) -> None:
    """An error is raised as the async method raises it."""
    with pytest.raises(SessionNotFound):
        chat.open_session("nowhere")
    with pytest.raises(TypeError, match="unexpected keyword"):
        chat.open_session("s", wrong=True)  # type: ignore[call-arg]
    assert session_of(chat).ask("still here").text == "still here"


def test_one_object_for_each_session(chat: Chat) -> None:
    """A session that somebody holds is the same object however it is come by."""
    session = session_of(chat)
    assert chat.open_session("s") is session
    assert session.live_turn is None
    assert [each.id for each in chat.sessions()] == ["s"]


def test_long_journals_are_read_in_few_trips(chat: Chat) -> None:
    """An iterator gives every entry in order, whatever it reads ahead."""
    session = session_of(chat)
    for n in range(300):
        session.state.set("n", n)
    journal = session.journal()
    first = next(journal)
    assert [first.type, *(entry.type for entry in journal)] == ["session.created", *["state.changed"] * 300]


def test_what_went_wrong_comes_behind_what_came_before(tmp_path: Path) -> None:
    """An iterator that fails gives first what it had read until then."""
    with Chat(responder=echo, store=FileStore(tmp_path)) as chat:
        session = session_of(chat)
        for n in range(20):
            session.state.set("n", n)
        path = tmp_path / "s.jsonl"
        path.write_bytes(path.read_bytes().replace(b'"value":15', b'"value":', 1))
        read: list[str] = []
        with pytest.raises(CorruptJournal, match=r"s\.jsonl"):
            read.extend(entry.type for entry in session.journal())
    assert len(read) == 16


def test_context_variables_arrive() -> None:
    """A call runs in a copy of its caller's context: values arrive, and none comes back."""
    seen = []

    async def answer(request: TurnRequest) -> str:
        seen.append(USER.get())
        USER.set("changed")
        return "ok"

    with Chat(responder=answer) as chat:
        session = session_of(chat)
        USER.set("ana")
        session.ask("a")
        USER.set("ben")
        session.send("b").result()
    assert (seen, USER.get()) == (["ana", "ben"], "ben")


@pytest.mark.parametrize("shared", [True, False])
def test_eight_threads_at_once(tmp_path: Path, shared: bool) -> None:
    """Eight threads ask at once, in one Chat or in a Chat each over one store, and each gets its own answers."""
    store: Store = FileStore(tmp_path)
    chats = [Chat(responder=echo, store=store)] * 8 if shared else [Chat(responder=echo, store=store) for _ in range(8)]

    def talk(n: int) -> list[str]:
        session = chats[n].open_session(f"s{n}", create=True)
        return [session.ask(f"{n}-{i}").text for i in range(10)]

    with ThreadPoolExecutor(8) as threads:
        said = list(threads.map(talk, range(8), timeout=SECONDS))
    for chat in chats:
        chat.close()
    assert said == [[f"{n}-{i}" for i in range(10)] for n in range(8)]


def test_threads_meet_in_one_session() -> None:
    """Turns of one session from several threads wait for each other, if they are told to."""
    with Chat(responder=echo) as chat, ThreadPoolExecutor(4) as threads:
        session = session_of(chat)
        texts = [f"{n}" for n in range(12)]
        replies = threads.map(lambda text: session.ask(text, when_busy="wait").text, texts, timeout=SECONDS)
        assert list(replies) == texts
        assert len(session.turns()) == 12


def test_inside_a_running_loop() -> None:
    """The facade works in a thread whose own event loop is running, as in a notebook."""

    async def cell() -> str:
        with Chat(responder=echo) as chat:
            return session_of(chat).ask("from a cell").text

    assert asyncio.run(cell()) == "from a cell"


def test_listeners_are_told() -> None:
    """What listens to a session is told what happens in it; it is called on the Chat's thread."""
    heard: list[str] = []
    with Chat(responder=echo) as chat:
        session = session_of(chat)
        session.state.subscribe("x", lambda new, old: heard.append(f"{threading.current_thread().name} {new} {old}"))
        session.state.set("x", 1)
        assert session.state.get("x") == 1
    assert heard == ["antiphon-blocking 1 None"]
