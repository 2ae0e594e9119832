"""The context that fits everything into one budget: rules, layers, tools, history, the input and the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from ..errors import Misuse, SummaryFailed
from ..transcript._replay import Compaction
from ._account import cost_of, telling
from ._boundary import SUMMARY, Fold, marks_for
from ._budget import Budget
from ._checked import check_numbers, checked_counter, checked_shares
from ._compaction import NOTHING_TOLD, History, Teller, Told
from ._fitted import Fitted
from ._folded import Folded, folded, unfolded
from ._history import place
from ._ladder import STEPS, Histories, Running, Shorter, running
from ._parts import Packed, Parts, must_fit, packed, parts_of, pinned_only, reading_back, without_carried
from ._room import budget_of, corrected, correction_of, first_step
from ._source import Source, check_sources
from ._summarizing import Summaries, Summary
from ._tokens import TokenCounter
from ._view import Assembled, Summarizer, View
from ._when_full import FullAnswer, WhenFull, answer_of, check_when_full

LEAST_SUMMARY = 64
"""Tokens below which a summary says nothing: in a window that small, old turns are left out."""


class LayeredContext:
    """Fits instructions, layers, tools, history, the input and the reply into one window, and says what became of each.

    What changes stands behind what does not, so that providers' caches hold: the system text, then history, which
    begins at the same place for many turns, and last what was gathered for this turn alone, in one marked block
    behind the input's own words.

    Args:
        window: tokens of request and reply together, at most what the model holds; None is what the model holds, and
            8,192 where that is not known.
        max_output_tokens: kept free for the reply; by default an eighth of the window, at most 4,096.
        keep_recent: turns whose tool results stay whole as long as they fit under history's low mark.
        sources: what gives further layers, in the order in which they stand; each costs only itself if it fails.
        summarizer: writes what stands in place of turns that no longer fit: a model, a model's name, or a function of
            messages that gives a text, sync or async; None is the model of the turn being answered. What it is sent
            leaves for its provider.
        when_full: `compact` summarises what no longer fits, `trim` leaves it out, `error` refuses the turn, `send`
            sends everything all the same; or a function of the tokens there would be and of the most that fit, which
            gives one of the first three.
        counter: counts a text; by default an estimate for the model's family.
        shares: for a kind of layers, the most that all of them together may take: tokens, or a share up to 1.
        unfinished: whether a turn that did not complete leaves a line on which tools had run in it, or nothing.

    Raises:
        Misuse: if a value cannot be used, or two sources have one id.
    """

    def __init__(
        self,
        *,
        window: int | None = None,
        max_output_tokens: int | None = None,
        keep_recent: int = 8,
        sources: Sequence[Source] = (),
        summarizer: Summarizer | None = None,
        when_full: WhenFull = "compact",
        counter: TokenCounter | None = None,
        shares: Mapping[str, float] | None = None,
        unfinished: Literal["note", "omit"] = "note",
    ) -> None:
        check_when_full(when_full)
        if unfinished not in ("note", "omit"):
            raise Misuse(f"unfinished={unfinished!r} is not known", "use 'note' or 'omit'")
        check_numbers({"window": window, "max_output_tokens": max_output_tokens, "keep_recent": keep_recent})
        self._window, self._max_output_tokens = window, max_output_tokens
        self._keep_recent = keep_recent
        self._sources = check_sources(sources)
        self._summarizer = summarizer
        self._when_full = when_full
        self._counter = checked_counter(counter)
        self._shares = checked_shares(shares)
        self._note = unfinished == "note"
        self._summaries = Summaries()

    async def build(self, view: View) -> Assembled:
        """Decide what this turn's model is shown.

        Raises:
            WindowTooSmall: if rules, pinned layers, tools, input and reply alone do not fit.
            Misuse: if `when_full` is a function and gives no answer.
        """
        base, turns = self._budget(view), folded(view, note=self._note)
        correction = correction_of(view)
        budget, first = corrected(base, correction), STEPS.index(first_step(correction))
        histories = self._histories(view, turns, base=base, answer=self._expected)
        boundary = histories.at(first).position.boundary
        view = replace(view, budget=budget, boundary=place(view.turns, turns.measured, unit=boundary))

        parts = await parts_of(view, self._sources)
        parts, least = without_carried(parts, pinned_only(parts))
        if self._expected != "send":
            must_fit(parts, least, budget=budget)
        answer = self._answer(view, turns, least=least, base=base)
        if answer in ("error", "send"):
            histories = self._histories(view, turns, base=base, answer=answer)
            return self._everything(view, parts, histories=histories, refuse=answer == "error")
        if answer != self._expected:
            histories = self._histories(view, turns, base=base, answer=answer)

        reading = reading_back(parts, room=budget.packed_limit - least.total)
        limit = budget.packed_limit - reading
        step, earlier = histories.fitting(limit - least.total, first=first)
        told = await self._told(view, histories, earlier=earlier)
        history = cost_of(
            [*telling(earlier, told, measured=turns.measured).messages, *earlier.messages], budget.counter
        )
        beside = packed(parts, limit=limit - history, shares=self._ceilings(base))
        run: Running | None = None
        if view.rounds:
            run, beside = _with_rounds(view, histories, first=step, parts=parts, beside=beside, limit=limit)
            if run.shortened and reading:
                # What the round holds is worth more than the offer to read back what it does not.
                reading, limit = 0, budget.packed_limit
                run, beside = _with_rounds(view, histories, first=step, parts=parts, beside=beside, limit=limit)
            if run.over:
                must_fit(parts, pinned_only(parts), budget=budget, more={"turn": cost_of(run.messages, budget.counter)})
            if run.step != step:
                step, earlier = run.step, histories.at(run.step)
                told = await self._told(view, histories, earlier=earlier)
        fitted = self._fitted(view, parts, beside=beside, histories=histories, earlier=earlier, told=told)
        return replace(
            fitted, run=run, reading=reading > 0, further=step > first and turns.measured.units > 0
        ).assembled()

    async def compact(self, view: View, *, focus: str | None = None) -> Summary:
        """Summarise every earlier turn, as a person asked, and keep the summary; nothing else is changed.

        Args:
            view: the session as it is.
            focus: what the summary should keep above all.

        Raises:
            SummaryFailed: if none could be written.
            Misuse: if this context writes none.
        """
        base = self._budget(view)
        if self._expected != "compact" or not self._summary_room(base):
            raise Misuse("this context writes no summaries", "use when_full='compact' and a larger window")
        asked = Compaction(len(view.turns), len(view.turns), focus)
        view = replace(view, budget=base, compactions=(*view.compactions, asked), cache={})
        histories = self._histories(view, folded(view, note=self._note), base=base, answer="compact")
        told = await self._told(view, histories, earlier=histories.at(0), insist=True)
        if told.summary is None or told.failure is not None:
            raise SummaryFailed("the context", told.failure or "there is nothing to summarise")
        return told.summary

    # --- what the options come to -----------------------------------------------------------------------------

    @property
    def _expected(self) -> FullAnswer:
        """What is done with history unless a function says otherwise."""
        return "compact" if callable(self._when_full) else self._when_full

    def _budget(self, view: View) -> Budget:
        options = {"window": self._window, "max_output_tokens": self._max_output_tokens}
        return budget_of(view, **options, counter=self._counter)

    def _ceilings(self, base: Budget) -> dict[str, int]:
        shares = self._shares.items()
        return {kind: int(share * base.packed_limit if share <= 1 else share) for kind, share in shares}

    def _summary_room(self, base: Budget) -> int:
        room = int(base.packed_limit * SUMMARY)
        return room if room >= LEAST_SUMMARY else 0

    def _histories(self, view: View, turns: Folded, *, base: Budget, answer: FullAnswer) -> Histories:
        summary = self._summary_room(base) if answer == "compact" else 0

        def fold(divided_by: float) -> Fold:
            if answer in ("error", "send"):
                return unfolded(turns.measured)
            marks = marks_for(
                base.packed_limit, keep_recent=self._keep_recent, divided_by=divided_by, summary=summary > 0
            )
            return turns.fold(marks, view)

        return Histories(view.turns, turns.measured, fold=fold, summary=summary, counter=base.counter)

    def _answer(self, view: View, turns: Folded, *, least: Packed, base: Budget) -> FullAnswer:
        def size() -> int:
            return least.total + self._histories(view, turns, base=base, answer="send").at(0).tokens

        return answer_of(self._when_full, size=size, limit=view.budget.packed_limit)

    async def _told(self, view: View, histories: Histories, *, earlier: Shorter, insist: bool = False) -> Told:
        if not earlier.moves or not histories.summary:
            return Told()
        teller = Teller(self._summarizer, self._summaries, room=histories.summary)
        return await teller.told(view, History(view.turns, histories.measured, earlier.moves), insist=insist)

    def _everything(self, view: View, parts: Parts, *, histories: Histories, refuse: bool) -> Assembled:
        """All of history; the layers have what room it leaves."""
        earlier = histories.at(0)
        least = pinned_only(parts)
        if refuse:
            must_fit(parts, least, budget=view.budget, more={"history": earlier.tokens})
        else:
            view = replace(view, budget=replace(view.budget, enforced=False))
        beside = packed(parts, limit=view.budget.packed_limit - earlier.tokens, shares=self._ceilings(view.budget))
        return self._fitted(view, parts, beside=beside, histories=histories, earlier=earlier).assembled()

    def _fitted(
        self,
        view: View,
        parts: Parts,
        *,
        beside: Packed,
        histories: Histories,
        earlier: Shorter,
        told: Told = NOTHING_TOLD,
    ) -> Fitted:
        return Fitted(view, parts, beside, histories.measured, earlier, told, keep_recent=self._keep_recent)


def _with_rounds(
    view: View, histories: Histories, *, first: int, parts: Parts, beside: Packed, limit: int
) -> tuple[Running, Packed]:
    """Fit the running turn's rounds; what is optional stands back where they do not fit otherwise."""

    def fitted(packed: Packed) -> Running:
        room, counter = limit - packed.total, view.budget.counter
        return running(view.turn_id, view.rounds, histories=histories, first=first, room=room, counter=counter)

    run = fitted(beside)
    if not run.over and not run.shortened:
        return run, beside
    bare = packed(parts, limit=0, shares={})
    return fitted(bare), bare
