"""A session's calls as another context would have had them shown. No model is asked, and nothing is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .._jsonable import Jsonable
from .._messages import Message, input_text
from .._trace import Trace
from ..context import Budget, Derived, Shown, View
from ..context._assembly import Call, digest
from ..context._budget import budget_for
from ..context._prefix import shared_tokens
from ..context._showing import TurnShowing
from ..errors import Misuse, WindowTooSmall
from ..journal import ModelReplied, StateChanged, TurnAccepted, TurnCompleted, TurnShown, TurnSteered
from ..models import ModelEvent, ModelRequest
from ..transcript import Transcript, Turn
from ..transcript._replay import Compaction
from ._plan import TurnPlan
from ._planner import AnyContext, AnyModel
from ._session import Session
from ._what_if_result import WhatIf, WhatIfCall


async def what_if(
    session: Session,
    context: AnyContext,
    *,
    model: AnyModel | None = None,
    window: int | None = None,
    turns: Collection[int] | None = None,
) -> WhatIf:
    """Build every model call of a session anew, as another context would have had it shown at that time.

    A turn sees the turns that stood before it then, since the context was last cleared by then, and each of its calls
    what the turn had said by then. Instructions are those that were sent, where their text is kept, else the Chat's.
    Nothing is asked and nothing is written: a summary that was kept is used, one that would have to be written is
    missing, and the context does what it does without one.

    Args:
        session: its turns are read as they stand.
        context: an object with `build(view)`, or a function of a View.
        model: whose window and counter are used, by default the Chat's, else those of the last call on record.
        window: tokens of request and reply together, in place of the model's.
        turns: numbers of the turns that are built, from 1; by default all. The others still stand in their history.

    Raises:
        Misuse: if the window is not positive, or an argument cannot be used.
        Exception: what the context raises, but for `WindowTooSmall`: such a call is refused and stands in the result.
    """
    if window is not None and window < 1:
        raise Misuse(f"window={window} holds nothing", "give the tokens of a request and its reply together")
    plan = _plan_of(session, context, model=model)
    budget = plan.answers.budget if window is None else with_window(plan.answers.budget, window)
    past = await _Past.of(session)
    replay = _Replay(past, plan, budget=budget)
    for number in range(1, len(past.turns) + 1):
        if turns is None or number in turns:
            await replay.turn(number)
            await asyncio.sleep(0)  # a long session is much to build: what runs beside it goes on
    return WhatIf(tuple(replay.calls), model=plan.answers.name, context=_name_of(context))


def calls_of(turn: Turn) -> list[Sequence[Message]]:
    """What a turn had said by each of its model calls: at least one, and one for each reply."""
    said = turn.shown_messages
    ends = [place for place, message in enumerate(said) if message.role == "assistant"]
    asked = {entry.call for entry in turn.entries if isinstance(entry, TurnShown)}
    if not ends or (ends[-1] < len(said) - 1 and len(asked) > len(ends)):
        ends.append(len(said))
    if len(ends) > sum(isinstance(entry, ModelReplied | TurnCompleted) for entry in turn.entries):
        ends[-1] -= _said_after_the_last_call(turn)
    return [said[:end] for end in ends]


def _said_after_the_last_call(turn: Turn) -> int:
    """How often a person steered a turn after its last call was put together."""
    asked = max(
        (at for at, entry in enumerate(turn.entries) if isinstance(entry, TurnShown)), default=len(turn.entries)
    )
    return sum(isinstance(entry, TurnSteered) for entry in turn.entries[asked:])


# --- what is on record --------------------------------------------------------------------------------------------


class _OnRecord(NamedTuple):
    """Stands for the model that was asked last, where the Chat has none."""

    name: str
    window: int

    def stream(self, request: ModelRequest, /) -> AsyncIterator[ModelEvent]:
        """Answer nothing."""
        asked = f"{len(request.messages)} messages for model {self.name!r}, which is only read about"
        raise Misuse(asked, "give the Chat a model")


def _plan_of(session: Session, context: AnyContext, *, model: AnyModel | None) -> TurnPlan:
    planner = session._planner
    try:
        return planner.plan("what-if", "", options={} if model is None else {"model": model}, context=context)
    except Misuse:
        if model is not None:
            raise
    last = next((trace for turn in reversed(session.turns()) for trace in reversed(turn.traces)), None)
    stands = _OnRecord("no model", 0) if last is None else _OnRecord(last.model, last.window)
    return planner.plan("what-if", "", options={"model": stands}, context=context)


def with_window(known: Budget, window: int) -> Budget:
    """Another window for the same counter."""
    return replace(budget_for(window, counter=known.counter), counter_name=known.counter_name)


def _name_of(context: AnyContext) -> str:
    return str(getattr(context, "__name__", None) or type(context).__name__)


class _Reads:
    """What is kept beside the journal, read once each; nothing is kept."""

    def __init__(self, derived: Derived) -> None:
        self._derived = derived
        self._found: dict[str, bytes | None] = {}

    async def get(self, key: str) -> bytes | None:
        """Give what was put under `key`."""
        if key not in self._found:
            self._found[key] = await self._derived.get(key)
        return self._found[key]

    async def put(self, key: str, content: bytes) -> None:
        """Keep nothing: what was never sent was never summarised."""


class _Past(NamedTuple):
    """A session as it stands on record."""

    transcript: Transcript
    scope: str | None
    derived: Derived | None
    turns: Sequence[Turn]
    texts: Mapping[str, Jsonable]
    states: Mapping[str, Mapping[str, Jsonable]]

    @classmethod
    async def of(cls, session: Session) -> _Past:
        transcript, derived = session._recorder.transcript, session._derived
        return cls(
            transcript=transcript,
            scope=session.scope,
            derived=None if derived is None else _Reads(derived),
            turns=session.turns(),
            texts=transcript.texts(),
            states=await _states(session) if transcript.state else {},
        )

    def cleared(self, number: int) -> int:
        """How many turns stood before the context was last cleared, as of this turn's beginning."""
        return max((at for at in self.transcript.clearings if at < number), default=0)

    def compactions(self, number: int) -> tuple[Compaction, ...]:
        """What a person had asked to be summarised by then, counted from the last clearing."""
        cleared = self.cleared(number)
        return tuple(
            Compaction(each.after - cleared, each.covers - cleared, each.focus)
            for each in self.transcript.compactions
            if each.after < number and each.covers > cleared
        )

    def instructions(self, turn: Turn) -> str | None:
        """The instructions that were sent, or None where they are not on record."""
        given = turn.options.get("instructions")
        shown = next((entry for entry in turn.entries if isinstance(entry, TurnShown)), None)
        if shown is None:
            return given if isinstance(given, str) else None
        trace = Trace.from_json(shown.trace_json, turn_id=turn.id, call=shown.call, model=shown.model)
        line = next((layer for layer in trace.layers if layer.id == "instructions"), None)
        if line is None:
            return ""
        kept = self.texts.get(line.digest or "", given)
        return kept if isinstance(kept, str) and digest(kept) == line.digest else None


async def _states(session: Session) -> dict[str, Mapping[str, Jsonable]]:
    """The state as it was when each turn was accepted, by the turn's id."""
    found: dict[str, Mapping[str, Jsonable]] = {}
    now: Mapping[str, Jsonable] = {}
    async for entry in session.journal():
        if isinstance(entry, StateChanged):
            now = {**now, entry.key: entry.value}
        elif isinstance(entry, TurnAccepted):
            found.setdefault(entry.turn_id, now)
    return found


# --- the calls ----------------------------------------------------------------------------------------------------


class _Replay:
    """Builds calls, one after another."""

    def __init__(self, past: _Past, plan: TurnPlan, *, budget: Budget) -> None:
        self.calls: list[WhatIfCall] = []
        self._past = past
        self._plan = plan
        self._budget = budget
        self._numbers = {turn.id: number for number, turn in enumerate(past.turns, 1)}
        self._cache: dict[Any, Any] = {}
        self._before: Shown | None = None

    async def turn(self, number: int) -> None:
        """Build the calls of one turn."""
        turn = self._past.turns[number - 1]
        showing = TurnShowing(self._plan.build, self._view(number, turn))
        for n, own in enumerate(calls_of(turn), 1):
            call = Call(turn.id, n, model=self._plan.answers.name, budget=self._budget, tools=self._plan.tools)
            try:
                shown = await showing.shown(own, call=call)
            except WindowTooSmall as error:
                self.calls.append(WhatIfCall.refusal(number, call=n, turn_id=turn.id, error=error))
                continue
            self.calls.append(self._call(number, shown))
            self._before = shown

    def _view(self, number: int, turn: Turn) -> View:
        past, first = self._past, turn.entries[0]
        view = View(
            session_id=past.transcript.session_id,
            scope=past.scope,
            turns=past.turns[past.cleared(number) : number - 1],
            input=turn.input,
            query=input_text(turn.input),
            budget=self._budget,
            metadata=first.metadata if isinstance(first, TurnAccepted) else {},
            model=self._plan.answers.name,
            at=turn.accepted_at,
            state=past.states.get(turn.id, {}),
            derived=past.derived,
            turn_id=turn.id,
            tools=self._plan.tools,
            unlockable=self._plan.unlockable,
            compactions=past.compactions(number),
            cache=self._cache,
        )
        sent, given = past.instructions(turn), self._plan.instructions
        if sent is None:
            sent = given(view) if callable(given) else given
        return replace(view, instructions=sent)

    def _call(self, number: int, shown: Shown) -> WhatIfCall:
        before, trace = self._before, shown.trace
        same = 0 if before is None else shared_tokens(before, shown, counter=self._budget.counter)
        earlier = None if before is None else before.trace
        return WhatIfCall.of(trace, number=number, before=earlier, same=same, numbers=self._numbers)
