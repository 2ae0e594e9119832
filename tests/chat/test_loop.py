"""The turn loop alone: no store, no model, no clock; every answer is written down."""

from typing import Any

import pytest

from antiphon import Message, Text, ToolCall, ToolResult, Trace, Usage
from antiphon.chat import Limits
from antiphon.chat._effects import (
    Answered,
    Ask,
    Broken,
    Built,
    Done,
    Effect,
    Finish,
    Judge,
    Judged,
    LookUp,
    MoreSteering,
    Open,
    OpenCall,
    RunCalls,
    Show,
    Stopped,
    Verdict,
    Write,
)
from antiphon.chat._loop import Ended, Turning, run_turn
from antiphon.context import Shown
from antiphon.errors import AppendFailed
from antiphon.journal import (
    ModelReplied,
    ToolAsked,
    ToolReturned,
    ToolStarted,
    TurnCanceled,
    TurnCompleted,
    TurnFailed,
    heading,
)
from antiphon.models import Replied
from tests.chat.fakes import AT

SHOWN = Shown("", (), Trace("t", 1, "m", ()))
REFUSED = AppendFailed("s", "the disk is full")


def turning(**limits: Any) -> Turning:
    """A turn that the loop has just been given."""
    return Turning("t", Limits(**limits), lambda cls, **f: cls(**heading("s", AT), **f), {"kind": "model", "name": "m"})


NONE = Open(())


def opened(number: int = 0, name: str = "a", **fields: Any) -> OpenCall:
    """A call that `calls` makes."""
    return OpenCall(ToolCall(f"c{number}", name), **fields)


def run(call: OpenCall) -> Verdict:
    """It may run."""
    return Verdict(call, "run")


def ask(call: OpenCall) -> Verdict:
    """A person is asked."""
    return Verdict(call, "ask", reason="by rule")


def refuse(call: OpenCall) -> Verdict:
    """It is answered without being run."""
    return Verdict(call, "answer", result=ToolResult.of(call.call.id, call.call.name, output="no", is_error=True))


def judged(*verdicts: Verdict) -> Judged:
    """What becomes of calls."""
    return Judged(verdicts)


def driven(turn: Turning, *answers: object) -> tuple[list[Effect[Any]], Ended]:
    """Give the loop these answers; what it asked for, and how the turn ended."""
    loop = run_turn(turn)
    effects = [next(loop)]
    for i, answer in enumerate(answers):
        try:
            effects.append(loop.send(answer))
        except StopIteration as end:
            ended: Ended = end.value
            return effects, _ended_last(ended, left=len(answers) - 1 - i)
    raise AssertionError(f"the loop goes on: {effects[-1]}")


def _ended_last(ended: Ended, *, left: int) -> Ended:
    assert left == 0, "it ended before it was given every answer"
    return ended


def built(steered: int = 0) -> Built:
    """A context with so many steerings."""
    return Built(SHOWN, steered)


def text(words: str = "hello", **fields: Any) -> Answered:
    """A reply in words."""
    return Answered(Replied(Message.of("assistant", words), **fields))


def calls(*names: str, words: str = "", **fields: Any) -> Answered:
    """A reply that asks for tools."""
    parts = (Text(words),) if words else ()
    asked = tuple(ToolCall(f"c{i}", name) for i, name in enumerate(names))
    return Answered(Replied(Message("assistant", (*parts, *asked)), finish="calls", **fields))


def kinds(effects: list[Effect[Any]]) -> list[str]:
    """The effects' names."""
    return [type(effect).__name__ for effect in effects]


def outcome(effects: list[Effect[Any]]) -> TurnCompleted | TurnFailed | TurnCanceled:
    """The entry of the last Finish."""
    last = effects[-1]
    assert isinstance(last, Finish)
    return last.entry


def written(effect: Effect[Any]) -> list[object]:
    """The entries of a Write."""
    assert isinstance(effect, Write)
    return list(effect.entries)


def test_a_plain_turn_is_shown_asked_and_finished() -> None:
    """A reply in words ends the turn in three effects, and its outcome says what answered."""
    usage = Usage(input=3, output=2)
    effects, ended = driven(turning(), built(), text(usage=usage, model="m-1", finish="length"), Done())
    assert kinds(effects) == ["Show", "Ask", "Finish"]
    entry = ended.outcome
    assert isinstance(entry, TurnCompleted)
    assert effects[2] == Finish(entry, seen=0)
    assert (entry.output, entry.message, entry.finish, entry.usage, entry.model) == (
        "hello",
        None,
        "length",
        usage,
        "m-1",
    )
    assert entry.metadata == {"responder": {"kind": "model", "name": "m"}}
    assert (ended.error, ended.written) == (None, True)


def test_a_reply_of_more_than_text_is_kept_as_message() -> None:
    """The outcome holds a message where text alone would lose something, never both."""
    parts = (Text("a"), Text("b"))
    _, ended = driven(turning(), built(), Answered(Replied(Message("assistant", parts))), Done())
    entry = ended.outcome
    assert isinstance(entry, TurnCompleted)
    assert (entry.output, entry.message) == (None, Message("assistant", parts))


def test_finish_calls_without_calls_reads_as_stop() -> None:
    """A model that says it stopped for tools, and names none, has stopped."""
    _, ended = driven(turning(), built(), text(finish="calls"), Done())
    assert isinstance(ended.outcome, TurnCompleted)
    assert ended.outcome.finish is None


def test_failure_while_building_fails_the_turn() -> None:
    """What a context raises ends the turn, and is its own error."""
    error = ValueError("no context")
    effects, ended = driven(turning(), Broken(error), Done())
    assert kinds(effects) == ["Show", "Finish"]
    entry = outcome(effects)
    assert isinstance(entry, TurnFailed)
    assert repr(entry.error) == "Failure(kind='ValueError', text='no context')"
    assert entry.partial is None
    assert ended.error is error


def test_failure_while_asking_keeps_what_was_said() -> None:
    """What a model raises ends the turn; what it had said is the partial."""
    error = ValueError("gone")
    effects, ended = driven(turning(), built(), Broken(error, "half a"), Done())
    entry = outcome(effects)
    assert isinstance(entry, TurnFailed)
    assert entry.partial == "half a"
    assert ended.error is error


RUN = judged(run(opened()))


@pytest.mark.parametrize(
    ("answers", "partial"),
    [
        ([Stopped("why")], None),
        ([built(), Stopped("why", "half")], "half"),
        ([built(), text("whole"), Stopped("why")], "whole"),
        ([built(), calls("a", words="looking"), Stopped("why")], "looking"),
        ([built(), calls("a", words="looking"), RUN, Done(), Stopped("why")], None),
        ([built(), calls("a"), RUN, Done(), Done(), Stopped("why")], None),
        ([built(), calls("a"), RUN, Done(), Done(), NONE, Stopped("why")], None),
        ([built(), calls("a"), RUN, Done(), Done(), NONE, built(), Stopped("why", "half")], "half"),
        ([built(), calls("a"), judged(ask(opened())), Done(), Stopped("why")], None),
    ],
    ids=[
        *("showing", "asking", "finishing", "judging", "running", "looking-up", "between-calls", "second-call"),
        "about-to-wait",
    ],
)
def test_a_stop_at_each_place_cancels(answers: list[object], partial: str | None) -> None:
    """Wherever a stop comes, the outcome is turn.canceled with its reason and what the running call had said."""
    effects, ended = driven(turning(), *answers, Done())
    entry = outcome(effects)
    assert isinstance(entry, TurnCanceled)
    assert (entry.reason, entry.partial) == ("why", partial)
    assert effects[-1] == Finish(entry, None, final=True)
    assert (ended.error, ended.written) == (None, True)


def test_steering_during_the_last_call_asks_once_more() -> None:
    """A reply that steering overtook is kept as model.replied, and the loop asks again."""
    effects, ended = driven(turning(), built(), text("one"), MoreSteering(), Done(), built(1), text("two"), Done())
    assert kinds(effects) == ["Show", "Ask", "Finish", "Write", "Show", "Ask", "Finish"]
    (kept,) = written(effects[3])
    assert isinstance(kept, ModelReplied)
    assert (kept.call, kept.message.text, kept.steered) == (1, "one", 0)
    assert isinstance(ended.outcome, TurnCompleted)
    assert (ended.outcome.output, ended.outcome.steered) == ("two", 1)


def test_a_round_is_judged_kept_run_and_looked_up() -> None:
    """One append holds the reply and all that comes of its calls before any runs: asked, answered, started last."""
    first, second, third = opened(0, "a"), opened(1, "b"), opened(2, "c")
    verdicts = judged(run(first), refuse(second), run(third))
    effects, ended = driven(
        turning(), built(), calls("a", "b", "c"), verdicts, Done(), Done(), NONE, built(), text(), Done()
    )
    assert kinds(effects) == ["Show", "Ask", "Judge", "Write", "RunCalls", "LookUp", "Show", "Ask", "Finish"]
    assert effects[2] == Judge((first, second, third))
    replied, returned, started = written(effects[3])
    assert isinstance(replied, ModelReplied)
    assert isinstance(returned, ToolReturned)
    assert (returned.call_id, returned.is_error) == ("c1", True)
    assert isinstance(started, ToolStarted)
    assert started.call_ids == ("c0", "c2")
    assert effects[4] == RunCalls((run(first), run(third)))
    assert isinstance(ended.outcome, TurnCompleted)


def test_a_turn_that_asks_a_person_ends_without_outcome() -> None:
    """Where a call waits, the others run first; then the run ends, and nothing more is written."""
    verdicts = judged(ask(opened(0)), run(opened(1, "b")))
    waits = Open((opened(0, phase="asked"),))
    effects, ended = driven(turning(), built(), calls("a", "b"), verdicts, Done(), Done(), waits)
    assert kinds(effects) == ["Show", "Ask", "Judge", "Write", "RunCalls", "LookUp"]
    _, asked, started = written(effects[3])
    assert isinstance(asked, ToolAsked)
    assert (asked.call_id, asked.reason) == ("c0", "by rule")
    assert isinstance(started, ToolStarted)
    assert started.call_ids == ("c1",)
    assert (ended.outcome, ended.error) == (None, None)


def test_what_is_decided_while_others_run_goes_on_at_once() -> None:
    """A call that was decided by the time its siblings have ended is judged again and run in the same run."""
    allowed = opened(0, phase="allowed")
    effects, ended = driven(
        *(turning(), built(), calls("a", "b"), judged(ask(opened(0)), run(opened(1, "b"))), Done(), Done()),
        *(Open((allowed,)), judged(run(allowed)), Done(), Done(), NONE, built(), text(), Done()),
    )
    assert kinds(effects)[5:] == ["LookUp", "Judge", "Write", "RunCalls", "LookUp", "Show", "Ask", "Finish"]
    (started,) = written(effects[7])
    assert isinstance(started, ToolStarted)
    assert isinstance(ended.outcome, TurnCompleted)


def test_a_cut_off_reply_is_judged_as_such() -> None:
    """Calls of a reply that ended at its length are judged as truncated."""
    reply = Replied(Message("assistant", (ToolCall("c0", "a"),)), finish="length")
    verdicts = judged(refuse(opened()))
    effects, _ = driven(turning(), built(), Answered(reply), verdicts, Done(), NONE, built(), text(), Done())
    assert effects[2] == Judge((opened(),), truncated=True)


def test_a_turn_taken_up_begins_with_its_open_calls() -> None:
    """A turn with a reply behind it is settled first; its next model call has the next number."""
    turn = turning()
    turn.calls = 1
    allowed = opened(0, phase="allowed")
    effects, ended = driven(turn, Open((allowed,)), judged(run(allowed)), Done(), Done(), NONE, built(), text(), Done())
    assert kinds(effects) == ["LookUp", "Judge", "Write", "RunCalls", "LookUp", "Show", "Ask", "Finish"]
    assert effects[5] == Show(2)
    assert isinstance(ended.outcome, TurnCompleted)


def test_a_turn_taken_up_that_still_waits_writes_nothing() -> None:
    """Looking is all that is done for a turn on which nobody has decided."""
    turn = turning()
    turn.calls = 1
    effects, ended = driven(turn, Open((opened(0, phase="asked"),)))
    assert effects == [LookUp()]
    assert ended.outcome is None


def test_a_result_that_cannot_be_kept_fails_the_turn() -> None:
    """When a result is refused by the store, the turn ends by the store's error; no model is asked."""
    effects, ended = driven(turning(), built(), calls("a"), RUN, Done(), Broken(REFUSED), Done())
    assert isinstance(outcome(effects), TurnFailed)
    assert ended.error is REFUSED


def test_calls_beyond_the_limit_are_answered_unrun() -> None:
    """Of a round only as many calls run as the limit leaves room for, the first ones; the next call is the last."""
    verdicts = judged(*(run(opened(n, name)) for n, name in enumerate("abc")))
    effects, _ = driven(
        turning(tool_calls=2), built(), calls("a", "b", "c"), verdicts, Done(), Done(), NONE, built(), text(), Done()
    )
    _, returned, started = written(effects[3])
    assert isinstance(returned, ToolReturned)
    assert (returned.call_id, returned.is_error) == ("c2", True)
    assert "limit" in bytes(returned.output_json).decode()
    assert isinstance(started, ToolStarted)
    assert started.call_ids == ("c0", "c1")
    assert [effect.offer_tools for effect in effects if isinstance(effect, Show)] == [True, False]


@pytest.mark.parametrize("verdict", [ask, run], ids=["asked", "idempotent"])
def test_a_call_that_was_started_before_has_its_place_in_the_limit(verdict: Any) -> None:
    """A limit that is used up by a call which a dead run left started never says of it that it was not run."""
    turn = turning(tool_calls=1)
    turn.calls, turn.tool_calls = 1, 1
    left = opened(0, phase="started", attempts=1)
    rest = [Open((opened(0, phase="asked"),))] if verdict is ask else [Done(), Stopped("x"), Done()]
    effects, _ = driven(turn, Open((left,)), judged(verdict(left)), Done(), *rest)
    (entry,) = written(effects[2])
    assert isinstance(entry, ToolAsked | ToolStarted)
    assert turn.tool_calls == 1


def test_the_only_call_is_the_last() -> None:
    """With model_calls=1 tools are not offered, calls are answered all the same, and the turn ends by its limit."""
    effects, ended = driven(turning(model_calls=1), built(), calls("a", words="I would look"), Done(), Done())
    assert effects[:2] == [Show(1, offer_tools=False), Ask(SHOWN, 1, offer_tools=False)]
    assert kinds(effects) == ["Show", "Ask", "Write", "Finish"]
    assert isinstance(ended.outcome, TurnCompleted)
    assert (ended.outcome.finish, ended.outcome.output) == ("limit", "I would look")


def test_words_in_the_last_call_are_a_plain_reply() -> None:
    """A last call that answers in words ends the turn as any other, even if it was steered meanwhile."""
    effects, ended = driven(turning(model_calls=1), built(), text(), Done())
    assert isinstance(ended.outcome, TurnCompleted)
    assert effects[-1] == Finish(ended.outcome, seen=None)
    assert ended.outcome.finish is None


def test_spent_tokens_lead_to_one_last_call() -> None:
    """at_limit='answer' asks once more without tools when the tokens are used up."""
    effects, ended = driven(
        *(turning(tokens=10), built(), calls("a", usage=Usage(8, 4)), RUN, Done(), Done(), NONE),
        *(built(), text("so"), Done()),
    )
    assert [effect.offer_tools for effect in effects if isinstance(effect, Ask)] == [True, False]
    assert isinstance(ended.outcome, TurnCompleted)
    assert ended.outcome.output == "so"


@pytest.mark.parametrize("limits", [{"tokens": 10}, {"model_calls": 1}], ids=["tokens", "calls"])
def test_at_limit_stop_ends_with_what_there_is(limits: dict[str, Any]) -> None:
    """at_limit='stop' makes no further call; calls are answered, and the finish says limit."""
    effects, ended = driven(
        turning(**limits, at_limit="stop"), built(), calls("a", words="hm", usage=Usage(8, 4)), Done(), Done()
    )
    assert kinds(effects) == ["Show", "Ask", "Write", "Finish"]
    assert isinstance(ended.outcome, TurnCompleted)
    assert (ended.outcome.output, ended.outcome.finish) == ("hm", "limit")


def test_a_cancel_wins_over_a_limit_not_yet_written() -> None:
    """A turn that ends by its limit can be canceled up to its outcome, like any other."""
    effects, ended = driven(turning(model_calls=1), built(), calls("a"), Done(), Stopped("enough"), Done())
    assert effects[-2] == Finish(effects[-2].entry, None) if isinstance(effects[-2], Finish) else False
    assert isinstance(ended.outcome, TurnCanceled)


def test_a_reply_that_cannot_be_written_is_the_stores_error() -> None:
    """A completed outcome that the store refuses ends the turn with the store's error, unwritten."""
    _, ended = driven(turning(), built(), text(), Broken(REFUSED))
    assert (ended.error, ended.written) == (REFUSED, False)
    assert isinstance(ended.outcome, TurnCompleted)


def test_a_failure_that_cannot_be_written_keeps_its_own_error() -> None:
    """A failed outcome that the store refuses still raises what failed the turn."""
    error = ValueError("own")
    _, ended = driven(turning(), Broken(error), Broken(REFUSED))
    assert (ended.error, ended.written) == (error, False)


def test_a_cancel_that_cannot_be_written_stays_a_cancel() -> None:
    """A canceled outcome that the store refuses still reads as canceled to the caller."""
    _, ended = driven(turning(), Stopped("why"), Broken(REFUSED))
    assert (ended.error, ended.written) == (None, False)
    assert isinstance(ended.outcome, TurnCanceled)


def test_a_limit_that_cannot_be_written_is_the_stores_error() -> None:
    """An outcome by limit is a reply: unwritten, it raises the store's error."""
    _, ended = driven(turning(model_calls=1), built(), calls("a"), Done(), Broken(REFUSED))
    assert (ended.error, ended.written) == (REFUSED, False)


@pytest.mark.parametrize("answer", [calls("a", words="looking"), text("looking")], ids=["calls", "steered"])
def test_a_reply_that_cannot_be_kept_fails_the_turn(answer: Answered) -> None:
    """When a reply in the middle cannot be written, the turn fails by the store, with the reply as partial."""
    steered = [RUN] if answer.reply.message.calls else [MoreSteering()]
    effects, ended = driven(turning(), built(), answer, *steered, Broken(REFUSED), Done())
    entry = outcome(effects)
    assert isinstance(entry, TurnFailed)
    assert entry.partial == "looking"
    assert ended.error is REFUSED
