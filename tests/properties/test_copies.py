"""Copies of any session: nothing that was said is lost or moves, and every copy can be read."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from antiphon import Chat, Message, Session, ToolCall, ToolResult
from antiphon.journal import Line, SessionCreated, TurnAccepted, UnknownEntry, encode
from tests.chat.fakes import ListStore
from tests.properties.strategies import SESSION, journals, texts


async def session_of(entries: Sequence[Any]) -> tuple[ListStore, Session]:
    """A session whose journal holds these entries."""
    store = ListStore()
    store.lines[SESSION] = [
        Line(entry.id, entry.type, entry.data) if isinstance(entry, UnknownEntry) else encode(entry)
        for entry in entries
    ]
    return store, await Chat("echo:", store=store).open_session(SESSION)


def words(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Who said what, in order, without tools and without those who said nothing."""
    return [(each.role, each.text) for each in messages if each.role in ("user", "assistant") and each.text]


def everything(session: Session) -> list[Message]:
    """Every message of every turn."""
    return [message for turn in session.turns() for message in turn.messages]


@given(journals())
def test_an_import_of_any_session_keeps_every_word(entries: list[Any]) -> None:
    """Imported messages give a session that replays and holds every text of users and models, in order."""

    async def scenario() -> None:
        _, session = await session_of(entries)
        said = everything(session)
        chat = Chat("echo:", store=ListStore())
        copy = await chat.import_session(said, id="copy")
        assert words(everything(copy)) == words(said)
        again = await Chat("echo:", store=chat.store).open_session("copy")
        assert again.turns() == copy.turns()
        assert {turn.status for turn in again.turns()} <= {"completed", "canceled"}

    asyncio.run(scenario())


roles = st.sampled_from(["user", "assistant", "tool", "system"])
some_parts = st.one_of(
    st.builds(lambda id: ToolCall.of(id, "t", arguments={}), st.sampled_from("abc")),
    st.builds(lambda id: ToolResult.of(id, "t", output=1), st.sampled_from("abc")),
)
some_messages = st.builds(
    lambda role, text, parts: Message(role, (*Message.of(role, text).parts, *parts)),
    roles,
    texts,
    st.lists(some_parts, max_size=2, unique_by=lambda part: (type(part), getattr(part, "id", None))),
)


@given(st.lists(some_messages, max_size=12))
def test_an_import_of_any_messages_replays(messages: list[Message]) -> None:
    """Whatever list of messages is imported, it becomes a session that replays; words are lost only where told."""

    async def scenario() -> None:
        chat = Chat("echo:", store=ListStore())
        copy = await chat.import_session(messages, id="copy")
        again = await Chat("echo:", store=chat.store).open_session("copy")
        assert again.turns() == copy.turns()
        first = next((n for n, message in enumerate(messages) if message.role == "user"), len(messages))
        assert words(everything(again)) == words(messages[first:])
        assert all(turn.status in ("completed", "canceled") for turn in again.turns())
        assert (await again.ask("more")).text

    asyncio.run(scenario())


@given(journals())
def test_a_snapshot_of_any_session_restores(entries: list[Any]) -> None:
    """Through JSON and back: the same words in order, the same dialogue for contexts, the same state.

    Only steering that no reply had seen any more, behind the reply of its turn, becomes a turn without a reply.
    """

    async def scenario() -> None:
        _, session = await session_of(entries)
        snapshot = json.loads(json.dumps(session.snapshot()))
        store = ListStore()
        copy = await Chat("echo:", store=store).restore(snapshot, id="copy")
        again = copy.snapshot()
        note(f"{store.types('copy')}")
        assert words(everything(copy)) == words(everything(session))
        assert again["state"] == snapshot["state"]
        if all(turn.messages[-1].role == "assistant" for turn in session.turns() if turn.status == "completed"):
            assert words(copy.messages()) == words(session.messages())
            assert again["activeMessages"] == snapshot["activeMessages"]
        reopened = await Chat("echo:", store=store).open_session("copy")
        assert reopened.turns() == copy.turns()

    asyncio.run(scenario())


@given(journals(), st.data())
def test_a_fork_of_any_session_at_any_turn(entries: list[Any], data: st.DataObject) -> None:
    """Up to the turn everything that was said is in the copy, which can be read and used; the original stays."""

    async def scenario() -> None:
        store, session = await session_of(entries)
        before, turns = list(store.lines[SESSION]), session.turns()
        at = data.draw(st.none() | st.sampled_from(range(len(turns)))) if turns else None
        fork = await session.fork(at=None if at is None else turns[at].id, id="fork")
        copied = turns if at is None else turns[: at + 1]
        assert [turn.messages for turn in fork.turns()] == [turn.messages for turn in copied]
        assert [len(turn.feedback) for turn in fork.turns()] == [len(turn.feedback) for turn in copied]
        assert all(turn.status in ("completed", "failed", "canceled") for turn in fork.turns())
        assert store.lines[SESSION] == before
        ids = [line.id for line in store.lines["fork"]]
        assert not set(ids) & {line.id for line in before}
        first = await anext(fork.journal())
        assert isinstance(first, SessionCreated)
        assert first.forked_from is not None
        assert first.forked_from.turn_id == (copied[-1].id if copied else None)
        known = {entry.key: entry.turn_id for entry in entries if isinstance(entry, TurnAccepted) and entry.key}
        for key, turn_id in known.items():
            if turn_id in [turn.id for turn in copied]:
                assert fork.send("again", key=key).id == turn_id
        reopened = await Chat("echo:", store=store).open_session("fork")
        assert (await reopened.ask("more")).text

    asyncio.run(scenario())
