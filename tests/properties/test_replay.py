"""Replay over random legal journals: any way of reading gives the same turns, and nothing is lost or out of place."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import Message, Text, ToolCall, Turn
from antiphon._jsonable import freeze
from antiphon.errors import CorruptJournal
from antiphon.journal import (
    FeedbackRecorded,
    Line,
    ModelReplied,
    SessionCreated,
    ToolReturned,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnFailed,
    TurnResumed,
    TurnSteered,
    UnknownEntry,
    encode,
)
from antiphon.journal._lifecycle import NotAllowed
from antiphon.transcript import Transcript, dialogue, replay, replay_unchecked
from tests.properties.strategies import AT, SESSION, journals

ENDS = {TurnCompleted: "completed", TurnFailed: "failed", TurnCanceled: "canceled"}


def line_of(entry: Any) -> Line:
    """An entry's line; an unknown one is its own."""
    return Line(entry.id, entry.type, entry.data) if isinstance(entry, UnknownEntry) else encode(entry)


def reopened(entries: Sequence[Any]) -> Transcript:
    """What a process sees that opens the journal."""

    async def lines() -> AsyncIterator[Line]:
        for entry in entries:
            yield line_of(entry)

    return asyncio.run(replay(SESSION, lines(), where="chats"))


def live(entries: Sequence[Any]) -> Transcript:
    """What the process holds that wrote the journal."""
    transcript = Transcript(SESSION)
    for entry in entries:
        transcript.apply(entry)
    return transcript


def seen(transcript: Transcript) -> tuple[Any, ...]:
    """Everything that a transcript says."""
    turns = transcript.turns()
    return (
        [(turn, turn.messages, turn.usage, turn.feedback) for turn in turns],
        [transcript.state_of(turn.id) for turn in turns],
        [transcript.with_key(f"k-{turn.id}") for turn in turns],
        (transcript.title, transcript.last_id, transcript.lines, transcript.cleared, transcript.turn_count),
        (transcript.state, transcript.kept_texts, transcript.texts()),
    )


def made(cls: type[Any], **fields: Any) -> Any:
    """An entry beside those of a random journal."""
    return cls(version=1, id="extra", session_id=fields.pop("session_id", SESSION), at=AT, **fields)


@given(journals())
def test_reopened_session_equals_the_live_one(entries: list[Any]) -> None:
    """A journal that is read again gives the transcript that its writer holds (simonw/llm#1426)."""
    assert seen(reopened(entries)) == seen(live(entries))


@given(journals(), st.data())
def test_reading_goes_on_where_it_stopped(entries: list[Any], data: st.DataObject) -> None:
    """Replaying the first part and then taking the rest, with looks in between, is replaying the whole."""
    whole = reopened(entries)
    cut = data.draw(st.integers(1, len(entries)))
    transcript = reopened(entries[:cut])
    for entry in entries[cut:]:
        if data.draw(st.booleans()):
            transcript.turns()
        transcript.apply(entry)
    assert seen(transcript) == seen(whole)


@given(journals())
def test_every_entry_is_somewhere(entries: list[Any]) -> None:
    """Every entry of a turn is in its turn, in the journal's order, and all others are counted."""
    transcript = live(entries)
    by_turn: dict[str, list[Any]] = {}
    for entry in entries:
        if hasattr(entry, "turn_id"):
            by_turn.setdefault(entry.turn_id, []).append(entry)
    assert {turn.id: list(turn.entries) for turn in transcript.turns()} == by_turn
    assert [turn.id for turn in transcript.turns()] == list(by_turn)
    assert (transcript.lines, transcript.last_id) == (len(entries), entries[-1].id)


@given(journals())
def test_status_is_the_outcome_or_its_absence(entries: list[Any]) -> None:
    """A turn has its outcome's status; without one it waits if a question is open, else it was interrupted."""
    transcript = live(entries)
    for turn in transcript.turns():
        [*outcomes] = [ENDS[type(entry)] for entry in turn.entries if type(entry) in ENDS]
        if outcomes:
            assert [turn.status] == outcomes
            assert transcript.turn(turn.id, live={turn.id}) == turn
            continue
        moves = [entry.type for entry in turn.entries if entry.type.startswith(("tool.", "model.", "turn.accepted"))]
        if not any(move == "tool.asked" for move in moves):
            assert turn.status == "interrupted"
        if moves[-1] == "tool.asked":
            assert turn.status == "waiting"
        running = transcript.turn(turn.id, live={turn.id})
        assert running is not None
        assert running.status == "running"


@given(journals())
def test_results_stand_behind_their_calls(entries: list[Any]) -> None:
    """In a turn's messages each result stands in the message behind its call, once, in the order of the calls."""
    for turn in live(entries).turns():
        returned = [(e.call_id, e.output_json) for e in turn.entries if isinstance(e, ToolReturned)]
        found: list[tuple[str, Any]] = []
        for before, message in zip(turn.messages, turn.messages[1:], strict=False):
            if message.role == "tool":
                asked = [call.id for call in before.calls]
                answered = [result.call_id for result in message.results]
                assert answered == [id for id in asked if id in answered]
                assert message.results
                found += [(result.call_id, result.output_json) for result in message.results]
        assert sorted(found, key=repr_of) == sorted(returned, key=repr_of)


def repr_of(result: tuple[str, Any]) -> tuple[str, bytes]:
    """A result as something that can be put in order."""
    return result[0], bytes(result[1])


@given(journals())
def test_completed_rounds_are_whole(entries: list[Any]) -> None:
    """The dialogue holds no call without its result and no result without its call, and nothing unfinished."""
    turns = live(entries).turns()
    said = dialogue(turns)
    for i, message in enumerate(said):
        assert message.role in ("user", "assistant", "tool")
        if message.calls:
            assert [result.call_id for result in said[i + 1].results] == [call.id for call in message.calls]
    texts = {message.text for message in said}
    assert texts.isdisjoint({f"input of {turn.id}" for turn in turns if turn.status != "completed"})
    assert "half" not in texts


@given(journals())
def test_everything_said_is_there_once(entries: list[Any]) -> None:
    """A turn's messages begin with the input and hold each steering once, in order, and each reply once, in order."""
    for turn in live(entries).turns():
        said = [message.text for message in turn.messages]
        assert said[0] == f"input of {turn.id}"
        assert [text for text in said if text.startswith("steering")] == list(turn.steering)
        replies = [entry.message.text for entry in turn.entries if isinstance(entry, ModelReplied)]
        assert [text for text in said if text.startswith("reply") and text != turn.output] == replies
        if turn.status == "completed":
            assert turn.reply in turn.messages
        assert (said[-1] == "half") == (turn.partial == "half")


@given(journals())
def test_steering_stands_before_the_reply_that_saw_it(entries: list[Any]) -> None:
    """A reply stands behind the steering it had been shown, and before the steering it had not."""
    for turn in live(entries).turns():
        said = [message.text for message in turn.messages]
        for entry in turn.entries:
            if isinstance(entry, ModelReplied | TurnCompleted):
                text = entry.message.text if isinstance(entry, ModelReplied) else f"reply of {turn.id}"
                before = [each for each in said[: said.index(text)] if each.startswith("steering")]
                assert len(before) == entry.steered


def reopened_at_once(entries: Sequence[Any], size: int) -> Transcript | None:
    """What a process sees that opens the journal in batches of bytes."""

    async def batches() -> AsyncIterator[Sequence[bytes]]:
        for begin in range(0, len(entries), size):
            yield [line_of(entry).data for entry in entries[begin : begin + size]]

    return asyncio.run(replay_unchecked(SESSION, batches()))


@given(journals(), st.integers(1, 9), st.data())
def test_reading_in_batches_is_reading(entries: list[Any], size: int, data: st.DataObject) -> None:
    """Bytes in batches of any size give the transcript that lines give, and nothing at all if one line is wrong."""
    transcript = reopened_at_once(entries, size)
    assert transcript is not None
    assert seen(transcript) == seen(reopened(entries))
    at = data.draw(st.integers(1, len(entries)))
    assert reopened_at_once([*entries[:at], made(SessionCreated), *entries[at:]], size) is None


ILLEGAL = ["accepted again", "no turn", "second outcome", "no call", "other session", "second creation"]


@given(journals(), st.sampled_from(ILLEGAL), st.data())
def test_what_may_not_stand_there_changes_nothing(entries: list[Any], kind: str, data: st.DataObject) -> None:
    """An illegal entry anywhere is refused, by replay naming its line, and the transcript is as it was before."""
    cut = data.draw(st.integers(1, len(entries)))
    transcript = live(entries[:cut])
    if (extra := illegal(kind, transcript.turns())) is None:
        return
    before = seen(transcript)
    with pytest.raises(NotAllowed):
        transcript.apply(extra)
    assert seen(transcript) == before
    for entry in entries[cut:]:
        transcript.apply(entry)
    assert seen(transcript) == seen(live(entries))
    with pytest.raises(CorruptJournal, match=rf"^chats, line {cut + 1}: {extra.type}: "):
        reopened([*entries[:cut], extra, *entries[cut:]])


def illegal(kind: str, turns: Sequence[Turn]) -> Any:
    """An entry that may not follow, or None if there is none of this kind."""
    match kind:
        case "accepted again" if turns:
            return made(TurnAccepted, turn_id=turns[0].id, input="again")
        case "no turn":
            return made(FeedbackRecorded, turn_id="nowhere", rating=1)
        case "second outcome":
            over = [turn.id for turn in turns if turn.status in ("completed", "failed", "canceled")]
            return made(TurnCanceled, turn_id=over[-1]) if over else None
        case "no call" if turns:
            return made(ToolReturned, turn_id=turns[-1].id, call_id="c9", name="t")
        case "other session":
            return made(TurnAccepted, turn_id="new", input="x", session_id="ben-2")
        case "second creation":
            return made(SessionCreated)
        case _:
            return None


@given(journals())
def test_first_entry_is_the_creation(entries: list[Any]) -> None:
    """A journal that does not begin with session.created is corrupt from its first line on."""
    for entry in entries[1:4]:
        with pytest.raises(CorruptJournal, match=rf"^chats, line 1: .*the first entry is {entry.type}, not session"):
            reopened([entry])


def test_rounds_and_steering_keep_their_places() -> None:
    """Two rounds with a steering after each read as input, round, steering, round, steering, reply."""

    def round_(number: int, seen: int) -> list[Any]:
        calls = [ToolCall.of("call_0", "t", arguments={"n": number})]
        message = Message.of("assistant", [Text(f"round {number}"), *calls])
        replied = made(ModelReplied, turn_id="t1", call=number, message=message, steered=seen)
        output = freeze(f"result {number}", "output")
        return [replied, made(ToolReturned, turn_id="t1", call_id="call_0", name="t", output_json=output)]

    entries = [
        made(SessionCreated),
        made(TurnAccepted, turn_id="t1", input="input"),
        *round_(1, 0)[:1],
        made(TurnSteered, turn_id="t1", input="steering 1"),
        made(TurnResumed, turn_id="t1"),
        *round_(1, 0)[1:],
        *round_(2, 1),
        made(TurnSteered, turn_id="t1", input="steering 2"),
        made(TurnCompleted, turn_id="t1", output="reply", steered=2),
    ]
    [turn] = reopened(entries).turns()
    said = [message.text or message.results[0].text for message in turn.messages]
    assert said == ["input", "round 1", "result 1", "steering 1", "round 2", "result 2", "steering 2", "reply"]
