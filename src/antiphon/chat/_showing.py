"""Builds what each model call of a turn is shown, and notes it for the journal."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from .._jsonable import NULL, freeze
from .._messages import Message, input_text
from .._trace import Trace
from ..context._assembly import Call, Shown, assemble
from ..context._view import Asks, Derived, View
from ..context._view import Built as Strategy
from ..journal._entries import TurnShown
from ..transcript import Transcript, Turn
from ._effects import Built
from ._plan import TurnPlan
from ._recorder import Recorder


class Services(NamedTuple):
    """What a context may use beyond what it looks at; see `View`."""

    ask: Asks | None = None
    derived: Derived | None = None


class Showing:
    """The contexts of one turn. A strategy is asked once a turn; what the turn says since stands behind the input."""

    def __init__(self, plan: TurnPlan, recorder: Recorder, *, scope: str | None, services: Services) -> None:
        self._plan = plan
        self._recorder = recorder
        self._scope = scope
        self._services = services
        self._strategy: Strategy | None = None
        self._instructions = ""
        self.last: Shown | None = None

    async def build(self, number: int) -> Built:
        """Build what call `number` is shown, and let its trace travel with the next append."""
        transcript = self._recorder.transcript
        if self._strategy is None:
            view = view_of(self._plan, transcript, scope=self._scope, services=self._services)
            self._strategy, self._instructions = await asked(self._plan, view)
        turn = transcript.turn(self._plan.turn_id, live=(self._plan.turn_id,))
        assert turn is not None  # a turn is accepted before it is shown to anyone
        call = Call(self._plan.turn_id, number, model=self._plan.answers.name, budget=self._plan.answers.budget)
        shown = assemble(self._strategy, turn.messages, instructions=self._instructions, call=call)
        self._note(number, shown)
        self.last = shown
        return Built(shown, len(turn.steering))

    def _note(self, number: int, shown: Shown) -> None:
        texts = self._new_texts(shown.trace)
        self._recorder.defer(
            self._recorder.entry(
                TurnShown,
                turn_id=self._plan.turn_id,
                call=number,
                model=self._plan.answers.name,
                trace_json=shown.trace.to_json(),
                texts_json=freeze(texts, "texts") if texts else NULL,
            )
        )

    def _new_texts(self, trace: Trace) -> dict[str, str]:
        kept, which = self._recorder.transcript.kept_texts, self._plan.keep_texts
        if which == "none":
            return {}
        return {
            layer.digest: layer.text
            for layer in trace.layers
            if layer.digest is not None
            and layer.digest not in kept
            and layer.text
            and layer.kind != "summary"  # derived, and so never in the journal
            and (which == "all" or layer.where == "system")
        }


async def asked(plan: TurnPlan, view: View) -> tuple[Strategy, str]:
    """What the turn's context gives, and the turn's instructions."""
    given = plan.instructions
    instructions = given(view) if callable(given) else given
    built: Any = plan.build(view)
    return (await built if inspect.isawaitable(built) else built), instructions


async def previewed(plan: TurnPlan, transcript: Transcript, *, scope: str | None, derived: Derived | None) -> Shown:
    """What a turn would be shown, were it sent now; no model is asked and nothing is written."""
    view = view_of(plan, transcript, scope=scope, services=Services(derived=derived))
    built, instructions = await asked(plan, view)
    call = Call(plan.turn_id, 1, model=plan.answers.name, budget=plan.answers.budget)
    return assemble(built, [Message.of("user", plan.input)], instructions=instructions, call=call)


def view_of(plan: TurnPlan, transcript: Transcript, *, scope: str | None, services: Services) -> View:
    """What the context of a turn may look at: the turn itself is not among the earlier ones."""
    turns = transcript.turns(live=(plan.turn_id,))
    own = transcript.turn(plan.turn_id)
    said = plan.input if own is None else own.input
    return View(
        session_id=transcript.session_id,
        scope=scope,
        turns=_without(turns[transcript.cleared :], plan.turn_id),
        input=said,
        query=input_text(said),
        deps=plan.deps,
        budget=plan.answers.budget,
        metadata=plan.metadata if own is None else own.metadata,
        model=plan.answers.name,
        at="" if own is None else own.accepted_at,
        state={key: entry.value for key, entry in transcript.state.items()},
        ask=services.ask,
        derived=services.derived,
    )


def _without(turns: Sequence[Turn], turn_id: str) -> Sequence[Turn]:
    # The running turn is the last, unless others write to the session without holding it.
    if turns and turns[-1].id == turn_id:
        return turns[:-1]
    return tuple(turn for turn in turns if turn.id != turn_id)
