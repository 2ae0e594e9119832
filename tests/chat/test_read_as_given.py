"""What is written is read as it was given, or not written; and no turn is left without an outcome by its own code."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from pathlib import Path
from typing import Any

import pytest

from antiphon import Chat, FileStore, Image, InMemoryStore, Message, Replied, Text, TurnRequest
from antiphon.errors import CorruptJournal, MalformedReply, Misuse, NotStorable, StoreUnreadable, UnsupportedVersion

pytestmark = pytest.mark.anyio


BYTES: Any = b"\x89PNG"
NUMBERED: Any = uuid.UUID(int=7)


@pytest.mark.parametrize(
    "said", [Text(BYTES), Image("image/png", data=BYTES), Text(NUMBERED)], ids=["text", "image", "id"]
)
async def test_what_would_be_read_as_something_else_is_not_written(said: Any) -> None:
    """Bytes and ids in the place of text would come back as other text; they are refused, and nothing is kept."""
    session = await Chat("echo:").create_session()
    with pytest.raises(NotStorable, match="it would be read as another one"):
        await session.ask([said])
    assert session.turns() == ()


async def test_a_scope_that_is_no_text_is_refused() -> None:
    """A scope that would be written as text, and then belong to nobody, is refused."""
    with pytest.raises(NotStorable):
        await Chat("echo:").create_session(scope=uuid.UUID(int=7))  # type: ignore[arg-type]


async def test_halves_of_a_character_are_the_same_live_and_reopened() -> None:
    """An emoji split over two pieces is whole in the live session too, as it is after reopening."""

    async def halves(request: TurnRequest) -> Any:
        del request
        return Message.of("assistant", "a\ud83d" + "\ude00b")

    store = InMemoryStore()
    live = await Chat(responder=halves, store=store).create_session("s")
    assert (await live.ask("in \ud83d\ude00", key="\ud83d\ude00")).text == "a😀b"
    reopened = await Chat(responder=halves, store=store).open_session("s")
    assert live.turns() == reopened.turns()
    assert (await reopened.ask("again", key="\ud83d\ude00")).turn_id == live.turns()[0].id


class Mute(Exception):
    """An error whose words cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(("given", "error"), [(Mute(), Mute), (42, MalformedReply)], ids=["mute", "finish"])
async def test_a_turn_always_gets_its_outcome(given: Any, error: type[Exception]) -> None:
    """An error that has no words, or a reply that ends for a reason nobody knows, fails the turn like any other."""

    async def answer(request: TurnRequest) -> Replied:
        del request
        if isinstance(given, Exception):
            raise given
        return Replied(Message.of("assistant", "x"), finish=given)

    session = await Chat(responder=answer).create_session()
    with pytest.raises(error):
        await session.ask("hi")
    assert [turn.status for turn in session.turns()] == ["failed"]


async def test_a_reason_that_is_no_text_is_refused() -> None:
    """Canceling with something else than text is refused, and the turn runs on."""
    session = await Chat("echo:").create_session()
    turn = session.send("hi")
    with pytest.raises(Misuse, match="the reason is a int"):
        await turn.cancel(5)  # type: ignore[arg-type]
    assert (await turn.result()).text


async def test_a_cancellation_of_its_own_is_a_failure() -> None:
    """A responder whose own task was canceled has failed; nobody canceled the turn."""

    async def answer(request: TurnRequest) -> str:
        inner = asyncio.ensure_future(asyncio.sleep(9, request.turn_id))
        asyncio.get_running_loop().call_soon(inner.cancel)
        return await inner

    session = await Chat(responder=answer).create_session()
    with pytest.raises(Misuse, match="canceled by something of its own"):
        await session.ask("hi")
    assert [turn.status for turn in session.turns()] == ["failed"]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b'{"type":"turn.accepted","version":1,"id":"z","sessionId":"s","at":"x"}\n', CorruptJournal),
        (b'{"type":"turn.accepted","version":2,"id":"z"}\n', UnsupportedVersion),
    ],
    ids=["damaged", "newer"],
)
async def test_damage_that_comes_while_open_has_a_place(tmp_path: Path, line: bytes, error: type[Exception]) -> None:
    """A line that cannot be read is named with its place, also when it came while the session was open."""
    chat = Chat("echo:", store=FileStore(tmp_path))
    session = await chat.create_session("s")
    await session.ask("hi")
    with (tmp_path / "s.jsonl").open("ab") as file:
        file.write(line)
    with pytest.raises(error, match="line 5"):
        await session.refresh()


async def test_a_journal_that_was_put_back_is_opened_anew(tmp_path: Path) -> None:
    """After a backup was put back over an open session, opening it gives what is there now."""
    chat = Chat("echo:", store=FileStore(tmp_path))
    session = await chat.create_session("s")
    await session.ask("one")
    shutil.copy(tmp_path / "s.jsonl", tmp_path / "backup")
    await session.ask("two")
    shutil.copy(tmp_path / "backup", tmp_path / "s.jsonl")
    assert [turn.input for turn in (await chat.open_session("s")).turns()] == ["one"]


async def test_a_store_that_raises_while_opening_is_unreadable() -> None:
    """Whatever a store of someone else's raises when a session is opened is told as the store's."""

    class Down(InMemoryStore):
        def read(self, session_id: str, *, after: str | None = None) -> Any:
            raise RuntimeError("backend down")

    with pytest.raises(StoreUnreadable, match="RuntimeError: backend down"):
        await Chat("echo:", store=Down()).open_session("s")
