"""KeyboardInterrupt cancels the turn that is waited for, and is raised again once that is committed."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from antiphon import FileStore
from antiphon.blocking import Chat
from tests.blocking.fakes import SECONDS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a lock's waiter is woken by a signal on POSIX only")

PROGRAM = """
import asyncio, time
from antiphon import FileStore
from antiphon.blocking import Chat

async def streams(request):
    yield "half a "
    await asyncio.sleep(3600)

def blocks(request):
    print("waiting", flush=True)
    time.sleep(3600)

chat = Chat(responder=RESPONDER, store=FileStore("chats"))
session = chat.open_session("s", create=True)
session.events.on(__import__("antiphon").TextDelta, lambda event: print("waiting", flush=True))
WAIT
"""
WAITS = {
    "ask": "session.ask('hello')",
    "result": "session.send('hello').result()",
    "events": "for event in session.send('hello'): pass",
    "text_stream": "for text in session.send('hello').text_stream: pass",
    "with": "with session.send('hello') as turn: time.sleep(3600)",
    "chat": "with chat: session.send('hello'); time.sleep(3600)",
    "close": "session.send('hello'); chat.close(drain=None)",
}


def interrupted(folder: Path, program: str, *, signals: int = 1) -> tuple[int, str]:
    """Run a program, interrupt it once it says that it waits, and give its code and the end of what it said."""
    command = [sys.executable, "-X", "dev", "-c", textwrap.dedent(program)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, text=True, **pipes) as running:  # type: ignore[call-overload]
        try:
            assert running.stdout.readline() == "waiting\n", running.stderr.read()
            for _ in range(signals):
                time.sleep(0.3)  # Until it waits; and signals that come at once are one.
                running.send_signal(signal.SIGINT)
            _, said = running.communicate(timeout=SECONDS)
        finally:
            running.kill()
    return running.returncode, said


def journal(folder: Path) -> list[str]:
    """The types of what the program has written."""
    with Chat("echo:", store=FileStore(folder / "chats")) as chat:
        return [entry.type for entry in chat.open_session("s").journal()]


@pytest.mark.parametrize("wait", WAITS)
def test_the_turn_is_canceled(tmp_path: Path, wait: str) -> None:
    """Whatever waits for the turn: it is canceled, that is in the journal, and the program ends by the interrupt."""
    program = PROGRAM.replace("RESPONDER", "streams").replace("WAIT", WAITS[wait])
    code, said = interrupted(tmp_path, program)
    assert code == -signal.SIGINT, said
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert journal(tmp_path)[-1] == "turn.canceled"


def test_a_function_that_waits(tmp_path: Path) -> None:
    """A responder that waits in its own thread keeps neither the cancel nor the end of the process waiting."""
    code, said = interrupted(tmp_path, PROGRAM.replace("RESPONDER", "blocks").replace("WAIT", WAITS["ask"]))
    assert (code, journal(tmp_path)[-1]) == (-signal.SIGINT, "turn.canceled"), said


def test_the_next_turn(tmp_path: Path) -> None:
    """After an interrupt that the program caught, the same Chat goes on."""
    program = PROGRAM.replace("RESPONDER", "streams").replace(
        "WAIT",
        """
try:
    session.ask("hello")
except KeyboardInterrupt:
    assert [turn.status for turn in session.turns()] == ["canceled"]
    assert session.ask("again", model="echo:").text
    chat.close()
    print("went on", flush=True)
""",
    )
    code, said = interrupted(tmp_path, program)
    assert (code, journal(tmp_path)[-1]) == (0, "turn.completed"), said


def test_a_loop_that_is_kept_busy(tmp_path: Path) -> None:
    """A second interrupt does not wait for a loop that a function of the caller's keeps busy."""
    program = PROGRAM.replace("RESPONDER", "busy").replace("WAIT", WAITS["ask"])
    busy = "async def busy(request):\n    print('waiting', flush=True)\n    time.sleep(3600)\n\nchat ="
    code, said = interrupted(tmp_path, program.replace("chat =", busy, 1), signals=2)
    assert code == -signal.SIGINT, said
