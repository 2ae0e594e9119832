"""The one writer of a session, alone, over a store that is a list."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from antiphon.chat._recorder import Recorder, begin
from antiphon.errors import (
    AppendFailed,
    AppendUncertain,
    CorruptJournal,
    IllegalEntry,
    JournalMoved,
    NotStorable,
    SessionBusy,
    SessionExists,
    SessionNotFound,
    StoreUnreadable,
)
from antiphon.journal import (
    FeedbackRecorded,
    Line,
    SessionRenamed,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnShown,
    TurnSteered,
    encode,
)
from antiphon.transcript import replay
from tests.chat.fakes import Act, ListStore, created, failure, line, passing

pytestmark = pytest.mark.anyio


async def recorder_of(store: ListStore) -> Recorder:
    """A recorder of a new session."""
    return Recorder(store, await begin(store, created()), place="a list")


def accepted(recorder: Recorder, turn_id: str = "t", **fields: Any) -> TurnAccepted:
    """An input."""
    return recorder.entry(TurnAccepted, turn_id=turn_id, input="hi", **fields)


def completed(recorder: Recorder, turn_id: str = "t") -> TurnCompleted:
    """A reply."""
    return recorder.entry(TurnCompleted, turn_id=turn_id, output="hello")


def renamed(recorder: Recorder, title: str = "new") -> SessionRenamed:
    """Something that commutes."""
    return recorder.entry(SessionRenamed, title=title)


async def whole(store: ListStore) -> list[str]:
    """The types of the journal's entries; it must replay."""
    await replay("s", store.read("s"), where="a list")
    return store.types()


async def test_entries_put_during_an_append_travel_together() -> None:
    """What is queued while the store works goes with the next append, in the order in which it was put."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(gate=(gate := asyncio.Event()))]
    first = asyncio.create_task(recorder.write(accepted(recorder)))
    await store.reached.wait()
    others = [recorder.put(renamed(recorder, str(i))) for i in range(3)]
    gate.set()
    await asyncio.gather(first, *others)
    assert store.appends == [["turn.accepted"], ["session.renamed"] * 3]
    assert recorder.transcript.title == "2"


async def test_entries_put_at_once_travel_together() -> None:
    """Entries put before the writer began are one append, and none is in the transcript before it is committed."""
    store = ListStore()
    recorder = await recorder_of(store)
    futures = [recorder.put(accepted(recorder)), recorder.put(completed(recorder)), recorder.put(renamed(recorder))]
    assert recorder.transcript.turn_count == 0
    await asyncio.gather(*futures)
    assert store.appends == [["turn.accepted", "turn.completed", "session.renamed"]]
    assert [turn.status for turn in recorder.transcript.turns()] == ["completed"]


async def test_the_transcript_moves_only_at_commit() -> None:
    """While an append runs, its entries are not in the transcript; when it returned, they are."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(gate=(gate := asyncio.Event()))]
    committed = recorder.put(accepted(recorder))
    await store.reached.wait()
    assert recorder.transcript.turn_count == 0
    gate.set()
    await committed
    assert recorder.transcript.turn_count == 1


async def test_deferred_entries_travel_with_the_next_put() -> None:
    """A deferred entry stands in front of whatever is put next, and makes no append of its own."""
    store = ListStore()
    recorder = await recorder_of(store)
    await recorder.write(accepted(recorder))
    recorder.defer(recorder.entry(TurnShown, turn_id="t", call=1, model="m"))
    await passing(5)
    await recorder.write(completed(recorder))
    assert store.appends == [["turn.accepted"], ["turn.shown", "turn.completed"]]


async def test_an_illegal_entry_queues_nothing() -> None:
    """A put that the state table refuses leaves queue, projection and deferred entries as they were."""
    store = ListStore()
    recorder = await recorder_of(store)
    await recorder.write(accepted(recorder))
    recorder.defer(recorder.entry(TurnShown, turn_id="t", call=1, model="m"))
    with pytest.raises(IllegalEntry, match=r"'turn\.completed' cannot be written here: no turn 'u' was accepted"):
        recorder.put(accepted(recorder, "v"), completed(recorder, "u"))
    await recorder.drain()
    await recorder.write(accepted(recorder, "v"))
    assert store.appends == [["turn.accepted"], ["turn.shown", "turn.accepted"]]


async def test_the_projection_sees_what_is_queued() -> None:
    """An entry is checked against what is queued before it, not only against what is committed."""
    recorder = await recorder_of(ListStore())
    committed = recorder.put(accepted(recorder), completed(recorder))
    with pytest.raises(IllegalEntry, match="turn 't' is completed"):
        recorder.put(recorder.entry(TurnCanceled, turn_id="t"))
    await committed


async def test_a_failed_append_rolls_the_projection_back() -> None:
    """After AppendFailed everything queued has failed with it, and the same entries may be put again."""
    store = ListStore()
    recorder = await recorder_of(store)
    refusal = AppendFailed("s", "the disk is full")
    store.script = [Act(refusal, writes=False, gate=(gate := asyncio.Event()))]
    first = recorder.put(accepted(recorder))
    await store.reached.wait()
    second = recorder.put(completed(recorder))
    gate.set()
    assert [await failure(first), await failure(second)] == [refusal, refusal]
    await recorder.write(accepted(recorder), completed(recorder))
    assert await whole(store) == ["session.created", "turn.accepted", "turn.completed"]


async def test_an_uncertain_batch_that_is_there_is_found() -> None:
    """Before the next append the journal is read, and what had arrived after all is in the transcript."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(AppendUncertain("s", "no answer"))]
    assert isinstance(await failure(recorder.write(accepted(recorder))), AppendUncertain)
    assert recorder.transcript.turn_count == 0
    await recorder.write(renamed(recorder))
    assert [turn.id for turn in recorder.transcript.turns()] == ["t"]
    assert await whole(store) == ["session.created", "turn.accepted", "session.renamed"]


async def test_an_uncertain_batch_that_is_not_there_is_forgotten() -> None:
    """If the batch had not arrived, the next append goes on without it."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(AppendUncertain("s", "no answer"), writes=False)]
    assert isinstance(await failure(recorder.write(accepted(recorder))), AppendUncertain)
    await recorder.write(accepted(recorder, "u"))
    assert await whole(store) == ["session.created", "turn.accepted"]


async def test_a_turn_goes_on_behind_its_own_uncertain_entry() -> None:
    """Entries of ours that were in doubt and had arrived are no reason to refuse what follows from them."""
    store = ListStore()
    recorder = await recorder_of(store)
    await recorder.write(accepted(recorder))
    store.script = [Act(AppendUncertain("s", "no answer"))]
    await failure(recorder.write(recorder.entry(TurnSteered, turn_id="t", input="more")))
    await recorder.write(completed(recorder))
    assert await whole(store) == ["session.created", "turn.accepted", "turn.steered", "turn.completed"]


async def test_an_uncertain_entry_is_never_written_twice() -> None:
    """If what was in doubt had arrived, writing the same fact again is refused, so that its writer decides anew."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(AppendUncertain("s", "no answer"))]
    await failure(recorder.write(accepted(recorder)))
    assert isinstance(await failure(recorder.write(accepted(recorder))), JournalMoved)
    assert await whole(store) == ["session.created", "turn.accepted"]


async def test_commuting_entries_of_others_are_written_behind() -> None:
    """An append that finds only commuting entries of others goes on behind them, unseen by its caller."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(foreign=[line(SessionRenamed, title="theirs"), line(SessionRenamed, title="theirs too")])]
    await recorder.write(accepted(recorder))
    assert await whole(store) == ["session.created", "session.renamed", "session.renamed", "turn.accepted"]
    assert recorder.transcript.title == "theirs too"
    assert recorder.transcript.lines == 4


async def test_own_entries_found_there_count_as_written() -> None:
    """An append that is told the journal moved, and finds its own entries there, has succeeded."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(JournalMoved("s"))]  # a wrapper repeated an append whose answer was lost
    await recorder.write(accepted(recorder), renamed(recorder))
    assert len(store.appends) == 1
    assert await whole(store) == ["session.created", "turn.accepted", "session.renamed"]
    assert recorder.transcript.lines == 3


async def test_a_turn_of_others_refuses_and_is_caught_up() -> None:
    """An append that finds a turn of others raises JournalMoved, writes nothing, and the transcript has the turn."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(foreign=[line(TurnAccepted, turn_id="theirs", input="hi")])]
    moved = await failure(recorder.write(accepted(recorder)))
    assert isinstance(moved, JournalMoved)
    assert moved.found == store.lines["s"][-1].id
    assert [turn.id for turn in recorder.transcript.turns()] == ["theirs"]
    await recorder.write(accepted(recorder))
    assert await whole(store) == ["session.created", "turn.accepted", "turn.accepted"]


async def test_what_commutes_goes_behind_any_entry() -> None:
    """Feedback and titles are written behind whatever others wrote, turns and unknown entries too."""
    store = ListStore()
    recorder = await recorder_of(store)
    await recorder.write(accepted(recorder), completed(recorder))
    store.script = [Act(foreign=[line(TurnAccepted, turn_id="theirs", input="hi")])]
    await recorder.write(recorder.entry(FeedbackRecorded, turn_id="t", rating=1))
    assert (await whole(store))[-2:] == ["turn.accepted", "feedback.recorded"]


async def test_a_store_that_always_moves_is_given_up() -> None:
    """A store that says it moved, and never shows how, fails the append instead of being asked for ever."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(JournalMoved("s"), writes=False) for _ in range(100)]
    assert isinstance(await failure(recorder.write(renamed(recorder))), AppendFailed)
    assert 2 < len(store.appends) < 50


async def test_what_a_store_raises_becomes_a_store_error() -> None:
    """An append that raises something foreign is uncertain, and says what was raised."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(ZeroDivisionError("oh"))]
    error = await failure(recorder.write(accepted(recorder)))
    assert isinstance(error, AppendUncertain)
    assert error.why == "the store raised ZeroDivisionError: oh"
    await recorder.write(renamed(recorder))
    await recorder.write(completed(recorder))
    assert await whole(store) == ["session.created", "turn.accepted", "session.renamed", "turn.completed"]


async def test_a_held_journal_is_a_failed_append() -> None:
    """A store that cannot get at the journal says SessionBusy; nothing was written, and the caller is told that."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(SessionBusy("s"), writes=False)]
    assert isinstance(await failure(recorder.write(accepted(recorder))), AppendFailed)
    await recorder.write(accepted(recorder))


@pytest.mark.parametrize("error", [OSError("no disk"), StoreUnreadable("a list", "no disk")], ids=["foreign", "own"])
async def test_an_unreadable_store_is_told_to_every_waiter(error: Exception) -> None:
    """If the journal cannot be read when it must be, every waiting writer gets a StoreError; later ones may write."""
    store = ListStore(unreadable=error)
    recorder = await recorder_of(store)
    store.script = [Act(foreign=[line(SessionRenamed)], gate=(gate := asyncio.Event()))]
    first = recorder.put(accepted(recorder))
    await store.reached.wait()
    second = recorder.put(completed(recorder))
    gate.set()
    assert [type(await failure(each)) for each in (first, second)] == [StoreUnreadable, StoreUnreadable]
    store.unreadable = None
    await recorder.write(accepted(recorder))


async def test_a_journal_that_does_not_follow_is_corrupt() -> None:
    """Entries of others that the state table refuses are CorruptJournal, with the place and the line."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.lines["s"].append(line(TurnCompleted, turn_id="never"))
    with pytest.raises(CorruptJournal, match="chat session 's' in a list, line 2: no turn 'never' was accepted"):
        await recorder.catch_up()


async def test_a_deleted_journal_is_not_found() -> None:
    """When the last known entry is gone, so is the session."""
    store = ListStore()
    recorder = await recorder_of(store)
    del store.lines["s"]
    assert isinstance(await failure(recorder.catch_up()), SessionNotFound)
    assert isinstance(await failure(recorder.write(renamed(recorder))), SessionNotFound)


async def test_a_canceled_waiter_still_commits() -> None:
    """Canceling the task that waits cancels nothing in the store, and is heard once the entry is committed."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(gate=(gate := asyncio.Event()))]
    task = asyncio.create_task(recorder.write(accepted(recorder)))
    await store.reached.wait()
    task.cancel()
    await passing(5)
    assert not task.done()
    gate.set()
    assert isinstance(await failure(task), asyncio.CancelledError)
    assert recorder.transcript.turn_count == 1


@pytest.mark.parametrize("steps", range(8))
async def test_a_stopped_writer_leaves_nobody_waiting(steps: int) -> None:
    """Stop the writing task at any step, as a loop that shuts down does: what was put is still committed."""
    store = ListStore()
    recorder = await recorder_of(store)
    before = asyncio.all_tasks()
    first = recorder.put(accepted(recorder))
    await passing(steps)
    for task in asyncio.all_tasks() - before:
        task.cancel()
    second = recorder.put(completed(recorder))
    await asyncio.wait_for(asyncio.gather(first, second, recorder.drain()), 5)
    assert await whole(store) == ["session.created", "turn.accepted", "turn.completed"]
    assert recorder.transcript.lines == 3


async def test_a_writer_stopped_twice_is_uncertain() -> None:
    """Stopped again while it reads what became of an append, the writer says that it cannot tell."""
    store = ListStore()
    recorder = await recorder_of(store)
    before = asyncio.all_tasks()
    store.script = [Act(gate=asyncio.Event())]
    first = recorder.put(accepted(recorder))
    await store.reached.wait()
    (writer,) = asyncio.all_tasks() - before
    second = recorder.put(completed(recorder))
    store.lines["s"].append(line(SessionRenamed))
    for _ in range(2):
        writer.cancel()
        await passing(1)
    assert isinstance(await failure(asyncio.wait_for(first, 5)), AppendUncertain)
    await asyncio.wait([second], timeout=5)
    assert second.done(), "what was queued behind is settled too"
    await recorder.write(accepted(recorder, "u"), completed(recorder, "u"))
    await whole(store)


async def test_a_stopped_append_that_cannot_be_looked_up_stays_in_doubt() -> None:
    """Stopped in an append, and unable to read what became of it, the writer reads before it writes again."""
    store = ListStore()
    recorder = await recorder_of(store)
    before = asyncio.all_tasks()
    store.script = [Act(gate=asyncio.Event())]
    batch = recorder.put(entry := accepted(recorder))
    await store.reached.wait()
    (writer,) = asyncio.all_tasks() - before
    store.unreadable = OSError("gone")
    store.lines["s"].append(encode(entry))
    writer.cancel()
    assert isinstance(await failure(batch), StoreUnreadable)
    store.unreadable = None
    assert isinstance(await failure(recorder.write(accepted(recorder))), JournalMoved)
    assert await whole(store) == ["session.created", "turn.accepted"]


async def test_a_store_that_raises_while_it_begins_a_session() -> None:
    """What a store raises when a session is to begin becomes a StoreError; its own errors stay as they are."""

    class Broken(ListStore):
        async def create(self, session_id: str, lines: Sequence[Line]) -> None:
            """Fail."""
            raise ZeroDivisionError("oh")

    assert isinstance(await failure(begin(Broken(), created())), AppendUncertain)
    assert isinstance(await failure(begin(ListStore({"s": []}), created())), SessionExists)


async def test_catching_up_while_an_append_runs_applies_nothing_twice() -> None:
    """Reading waits for the append that runs, and what is applied already is not applied again."""
    store = ListStore()
    recorder = await recorder_of(store)
    store.script = [Act(gate=(gate := asyncio.Event()), foreign=[line(SessionRenamed, title="theirs")])]
    committed = recorder.put(accepted(recorder))
    await store.reached.wait()
    readers = [asyncio.create_task(recorder.catch_up()) for _ in range(3)]
    await passing(3)
    gate.set()
    more = recorder.put(completed(recorder))
    await asyncio.gather(committed, more, *readers)
    assert recorder.transcript.lines == len(store.lines["s"]) == 4


async def test_drain_waits_for_everything_put() -> None:
    """Draining returns when nothing is queued or being written, and hears a cancel only then."""
    store = ListStore()
    recorder = await recorder_of(store)
    await recorder.drain()
    store.script = [Act(gate=(gate := asyncio.Event()))]
    recorder.put(accepted(recorder))
    draining = asyncio.create_task(recorder.drain())
    await store.reached.wait()
    recorder.put(completed(recorder))
    draining.cancel()
    await passing(3)
    assert not draining.done()
    gate.set()
    assert isinstance(await failure(draining), asyncio.CancelledError)
    assert recorder.transcript.lines == 3


@pytest.mark.parametrize(
    ("cls", "fields"),
    [
        (SessionRenamed, {"title": 5}),
        (TurnAccepted, {"turn_id": "t", "input": "hi", "key": 7}),
        (TurnAccepted, {"turn_id": "t", "input": object()}),
        (TurnAccepted, {"turn_id": None, "input": "hi"}),
    ],
)
async def test_what_could_not_be_read_again_is_not_written(cls: Any, fields: dict[str, Any]) -> None:
    """A value of the wrong kind is refused before it makes a journal unreadable, and nothing stays queued."""
    store = ListStore()
    recorder = await recorder_of(store)
    with pytest.raises(NotStorable, match=r"(session\.renamed|turn\.accepted) holds a value of the wrong kind"):
        recorder.put(recorder.entry(cls, **fields))
    await recorder.write(accepted(recorder))
    assert await whole(store) == ["session.created", "turn.accepted"]
