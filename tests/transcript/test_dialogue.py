"""From turns to the dialogue that a model may be shown: june's rules, and what stands between input and reply."""

from typing import Any

import pytest

from antiphon import Message, Text, ToolCall
from antiphon._jsonable import freeze
from antiphon.errors import CorruptJournal, Misuse
from antiphon.journal import (
    ContextCleared,
    FeedbackRecorded,
    ModelReplied,
    SessionCreated,
    SessionRenamed,
    StateChanged,
    ToolReturned,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnFailed,
    TurnShown,
    TurnSteered,
)
from antiphon.transcript import Transcript, dialogue
from tests.journal.sample import SESSION, made


def transcript_of(*entries: Any) -> Transcript:
    """A session of these entries."""
    transcript = Transcript(SESSION)
    for entry in (made(SessionCreated, title="Trip"), *entries):
        transcript.apply(entry)
    return transcript


def turn(turn_id: str, end: Any = TurnCompleted, *between: Any, **accepted: Any) -> list[Any]:
    """A turn of `turn_id`, ended by `end` or not at all."""
    ends = (
        []
        if end is None
        else [made(end, turn_id=turn_id, **({"output": f"re {turn_id}"} if end is TurnCompleted else {}))]
    )
    return [made(TurnAccepted, turn_id=turn_id, input=f"in {turn_id}", **accepted), *between, *ends]


def with_tools(turn_id: str) -> list[Any]:
    """A completed turn with one round of tools."""
    message = Message.of("assistant", [Text("look"), ToolCall.of("c1", "t", arguments={})])
    return turn(
        turn_id,
        TurnCompleted,
        made(ModelReplied, turn_id=turn_id, call=1, message=message, steered=0),
        made(ToolReturned, turn_id=turn_id, call_id="c1", name="t", output_json=freeze(7, "output")),
    )


def said(transcript: Transcript, steps: str = "all") -> list[str]:
    """The dialogue as short words; a result is its number."""
    found = dialogue(transcript.turns(), steps)
    return [message.text or ",".join(result.text for result in message.results) for message in found]


def test_completed_turns_are_input_and_reply() -> None:
    """Every completed turn is its input and then its reply, in order (J-080)."""
    transcript = transcript_of(*turn("a"), *turn("b"))
    assert said(transcript) == ["in a", "re a", "in b", "re b"]
    assert [message.role for message in dialogue(transcript.turns())] == ["user", "assistant"] * 2


@pytest.mark.parametrize("end", [TurnFailed, TurnCanceled, None], ids=["failed", "canceled", "interrupted"])
def test_unanswered_turns_are_left_out(end: Any) -> None:
    """A turn that did not complete is left out, its steering and its half reply with it (J-081)."""
    steering = made(TurnSteered, turn_id="b", input="shorter")
    assert said(transcript_of(*turn("a"), *turn("b", end, steering), *turn("c"))) == ["in a", "re a", "in c", "re c"]


def test_steering_stands_between_input_and_reply() -> None:
    """Steering of a completed turn is an extra user message before the reply, several in order (J-082)."""
    steering = [made(TurnSteered, turn_id="a", input=text) for text in ("shorter", "in French")]
    assert said(transcript_of(*turn("a", TurnCompleted, *steering))) == ["in a", "shorter", "in French", "re a"]


def test_retry_stands_for_what_it_tries_again() -> None:
    """A failed turn and its retry give the retry alone; a completed one that was retried stays too (J-083)."""
    assert said(transcript_of(*turn("a", TurnFailed), *turn("b", retry_of="a"))) == ["in b", "re b"]
    assert said(transcript_of(*turn("a"), *turn("b", retry_of="a"))) == ["in a", "re a", "in b", "re b"]


def test_edits_are_not_shown() -> None:
    """What a person would have preferred does not change what was said (J-084)."""
    edited = made(FeedbackRecorded, turn_id="a", preferred="better", rating=-1)
    assert said(transcript_of(*turn("a"), edited)) == ["in a", "re a"]


def test_steps_stand_between_input_and_reply() -> None:
    """Calls and their results stand between a turn's input and its reply."""
    assert said(transcript_of(*with_tools("a"))) == ["in a", "look", "7", "re a"]


@pytest.mark.parametrize(
    ("steps", "shown"),
    [
        ("all", ["in a", "look", "7", "re a", "in b", "look", "7", "re b", "in d", "re d"]),
        ("none", ["in a", "re a", "in b", "re b", "in d", "re d"]),
        ("last:0", ["in a", "re a", "in b", "re b", "in d", "re d"]),
        ("last:1", ["in a", "re a", "in b", "re b", "in d", "re d"]),
        ("last:2", ["in a", "re a", "in b", "look", "7", "re b", "in d", "re d"]),
        ("last:99", ["in a", "look", "7", "re a", "in b", "look", "7", "re b", "in d", "re d"]),
    ],
)
def test_steps_of_the_last_turns_alone(steps: str, shown: list[str]) -> None:
    """`last:N` keeps the steps of the last N completed turns; turns that did not complete do not count."""
    transcript = transcript_of(*with_tools("a"), *with_tools("b"), *turn("c", TurnFailed), *turn("d"))
    assert said(transcript, steps) == shown


@pytest.mark.parametrize("steps", ["some", "last", "last:", "last:x", "last:-1", "last:1.5", ""])
def test_other_steps_are_refused(steps: str) -> None:
    """Any other word for steps is refused, saying which there are."""
    with pytest.raises(Misuse) as caught:
        dialogue([], steps)
    assert str(caught.value) == f"steps={steps!r} is not known; use 'all', 'none' or 'last:N'"


def test_session_facts_are_folded() -> None:
    """Title and state are those written last; what was cleared is counted in turns."""
    transcript = transcript_of(
        *turn("a"),
        made(StateChanged, key="cart", value_json=freeze([1], "value")),
        made(SessionRenamed, title="Journey"),
        made(ContextCleared),
        *turn("b"),
        made(StateChanged, key="cart", value_json=freeze([1, 2], "value")),
    )
    assert (transcript.title, transcript.cleared, transcript.turn_count) == ("Journey", 1, 2)
    assert transcript.state["cart"].value == [1, 2]


def test_keys_lead_to_their_turns() -> None:
    """A key leads to the turn that was accepted or steered under it first."""
    steering = made(TurnSteered, turn_id="a", input="shorter", key="k2")
    transcript = transcript_of(*turn("a", TurnCompleted, steering, key="k1"), *turn("b", key="k3"))
    assert [transcript.with_key(key) for key in ("k1", "k2", "k3", "k4")] == ["a", "a", "b", None]


def test_kept_texts_are_found_by_digest() -> None:
    """Layer texts that journals keep once are found again by their digest."""
    shown = made(TurnShown, turn_id="a", call=1, model="m", texts_json=freeze({"d1": "Be brief."}, "texts"))
    transcript = transcript_of(*turn("a", TurnCompleted, shown))
    assert transcript.kept_texts == {"d1"}
    assert transcript.texts() == {"d1": "Be brief."}


def test_texts_of_the_wrong_shape_are_corrupt() -> None:
    """Texts that are no object are reported as corruption, not as a TypeError."""
    shown = made(TurnShown, turn_id="a", call=1, model="m", texts_json=freeze(5, "texts"))
    with pytest.raises(CorruptJournal, match="a int stands where an object belongs"):
        transcript_of(*turn("a", None, shown))


def test_turns_of_one_transcript_are_read_once() -> None:
    """A turn that did not change is the same object at the next look; one that did is another."""
    transcript = transcript_of(*turn("a"), *turn("b", None))
    before = transcript.turns()
    transcript.apply(made(TurnCanceled, turn_id="b"))
    after = transcript.turns()
    assert after[0] is before[0]
    assert (before[1].status, after[1].status) == ("interrupted", "canceled")
