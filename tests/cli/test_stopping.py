"""Ctrl-C, closed pipes, and a stream that attacks: what is shown while a turn runs."""

import asyncio
import io
import json
import signal
import subprocess
import time

import pytest

from antiphon import Chat
from antiphon._messages import Message
from antiphon.cli._live_reply import as_text, followed
from antiphon.cli._model_choice import embedded_model_is_here
from antiphon.cli._screen import Screen
from antiphon.models import ModelEvent, Replied, Retry, TextPiece
from antiphon.testing import ScriptedModel
from tests.cli.running import Terminal

embedded = pytest.mark.skipif(
    not embedded_model_is_here(),
    reason="needs the embedded model, which `./dev setup` installs; runs by ./dev fail without",
)

DEAF = """
import time
from antiphon.cli._interruptible import run

async def deaf():
    print("ready", flush=True)
    time.sleep(60)

run(deaf())
"""
"""A command that heeds nothing."""


async def shown(steps: list[ModelEvent]) -> tuple[str, str]:
    """What a reader of a turn with this model call sees, on standard output and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    async with Chat(ScriptedModel([steps])) as chat:
        session = await chat.create_session()
        await followed(session.send("Hi"), as_text(Screen(out), beside=Screen(err), heading="heading"))
    return out.getvalue(), err.getvalue()


def test_a_split_escape_sequence_is_spelled_out() -> None:
    """An escape sequence split over pieces of a stream does not reach the terminal as one."""
    pieces = ["a\x1b", "]52;c;aGk=", "\x07\x9b", "2J"]
    steps: list[ModelEvent] = [*map(TextPiece, pieces), Replied(Message.of("assistant", "".join(pieces)))]
    out, err = asyncio.run(shown(steps))
    assert out == "a\\x1b]52;c;aGk=\\x07\\x9b2J\n"
    assert err == "heading\n"


def test_a_call_made_again_is_told() -> None:
    """Where a model is asked again, what came before is said not to count."""
    steps: list[ModelEvent] = [TextPiece("Wro"), Retry(2, 0.0, "overloaded"), TextPiece("Right")]
    out, err = asyncio.run(shown([*steps, Replied(Message.of("assistant", "Right"))]))
    assert out.endswith("Right\n")
    assert "does not count: overloaded" in err


def asked(terminal: Terminal) -> "subprocess.Popen[bytes]":
    """The command in the middle of a long reply of the embedded model."""
    process = terminal.start("ask", "-m", "local:smollm2", "Write a long story about the sea and a ship.")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    assert process.stdout.read(5)
    return process


@embedded
def test_ctrl_c_cancels_the_turn(terminal: Terminal) -> None:
    """Ctrl-C in the middle of a reply keeps the turn as canceled, with what had come, and ends with 130."""
    process = asked(terminal)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    told = process.stderr.read().decode().splitlines()
    assert process.wait(20) == 130
    assert len(told) == 2
    assert told[1].endswith("was canceled: Ctrl-C")
    [turn] = json.loads(terminal.run("show", "--json").out)
    assert (turn["status"], turn["error"]) == ("canceled", "Ctrl-C")
    assert turn["partial"]
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        stream.close()


@embedded
def test_a_closed_pipe_ends_quietly(terminal: Terminal) -> None:
    """Where nobody reads the reply any more, the turn is canceled and nothing more is said."""
    process = asked(terminal)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    told = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(20) == 141
    assert len(told.splitlines()) == 1
    [turn] = json.loads(terminal.run("show", "--json").out)
    assert (turn["status"], turn["error"]) == ("canceled", "nobody reads the reply any more")


def test_a_second_ctrl_c_ends_at_once(terminal: Terminal) -> None:
    """A command that does not heed the first Ctrl-C is ended by the second."""
    process = terminal.start(program=DEAF)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    began = time.monotonic()
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert time.monotonic() - began < 20
