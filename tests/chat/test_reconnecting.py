"""A client that comes back to a turn that it knows half of."""

from pathlib import Path

import pytest

from antiphon import Chat, Completed, FileStore
from antiphon.errors import CorruptJournal, Misuse
from antiphon.testing import ScriptedModel

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("after", [0, 1, 2, 5, 99])
async def test_a_repeated_key_tells_the_end_whatever_was_had(tmp_path: Path, after: int) -> None:
    """After a restart the same key gives the turn's end, behind any position that its reader can have."""
    async with Chat(ScriptedModel("hello"), store=FileStore(tmp_path)) as chat:
        session = await chat.open_session("s", create=True)
        await session.ask("hi", key="k")
    session = await Chat(ScriptedModel([]), store=FileStore(tmp_path)).open_session("s")
    turn = session.send("hi", key="k")
    events = [event async for event in turn.events(after=after)]
    assert isinstance(events[-1], Completed) and events[-1].reply.text == "hello"
    assert [event async for event in turn.events(after=events[-1].seq)] == []


async def test_instructions_of_one_turn_leave_no_text_where_none_is_kept(tmp_path: Path) -> None:
    """Under keep_texts="none" neither the Chat's instructions nor a turn's own stand in the journal."""
    chat = Chat("echo:", store=FileStore(tmp_path), instructions="RULE-A", keep_texts="none")
    session = await chat.open_session("s", create=True)
    await session.ask("hi")
    await session.ask("hi", instructions="RULE-B")
    journal = (tmp_path / "s.jsonl").read_text("utf-8")
    assert "RULE-A" not in journal and "RULE-B" not in journal


async def test_a_trace_that_was_edited_is_corrupt(tmp_path: Path) -> None:
    """A trace that is none is a corrupt journal when it is looked at, and no error of ours."""
    async with Chat("echo:", store=FileStore(tmp_path)) as chat:
        await (await chat.open_session("s", create=True)).ask("hi")
    path = tmp_path / "s.jsonl"
    path.write_text(path.read_text("utf-8").replace('"included",0', '"included","x"'), "utf-8")
    session = await Chat("echo:", store=FileStore(tmp_path)).open_session("s")
    with pytest.raises(CorruptJournal, match="not a trace: Expected `int`, got `str`"):
        session.traces()


@pytest.mark.parametrize("store", ["chats", FileStore])
def test_what_is_no_store_is_refused_at_once(store: object) -> None:
    """A path in the place of a store, or a class, is refused where the Chat is made."""
    with pytest.raises(Misuse, match="give a store, as in FileStore"):
        Chat("echo:", store=store)  # type: ignore[arg-type]
