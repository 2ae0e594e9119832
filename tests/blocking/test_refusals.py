"""Calls that would wait for ever are refused at once."""

import os
from pathlib import Path

import pytest

from antiphon import TurnRequest
from antiphon.blocking import Chat
from antiphon.errors import Misuse, SessionClosed
from tests.blocking.fakes import SECONDS, Gate, echo, ran, session_of

FORKING = """
import os
from antiphon.blocking import Chat
from antiphon.errors import Misuse
fresh, chat = Chat("echo:"), Chat("echo:")
session = chat.open_session("s", create=True)
stream = session.journal()
child = os.fork()
if child == 0:
    for call in (session.turns, lambda: session.ask("x"), lambda: next(stream), lambda: chat.open_session("s")):
        try:
            call()
        except Misuse as error:
            assert "forked" in str(error)
        else:
            os._exit(1)
    chat.close()
    assert fresh.open_session("f", create=True).ask("in the child").text
    fresh.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(len(session.turns()), session.ask("in the parent").finish_reason)
"""


def test_a_call_from_its_own_thread() -> None:
    """An async responder that calls its own Chat gets a Misuse, whatever it calls, and the turn fails with it."""
    refused: list[object] = []

    async def answer(request: TurnRequest) -> str:
        for call in (session.turns, lambda: session.ask("again"), session.journal, lambda: session.title):
            with pytest.raises(Misuse, match="wait for itself"):
                call()
            refused.append(call)
        chat.close()
        return "never"

    chat = Chat(responder=answer)
    session = session_of(chat)
    with pytest.raises(Misuse, match="wait for itself"):
        session.ask("go")
    assert len(refused) == 4
    assert session.turns()[-1].status == "failed"
    chat.close()


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="what a fork does to a Chat can be tried only where there is os.fork"
)
def test_a_call_after_a_fork(tmp_path: Path) -> None:
    """In a forked process a Chat that had been used refuses every call and closes without a word; a new one works."""
    ended = ran(FORKING, tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "0 stop\n"), ended.stderr


def test_after_its_end() -> None:
    """A closed Chat starts nothing more; what was said can still be read, and closing it again does nothing."""
    with Chat(responder=echo) as chat:
        session = session_of(chat)
        turn = session.send("hello")
        begun = session.journal()
        next(begun)
    chat.close()
    for call in (
        lambda: session.ask("x"),
        lambda: chat.open_session("s"),
        lambda: chat.create_session(),
        begun.__next__,
    ):
        with pytest.raises(SessionClosed):
            call()
    assert turn.result().text == "hello"
    assert [event.type for event in turn][-1] == "turn.completed"
    assert [entry.type for entry in session.journal()][-1] == "turn.completed"


def test_closing_while_another_thread_waits() -> None:
    """Who waits for a turn while the Chat is closed learns that it was canceled."""
    gate = Gate()
    chat = Chat(responder=gate)
    turn = session_of(chat).send("hello")
    assert gate.begun.wait(SECONDS)
    chat.close(drain=0.0)
    gate.opened.set()
    with pytest.raises(Exception, match="the chat was closed"):
        turn.result()


def test_what_would_end_the_process(tmp_path: Path) -> None:
    """A responder that raises SystemExit ends its turn, and not the thread that all others wait for."""

    async def answer(request: TurnRequest) -> str:
        if request.messages[-1].text == "exit":
            raise SystemExit(3)
        return "ok"

    with Chat(responder=answer) as chat:
        session = session_of(chat)
        with pytest.raises(Exception, match="interrupted"):
            session.ask("exit")
        assert session.ask("and now?").text == "ok"
