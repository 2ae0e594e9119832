"""Every file call under a turn fails once, in each way: nothing acknowledged is lost, and the next turn works."""

import asyncio
import errno
import os
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

import pytest

from antiphon import Chat, FileStore, Turn, TurnRequest
from antiphon.errors import AppendFailed, AppendUncertain, SessionNotFound, StoreError, StoreUnreadable
from antiphon.testing import FailingDisk, ScriptedModel

T = TypeVar("T")
When = Literal["before", "after", "half"]
HOW: tuple[When, ...] = ("before", "after", "half")


@dataclass
class Told:
    """What the caller of a scenario was told, and what ran."""

    acknowledged: list[str] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    asked: int = 0

    async def step(self, name: str, work: Awaitable[T]) -> T | None:
        """Do one thing and note its end."""
        try:
            found = await work
            self.acknowledged.append(name)
            return found
        except StoreError as error:
            self.errors.append(error)
            return None


async def scenario(place: Path, disk: FailingDisk) -> Told:
    """Create, accept, complete, and rate, then one more turn on the same object."""
    told = Told()

    async def responder(request: TurnRequest) -> str:
        told.asked += 1
        return "hello"

    chat = Chat(responder=responder, store=FileStore(place, disk=disk))
    session = await told.step("created", chat.create_session("s"))
    if session is None:
        return told
    turn = session.send("hi")
    await told.step("accepted", turn.accepted())
    assert (told.asked == 0) or "accepted" in told.acknowledged, "nothing may act on an input that is not committed"
    await told.step("completed", turn.result())
    if session.turns():
        await told.step("rated", session.give_feedback(turn.id, rating=1))
    await told.step("next", session.ask("more"))
    await chat.aclose()
    return told


async def turns_in(place: Path) -> tuple[Turn, ...]:
    """What a fresh Chat finds there; its journal must replay, and take another turn."""
    chat = Chat(ScriptedModel("fine"), store=FileStore(place))
    try:
        session = await chat.open_session("s")
    except SessionNotFound:
        session = await chat.create_session("s")
    found = tuple(session.turns())
    assert (await session.ask("last")).text == "fine"
    assert [turn.status for turn in session.turns()[len(found) :]] == ["completed"]
    return found


def calls_of(place: Path) -> list[str]:
    """The file calls of the scenario when none fails."""
    disk = FailingDisk()
    told = asyncio.run(scenario(place, disk))
    assert told.acknowledged == ["created", "accepted", "completed", "rated", "next"]
    return disk.calls


def check(told: Told, found: tuple[Turn, ...]) -> None:
    """Hold what is found against what was acknowledged and refused."""
    uncertain = any(isinstance(error, AppendUncertain) for error in told.errors)
    first = next((turn for turn in found if turn.input == "hi"), None)
    if "accepted" in told.acknowledged:
        assert first is not None
        assert first.status == "completed" or "completed" not in told.acknowledged
        assert first.status in ("completed", "interrupted") if uncertain else True
    elif not uncertain:
        assert first is None
    assert bool(first and first.feedback) >= ("rated" in told.acknowledged)
    assert any(turn.input == "more" and turn.status == "completed" for turn in found) >= ("next" in told.acknowledged)


@pytest.mark.parametrize("times", [1, 2, 1_000], ids="{}-calls".format)
@pytest.mark.parametrize("how", HOW)
def test_every_call_fails(how: When, times: int, tmp_path: Path) -> None:
    """Whichever call fails, and some or all behind it: acknowledged facts are there, and a next turn works."""
    for at in range(1, len(calls_of(tmp_path / "dry")) + 1):
        place = tmp_path / str(at)
        told = asyncio.run(scenario(place, FailingDisk(at=at, how=how, times=times)))
        check(told, asyncio.run(turns_in(place)))


@pytest.mark.parametrize("how", HOW)
def test_one_failure_costs_one_step(how: When, tmp_path: Path) -> None:
    """After one failing call the same Session goes on by itself: at most one turn is lost, and never the next one."""
    for at in range(1, len(calls_of(tmp_path / "dry")) + 1):
        told = asyncio.run(scenario(tmp_path / str(at), FailingDisk(at=at, how=how)))
        if "created" not in told.acknowledged:
            continue
        missing = {"accepted", "completed", "rated", "next"} - set(told.acknowledged)
        assert missing in (set(), {"accepted", "completed", "rated"}, {"completed"}, {"rated"}, {"next"}), (at, told)


def test_a_full_disk_says_so(tmp_path: Path) -> None:
    """Every error of a full disk names the session or the place, and the system's reason (F086)."""
    for at in range(1, len(calls_of(tmp_path / "dry")) + 1):
        told = asyncio.run(scenario(tmp_path / str(at), FailingDisk(at=at, how="half")))
        for error in told.errors:
            assert "No space left on device" in str(error), error
            assert isinstance(error, AppendFailed | StoreUnreadable), error
            assert "'s'" in str(error) or str(tmp_path) in str(error), error


@pytest.mark.parametrize(("skipped", "asked"), [(0, 0), (1, 1)], ids=["input", "outcome"])
def test_the_error_of_the_disk_is_the_results(skipped: int, asked: int, tmp_path: Path) -> None:
    """A refused input and a refused outcome are what result() raises, with the turn's id (J-122, J-124, F084)."""
    calls = calls_of(tmp_path / "dry")
    appends = [i for i, name in enumerate(calls) if name == "sync_data" and i > calls.index("link")]
    broken = OSError(errno.EIO, os.strerror(errno.EIO))

    async def one_turn() -> None:
        disk = FailingDisk(at=appends[skipped] + 1, error=broken)
        model = ScriptedModel(lambda request: "ok")
        session = await Chat(model, store=FileStore(tmp_path / "x", disk=disk)).create_session("s")
        turn = session.send("hi")
        with pytest.raises(AppendFailed, match="Input/output error") as raised:
            await turn.result()
        assert raised.value.turn_id == turn.id
        assert len(model.requests) == asked
        assert [turn.status for turn in session.turns()] == ["interrupted"] * asked

    asyncio.run(one_turn())
    assert len(asyncio.run(turns_in(tmp_path / "x"))) == asked
