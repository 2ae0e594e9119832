"""A process that is killed in the middle of a turn: what was acknowledged is there, and the session goes on.

Run as a program it is the process that is killed: `python -m tests.faults.test_killed DIRECTORY HOW STEP` at every
STEPth file call of a turn, `… DIRECTORY after-each` right after each kind of acknowledgement. It forks before any
thread is started.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal, cast

import pytest

from antiphon import Chat, FileStore, Message, Session, Text, ToolCall, Turn, TurnRequest
from antiphon.errors import SessionNotFound, TurnInterrupted
from antiphon.testing import FailingDisk, ScriptedModel

PROVE = os.environ.get("ANTIPHON_PROVE") == "1"
When = Literal["before", "after", "half"]
HOW: tuple[When, ...] = ("before", "after", "half")
EVERY = 1 if PROVE else 3

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="the process that is killed is a fork of this one, and this system has no os.fork"
)


async def answering(request: TurnRequest) -> Message | str:
    """Ask for a tool, and then answer."""
    asked = any(message.role == "tool" for message in request.messages)
    return "hello" if asked else Message("assistant", (Text("looking"), ToolCall("c", "f")))


async def story(place: Path, disk: FailingDisk) -> None:
    """Every kind of write once; each is noted in a file of its own once it was acknowledged."""
    noted = os.open(place.with_suffix(".told"), os.O_CREAT | os.O_WRONLY)

    async def note(word: str, work: Awaitable[object]) -> None:
        await work
        os.write(noted, f"{word}\n".encode())

    chat = Chat(responder=answering, store=FileStore(place, disk=disk))
    session = await chat.create_session("s")
    os.write(noted, b"created\n")
    turn = session.send("hi", key="k")
    await note("accepted", turn.accepted())
    await note("steered", turn.steer("more"))
    await note("completed", turn.result())
    await note("rated", session.give_feedback(turn.id, rating=1))
    await note("renamed", session.rename("T"))
    await note("recorded", session.record(input="a", output="b"))


STEPS = ["created", "accepted", "steered", "completed", "rated", "renamed", "recorded"]


def forked(work: Callable[[], None]) -> int:
    """Do work in a child without threads from before; how it ended."""
    if (child := os.fork()) == 0:
        try:
            work()
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]


def kill_everywhere(directory: Path, how: When, *, every: int) -> None:
    """Run the story once for each of its file calls, and be killed there."""

    def dry() -> None:
        disk = FailingDisk()
        asyncio.run(story(directory / "0", disk))
        (directory / "calls").write_text(str(len(disk.calls)))

    forked(dry)
    for at in range(1, int((directory / "calls").read_text()) + 1, every):
        disk = FailingDisk(at=at, how=how, kill=True)
        status = forked(lambda disk=disk, at=at: asyncio.run(story(directory / str(at), disk)))  # type: ignore[misc]
        assert os.WIFSIGNALED(status), (at, status)


async def acknowledged_then_killed(place: Path, kind: str) -> None:
    """Be killed right after one kind of write was acknowledged."""
    gate = asyncio.Event()

    async def waiting(request: TurnRequest) -> Message | str:
        if kind == "model.replied" and len(request.messages) == 1:
            return Message("assistant", (Text("looking"), ToolCall("c", "f")))
        await gate.wait()
        return "hello"

    session = await Chat(responder=waiting, store=FileStore(place)).create_session("s")
    if kind != "session.created":
        await acknowledged(session, kind, gate)
    os.kill(os.getpid(), signal.SIGKILL)


async def acknowledged(session: Session, kind: str, gate: asyncio.Event) -> None:
    """Do one kind of write and wait for its acknowledgement."""
    if kind == "session.renamed":
        return await session.rename("T")
    turn = session.send("hi")
    await turn.accepted()
    if kind == "turn.steered":
        await turn.steer("more")
    elif kind == "model.replied":
        async for event in turn:
            if event.type == kind:
                break
    elif kind == "turn.canceled":
        await turn.cancel()
    elif kind in ("turn.completed", "feedback.recorded"):
        gate.set()
        await turn.result()
        if kind == "feedback.recorded":
            await session.give_feedback(turn.id, rating=1)
    return None


def killed(directory: Path, *words: str) -> None:
    """Run this module as a program."""
    arguments = [sys.executable, "-m", "tests.faults.test_killed", str(directory), *words]
    done = subprocess.run(arguments, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


async def reopened(place: Path) -> tuple[list[str], tuple[Turn, ...]]:
    """Types and turns found in a place, which must take another turn, and give the key's turn and no second one."""
    chat = Chat(responder=answering, store=FileStore(place))
    try:
        session = await chat.open_session("s")
    except SessionNotFound:
        return [], ()
    types = [entry.type async for entry in session.journal()]
    turns = tuple(session.turns())
    kept = [turn for turn in turns if turn.key == "k"]
    if kept and kept[0].status == "interrupted":
        with pytest.raises(TurnInterrupted):
            await session.ask("hi", key="k")
        assert (await session.retry(kept[0].id).result()).text == "hello"
    assert (await session.ask("next", model=ScriptedModel("fine"))).text == "fine"
    return types, turns


@pytest.mark.parametrize("how", HOW)
def test_killed_at_every_file_call(how: When, tmp_path: Path) -> None:
    """Killed at any file call of a turn, a process leaves everything acknowledged, and a session that goes on."""
    killed(tmp_path, how, str(EVERY))
    for notes in sorted(tmp_path.glob("*.told")):
        told = notes.read_text().split()
        types, turns = asyncio.run(reopened(notes.with_suffix("")))
        assert told == STEPS[: len(told)]
        if not told:
            continue
        expected = {
            "created": "session.created",
            "accepted": "turn.accepted",
            "steered": "turn.steered",
            "completed": "turn.completed",
            "rated": "feedback.recorded",
            "renamed": "session.renamed",
        }
        assert {expected[step] for step in told if step in expected} <= set(types), notes
        assert len(types) <= 1 or turns[0].input == "hi"
        assert ("completed" not in told) or turns[0].status == "completed"
        assert ("recorded" not in told) or turns[1].output == "b"


KINDS = [
    *("session.created", "session.renamed", "turn.accepted", "turn.steered", "model.replied", "turn.completed"),
    *("turn.canceled", "feedback.recorded"),
]


def kill_after_each(directory: Path) -> None:
    """Run a process for each kind of write, and be killed right behind its acknowledgement."""
    for kind in KINDS:
        status = forked(lambda kind=kind: asyncio.run(acknowledged_then_killed(directory / kind, kind)))  # type: ignore[misc]
        assert os.WIFSIGNALED(status), (kind, status)


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What processes left that were killed right behind an acknowledgement."""
    directory = tmp_path_factory.mktemp("killed")
    killed(directory, "after-each")
    return directory


@pytest.mark.parametrize("kind", KINDS)
def test_killed_right_after_an_acknowledgement(kind: str, left_behind: Path) -> None:
    """Killed (SIGKILL) the moment a write is acknowledged, a process leaves it in the journal (F089, F011)."""
    types, turns = asyncio.run(reopened(left_behind / kind))
    assert kind in types
    if kind not in ("session.created", "session.renamed"):
        expected = {"turn.canceled": "canceled", "turn.completed": "completed", "feedback.recorded": "completed"}
        assert [turn.status for turn in turns] == [expected.get(kind, "interrupted")]


if __name__ == "__main__":
    if sys.argv[2] == "after-each":
        kill_after_each(Path(sys.argv[1]))
    else:
        kill_everywhere(Path(sys.argv[1]), cast(When, sys.argv[2]), every=int(sys.argv[3]))
