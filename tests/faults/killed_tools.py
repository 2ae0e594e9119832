"""Runs tool turns in processes that are killed at random points, each going on where the one before died.

Run as a program: `python -m tests.faults.killed_tools DIRECTORY TURNS KILLS SEED`. It leaves a store in `chats`, the
rows that tools wrote in `effects.db`, and in `told` what was acknowledged before each death. It prints how many
processes were killed. It forks before any thread is started.
"""

import asyncio
import contextlib
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from antiphon import Chat, FileStore, LiveTurn, Message, Session, ToolCall, ToolContext, ToolReturned, TurnRequest, tool
from antiphon.chat._calling import STARTED
from antiphon.testing import FailingDisk

PER_SESSION = 20
"""Turns of one session; then the next is begun, so that opening stays short."""

ABOUT_A_TURN = 45
"""File calls of opening a session and running a turn, about."""


class World:
    """What one process does, and the outside system that its tools change.

    Attributes:
        place: where everything is kept.
        dies: asked by each tool before and after it has taken effect; may not return.
    """

    def __init__(self, place: Path, *, dies: Callable[[], None], disk: FailingDisk) -> None:
        self.place, self.dies = place, dies
        self._told = os.open(place / "told", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        store = FileStore(place / "chats", disk=disk)
        self.chat = Chat(responder=answering, store=store, tools=self._tools())

    def _tools(self) -> list[Any]:
        @tool
        def pay(ctx: ToolContext[None]) -> str:
            """Take effect, in a thread."""
            return self._effect(ctx, "pay")

        @tool(idempotent=True)
        async def put(ctx: ToolContext[None]) -> str:
            """Take effect; twice is as once."""
            await asyncio.sleep(0)
            return self._effect(ctx, "put")

        @tool(needs_approval=True)
        async def wipe(ctx: ToolContext[None], sure: bool = False) -> str:
            """Take effect, once a person says so."""
            return self._effect(ctx, f"wipe {sure}")

        return [pay, put, wipe]

    def _effect(self, ctx: ToolContext[None], name: str) -> str:
        self.dies()
        with contextlib.closing(sqlite3.connect(self.place / "effects.db", timeout=30, isolation_level=None)) as rows:
            # A process that is killed leaves what it wrote to the system; only that is of interest here.
            rows.execute("PRAGMA synchronous=OFF")
            rows.execute("INSERT INTO effects VALUES (?, ?, ?, ?)", (ctx.key, ctx.call_id, name, ctx.attempt))
        self.dies()
        return f"{ctx.key} {ctx.attempt}"

    def tell(self, *words: object) -> None:
        """Note what was acknowledged."""
        os.write(self._told, (" ".join(map(str, words)) + "\n").encode())

    async def live(self, turns: int) -> None:
        """Go on until there are so many turns."""
        for number in range(-(-turns // PER_SESSION)):
            full = self.place / f"full-{number}"
            if full.exists():
                continue
            session = await self.chat.open_session(f"s{number}", create=True)
            while len(session.turns()) < min(PER_SESSION, turns - number * PER_SESSION) or not settled(session):
                await self._step(session)
            if len(session.turns()) == PER_SESSION:
                full.touch()
        await self.chat.aclose()

    async def _step(self, session: Session) -> None:
        if settled(session):
            turn = session.send(f"turn {len(session.turns())}")
            await turn.accepted()
            self.tell("accepted", session.id, turn.id)
        else:
            for call in session.pending():
                await self._decide(session, call.id, asked_anew=call.reason == STARTED)
            turn = session.resume()
        await self._watch(session, turn)

    async def _watch(self, session: Session, turn: LiveTurn) -> None:
        async for event in turn:
            if isinstance(event, ToolReturned):
                self.tell("returned", session.id, turn.id, event.call_id)
        if (await turn.result()).finish_reason != "waiting":
            self.tell("completed", session.id, turn.id)

    async def _decide(self, session: Session, call_id: str, *, asked_anew: bool) -> None:
        turn_id = session.turns()[-1].id
        if asked_anew:
            # As a person would: look whether it took effect, and say so.
            key = key_of(session.id, turn_id, call_id)
            await session.answer(call_id, f"{key} found {effects_of(self.place, key)}", by="ana")
        elif random.Random(turn_id + call_id).random() < 0.5:
            await session.approve(call_id, by="ana", arguments={"sure": True})
        else:
            await session.deny(call_id, by="ana", reason="no")
        self.tell("decided", session.id, turn_id, call_id)


def settled(session: Session) -> bool:
    """Whether the last turn is over, or there is none."""
    return not session.turns() or session.turns()[-1].status == "completed"


def key_of(session_id: str, turn_id: str, call_id: str) -> str:
    """The key of a call: its id names its round, from 0."""
    return ToolContext(session_id, turn_id, call_id, None, round=int(call_id[1]) + 1).key


def effects_of(place: Path, key: str) -> int:
    """How often a call took effect."""
    with contextlib.closing(sqlite3.connect(place / "effects.db", timeout=30)) as rows:
        found: int = rows.execute("SELECT count(*) FROM effects WHERE key = ?", (key,)).fetchone()[0]
    return found


async def answering(request: TurnRequest) -> Message | str:
    """Ask for tools in one to three rounds, always the same for the same input, and then answer."""
    last = max(n for n, message in enumerate(request.messages) if message.role == "user")
    rounds = sum(message.role == "tool" for message in request.messages[last:])
    chance = random.Random(f"{request.session_id} {request.input}")
    script = [[chance.choice(["pay", "pay", "put", "wipe"]) for _ in range(chance.randint(1, 3))] for _ in range(3)]
    if rounds >= chance.randint(1, 3):
        return "done"
    return Message("assistant", tuple(ToolCall(f"c{rounds}.{n}", name) for n, name in enumerate(script[rounds])))


def life(place: Path, turns: int, chance: random.Random | None) -> int:
    """One process: run turns until all are there, or until it is killed; how it ended."""
    how = None if chance is None else chance.choice(["disk", "disk", "tool", "clock"])
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(World(place, dies=_dying(how, chance), disk=_disk(how, chance)).live(turns))
            os._exit(0)
        finally:
            os._exit(1)
    if how == "clock" and chance is not None:
        time.sleep(chance.uniform(0.005, 0.06))
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _disk(how: str | None, chance: random.Random | None) -> FailingDisk:
    if how != "disk" or chance is None:
        return FailingDisk()
    when: Any = chance.choice(["before", "after", "half"])
    return FailingDisk(at=chance.randint(5, 2 * ABOUT_A_TURN), how=when, kill=True)


def _dying(how: str | None, chance: random.Random | None) -> Callable[[], None]:
    """What a tool asks before and after its effect."""
    left = chance.randint(0, 9) if how == "tool" and chance is not None else -1

    def dies() -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    return dies


def main(place: Path, turns: int, kills: int, seed: int) -> int:
    """Kill so many processes, and let the last one finish; how many were killed."""
    with contextlib.closing(sqlite3.connect(place / "effects.db", isolation_level=None)) as rows:
        rows.execute("CREATE TABLE effects (key TEXT, call_id TEXT, name TEXT, attempt INTEGER)")
    chance, killed, had = random.Random(seed), 0, 0
    while killed < kills:
        # So many turns that there is always more to do while processes are to be killed.
        had = max(had, turns * (killed + 1) // kills)
        status = life(place, had, chance)
        assert os.WIFSIGNALED(status) or status == 0, status
        killed += os.WIFSIGNALED(status)
        if status == 0:
            had += 1
    assert life(place, max(turns, had), None) == 0
    return killed


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
