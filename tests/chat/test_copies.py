"""Sessions made from others: forks, snapshots and what is restored from them, and conversations brought along."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from antiphon import Chat, FileStore, InMemoryStore, Message, Session, Text, ToolCall, ToolResult
from antiphon.errors import Misuse, NotStorable, SessionExists, SessionNotFound
from antiphon.journal import (
    ModelReplied,
    SessionCreated,
    ToolAsked,
    TurnAccepted,
    TurnSteered,
)
from antiphon.testing import ScriptedModel
from tests.chat.fakes import ListStore, failure, gated, line, said, types_of

pytestmark = pytest.mark.anyio

CALLS = Message.of("assistant", [Text("Let me see."), ToolCall.of("c", "look_up", arguments={"where": "Oslo"})])
OPEN = ("interrupted", "waiting", "running")


def unknown() -> Any:
    """An entry of a later version's type."""
    kept = line(SessionCreated)
    data = json.dumps({**json.loads(kept.data), "type": "poll.opened"}).encode()
    return kept._replace(type="poll.opened", data=data)


async def varied(chat: Chat) -> Session:
    """A session with turns of every status and every kind of entry beside them.

    1 completed with tools, feedback and a key; 2 failed; 3 canceled with feedback; 4 interrupted; 5 waiting.
    """
    begun = asyncio.Event()

    async def slow(request: Any) -> str:
        begun.set()
        await asyncio.Event().wait()
        return "never"

    model = ScriptedModel([CALLS, "found", ValueError("no"), slow])
    session = await chat.create_session("s", scope="ana", title="Ports", metadata={"customer": 5})
    await session.state.set("basket", ["lamp"])
    await session.ask("where?", key="k1", model=model)
    await session.rename("Harbours")
    await failure(session.ask("fail", model=model))
    turn = session.send("cancel", model=model)
    await begun.wait()
    await turn.cancel("enough")
    await session.state.set("basket", ["lamp", "rope"])
    await open_turns(chat)
    session = await chat.open_session("s")
    for n in (0, 2):
        await session.give_feedback(session.turns()[n].id, rating=n, preferred="better")
    return session


async def open_turns(chat: Chat) -> None:
    """Append, as another process would have, a turn that broke off and one that waits; and an unknown entry."""
    waiting = {"turn_id": "t5"}
    await chat.store.append(
        "s",
        [
            line(TurnAccepted, turn_id="t4", input="broken off"),
            line(TurnSteered, turn_id="t4", input="quickly", key="k4"),
            unknown(),
            line(TurnAccepted, input="may you?", key="k5", **waiting),
            line(ModelReplied, call=1, message=CALLS, steered=0, **waiting),
            line(ToolAsked, call_id="c", reason="may it?", **waiting),
        ],
        if_last=None,
    )


@pytest.mark.parametrize("at", [0, 1, 2, 3, 4, None])
async def test_a_fork_at_every_turn(tmp_path: Path, at: int | None) -> None:
    """A fork holds the turns up to one, in a new session that names its origin; not a byte of the original changes.

    Open turns are canceled in the copy, unknown entries stay behind, feedback and the title come along (F197).
    """
    chat = Chat("echo:", store=FileStore(tmp_path))
    session = await varied(chat)
    before, turns = (tmp_path / "s.jsonl").read_bytes(), session.turns()
    assert [turn.status for turn in turns] == ["completed", "failed", "canceled", "interrupted", "waiting"]
    fork = await session.fork(at=None if at is None else turns[at].id)
    copied = turns if at is None else turns[: at + 1]
    assert [turn.id for turn in fork.turns()] == [turn.id for turn in copied]
    statuses = ["canceled" if turn.status in OPEN else turn.status for turn in copied]
    assert [turn.status for turn in fork.turns()] == statuses
    assert [turn.messages for turn in fork.turns()] == [turn.messages for turn in copied]
    assert [len(turn.feedback) for turn in fork.turns()] == [len(turn.feedback) for turn in copied]
    assert (fork.scope, fork.title, fork.metadata) == ("ana", "Harbours", {"customer": 5})
    first = await anext(fork.journal())
    assert isinstance(first, SessionCreated)
    assert first.forked_from is not None
    assert (first.forked_from.session_id, first.forked_from.turn_id) == ("s", copied[-1].id)
    assert fork.id != "s"
    assert "poll.opened" not in await types_of(fork)
    assert (tmp_path / "s.jsonl").read_bytes() == before
    reopened = await Chat("echo:", store=FileStore(tmp_path)).open_session(fork.id)
    assert reopened.turns() == fork.turns()


async def test_a_fork_has_the_state_of_its_last_turn() -> None:
    """State that was changed, and a context that was cleared, behind the last copied turn are not the fork's."""
    session = await varied(Chat("echo:"))
    turns = session.turns()
    await session.clear_context()
    early, late, whole = [await session.fork(at=at) for at in (turns[0].id, turns[3].id, None)]
    assert [each.state.get("basket") for each in (early, late, whole)] == [["lamp"], ["lamp", "rope"], ["lamp", "rope"]]
    shown = [len((await each.preview("x")).messages) for each in (early, late, whole)]
    assert shown == [5, 5, 1]


async def test_keys_are_known_in_a_fork() -> None:
    """A key that the original has answered gives the same turn in the fork; the fork then goes its own way."""
    session = await varied(Chat("echo:"))
    fork = await session.fork(id="f")
    known = await fork.ask("where?", key="k1")
    assert (known.turn_id, len(fork.turns())) == (session.turns()[0].id, 5)
    assert fork.send("quickly", key="k4").id == "t4"
    await fork.ask("and now?")
    assert (len(fork.turns()), len(session.turns())) == (6, 5)
    again = await fork.fork(at=fork.turns()[5].id)
    assert len(again.turns()) == 6


async def test_a_fork_of_a_running_turn() -> None:
    """A turn that runs is canceled in the fork and goes on in the original."""
    gate, _, session = await gated()
    turn = session.send("first")
    await gate.begun.wait()
    fork = await session.fork()
    assert [each.status for each in fork.turns()] == ["canceled"]
    assert fork.turns()[0].error == "forked while it was open"
    gate.open()
    assert (await turn.result()).text == "answered"
    assert [each.status for each in session.turns()] == ["completed"]


async def test_a_fork_sees_what_others_wrote() -> None:
    """A fork copies what the journal holds, and names the last turn of that, also one of another process."""
    store = InMemoryStore()
    mine = await Chat("echo:", store=store).create_session("s")
    await mine.ask("one")
    await (await Chat("echo:", store=store).open_session("s")).ask("two")
    fork = await mine.fork()
    first = await anext(fork.journal())
    assert isinstance(first, SessionCreated)
    assert first.forked_from is not None
    assert len(fork.turns()) == 2
    assert first.forked_from.turn_id == fork.turns()[-1].id


async def test_forks_that_cannot_be_made() -> None:
    """An unknown turn, a taken id and an erased original are refused, and leave nothing behind."""
    store = ListStore()
    session = await Chat("echo:", store=store).create_session("s")
    await session.ask("one")
    assert isinstance(await failure(session.fork(at="nope", id="f")), Misuse)
    assert isinstance(await failure(session.fork(id="s")), SessionExists)
    assert list(store.lines) == ["s"]
    empty = await session.fork(id="f")
    assert said(empty) == said(session)
    chat = Chat("echo:")
    erased = await chat.create_session("s")
    await chat.delete_session("s")
    assert isinstance(await failure(erased.fork()), SessionNotFound)


def plain(snapshot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Its messages without the marks of unfinished turns, whose names are of one session."""
    return [{key: value for key, value in each.items() if key != "unfinished"} for each in snapshot["messages"]]


@pytest.mark.parametrize("cleared", [False, True], ids=["whole", "cleared"])
async def test_a_snapshot_is_restored(cleared: bool) -> None:
    """Through JSON and back a session has the same messages, dialogue and state, and shows a model the same (P25).

    What had no reply has none afterwards: half a reply never becomes a whole one.
    """
    chat = Chat("echo:", instructions="Be kind.")
    session = await varied(chat)
    await session.ask("and then?", when_busy="wait")
    if cleared:
        await session.clear_context()
        await session.ask("a new start")
    snapshot = json.loads(json.dumps(session.snapshot()))
    restored = await Chat("echo:", instructions="Be kind.").restore(snapshot)
    again = restored.snapshot()
    assert plain(again) == plain(snapshot)
    assert (again["activeMessages"], again["state"]) == (snapshot["activeMessages"], snapshot["state"])
    assert said(restored) == said(session)
    shown = [[each.to_json() for each in (await of.preview("x")).messages] for of in (session, restored)]
    assert shown[0] == shown[1]
    assert {turn.status for turn in restored.turns()} == {"completed", "canceled"}
    assert sorted(snapshot) == sorted(
        ["version", "sessionId", "messages", "activeMessages", "summary", "summaries", "tools", "state"]
    )


async def test_half_a_reply_stays_half() -> None:
    """What a failed turn had of a reply is kept as partial, and is shown to no model (J-081)."""

    async def breaking(request: Any) -> Any:
        yield "half a re"
        raise ValueError("no")

    session = await Chat(responder=breaking).create_session()
    await failure(session.ask("one"))
    await failure(session.ask("two"))
    restored = await Chat("echo:").restore(session.snapshot())
    assert [(turn.status, turn.input, turn.partial) for turn in restored.turns()] == [
        ("canceled", "one", "half a re"),
        ("canceled", "two", "half a re"),
    ]
    assert len((await restored.preview("x")).messages) == 1


async def test_a_restored_session_has_no_permissions() -> None:
    """Calls that waited for a person, and tools that a snapshot names, are history: nothing waits or is offered."""
    snapshot = dict((await varied(Chat("echo:"))).snapshot())
    snapshot["tools"] = [{"name": "shell", "schema": {}}]
    restored = await Chat("echo:").restore(snapshot, id="r", scope="bo")
    assert (restored.id, restored.scope, (await restored.preview("x")).tool_names) == ("r", "bo", ())
    assert "waiting" not in [turn.status for turn in restored.turns()]


SAID = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
LOADED: dict[str, dict[str, Any]] = {
    "messages-only": {"messages": SAID},
    "get-context": {"messages": SAID, "activeMessages": [SAID[1]], "summary": "s", "summaries": ["s"], "tools": []},
    "partial": {"messages": SAID, "summary": None, "tools": [{"name": "f", "schema": {}}]},
    "no-state": {"messages": SAID, "state": None},
}


@pytest.mark.parametrize("shape", LOADED)
async def test_objects_of_others_are_restored(shape: str) -> None:
    """A plain object with messages, and the one that getContext() gave, are read: the messages, all of them (B-078)."""
    session = await Chat("echo:").restore(json.loads(json.dumps(LOADED[shape])))
    assert said(session) == [("user", "hi"), ("assistant", "hello")]
    assert len((await session.preview("x")).messages) == 3


@pytest.mark.parametrize(
    "nonsense",
    [{}, {"messages": "hi"}, {"messages": None}, {"messages": [], "state": [1]}, {"version": 2, "messages": []}],
    ids=["empty", "text", "none", "state", "version"],
)
async def test_what_is_no_snapshot_is_refused(nonsense: dict[str, Any]) -> None:
    """What is no snapshot, or one of another version, is refused, and no session begins."""
    store = ListStore()
    assert isinstance(await failure(Chat("echo:", store=store).restore(nonsense)), Misuse)
    assert isinstance(await failure(Chat("echo:", store=store).restore({"messages": [5]})), NotStorable)
    assert store.lines == {}


def call(id: str, name: str = "look_up", **arguments: Any) -> dict[str, Any]:
    """A call in OpenAI's style."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


async def imported(*messages: dict[str, Any]) -> Session:
    """These messages as a session."""
    return await Chat("echo:").import_session(messages)


async def test_import_of_parallel_calls() -> None:
    """Parallel calls, their results in any order, and the reply are one turn, whose steps a model sees again."""
    session = await imported(
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call("a", city="Oslo"), call("b", city="Rome")]},
        {"role": "tool", "tool_call_id": "b", "content": "sun"},
        {"role": "tool", "tool_call_id": "a", "content": "rain"},
        {"role": "assistant", "content": "Rain and sun."},
    )
    (turn,) = session.turns()
    assert (turn.status, turn.output) == ("completed", "Rain and sun.")
    assert [(result.call_id, result.text) for result in turn.messages[2].results] == [("a", "rain"), ("b", "sun")]
    assert [each.name for each in turn.messages[1].calls] == ["look_up", "look_up"]
    assert turn.messages[1].calls[0].arguments == {"city": "Oslo"}
    assert turn.metadata["responder"] == {"kind": "recorded"}


async def test_import_of_calls_without_results() -> None:
    """A call without a result gets one that says so, marked as an error, wherever the conversation went on."""
    asked = {"role": "assistant", "content": "", "tool_calls": [call("a"), call("b")]}
    for rest in (
        [{"role": "assistant", "content": "well"}],
        [{"role": "user", "content": "still there?"}, {"role": "assistant", "content": "well"}],
        [],
    ):
        session = await imported(
            {"role": "user", "content": "hi"}, asked, {"role": "tool", "tool_call_id": "a", "content": "x"}, *rest
        )
        (turn,) = session.turns()
        assert turn.status == ("completed" if rest else "canceled")
        results = [(result.text, result.is_error) for result in turn.messages[2].results]
        assert results == [("x", False), ("no result of this call was kept", True)]


async def test_import_of_what_has_no_place(caplog: pytest.LogCaptureFixture) -> None:
    """Results without a call and replies before any question are left out, each with a line that says so."""
    with caplog.at_level(logging.WARNING, "antiphon"):
        session = await imported(
            {"role": "assistant", "content": "Welcome!"},
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "hi"},
            {"role": "tool", "tool_call_id": "zz", "content": "orphan"},
            {"role": "assistant", "content": "hello"},
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "bye"},
        )
    assert said(session) == [("user", "hi"), ("assistant", "hello")]
    assert [turn.status for turn in session.turns()] == ["completed", "canceled"]
    told = "\n".join(record.getMessage() for record in caplog.records)
    assert "message 1: assistant before anyone asked" in told
    assert "a result of a tool that answers no call" in told
    assert "Welcome" not in told


async def test_import_of_several_user_messages() -> None:
    """Further messages of the user before a reply are steering of one turn, in their order, and stay visible."""
    session = await imported(
        {"role": "user", "content": "one"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "content": "12"},
        {"role": "user", "content": "three"},
        {"role": "assistant", "content": "3"},
        {"role": "assistant", "content": "and 4"},
        {"role": "user", "content": "five"},
    )
    assert [turn.steering for turn in session.turns()] == [("two",), (), ()]
    shown = [message.text for message in (await session.preview("x")).messages]
    assert shown == ["one", "two", "12", "three", "3", "and 4", "x"]


async def test_import_of_images_and_files() -> None:
    """Pictures and documents, as addresses and as data, come along with the words beside them."""
    content = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}},
    ]
    session = await imported({"role": "user", "content": content}, {"role": "assistant", "content": "nice"})
    assert session.turns()[0].messages[0].to_json() == {"role": "user", "content": content}


@pytest.mark.parametrize(
    "calls",
    [[call("a"), call("a")], [{"function": {"name": "f"}}, {"function": {"name": "f"}}]],
    ids=["same-id", "no-ids"],
)
async def test_import_of_calls_that_share_an_id(calls: list[Any]) -> None:
    """Two calls of one reply with one id cannot be told apart: refused by name, and no session begins."""
    store = ListStore()
    messages: list[dict[str, Any]] = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": calls}]
    error = await failure(Chat("echo:", store=store).import_session(messages))
    assert isinstance(error, NotStorable)
    assert "two calls share one id" in str(error)
    assert store.lines == {}


async def test_import_of_results_in_a_users_message() -> None:
    """Results that stand in a user's message, as some providers have them, are results, and the words stay words."""
    asked = ToolCall.of("a", "look_up", arguments={})
    from_tool = Message.of("user", [ToolResult.of("a", "look_up", output="x"), Text("and hurry")])
    messages: Sequence[Message] = [
        Message.of("user", "hi"),
        Message.of("assistant", [asked]),
        from_tool,
        Message.of("assistant", "done"),
    ]
    session = await Chat("echo:").import_session(messages)
    (turn,) = session.turns()
    assert [message.text or message.results[0].text for message in turn.messages[2:]] == ["x", "and hurry", "done"]


async def test_an_empty_import() -> None:
    """No messages make an empty session, with the id and the scope that were given."""
    chat = Chat("echo:")
    session = await chat.import_session([], id="a", scope="bo")
    assert (session.id, session.scope, session.turns()) == ("a", "bo", ())
    assert isinstance(await failure(chat.import_session([], id="a")), SessionExists)


async def test_an_import_is_one_append(tmp_path: Path) -> None:
    """An imported session is there as a whole or not at all: it begins in one create, and goes on as any other."""
    store = ListStore()
    session = await Chat("echo:", store=store).import_session([*SAID, *SAID])
    assert store.appends == []
    await session.ask("more")
    assert [turn.status for turn in session.turns()] == ["completed"] * 3
