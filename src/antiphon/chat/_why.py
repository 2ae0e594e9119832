"""Where some words were in every model call of a session, and where they got lost. A fold over what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from .._messages import Message, input_text
from .._trace import Layer, Trace
from ..context._assembly import digest
from ..transcript import Turn


class Fate(NamedTuple):
    """What became of the words in one model call.

    Attributes:
        turn_id: the turn.
        call: number of the model call in it, from 1.
        layer: where the words were, or where they got lost; empty if they were said later or never.
        status: included; compacted or dropped: the place that held them was; failed; or absent.
        reason: in one sentence.
        tokens: what that layer cost.
    """

    turn_id: str
    call: int
    layer: str
    status: Literal["included", "truncated", "dropped", "compacted", "failed", "absent"]
    reason: str
    tokens: int


class Kept(NamedTuple):
    """What is at hand of texts that calls were shown.

    Attributes:
        texts: system texts, by digest, from the journal.
        summaries: summaries, by digest, from beside it.
    """

    texts: Mapping[str, str]
    summaries: Mapping[str, str]


def fates(words: str, turns: Sequence[Turn], *, kept: Kept) -> list[Fate]:
    """The fate of `words` in each model call, in order; upper and lower case are the same."""
    wanted = words.casefold()

    def holds(text: str) -> bool:
        return wanted in text.casefold()

    said = {turn.id: n for n, turn in enumerate(turns) if any(holds(_text(message)) for message in turn.messages)}
    found = []
    for n, turn in enumerate(turns):
        earlier = [turns[at] for at in said.values() if at < n and turns[at].status == "completed"]
        found += [_fate(trace, turn, earlier=earlier, turns=turns, holds=holds, kept=kept) for trace in turn.traces]
    return found


def _text(message: Message) -> str:
    return "\n".join([message.text, *(result.text for result in message.results)])


def _fate(
    trace: Trace,
    turn: Turn,
    *,
    earlier: Sequence[Turn],
    turns: Sequence[Turn],
    holds: Callable[[str], bool],
    kept: Kept,
) -> Fate:
    for layer in trace.layers:
        text = kept.texts.get(layer.digest or "") or kept.summaries.get(layer.digest or "") or ""
        if text and holds(text):
            status = "included" if layer.status in ("included", "compacted") else layer.status
            return _made(trace, layer, status=status, reason=f"the words stand in {layer.id}")
    if holds(input_text(turn.input)):
        return _made(trace, _layer(trace, "input"), status="included", reason="said here")
    if earlier:
        return _in_history(trace, earlier, turns=turns, kept=kept)
    return Fate(turn.id, trace.call, "", "absent", "nothing that was shown, as far as it is kept, holds the words", 0)


def _in_history(trace: Trace, earlier: Sequence[Turn], *, turns: Sequence[Turn], kept: Kept) -> Fate:
    history = _layer(trace, "history")
    number = {turn.id: n + 1 for n, turn in enumerate(turns)}
    first = number.get(history.since or "", 1) if history is not None else 1
    shown = [turn for turn in earlier if number[turn.id] >= first]
    if shown:
        return _made(trace, history, status="included", reason=f"said in turn {number[shown[-1].id]}, shown in full")
    summary = _layer(trace, "summary")
    where = f"said in turn {number[earlier[-1].id]}"
    if summary is None or summary.status == "failed":
        return _made(trace, history, status="dropped", reason=f"{where}, which was left out")
    if summary.digest not in kept.summaries:
        return _made(trace, summary, status="compacted", reason=f"{where}; the summary's text is not at hand")
    return _made(trace, summary, status="compacted", reason=f"{where}; the words are not in the summary")


def _layer(trace: Trace, id: str) -> Layer | None:
    return next((layer for layer in trace.layers if layer.id == id), None)


def _made(trace: Trace, layer: Layer | None, *, status: str, reason: str) -> Fate:
    tokens = 0 if layer is None else layer.tokens
    name = "" if layer is None else layer.id
    return Fate(trace.turn_id, trace.call, name, status, reason, tokens)  # type: ignore[arg-type]


def by_digest(texts: Sequence[str]) -> dict[str, str]:
    """Texts, each under the digest that traces call it by."""
    return {digest(text): text for text in texts}
