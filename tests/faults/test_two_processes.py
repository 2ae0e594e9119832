"""Two processes use one directory of sessions: in turns, at once, and one of them dying.

Run as a program, `python -m tests.faults.test_two_processes DIRECTORY`, it is one of them: it does what it reads, a
JSON list a line, and answers each with a line.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon import Chat, FileStore, LiveTurn, Session, TurnRequest
from antiphon.errors import AntiphonError
from antiphon.testing import ScriptedModel
from antiphon.transcript import replay

PROVE = os.environ.get("ANTIPHON_PROVE") == "1"
TURNS = 200 if PROVE else 25


class Worker:
    """The other process, inside of it."""

    def __init__(self, directory: str) -> None:
        self.chat = Chat(responder=self.answer, store=FileStore(directory))
        self.opened: dict[str, Session] = {}
        self.turn: LiveTurn | None = None
        self.gate = asyncio.Event()

    async def answer(self, request: TurnRequest) -> str:
        """Say how many messages were shown; wait where the input says so."""
        if request.input == "wait":
            await self.gate.wait()
        return str(len(request.messages))

    async def open(self, id: str) -> str:
        """Open a session, once: from then on it may be stale."""
        self.opened[id] = await self.chat.open_session(id, create=True)
        return str(len(self.opened[id].turns()))

    async def ask(self, id: str, text: str, key: str | None = None, when_busy: str = "raise") -> str:
        """Run a turn."""
        reply = await self.opened[id].ask(text, key=key, when_busy=when_busy)  # type: ignore[arg-type]
        return f"{reply.turn_id} {reply.text}"

    async def begin(self, id: str) -> str:
        """Begin a turn that waits."""
        self.gate.clear()
        self.turn = self.opened[id].send("wait")
        await self.turn.accepted()
        return self.turn.id

    async def end(self) -> str:
        """Let it end."""
        self.gate.set()
        assert self.turn is not None
        return (await self.turn.result()).text

    async def many(self, id: str, count: int, name: str) -> list[str]:
        """Run turns, one behind the other, waiting for whoever holds the session."""
        return [await self.ask(id, f"{name}{i}", when_busy="wait") for i in range(count)]

    async def add(self, id: str, count: int, name: str) -> str:
        """Rate the first turn and rename, many times."""
        session = self.opened[id]
        for i in range(count):
            await session.rename(f"{name}{i}")
            await session.give_feedback(session.turns()[0].id, comment=f"{name}{i}")
        return "added"

    async def rate(self, id: str) -> str:
        """Rate the first turn."""
        await self.opened[id].give_feedback(self.opened[id].turns()[0].id, rating=1)
        return "rated"

    async def serve(self) -> None:
        """Do what is read, until the input ends."""
        loop = asyncio.get_running_loop()
        while said := await loop.run_in_executor(None, sys.stdin.readline):
            word, *arguments = json.loads(said)
            try:
                answer: Any = await getattr(self, word)(*arguments)
            except AntiphonError as error:
                answer = f"{type(error).__name__}: {error}"
            print(json.dumps(answer), flush=True)


class Other:
    """The other process, from outside."""

    def __init__(self, directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.test_two_processes", str(directory)],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def say(self, word: str, *arguments: object) -> None:
        """Have something done."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([word, *arguments]) + "\n")
        self.process.stdin.flush()

    def heard(self) -> Any:
        """Its answer."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def does(self, word: str, *arguments: object) -> Any:
        """Have something done and give the answer."""
        self.say(word, *arguments)
        return self.heard()

    def kill(self) -> None:
        """Kill it."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """Let it end, and leave no pipe open."""
        with self.process:
            self.process.kill()


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Other, Other]]:
    """Two processes with one directory."""
    place = tmp_path_factory.mktemp("both")
    both = Other(place), Other(place)
    yield place, *both
    for each in both:
        each.close()


async def opened(place: Path, id: str) -> Session:
    """The session as a third process sees it; its journal must replay."""
    await replay(id, FileStore(place).read(id), where="here")
    return await Chat(ScriptedModel("x"), store=FileStore(place)).open_session(id)


def inputs(place: Path, id: str) -> list[object]:
    """The inputs of a session's turns."""
    return [turn.input for turn in asyncio.run(opened(place, id)).turns()]


def test_in_turns(others: tuple[Path, Other, Other]) -> None:
    """Two processes that use a session in turns each see what the other did, without opening it again."""
    place, one, two = others
    assert (one.does("open", "turns"), two.does("open", "turns")) == ("0", "0")
    shown = [each.does("ask", "turns", "hi").split()[1] for each in (one, two, one, one, two)]
    assert shown == ["1", "3", "5", "7", "9"]
    assert inputs(place, "turns") == ["hi"] * 5


def test_the_loser_is_told(others: tuple[Path, Other, Other]) -> None:
    """While one runs a turn the other is busy, at once and in words; it writes nothing, and may read and rate."""
    place, one, two = others
    one.does("open", "busy")
    one.does("ask", "busy", "first")
    two.does("open", "busy")
    one.does("begin", "busy")
    refused = two.does("ask", "busy", "me too")
    assert refused == (
        "SessionBusy: chat session 'busy' is busy: another writer holds it; wait for it, or steer or cancel it"
    )
    assert two.does("open", "busy") == "2"
    assert two.does("rate", "busy") == "rated"
    assert one.does("end") == "3"
    assert two.does("ask", "busy", "now").split()[1] == "5"
    session = asyncio.run(opened(place, "busy"))
    assert [turn.input for turn in session.turns()] == ["first", "wait", "now"]
    assert [f.rating for f in session.turns()[0].feedback] == [1]


def test_one_key_in_two_processes(others: tuple[Path, Other, Other]) -> None:
    """A key finished by one process gives the same turn in the other, stale as it may be."""
    place, one, two = others
    one.does("open", "keys")
    two.does("open", "keys")
    first = one.does("ask", "keys", "hi", "k")
    assert two.does("ask", "keys", "hi", "k") == first
    assert inputs(place, "keys") == ["hi"]


def test_at_once(others: tuple[Path, Other, Other]) -> None:
    """Turns, titles and feedback from both at once: none acknowledged is lost, none interleaves, all replays."""
    place, one, two = others
    one.does("open", "race")
    one.does("ask", "race", "first")
    two.does("open", "race")
    one.say("many", "race", TURNS, "one-")
    two.say("many", "race", TURNS, "two-")
    reader = FileStore(place)
    for _ in range(20):
        asyncio.run(replay("race", reader.read("race"), where="here"))
    told = [*one.heard(), *two.heard()]
    session = asyncio.run(opened(place, "race"))
    assert sorted(turn.id for turn in session.turns()[1:]) == sorted(reply.split()[0] for reply in told)
    assert all(turn.status == "completed" for turn in session.turns())
    shown = [int(turn.output or "") for turn in session.turns()]
    assert shown == [2 * i + 1 for i in range(len(shown))], "each turn saw every turn before it"
    ids = [turn.id for turn in session.turns()]
    order = [turn_id for entry in journal(place, "race") if (turn_id := getattr(entry, "turn_id", None))]
    assert order == sorted(order, key=ids.index), "no entry of a turn stands inside another"


def test_titles_and_feedback_during_turns(others: tuple[Path, Other, Other]) -> None:
    """What commutes may be written while the other process runs turns: neither disturbs the other."""
    place, one, two = others
    one.does("open", "adds")
    one.does("ask", "adds", "first")
    two.does("open", "adds")
    one.say("many", "adds", TURNS, "one-")
    two.say("add", "adds", TURNS, "two-")
    assert len(one.heard()) == TURNS
    assert two.heard() == "added"
    session = asyncio.run(opened(place, "adds"))
    assert [f.comment for f in session.turns()[0].feedback] == [f"two-{i}" for i in range(TURNS)]
    assert session.title == f"two-{TURNS - 1}"
    assert [turn.status for turn in session.turns()] == ["completed"] * (TURNS + 1)


def test_item_18_reading_while_one_writes(others: tuple[Path, Other, Other]) -> None:
    """Who reads while another process writes finds whole entries in order, never fewer than before."""
    place, one, _ = others
    one.does("open", "read")
    one.say("many", "read", TURNS, "one-")

    async def watch() -> None:
        chat, seen = Chat("echo:", store=FileStore(place)), 0
        session = await chat.open_session("read")
        while seen < TURNS:
            session = await chat.open_session("read")
            completed = sum(turn.status == "completed" for turn in session.turns())
            assert completed >= seen
            seen = completed

    asyncio.run(asyncio.wait_for(watch(), 30))
    assert len(one.heard()) == TURNS


def test_a_dead_holder_never_blocks(tmp_path: Path) -> None:
    """A process killed in the middle of a turn leaves the session free at once, its turn interrupted."""
    dying, other = Other(tmp_path), Other(tmp_path)
    try:
        dying.does("open", "s")
        begun = dying.does("begin", "s")
        other.does("open", "s")
        assert other.does("ask", "s", "me").startswith("SessionBusy")
        dying.kill()
        assert other.does("ask", "s", "me").split()[1] == "1", "what was interrupted is not shown"
        session = asyncio.run(opened(tmp_path, "s"))
        assert [(turn.id == begun, turn.status) for turn in session.turns()] == [
            (True, "interrupted"),
            (False, "completed"),
        ]
    finally:
        dying.close()
        other.close()


def journal(place: Path, id: str) -> list[object]:
    """A session's entries."""

    async def read() -> list[object]:
        session = await Chat("echo:", store=FileStore(place)).open_session(id)
        return [entry async for entry in session.journal()]

    return asyncio.run(read())


if __name__ == "__main__":
    asyncio.run(Worker(sys.argv[1]).serve())
