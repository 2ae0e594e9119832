"""Processes that are killed in the middle of tool turns: nothing runs twice, nothing acknowledged is lost."""

import asyncio
import contextlib
import os
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from antiphon import Chat, FileStore, Turn
from antiphon.testing import ScriptedModel
from tests.chat.rounds import results
from tests.faults.killed_tools import key_of

PROVE = os.environ.get("ANTIPHON_PROVE") == "1"
TURNS, KILLS = (400, 600) if PROVE else (20, 30)

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="the process that is killed is a fork of this one, and this system has no os.fork"
)


@dataclass
class Left:
    """What the killed processes left.

    Attributes:
        killed: how many of them were.
        effects: key, name and attempt of each effect that a tool had.
        told: what was acknowledged, a line each.
        turns: the turns of each session, as read anew.
        place: where it all is.
    """

    killed: int
    effects: list[tuple[str, str, int]]
    told: list[list[str]]
    turns: dict[str, Sequence[Turn]]
    place: Path


async def read(place: Path) -> dict[str, Sequence[Turn]]:
    """Every session's turns."""
    chat = Chat("echo:", store=FileStore(place / "chats"))
    return {each.id: (await chat.open_session(each.id)).turns() async for each in chat.sessions()}


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Left:
    """Run the program."""
    place = tmp_path_factory.mktemp("killed-tools")
    seed = random.randrange(10**6) if PROVE else 81
    arguments = [str(place), str(TURNS), str(KILLS), str(seed)]
    command = [sys.executable, "-m", "tests.faults.killed_tools", *arguments]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (seed, done.stderr[-3_000:])
    with contextlib.closing(sqlite3.connect(place / "effects.db")) as rows:
        effects = list(rows.execute("SELECT key, name, attempt FROM effects"))
    told = [line.split() for line in (place / "told").read_text().splitlines()]
    return Left(int(done.stdout), effects, told, asyncio.run(read(place)), place)


def test_so_many_were_killed(left: Left) -> None:
    """The counts that the claim speaks of were reached, and every turn came to its reply all the same."""
    turns = [turn for each in left.turns.values() for turn in each]
    assert left.killed >= KILLS
    assert len(turns) >= TURNS
    assert {turn.status for turn in turns} == {"completed"}


def test_no_call_takes_effect_twice(left: Left) -> None:
    """One row a call, but for idempotent tools: these ran again under the same key, each time another attempt."""
    rows = Counter(key for key, name, _ in left.effects if name != "put")
    assert set(rows.values()) == {1}
    attempts = Counter((key, attempt) for key, name, attempt in left.effects if name == "put")
    assert set(attempts.values()) == {1}
    assert {attempt for _, attempt in attempts} > {1}


def test_every_call_has_its_one_result(left: Left) -> None:
    """Each result is of its own call, says what was done, and stands in the order of the calls."""
    done = {key for key, _, _ in left.effects}
    for session_id, turns in left.turns.items():
        for turn in turns:
            calls = [call for message in turn.messages for call in message.calls]
            found = results(turn)
            assert [result.call_id for result in found] == [call.id for call in calls]
            for result in found:
                key = key_of(session_id, turn.id, result.call_id)
                if result.is_error:
                    assert (result.name, key in done) == ("wipe", False)
                else:
                    assert result.text.startswith(key)
                    assert (key in done) == (" found 0" not in result.text)


def test_what_was_approved_is_what_ran(left: Left) -> None:
    """A call that waits ran only as a person had decided: with the arguments that were put in place."""
    assert {name for _, name, _ in left.effects} == {"pay", "put", "wipe True"}


def test_nothing_acknowledged_is_lost(left: Left) -> None:
    """What a process was told before it was killed is in the journal: inputs, results, replies, decisions."""
    types = {"accepted": "turn.accepted", "returned": "tool.returned", "completed": "turn.completed"}
    kept = {
        (entry.type, session_id, turn.id, getattr(entry, "call_id", None))
        for session_id, turns in left.turns.items()
        for turn in turns
        for entry in turn.entries
    }
    for kind, session_id, turn_id, *call in left.told:
        assert (types.get(kind, "tool.decided"), session_id, turn_id, call[0] if call else None) in kept
    assert {kind for kind, *_ in left.told} == {*types, "decided"}


def test_every_session_takes_a_next_turn(left: Left) -> None:
    """Reopened, each goes on."""

    async def scenario() -> None:
        chat = Chat(ScriptedModel(lambda request: "fine"), store=FileStore(left.place / "chats"))
        for session_id in left.turns:
            session = await chat.open_session(session_id)
            assert (await session.ask("next")).text == "fine"

    asyncio.run(scenario())
