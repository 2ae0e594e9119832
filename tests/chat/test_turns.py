"""A turn from its input to its outcome: what is committed when, and what a reader of the journal finds."""

import asyncio
import re
from pathlib import Path

import pytest

from antiphon import Chat, FileStore, InMemoryStore, Message, Store, Text, TurnRequest, View
from antiphon.errors import AppendFailed, AppendUncertain, StoreError, TurnCanceled
from antiphon.testing import ManualClock, ScriptedModel
from tests.chat.fakes import Act, Gate, ListStore, failure, gated, said, types_of

pytestmark = pytest.mark.anyio

REFUSAL = AppendFailed("s", "the disk is full")


async def test_item_1_a_session_is_one_entry(store: Store) -> None:
    """Creating a session writes exactly one entry, with id, time, version and session; its id is then taken."""
    chat = Chat("echo:", store=store)
    session = await chat.create_session("s", title="Hello", scope="ana", metadata={"n": 1})
    (entry,) = [entry async for entry in session.journal()]
    assert (entry.type, entry.version, entry.session_id) == ("session.created", 1, "s")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry.at)
    assert len(entry.id) == 36
    assert (session.title, session.scope, session.metadata) == ("Hello", "ana", {"n": 1})
    error = await failure(chat.create_session("s"))
    assert "chat session 's' already exists in" in str(error)
    assert await types_of(session) == ["session.created"]


async def test_item_2_nothing_acts_before_the_input_is_committed() -> None:
    """The input is committed, then accepted() returns, then the context is built, then the responder runs (J-121)."""
    store, order = ListStore(), list[str]()

    def context(view: View) -> list[Message]:
        order.append(f"context after {store.types()[-1]}")
        return []

    async def responder(request: TurnRequest) -> str:
        order.append("responder")
        return "hello"

    session = await Chat(responder=responder, store=store, context=context).create_session("s")
    store.script = [Act(gate=(gate := asyncio.Event()))]
    turn = session.send("hi")
    turn_accepted = asyncio.create_task(turn.accepted())
    await store.reached.wait()
    assert (order, turn_accepted.done()) == ([], False)
    gate.set()
    assert await turn_accepted is turn
    await turn.result()
    assert order == ["context after turn.accepted", "responder"]


async def test_item_2_a_refused_input_runs_nothing() -> None:
    """If the store refuses the input, accepted and result raise its error and the responder is never called (J-122)."""
    store = ListStore(script=[Act(REFUSAL, writes=False)])
    gate, _, session = await gated(store)
    turn = session.send("hi")
    assert [await failure(turn.accepted()), await failure(turn.result())] == [REFUSAL, REFUSAL]
    assert REFUSAL.turn_id == turn.id
    assert gate.requests == []
    assert (session.turns(), store.types(), session.live_turn) == ((), ["session.created"], None)
    gate.open()
    assert (await session.ask("again")).text == "answered"


async def test_item_3_the_outcome_is_on_disk_when_the_result_is_there(tmp_path: Path) -> None:
    """At the moment the result settles, the file holds the outcome (J-123)."""
    session = await Chat(ScriptedModel("hello"), store=FileStore(tmp_path)).create_session("s")
    await session.ask("hi")
    content = (tmp_path / "s.jsonl").read_bytes()
    assert content.endswith(b"}\n")
    assert b'"type":"turn.completed"' in content.splitlines()[-1]


@pytest.mark.parametrize("error", [REFUSAL, AppendUncertain("s", "no answer"), OSError("gone")], ids=str)
async def test_item_4_a_reply_that_cannot_be_written(error: Exception) -> None:
    """A reply whose outcome is refused raises the store's error, and the turn reads as interrupted, live and later."""
    store = ListStore()
    session = await Chat(ScriptedModel(["hello", "again"]), store=store).create_session("s")
    store.script = [Act(), Act(error, writes=False)]
    raised = await failure(session.ask("hi"))
    assert isinstance(raised, StoreError)
    assert raised is error or raised.__cause__ is error
    assert [turn.status for turn in session.turns()] == ["interrupted"]
    reopened = await Chat("echo:", store=store).open_session("s")
    assert [turn.status for turn in reopened.turns()] == ["interrupted"]
    assert (await session.ask("next")).text == "again"


async def test_item_4_a_failure_that_cannot_be_written() -> None:
    """A failed turn whose outcome is refused raises its own error, and reads as interrupted (J-124)."""
    store, own = ListStore(), ValueError("own")
    session = await Chat(ScriptedModel(own), store=store).create_session("s")
    store.script = [Act(), Act(REFUSAL, writes=False)]
    assert await failure(session.ask("hi")) is own
    assert [turn.status for turn in session.turns()] == ["interrupted"]


async def test_item_4_a_cancel_that_cannot_be_written() -> None:
    """A canceled turn whose outcome is refused raises TurnCanceled with its reason, and reads as interrupted."""
    store = ListStore()
    gate, _, session = await gated(store)
    store.script = [Act(), Act(REFUSAL, writes=False)]
    turn = session.send("hi")
    await gate.begun.wait()
    await turn.cancel("enough")
    error = await failure(turn.result())
    assert isinstance(error, TurnCanceled)
    assert error.reason == "enough"
    assert [turn.status for turn in session.turns()] == ["interrupted"]


async def test_item_5_opening_changes_nothing(tmp_path: Path) -> None:
    """A reopened session equals the live one, turn by turn, and opening writes no byte."""
    chat = Chat(ScriptedModel(["one", ValueError("no"), "three"]), store=FileStore(tmp_path))
    session = await chat.create_session("s", title="T")
    await session.ask("a")
    await failure(session.ask("b"))
    await session.give_feedback(session.turns()[0].id, rating=1)
    before = (tmp_path / "s.jsonl").read_bytes()
    reopened = await Chat("echo:", store=FileStore(tmp_path)).open_session("s")
    assert reopened.turns() == session.turns()
    assert reopened.messages() == session.messages()
    assert (reopened.title, reopened.metadata) == ("T", {})
    assert (tmp_path / "s.jsonl").read_bytes() == before


async def test_item_14_only_finished_turns_are_shown_later(store: Store) -> None:
    """Failed, canceled and interrupted turns are no dialogue, and a preferred reply changes none (J-080..J-084)."""
    gate = Gate("late")
    model = ScriptedModel(["one", ValueError("no"), lambda request: "last"])
    chat = Chat(model, store=store)
    session = await chat.create_session("s")
    first = await session.ask("a")
    await session.give_feedback(first.turn_id, preferred="better")
    await failure(session.ask("b"))
    waiting = Chat(responder=gate, store=store)
    canceled = (await waiting.open_session("s")).send("c")
    await gate.begun.wait()
    await canceled.cancel()
    assert [(m.role, m.text) for m in gate.requests[0].messages] == [
        ("user", "a"),
        ("assistant", "one"),
        ("user", "c"),
    ]
    await session.ask("d")
    assert [message.text for message in model.requests[-1].messages] == ["a", "one", "d"]
    assert said(session) == [("user", "a"), ("assistant", "one"), ("user", "d"), ("assistant", "last")]


async def test_turns_of_all_processes_are_shown(store: Store) -> None:
    """A reopened session shows the completed turns of whoever ran them, and a stale one catches up (J-128, F193)."""
    mine = await Chat(ScriptedModel(["one", "three"]), store=store).create_session("s")
    await mine.ask("a")
    model = ScriptedModel("two")
    await (await Chat(model, store=store).open_session("s")).ask("b")
    await mine.ask("c")
    assert [message.text for message in model.requests[0].messages] == ["a", "one", "b"]
    assert [text for _, text in said(mine)] == ["a", "one", "b", "two", "c", "three"]


async def test_a_plain_turn_is_two_appends() -> None:
    """What was shown travels with the outcome: a turn of one call is two appends, whatever it holds."""
    store = ListStore()
    session = await Chat(ScriptedModel("hello"), store=store, instructions="Be kind.").create_session("s")
    await session.ask("hi")
    assert store.appends == [["turn.accepted"], ["turn.shown", "turn.completed"]]


async def test_the_next_turn_sees_the_last(store: Store) -> None:
    """A message sent the moment a result settles is answered with that result in the context (F096)."""
    model = ScriptedModel(["one", "two"])
    session = await Chat(model, store=store).create_session("s")
    turn = session.send("a")
    await turn.result()
    await session.send("b").result()
    assert [message.text for message in model.requests[1].messages] == ["a", "one", "b"]


async def test_the_order_is_that_of_commits() -> None:
    """Entries stand in the order of commit, whatever the clock says (F100)."""
    clock = ManualClock()
    session = await Chat(ScriptedModel(["1", "2"]), clock=clock).create_session("s")
    await session.ask("a")
    clock.move(-60)
    await session.ask("b")
    times = [entry.at async for entry in session.journal()]
    assert (times[0], times[-1]) == ("2026-01-01T00:00:00.000Z", "2025-12-31T23:59:00.000Z")
    assert [text for _, text in said(session)] == ["a", "1", "b", "2"]


async def test_input_of_parts_is_kept_and_shown() -> None:
    """Parts are kept as given and shown as one user message."""
    model = ScriptedModel("ok")
    session = await Chat(model).create_session()
    reply = await session.ask([Text("a"), Text("b")])
    assert session.turns()[0].input == (Text("a"), Text("b"))
    assert model.requests[0].messages[-1].parts == (Text("a"), Text("b"))
    assert str(reply) == reply.text == "ok"


async def test_what_cannot_be_kept_is_refused_at_once() -> None:
    """send raises for an input, a key or metadata that no journal keeps, before anything is started."""
    store = ListStore()
    session = await Chat(ScriptedModel("x"), store=store).create_session("s")
    for given, options, sentence in [
        (b"bytes", {}, "input holds a bytes"),
        ("hi", {"metadata": {"a": float("nan")}}, r"metadata\.a holds nan"),
        ("hi", {"key": 5}, "key is a int; give a str"),
        ("hi", {"colour": "red"}, "'colour' is no option of a turn"),
        ("hi", {"when_busy": "queue"}, "when_busy='queue' is not known"),
    ]:
        with pytest.raises(Exception, match=sentence):
            session.send(given, **options)  # type: ignore[arg-type]
    assert store.appends == []
    assert session.live_turn is None


async def test_an_input_of_the_wrong_kind_never_reaches_the_journal() -> None:
    """A part whose text is no text fails that turn alone: the session stays readable (F084's rule, kept ahead)."""
    store = InMemoryStore()
    session = await Chat(ScriptedModel("x"), store=store).create_session("s")
    error = await failure(session.ask([Text(5)]))  # type: ignore[arg-type]
    assert "turn.accepted holds a value of the wrong kind" in str(error)
    assert (await Chat("echo:", store=store).open_session("s")).turns() == ()
    assert (await session.ask("hi")).text == "x"


async def test_metadata_is_as_it_was_when_sent() -> None:
    """What a caller does to its metadata after send changes nothing that is kept."""
    given = {"tags": ["a"]}
    session = await Chat(ScriptedModel("x")).create_session()
    turn = session.send("hi", metadata=given)
    given["tags"].append("b")
    await turn.result()
    assert session.turns()[0].metadata["tags"] == ["a"]


async def test_metadata_says_what_answered() -> None:
    """A completed turn's metadata holds the caller's values and the kind of what answered (P04)."""
    session = await Chat(ScriptedModel("x")).create_session()
    await session.ask("hi", metadata={"n": 1})
    assert session.turns()[0].metadata == {"n": 1, "responder": {"kind": "model", "name": "scripted"}}
    await session.record(input="a", output="b")
    assert session.turns()[1].metadata == {"responder": {"kind": "recorded"}}
