"""Nothing begins before it is needed, and nothing is left behind."""

import gc
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path

from antiphon.blocking import Chat
from tests.blocking.fakes import SECONDS, Gate, echo, ran, session_of


def threads() -> set[threading.Thread]:
    """The threads of all blocking Chats."""
    return {each for each in threading.enumerate() if each.name == "antiphon-blocking"}


def streams() -> int:
    """How many readings of turns there are."""
    return sum(isinstance(each, types.AsyncGeneratorType) and "read" in each.__qualname__ for each in gc.get_objects())


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something becomes true soon."""
    until = time.monotonic() + SECONDS
    while not holds() and time.monotonic() < until:
        gc.collect()
        time.sleep(0.01)
    return holds()


def test_no_thread_before_the_first_call() -> None:
    """Making a Chat starts no thread, the first call starts one, and its end ends it."""
    before = threads()
    chat = Chat(responder=echo)
    assert threads() == before
    session = session_of(chat)
    session.ask("hello")
    assert len(threads() - before) == 1
    assert all(each.daemon for each in threads())
    chat.close()
    assert threads() <= before


def test_a_chat_that_nobody_holds() -> None:
    """A Chat that was not closed and is no longer held lets its turns end, and then its thread."""
    before, gate = threads(), Gate()
    turn = session_of(Chat(responder=gate)).send("hello")
    assert gate.begun.wait(SECONDS)
    assert len(threads() - before) == 1
    log = turn._async
    del turn
    gc.collect()
    gate.opened.set()
    assert eventually(lambda: threads() <= before)
    assert "over" in repr(log)


def test_iterators_that_nobody_holds() -> None:
    """Iterators that are left in the middle of a running turn are closed, and the turn goes on."""
    gate = Gate()
    with Chat(responder=gate) as chat:
        turn = session_of(chat).send("hello")
        before = streams()
        left = [turn.events() for _ in range(100)]
        assert {next(each).type for each in left} == {"turn.accepted"}
        assert streams() >= before + 100
        left.clear()
        assert eventually(lambda: streams() <= before)
        gate.opened.set()
        assert turn.result().text == "answered hello"


def test_a_chat_that_was_never_closed(tmp_path: Path) -> None:
    """A program that ends with a running turn and an open iterator ends at once, and says nothing."""
    program = """
        import time
        from antiphon import FileStore
        from antiphon.blocking import Chat
        def blocks(request):
            time.sleep(3600)
        chat = Chat(responder=blocks, store=FileStore("chats"))
        turn = chat.open_session("s", create=True).send("hello").accepted()
        events = iter(turn)
        print(next(events).type)
    """
    ended = ran(program, tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "turn.accepted\n", "")
