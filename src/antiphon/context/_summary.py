"""The context that shows a long session as a summary and its recent turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .._messages import Message
from .._trace import Layer
from ..errors import Misuse, SummaryFailed
from ..transcript._dialogue import completed, dialogue
from ..transcript._turn import Turn
from ._assembly import digest
from ._counting import count_messages, count_parts
from ._summarizing import INSTRUCTIONS, Summaries, Summary, boundary, key_of, marked
from ._view import Assembled, Summarizer, View, summarizer_name

OnFailure = Literal["fail", "trim", "full"]


class SummaryContext:
    """Shows everything until `compact_after` completed turns, then a summary and the turns since.

    The summary is written while a turn is answered, from every turn that it covers; it is kept beside the journal
    where the store can (`KeepsDerived`), else in this object. It counts turns and promises nothing about tokens.

    Args:
        summarizer: a model, a model's name, or a function of the covered messages that gives a text, sync or async;
            None is the model of the turn being answered. What it is sent leaves for its provider.
        keep_recent: fewest turns that stay verbatim.
        compact_after: most turns that stay verbatim; the boundary moves by `compact_after - keep_recent` turns.
        instructions: for the summarizer, in place of ours.
        on_failure: what a failing summary does: `fail` the turn, `trim` the old turns away, or show the `full`
            dialogue; for this turn alone, the next one tries again.
        incremental: write a summary from the one before and the turns since, instead of from every turn.

    Raises:
        Misuse: if `keep_recent` is not less than `compact_after`, or a value is not known.
    """

    def __init__(
        self,
        summarizer: Summarizer | None = None,
        *,
        keep_recent: int = 8,
        compact_after: int = 20,
        instructions: str | None = None,
        on_failure: OnFailure = "fail",
        incremental: bool = False,
    ) -> None:
        if not 0 <= keep_recent < compact_after:
            found = f"keep_recent={keep_recent} and compact_after={compact_after}"
            raise Misuse(found, "keep_recent must be at least 0 and less than compact_after")
        if on_failure not in ("fail", "trim", "full"):
            raise Misuse(f"on_failure={on_failure!r} is not known", "use 'fail', 'trim' or 'full'")
        self._summarizer = summarizer
        self._keep_recent, self._compact_after = keep_recent, compact_after
        self._instructions = instructions
        self._on_failure = on_failure
        self._incremental = incremental
        self._summaries = Summaries()

    async def build(self, view: View) -> Assembled:
        """Give the summary, if there is one by now, and the turns behind it.

        Raises:
            SummaryFailed: if none could be written, under `on_failure="fail"`.
        """
        answered = completed(view.turns)
        split = self._split(len(answered))
        if split == 0:
            shown = dialogue(answered)
            return Assembled(shown, layers=[_history(view, shown, since=None)])
        recent = answered[split:]
        try:
            summary = await self._summary(view, answered[:split])
        except SummaryFailed as error:
            return self._without(view, answered, recent=recent, error=error)
        return _assembled(view, summary, covered=answered[:split], recent=recent)

    def _split(self, answered: int) -> int:
        return boundary(answered, keep_recent=self._keep_recent, compact_after=self._compact_after)

    async def _summary(self, view: View, covered: Sequence[Turn]) -> Summary:
        key = self._key(covered)
        kept = await self._summaries.get(view, key)
        if kept is not None:
            return kept
        name = summarizer_name(self._summarizer)
        if view.ask is None:
            raise SummaryFailed(name, "nobody is asked in a preview")
        before, since = await self._before(view, covered)
        said = [marked(before), *dialogue(since)] if before else dialogue(since)
        text = await view.ask(self._summarizer, said, instructions=self._instructions or INSTRUCTIONS)
        by = view.model if self._summarizer is None else name
        written = Summary(text, covered[0].id, covered[-1].id, turns=len(covered), model=by, at=view.at)
        await self._summaries.put(view, key, summary=written)
        return written

    def _key(self, covered: Sequence[Turn]) -> str:
        way = "incremental" if self._incremental else "whole"
        name = summarizer_name(self._summarizer)
        return key_of(covered, instructions=self._instructions, summarizer=name, way=way)

    async def _before(self, view: View, covered: Sequence[Turn]) -> tuple[str, Sequence[Turn]]:
        """The summary to go on from and the turns since; nothing and all of them where there is none."""
        earlier = covered[: len(covered) - (self._compact_after - self._keep_recent)]
        if not self._incremental or not earlier:
            return "", covered
        kept = await self._summaries.get(view, self._key(earlier))
        return ("", covered) if kept is None else (kept.text, covered[len(earlier) :])

    def _without(
        self, view: View, answered: Sequence[Turn], *, recent: Sequence[Turn], error: SummaryFailed
    ) -> Assembled:
        if self._on_failure == "fail" and view.ask is not None:
            raise error
        full = self._on_failure == "full"
        shown = dialogue(answered if full else recent)
        left_out = len(answered) - len(recent)
        what = "the whole dialogue is shown" if full else f"{left_out} earlier turns are left out"
        line = Layer("summary", "", kind="summary").failed(str(error))
        history = _history(view, shown, since=None if full else recent)
        return Assembled(shown, layers=[line, history], warnings=[f"no summary, so {what}: {error}"])


def _assembled(view: View, summary: Summary, *, covered: Sequence[Turn], recent: Sequence[Turn]) -> Assembled:
    count, shown, message = view.budget.counter, dialogue(recent), marked(summary.text)
    line = Layer("summary", message.text, kind="summary").compacted(
        count_parts(message, count),
        original_tokens=count_messages(dialogue(covered), count),
        digest=digest(summary.text),
        reason=f"{len(covered)} turns; summary by {summary.model}",
    )
    return Assembled([message, *shown], layers=[line, _history(view, shown, since=recent)])


def _history(view: View, shown: Sequence[Message], *, since: Sequence[Turn] | None) -> Layer:
    first = since[0].id if since else None
    return Layer("history", "", kind="history").kept(count_messages(shown, view.budget.counter), since=first)
