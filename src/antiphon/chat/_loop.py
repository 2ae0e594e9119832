"""One turn, as a generator of effects: no I/O, no clock, no task. The loop alone decides how a turn ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._jsonable import NULL, Jsonable, freeze
from .._messages import Message, Text, ToolResult
from .._usage import Usage
from ..errors import ContextTooLong
from ..journal._entries import (
    Failure,
    KnownEntry,
    ModelReplied,
    Outcome,
    ToolAsked,
    ToolStarted,
    TurnCanceled,
    TurnCompleted,
    TurnFailed,
)
from ._effects import (
    Answered,
    Ask,
    Broken,
    Built,
    Done,
    Finish,
    Judge,
    LookUp,
    Loop,
    MoreSteering,
    OpenCall,
    RunCalls,
    Show,
    Stopped,
    Verdict,
    Write,
    perform,
)
from ._limits import Limits
from ._returned import returned_entry
from ._sentences import sentence_of

NOT_RUN = "not run: the turn has reached its limit"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run of a turn ended.

    Attributes:
        outcome: the entry that says so; None if the turn waits for a person.
        error: what `result()` raises, or None for a reply.
        written: whether the outcome is in the journal.
    """

    outcome: Outcome | None
    error: BaseException | None = None
    written: bool = True


@dataclass(slots=True)
class Turning:
    """What the loop knows of the turn it runs.

    Attributes:
        turn_id: the turn.
        limits: when to stop.
        entry: makes an entry of this session from a class and its fields.
        responder: what answers, for the outcome's metadata.
        calls: model calls so far.
        usage: tokens so far.
        tool_calls: calls of tools that were run so far.
        shortened: whether a call was made shorter because its model found it too long.
        last: the last reply of the runs before this one, or None.
    """

    turn_id: str
    limits: Limits
    entry: Callable[..., Any]
    responder: Jsonable
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    tool_calls: int = 0
    shortened: bool = False
    last: ModelReplied | None = None


def run_turn(turning: Turning) -> Loop[Ended]:
    """Ask until the turn has an outcome, and commit that outcome; or until it waits for a person.

    A turn that is taken up again begins with the calls that its last reply left open, and asks no more than a run
    that was never broken off.
    """
    ended = (yield from _settle(turning)) if turning.calls else None
    if ended is None and turning.last is not None and turning.limits.reached(turning.calls, turning.usage):
        ended = yield from _end_by_limit(turning, turning.last)
    while ended is None:
        turning.calls += 1
        ended = yield from _one_call(turning)
    return ended


def _one_call(turning: Turning) -> Loop[Ended | None]:
    offer_tools = not turning.limits.last_call(turning.calls, turning.usage, tool_calls=turning.tool_calls)
    built = yield from perform(Show(turning.calls, offer_tools))
    if not isinstance(built, Built):
        return (yield from _end_without_reply(turning, built))
    built, answer = yield from _asked(turning, built, offer_tools=offer_tools)
    if not isinstance(answer, Answered):
        return (yield from _end_without_reply(turning, answer))
    turning.usage += answer.reply.usage or Usage()
    last = not offer_tools or turning.limits.reached(turning.calls, turning.usage)
    if answer.reply.message.calls:
        return (yield from _round(turning, answer, seen=built.steered, last=last))
    return (yield from _end_with_reply(turning, answer, seen=built.steered, last=last))


def _asked(turning: Turning, built: Built, *, offer_tools: bool) -> Loop[tuple[Built, Answered | Broken | Stopped]]:
    """Ask; a call that its model finds too long is made shorter and asked again, once a turn."""
    answer = yield from perform(Ask(built.shown, turning.calls, offer_tools))
    if not isinstance(answer, Broken) or not isinstance(answer.error, ContextTooLong) or turning.shortened:
        return built, answer
    turning.shortened = True
    again = yield from perform(Show(turning.calls, offer_tools, refused=built.shown))
    if isinstance(again, Stopped):
        return built, again
    if not isinstance(again, Built) or again.shown.trace.total >= built.shown.trace.total:
        return built, answer  # nothing can be left out: what the provider said is why
    return again, (yield from perform(Ask(again.shown, turning.calls, offer_tools)))


def _round(turning: Turning, answer: Answered, *, seen: int, last: bool) -> Loop[Ended | None]:
    """Answer every call of a reply, whatever comes of it, and go on unless this was the last."""
    replied = _replied(turning, answer, seen=seen)
    # As they are kept: redacted, they must not run otherwise now than after a crash or an approval.
    calls = tuple(OpenCall(call) for call in replied.message.calls)
    if last:
        return (yield from _last_round(turning, answer, replied=replied, calls=calls))
    judged = yield from perform(Judge(calls, truncated=answer.reply.finish == "length"))
    if isinstance(judged, Stopped):
        return (yield from _end_without_reply(turning, Stopped(judged.reason, answer.reply.message.text)))
    verdicts = _within_limits(turning, judged.verdicts)
    ended = yield from _go_on(turning, answer, replied=replied, more=_entries(turning, verdicts))
    if ended is None:
        ended = yield from _run(turning, verdicts)
    return ended if ended is not None else (yield from _settle(turning))


def _last_round(turning: Turning, answer: Answered, *, replied: ModelReplied, calls: Sequence[OpenCall]) -> Loop[Ended]:
    """End the turn in the words that stand beside calls which may not run any more."""
    unrun = [_unrun(each) for each in calls]
    ended = yield from _go_on(turning, answer, replied=replied, more=_entries(turning, unrun))
    if ended is not None:
        return ended
    return (yield from _end_by_limit(turning, replied))


def _end_by_limit(turning: Turning, last: ModelReplied) -> Loop[Ended]:
    words = tuple(part for part in last.message.parts if isinstance(part, Text))
    outcome = _completed(turning, Message("assistant", words), seen=last.steered or 0, finish="limit")
    # Its text is in the journal by now, so a cancel that comes first has no partial.
    completed = yield from _complete(turning, outcome, seen=None, said="")
    assert completed is not None  # only steering that counts makes a turn go on
    return completed


def _settle(turning: Turning) -> Loop[Ended | None]:
    """Bring every call of the last reply to its result, or leave the turn waiting for a person."""
    while True:
        found = yield from perform(LookUp())
        if isinstance(found, Stopped):
            return (yield from _end_without_reply(turning, found))
        ready = tuple(each for each in found.calls if each.phase != "asked")
        if not ready:
            return Ended(None) if found.calls else None
        judged = yield from perform(Judge(ready))
        if isinstance(judged, Stopped):
            return (yield from _end_without_reply(turning, judged))
        verdicts = _within_limits(turning, judged.verdicts)
        written = yield from perform(Write(tuple(_entries(turning, verdicts))))
        if isinstance(written, Broken):
            return (yield from _end_without_reply(turning, written))
        ended = yield from _run(turning, verdicts)
        if ended is not None:
            return ended


def _run(turning: Turning, verdicts: Sequence[Verdict]) -> Loop[Ended | None]:
    started = tuple(each for each in verdicts if each.action == "run")
    if not started:
        return None
    turning.tool_calls += sum(not each.open.attempts for each in started)
    done = yield from perform(RunCalls(started))
    return None if isinstance(done, Done) else (yield from _end_without_reply(turning, done))


def _within_limits(turning: Turning, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The same verdicts, where the limit leaves room for them; a call that was started before has its room."""
    left = turning.limits.tools_left(turning.tool_calls)
    found = []
    for each in verdicts:
        if each.action != "answer" and not each.open.attempts and left is not None:
            each, left = (each, left - 1) if left > 0 else (_unrun(each.open), 0)
        found.append(each)
    return found


def _unrun(call: OpenCall) -> Verdict:
    told = freeze(f"{NOT_RUN}: {call.call.name!r}", "output")
    return Verdict(call, "answer", result=ToolResult(call.call.id, call.call.name, told, is_error=True))


def _entries(turning: Turning, verdicts: Sequence[Verdict]) -> list[KnownEntry]:
    """What is journaled before a call can have any effect: who is asked, what starts, what is answered unrun."""
    found: list[KnownEntry] = []
    for each in verdicts:
        call = each.open.call
        if each.action == "ask":
            given = NULL if each.arguments is None else each.arguments
            fields = {"call_id": call.id, "reason": each.reason, "arguments_json": given}
            found.append(turning.entry(ToolAsked, turn_id=turning.turn_id, **fields))
        elif each.result is not None:
            found.append(returned_entry(turning.entry, turning.turn_id, result=each.result))
    started = tuple(each.open.call.id for each in verdicts if each.action == "run")
    if started:
        found.append(turning.entry(ToolStarted, turn_id=turning.turn_id, call_ids=started))
    return found


def _end_with_reply(turning: Turning, answer: Answered, *, seen: int, last: bool) -> Loop[Ended | None]:
    reply = answer.reply
    finish = "stop" if reply.finish == "calls" else reply.finish
    outcome = _completed(turning, reply.message, seen=seen, finish=finish, usage=reply.usage, model=reply.model)
    ended = yield from _complete(turning, outcome, seen=None if last else seen, said=reply.message.text)
    if ended is not None:
        return ended
    return (yield from _go_on(turning, answer, replied=_replied(turning, answer, seen=seen)))


def _go_on(
    turning: Turning, answer: Answered, *, replied: ModelReplied, more: Sequence[KnownEntry] = ()
) -> Loop[Ended | None]:
    """Keep a reply that did not end the turn, and in the same append what comes of its calls."""
    written = yield from perform(Write((replied, *more)))
    if isinstance(written, Broken):
        said = Broken(written.error, answer.reply.message.text)
        return (yield from _end_without_reply(turning, said))
    return None


def _complete(turning: Turning, outcome: TurnCompleted, *, seen: int | None, said: str) -> Loop[Ended | None]:
    """End the turn in a reply, unless it was canceled first; None if it was steered first."""
    verdict = yield from perform(Finish(outcome, seen))
    match verdict:
        case MoreSteering():
            return None
        case Stopped():
            return (yield from _end_without_reply(turning, Stopped(verdict.reason, said)))
        case Broken():
            return Ended(outcome, verdict.error, written=False)
        case Done():
            return Ended(outcome)


def _end_without_reply(turning: Turning, why: Broken | Stopped) -> Loop[Ended]:
    fields: dict[str, Any] = {"turn_id": turning.turn_id, "partial": why.partial or None}
    if isinstance(why, Stopped):
        return (yield from _commit(turning.entry(TurnCanceled, reason=why.reason, **fields)))
    failure = Failure(type(why.error).__name__, sentence_of(why.error))
    return (yield from _commit(turning.entry(TurnFailed, error=failure, **fields), why.error))


def _commit(outcome: Outcome, error: BaseException | None = None) -> Loop[Ended]:
    """Write an outcome that nothing can hold up any more; if that fails, the turn's own error still counts."""
    verdict = yield from perform(Finish(outcome, None, final=True))
    if isinstance(verdict, Broken):
        own = error if error is not None or isinstance(outcome, TurnCanceled) else verdict.error
        return Ended(outcome, own, written=False)
    return Ended(outcome, error)


def _replied(turning: Turning, answer: Answered, *, seen: int) -> ModelReplied:
    reply = answer.reply
    entry: ModelReplied = turning.entry(
        ModelReplied,
        turn_id=turning.turn_id,
        call=turning.calls,
        message=reply.message,
        usage=reply.usage,
        model=reply.model,
        steered=seen,
    )
    return entry


def _completed(
    turning: Turning,
    message: Message,
    *,
    seen: int,
    finish: str,
    usage: Usage | None = None,
    model: str | None = None,
) -> TurnCompleted:
    only_text = len(message.parts) == 1 and isinstance(message.parts[0], Text)
    entry: TurnCompleted = turning.entry(
        TurnCompleted,
        turn_id=turning.turn_id,
        output=message.text if only_text else None,
        message=None if only_text else message,
        finish=None if finish == "stop" else finish,
        usage=usage,
        model=model,
        steered=seen,
        metadata_json=freeze({"responder": turning.responder}, "metadata"),
    )
    return entry
