"""Sessions of a Chat: created, opened, listed, deleted, and kept apart by scope."""

import asyncio
import re
from collections.abc import Sequence

import pytest

from antiphon import Chat, FileStore, InMemoryStore, Line, Store
from antiphon.errors import (
    CorruptJournal,
    InvalidSessionId,
    Misuse,
    NotStorable,
    SessionBusy,
    SessionExists,
    SessionNotFound,
    StoreError,
    UnknownCursor,
)
from antiphon.journal import FeedbackRecorded, TurnAccepted
from antiphon.testing import ScriptedModel
from tests.chat.fakes import ListStore, failure, gated, line

pytestmark = pytest.mark.anyio


async def test_an_id_is_drawn_where_none_is_given(store: Store) -> None:
    """Without an id a session gets a random UUID of version 4, in lower case (P10)."""
    session = await Chat("echo:", store=store).create_session()
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", session.id)


async def test_one_session_object_for_each_id(store: Store) -> None:
    """Opening again, or twice at once, gives the same object, and it knows what came since."""
    chat, other = Chat("echo:", store=store), Chat(ScriptedModel("x"), store=store)
    created = await chat.create_session("s")
    assert await chat.open_session("s") is created
    await (await other.open_session("s")).ask("hi")
    assert len((await chat.open_session("s")).turns()) == 1
    del created
    first, second = await asyncio.gather(chat.open_session("s"), chat.open_session("s"))
    assert first is second


async def test_a_missing_session_is_not_found(store: Store) -> None:
    """Opening what is not there names the id and the place (J-014, J-130)."""
    error = await failure(Chat("echo:", store=store).open_session("nope"))
    assert isinstance(error, SessionNotFound)
    assert str(error).startswith("no chat session 'nope' in ")


@pytest.mark.parametrize("rounds", range(5))
async def test_create_raced_by_two_tasks(store: Store, rounds: int) -> None:
    """Many tasks and two Chats that open with create=True get one session, one object in each Chat."""
    chats = [Chat("echo:", store=store), Chat("echo:", store=store)]
    opened = await asyncio.gather(*(chats[i % 2].open_session("s", create=True) for i in range(8)))
    assert len({id(session) for session in opened}) == 2
    assert [line.type async for line in store.read("s")] == ["session.created"]


async def test_a_wrong_scope_reads_as_not_found(store: Store) -> None:
    """Another owner's session cannot be opened, created over by opening, listed or deleted, running or not."""
    gate, chat, _ = await gated(store)
    session = await chat.create_session("a", scope="ana")
    turn = session.send("hi")
    await turn.accepted()
    for call in (
        chat.open_session("a", scope="bob"),
        chat.open_session("a", scope="bob", create=True),
        chat.delete_session("a", scope="bob"),
        chat.open_session("s", scope="bob"),
        chat.delete_session("nope", scope="bob"),
    ):
        assert isinstance(await failure(call), SessionNotFound)
    assert [found.id async for found in chat.sessions(scope="bob")] == []
    assert await chat.open_session("a", scope="ana") is session
    assert await chat.open_session("a") is session
    gate.open()
    await turn.result()


async def test_a_created_scope_is_kept(store: Store) -> None:
    """open_session(create=True) begins the session for the scope that asks."""
    session = await Chat("echo:", store=store).open_session("a", scope="ana", create=True)
    assert session.scope == "ana"
    assert (await Chat("echo:", store=store).open_session("a", scope="ana")).scope == "ana"


async def test_ids_are_the_stores_affair() -> None:
    """An id that the store cannot hold is refused by every call."""
    chat = Chat("echo:", store=InMemoryStore())
    for call in (chat.create_session(""), chat.open_session(""), chat.delete_session("")):
        assert isinstance(await failure(call), InvalidSessionId)


@pytest.mark.parametrize("fields", [{"title": 5}, {"scope": 5}, {"metadata": {"a": {1}}}], ids=str)
async def test_what_cannot_be_kept_creates_nothing(fields: dict[str, object]) -> None:
    """A title, scope or metadata of the wrong kind is refused before anything is written."""
    store = ListStore()
    assert isinstance(await failure(Chat("echo:", store=store).create_session("s", **fields)), NotStorable)  # type: ignore[arg-type]
    assert store.lines == {}


async def test_listing(store: Store) -> None:
    """Sessions come last changed first, with title, turns, scope and status; limit, status and scope choose."""
    gate, chat, _ = await gated(store)
    first = await chat.create_session("a", scope="ana", title="Trip")
    await first.ask("where to?", model=ScriptedModel("Rome"))
    second = await chat.create_session("b", scope="ana")
    turn = second.send("  a long\n question  ")
    await turn.accepted()
    found = [found async for found in chat.sessions()]
    assert [(each.id, each.title, each.scope, each.turns, each.status) for each in found] == [
        ("b", "a long question", "ana", 1, "running"),
        ("a", "Trip", "ana", 1, "idle"),
        ("s", None, None, 0, "idle"),
    ]
    assert [each.id async for each in chat.sessions(scope="ana", limit=1)] == ["b"]
    assert [each.id async for each in chat.sessions(status=["idle"], limit=None)] == ["a", "s"]
    assert [each.id async for each in chat.sessions(before="b", limit=1)] == ["a"]
    assert [each.status async for each in Chat("echo:", store=store).sessions(scope="ana", limit=1)] == ["interrupted"]
    gate.open()
    await turn.result()


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (2, 2), (99, 3), (None, 3)])
async def test_limits_of_listings(store: Store, limit: int | None, count: int) -> None:
    """limit is at most so many, None is all, and a negative one is refused in every store (F103)."""
    chat = Chat("echo:", store=store)
    for id in "abc":
        await chat.create_session(id)
    assert len([each async for each in chat.sessions(limit=limit)]) == count
    with pytest.raises(Misuse, match="limit=-1 is negative"):
        _ = [each async for each in chat.sessions(limit=-1)]


async def test_deleting(store: Store) -> None:
    """A deleted session is gone for every Chat; its object says so; the id may be taken again, with nothing of old."""
    chat = Chat(ScriptedModel(lambda request: str(len(request.messages))), store=store)
    session = await chat.create_session("s")
    await session.ask("hi")
    assert await chat.delete_session("s")
    for call in (chat.open_session("s"), session.ask("hi"), session.rename("T"), chat.delete_session("s")):
        assert isinstance(await failure(call), SessionNotFound)
    again = await chat.create_session("s")
    assert again is not session
    assert (await again.ask("hi")).text == "1"


async def test_a_running_turn_holds_deletion_up(store: Store) -> None:
    """A session whose turn runs, here or in another Chat, cannot be deleted."""
    gate, chat, session = await gated(store)
    turn = session.send("hi")
    await turn.accepted()
    for each in (chat, Chat("echo:", store=store)):
        assert isinstance(await failure(each.delete_session("s")), SessionBusy)
    gate.open()
    await turn.result()
    await chat.delete_session("s")


@pytest.mark.parametrize("how", ["create", "open", "race"])
async def test_a_session_deleted_elsewhere_and_made_again(store: Store, how: str) -> None:
    """A Chat that still holds an object of a deleted session gives a new one for the new session."""
    chat = Chat(ScriptedModel(lambda request: "x"), store=store)
    old = await chat.create_session("s")
    await old.ask("hi")
    other = Chat("echo:", store=store)
    await other.delete_session("s")
    if how == "create":
        new = await chat.create_session("s")
    elif how == "open":
        assert isinstance(await failure(chat.open_session("s")), SessionNotFound)
        new = await chat.open_session("s", create=True)
    else:
        await other.create_session("s")
        new = (await asyncio.gather(chat.open_session("s"), chat.open_session("s")))[0]
    assert new is not old
    assert await chat.open_session("s") is new
    assert (await new.ask("again")).text == "x"
    assert len(new.turns()) == 1


async def test_a_store_without_abilities() -> None:
    """A store that can neither list nor delete still keeps sessions; asking it for that is a misuse that says so."""
    chat = Chat(ScriptedModel("x"), store=ListStore())
    session = await chat.create_session("s")
    await session.ask("hi")
    with pytest.raises(Misuse, match="the ListStore cannot delete sessions"):
        await chat.delete_session("s")
    with pytest.raises(Misuse, match="the ListStore cannot list its sessions"):
        _ = [each async for each in chat.sessions()]
    assert repr(session) == "Session('s', 1 turns)"
    assert "ListStore" in repr(chat)


async def test_the_journal_is_the_stores(store: Store) -> None:
    """session.journal() reads the store, entries of unknown types too, and `after` goes on behind an entry (J-021)."""
    session = await Chat(ScriptedModel("x"), store=store).create_session("s")
    await session.ask("hi")
    data = b'{"version":1,"id":"mine","sessionId":"s","at":"x","type":"future.fact","n":1}'
    await store.append("s", [Line("mine", "future.fact", data)], if_last=None)
    entries = [entry async for entry in session.journal()]
    assert [entry.type for entry in entries][-1] == "future.fact"
    assert [entry async for entry in session.journal(after=entries[1].id)] == entries[2:]
    assert [entry async for entry in session.journal(after="mine")] == []
    with pytest.raises(UnknownCursor):
        _ = [entry async for entry in session.journal(after="nope")]
    assert (await session.ask("again", model=ScriptedModel("y"))).text == "y"


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([line(TurnAccepted, turn_id="t", input="hi")], r"line 1: turn\.accepted: the first entry is turn\.accepted"),
        ([Line("x", "turn.accepted", b'{"version":1,"id":"x"}')], "line 1: not an entry"),
        ([], "no chat session 's'"),
    ],
    ids=["no-beginning", "damaged", "empty"],
)
async def test_damage_is_named(lines: Sequence[Line], sentence: str) -> None:
    """A journal that cannot be read raises with session, place and line, and nothing is repaired."""
    store = ListStore(lines={"s": list(lines)})
    with pytest.raises(StoreError, match=sentence):
        await Chat("echo:", store=store).open_session("s")
    assert store.lines == {"s": list(lines)}


async def test_damage_that_came_while_open_is_named() -> None:
    """Damage behind what is known raises CorruptJournal when the session is opened again."""
    store = ListStore()
    chat = Chat("echo:", store=store)
    session = await chat.create_session("s")
    store.lines["s"].append(line(FeedbackRecorded, turn_id="nope"))
    with pytest.raises(CorruptJournal, match="chat session 's' in the ListStore, line 2"):
        await chat.open_session("s")
    assert session.turns() == ()


async def test_existing_ids_are_refused_without_a_look(store: Store) -> None:
    """create_session over an existing one changes nothing, whoever owns it."""
    chat = Chat("echo:", store=store)
    await chat.create_session("s", title="old")
    assert isinstance(await failure(chat.create_session("s", title="new")), SessionExists)
    assert (await chat.open_session("s")).title == "old"


def test_a_chat_without_a_store_has_its_own() -> None:
    """Chat(store=None) is a new InMemoryStore each, and errors name the place (P03)."""
    first, second = Chat("echo:"), Chat("echo:")
    assert isinstance(first.store, InMemoryStore)
    assert first.store is not second.store
    assert first.place == str(first.store)
    assert Chat("echo:", store=FileStore("somewhere")).place == "somewhere"
    assert Chat("echo:", store=ListStore()).place == "the ListStore"
