"""Builds what each model call of a turn is shown, and notes it for the journal."""

from __future__ import annotations

import inspect
from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .._jsonable import NULL, freeze
from .._messages import Message, input_text
from .._trace import Trace
from ..context._assembly import Call, Shown
from ..context._budget import smaller
from ..context._prefix import shared_tokens
from ..context._showing import TurnShowing
from ..context._view import Asks, Derived, View
from ..errors import ContextError
from ..journal._entries import TurnShown
from ..transcript import Transcript, Turn
from ..transcript._replay import Compaction
from ._before_send import as_sent
from ._effects import Built, Show
from ._plan import TurnPlan
from ._recorder import Recorder


class Services(NamedTuple):
    """What a context may use beyond what it looks at; see `View`."""

    ask: Asks | None = None
    derived: Derived | None = None
    cache: MutableMapping[Any, Any] | None = None


class Showing:
    """The contexts of one turn."""

    def __init__(self, plan: TurnPlan, recorder: Recorder, *, scope: str | None, services: Services) -> None:
        self._plan = plan
        self._recorder = recorder
        self._scope = scope
        self._services = services
        self._turn: TurnShowing | None = None
        self._budget = plan.answers.budget
        self._built_total = 0
        self._missing: set[str] = set()
        self.last: Shown | None = None

    async def build(self, effect: Show) -> Built:
        """Build what a call is shown, and let its trace travel with the next append."""
        transcript = self._recorder.transcript
        if self._turn is None or effect.refused is not None:
            view = view_of(self._plan, transcript, scope=self._scope, services=self._services)
            if effect.refused is not None:
                view = replace(view, budget=smaller(view.budget, effect.refused.trace))
            self._turn = TurnShowing(self._build, view)
        turn = transcript.turn(self._plan.turn_id, live=(self._plan.turn_id,))
        assert turn is not None  # a turn is accepted before it is shown to anyone
        shown = await self._turn.shown(turn.shown_messages, call=call_of(self._plan, effect.call))
        if not effect.offer_tools:
            shown = shown.without_tools()
        shown = self._beside_the_one_before(await self._hooked(shown, effect, own=turn.shown_messages))
        if effect.refused is None or shown.trace.total < effect.refused.trace.total:
            self._note(effect.call, shown)
            self.last = shown
        return Built(shown, len(turn.steering))

    async def _build(self, view: View) -> Any:
        given: Any = self._plan.build(view)
        built = await given if inspect.isawaitable(given) else given
        self._budget = getattr(built, "budget", None) or self._plan.answers.budget
        return built

    async def _hooked(self, shown: Shown, effect: Show, *, own: Sequence[Message]) -> Shown:
        """The same as the hooks would have it sent, and what is missing from it told."""
        for layer in shown.trace.layers:
            if layer.status == "failed" and layer.kind != "summary" and layer.id not in self._missing:
                self._missing.add(layer.id)
                await self._plan.errors(ContextError(f"source {layer.id!r}: {layer.reason}"), "source")
        hook, built = self._plan.hooks.before_send, shown.trace.total
        if hook is None:
            return shown
        if effect.refused is not None and built >= self._built_total:
            return effect.refused  # it is no shorter, so it is not sent
        self._built_total = built
        return await as_sent(hook, shown, input=own[0], budget=self._budget)

    def _beside_the_one_before(self, shown: Shown) -> Shown:
        """The same, its trace telling how much of it begins as the call before did."""
        cache = self._services.cache
        before: Shown | None = None if cache is None else cache.get("shown")
        if cache is not None:
            cache["shown"] = shown
        if before is None:
            return shown
        same = shared_tokens(before, shown, counter=self._plan.answers.budget.counter)
        return replace(shown, trace=replace(shown.trace, shared=same))

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


async def previewed(plan: TurnPlan, transcript: Transcript, *, scope: str | None, services: Services) -> Shown:
    """What a turn would be shown, were it sent now; no model is asked and nothing is written."""
    view = view_of(plan, transcript, scope=scope, services=services)
    return await TurnShowing(plan.build, view).shown([Message.of("user", plan.input)], call=call_of(plan, 1))


def call_of(plan: TurnPlan, number: int) -> Call:
    """The call of this number."""
    return Call(plan.turn_id, number, model=plan.answers.name, budget=plan.answers.budget, tools=plan.tools)


def view_of(plan: TurnPlan, transcript: Transcript, *, scope: str | None, services: Services) -> View:
    """What the context of a turn may look at: the turn itself is not among the earlier ones."""
    turns = transcript.turns(live=(plan.turn_id,))
    own = transcript.turn(plan.turn_id)
    said = plan.input if own is None else own.input
    view = View(
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
        turn_id=plan.turn_id,
        tools=plan.tools,
        unlockable=plan.unlockable,
        compactions=_since(transcript.compactions, transcript.cleared),
        cache={} if services.cache is None else services.cache,
    )
    given = plan.instructions
    return replace(view, instructions=given(view) if callable(given) else given)


def _since(compactions: Sequence[Compaction], cleared: int) -> tuple[Compaction, ...]:
    """Those that concern turns since the context was last cleared, counted from there."""
    return tuple(
        Compaction(each.after - cleared, each.covers - cleared, each.focus)
        for each in compactions
        if each.covers > cleared
    )


def _without(turns: Sequence[Turn], turn_id: str) -> Sequence[Turn]:
    # The running turn is the last, unless others write to the session without holding it.
    if turns and turns[-1].id == turn_id:
        return turns[:-1]
    return tuple(turn for turn in turns if turn.id != turn_id)
