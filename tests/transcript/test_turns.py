"""Turns as they are read back, from journals of ours and from june's."""

from collections.abc import Sequence
from typing import Any

import pytest

from antiphon import Image, Message, Text, ToolCall, Turn, Usage
from antiphon._jsonable import freeze
from antiphon.journal import (
    Failure,
    FeedbackRecorded,
    ModelReplied,
    SessionCreated,
    ToolAsked,
    ToolReturned,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnFailed,
    TurnShown,
    TurnSteered,
)
from antiphon.transcript import Transcript
from tests.journal.sample import SESSION, made

CALL = ToolCall.of("c1", "weather", arguments={"city": "Köln"})
ASKED = made(ModelReplied, call=1, message=Message.of("assistant", [Text("let me look"), CALL]), steered=0)
RETURNED = made(ToolReturned, call_id="c1", name="weather", output_json=freeze({"celsius": 12}, "output"))


def turn_of(*entries: Any, input: Any = "hi", **accepted: Any) -> Turn:
    """The one turn that these entries make, as a process reads it that opens the session."""
    transcript = Transcript(SESSION)
    for entry in (made(SessionCreated), made(TurnAccepted, input=input, **accepted), *entries):
        transcript.apply(entry)
    [turn] = transcript.turns()
    return turn


def said(turn: Turn) -> Sequence[tuple[str, str]]:
    """Who said what."""
    return [(message.role, message.text or str([each.output for each in message.results])) for message in turn.messages]


def test_completed_turn_gives_its_reply() -> None:
    """A completed turn has an output, a reply as a message, how it ended, its model and its metadata."""
    turn = turn_of(
        made(
            TurnCompleted,
            output="hello",
            finish="length",
            model="gpt-x",
            metadata_json=freeze({"responder": {"kind": "model"}}, "metadata"),
        )
    )
    assert (turn.status, turn.output, turn.finish_reason, turn.model) == ("completed", "hello", "length", "gpt-x")
    assert turn.reply == Message.of("assistant", "hello")
    assert turn.metadata == {"responder": {"kind": "model"}}
    assert (turn.partial, turn.error) == (None, None)


def test_reply_of_parts_is_kept_as_one() -> None:
    """A reply that is more than text is kept as a message, and its text is the output."""
    message = Message.of("assistant", [Text("see"), Image("image/png", data="aGk=")])
    turn = turn_of(made(TurnCompleted, message=message))
    assert (turn.output, turn.reply, turn.finish_reason) == ("see", message, "stop")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (Failure("Overloaded", "model 'm' is overloaded"), "Overloaded: model 'm' is overloaded"),
        ("it broke", "it broke"),
        (None, None),
    ],
)
def test_failed_turn_says_why(error: Any, sentence: str | None) -> None:
    """A failed turn has an error in one sentence and what was said by then, but no output."""
    turn = turn_of(made(TurnFailed, error=error, partial="hel"))
    assert (turn.status, turn.error, turn.partial) == ("failed", sentence, "hel")
    assert (turn.output, turn.reply, turn.finish_reason, turn.model) == (None, None, None, None)


def test_canceled_turn_keeps_what_was_said() -> None:
    """A canceled turn has its reason and the half reply (NousResearch/hermes-agent#52854)."""
    turn = turn_of(made(TurnCanceled, reason="enough", partial="hel"))
    assert (turn.status, turn.error, turn.partial, turn.output) == ("canceled", "enough", "hel", None)
    assert said(turn) == [("user", "hi"), ("assistant", "hel")]


def test_turn_without_an_outcome_was_interrupted() -> None:
    """A turn without an outcome reads as interrupted, wherever its entries stop and whatever stands behind it."""
    assert turn_of().status == "interrupted"
    assert turn_of(made(TurnShown, call=1, model="m"), ASKED).status == "interrupted"
    assert turn_of(made(FeedbackRecorded, rating=-1)).status == "interrupted"


def test_turn_with_an_open_question_waits() -> None:
    """A turn of which a person was asked waits, also once it is read again."""
    turn = turn_of(ASKED, made(ToolAsked, call_id="c1", reason="costs money"))
    assert turn.status == "waiting"


def test_messages_hold_everything_in_order() -> None:
    """A turn's messages are input, call, results, steering and reply, whatever its status (P16)."""
    steered = made(TurnSteered, input="shorter")
    turn = turn_of(ASKED, RETURNED, steered, made(TurnCompleted, output="12 °C", steered=1))
    assert said(turn) == [
        ("user", "hi"),
        ("assistant", "let me look"),
        ("tool", "[{'celsius': 12}]"),
        ("user", "shorter"),
        ("assistant", "12 °C"),
    ]
    assert said(turn_of(ASKED, RETURNED, steered)) == said(turn)[:-1]
    assert said(turn_of(ASKED)) == said(turn)[:2]


def test_steering_that_nobody_saw_stands_last() -> None:
    """Steering that came too late for any call is recorded and never gone (openclaw/openclaw#127996)."""
    turn = turn_of(ASKED, RETURNED, made(TurnSteered, input="shorter"), made(TurnCanceled))
    assert said(turn)[-1] == ("user", "shorter")
    assert turn.steering == ("shorter",)
    late = turn_of(made(TurnSteered, input="shorter"), made(TurnCompleted, output="long", steered=0))
    assert said(late) == [("user", "hi"), ("assistant", "long"), ("user", "shorter")]


def test_steering_of_other_writers_stands_before_the_reply() -> None:
    """Where a journal does not say what a reply had seen, as june's, it had seen the steering before it."""
    turn = turn_of(
        made(TurnSteered, input="a"),
        made(ModelReplied, call=1, message=Message.of("assistant", "wait")),
        made(TurnSteered, input="b"),
        made(TurnCompleted, output="yes"),
    )
    assert [text for _, text in said(turn)] == ["hi", "a", "wait", "b", "yes"]


def test_results_stand_in_the_order_of_the_calls() -> None:
    """Results that came in another order stand in the order of their calls; a call without one has none."""
    calls = [ToolCall.of(id, "t", arguments={}) for id in ("c1", "c2", "c3")]
    late = [made(ToolReturned, call_id=id, name="t", output_json=freeze(id, "output")) for id in ("c3", "c1")]
    turn = turn_of(made(ModelReplied, call=1, message=Message.of("assistant", calls)), *late, made(TurnCanceled))
    assert said(turn)[-1] == ("tool", "['c1', 'c3']")


def test_call_ids_that_come_again_keep_their_own_results() -> None:
    """Two rounds whose calls have the same id, as servers number them, keep each its own result."""
    entries = []
    for number in (1, 2):
        message = Message.of("assistant", [ToolCall.of("call_0", "t", arguments={"n": number})])
        entries += [
            made(ModelReplied, call=number, message=message, steered=0),
            made(ToolReturned, call_id="call_0", name="t", output_json=freeze(number, "output")),
        ]
    turn = turn_of(*entries, made(TurnCompleted, output="done", steered=0))
    assert [message.results[0].output for message in turn.messages if message.results] == [1, 2]


def test_usage_is_the_sum_of_the_calls() -> None:
    """A turn's usage sums what its calls reported; without any report it is None, not zero."""
    first = made(ModelReplied, call=1, message=Message.of("assistant", "wait"), usage=Usage(10, 2, 4))
    turn = turn_of(first, made(TurnCompleted, output="yes", usage=Usage(20, 3)))
    assert turn.usage == Usage(30, 5, 4)
    assert turn_of(made(TurnCompleted, output="yes")).usage is None


def test_feedback_stands_beside_the_reply() -> None:
    """Feedback is kept in order, after any outcome, and changes no reply (J-024, J-045)."""
    marks = [made(FeedbackRecorded, rating=1), made(FeedbackRecorded, preferred="Hello!", by="ana")]
    turn = turn_of(made(TurnCompleted, output="hello"), *marks)
    assert turn.feedback == tuple(marks)
    assert turn.output == "hello"


def test_metadata_of_input_and_outcome_are_one() -> None:
    """A turn shows the caller's metadata and over it what the outcome carries, decoded anew each time."""
    end = made(TurnCompleted, output="yes", metadata_json=freeze({"a": 2, "responder": {"kind": "function"}}, "m"))
    turn = turn_of(end, metadata_json=freeze({"a": 1, "b": [1]}, "metadata"))
    turn.metadata["b"].append(2)
    assert turn.metadata == {"a": 2, "b": [1], "responder": {"kind": "function"}}


def test_turn_remembers_what_was_asked() -> None:
    """A turn has its key, the turn that it tries again, its options and when it was accepted."""
    turn = turn_of(key="k1", retry_of="t0", options_json=freeze({"model": "echo:"}, "options"), input=(Text("hi"),))
    assert (turn.key, turn.retry_of, turn.options) == ("k1", "t0", {"model": "echo:"})
    assert (turn.input, turn.accepted_at) == ((Text("hi"),), "2026-03-01T09:00:00.000Z")


def test_traces_are_read_back() -> None:
    """Each model call's trace can be read, and one without a trace is empty."""
    kept = freeze({"layers": [["input", None, "included", 3]], "window": 100}, "trace")
    turn = turn_of(made(TurnShown, call=1, model="m", trace_json=kept), made(TurnShown, call=2, model="n"))
    assert [(trace.call, trace.model, trace.total) for trace in turn.traces] == [(1, "m", 3), (2, "n", 0)]


@pytest.mark.parametrize("name", ["status", "entries", "id", "output", "anything"])
def test_turn_cannot_be_changed(name: str) -> None:
    """Nothing of a turn can be set or taken away (J-111)."""
    turn = turn_of(made(TurnCompleted, output="yes"))
    with pytest.raises(AttributeError):
        setattr(turn, name, "x")
    with pytest.raises(AttributeError):
        delattr(turn, name)


def test_turns_are_equal_by_content() -> None:
    """Two readings of one turn are equal and hash alike; another status is another turn."""
    first, second = (turn_of(made(TurnCompleted, output="yes")) for _ in range(2))
    assert (first, hash(first)) == (second, hash(second))
    assert first != turn_of()
    assert repr(first) == "Turn('t1', completed, 'hi')"


def test_a_turn_that_goes_on_keeps_its_results() -> None:
    """Read again after an entry more, a turn gives the same messages of results: what was counted stays counted."""
    transcript = Transcript(SESSION)
    limited = made(ToolReturned, call_id="c1", name="weather", output_json=freeze("x" * 900, "output"), limit=90)
    for entry in (made(SessionCreated), made(TurnAccepted, input="hi"), ASKED, limited):
        transcript.apply(entry)
    [before] = transcript.turns()
    transcript.apply(made(ModelReplied, call=2, message=Message.of("assistant", "and"), steered=0))
    [after] = transcript.turns()
    assert after is not before
    assert after.messages[2] is before.messages[2]
    assert after.shown_messages[2] is before.shown_messages[2] is not after.messages[2]


def test_results_of_one_round_come_one_after_another() -> None:
    """What a round has given by then is read each time: a message of one result does not stand for two."""
    other = ToolCall.of("c2", "weather", arguments={"city": "Bonn"})
    asked = made(ModelReplied, call=1, message=Message.of("assistant", [CALL, other]), steered=0)
    second = made(ToolReturned, call_id="c2", name="weather", output_json=freeze("fog", "output"))
    transcript = Transcript(SESSION)
    for entry in (made(SessionCreated), made(TurnAccepted, input="hi"), asked, RETURNED):
        transcript.apply(entry)
    assert [result.output for result in transcript.turns()[0].messages[-1].results] == [{"celsius": 12}]
    transcript.apply(second)
    assert [result.output for result in transcript.turns()[0].messages[-1].results] == [{"celsius": 12}, "fog"]
