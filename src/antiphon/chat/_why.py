"""Where some words were in every model call of a session, and where they got lost. A fold over what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from .._jsonable import encode
from .._messages import Message
from .._trace import Layer, Trace
from ..context._assembly import digest
from ..journal import TurnShown
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
        clearings: how many turns stood before each clearing of the context.
    """

    texts: Mapping[str, str]
    summaries: Mapping[str, str]
    clearings: Sequence[int] = ()


class _Said(NamedTuple):
    """Where in the dialogue the words were said before a turn.

    Attributes:
        turns: numbers of the turns, from 1.
        cleared: how many turns stood before the context was last cleared.
        number: the number of each turn, by id.
    """

    turns: Sequence[int]
    cleared: int
    number: Mapping[str, int]


def fates(words: str, turns: Sequence[Turn], *, kept: Kept) -> list[Fate]:
    """The fate of `words` in each model call, in order; upper and lower case are the same."""
    wanted = words.casefold()

    def holds(text: str) -> bool:
        return wanted in text.casefold()

    number = {turn.id: n for n, turn in enumerate(turns, 1)}
    said: list[int] = []
    found = []
    for turn in turns:
        cleared = max((at for at in kept.clearings if at < number[turn.id]), default=0)
        before = _Said(list(said), cleared, number)
        found += [_fate(trace, own, before=before, holds=holds, kept=kept) for trace, own in _calls(turn)]
        if turn.status == "completed" and any(holds(_text(message)) for message in turn.messages):
            said.append(number[turn.id])
    return found


def _calls(turn: Turn) -> list[tuple[Trace, Sequence[Message]]]:
    """Each call of a turn, and what had been said in the turn by then."""
    shown = [at for at, entry in enumerate(turn.entries) if isinstance(entry, TurnShown)]
    said = [Turn(turn.entries[:at], "running").messages for at in shown]
    return list(zip(turn.traces, said, strict=True))


def _text(message: Message) -> str:
    calls = [f"{call.name} {encode(call.arguments).decode()} {call.raw or ''}" for call in message.calls]
    return "\n".join([message.text, *calls, *(result.text for result in message.results)])


def _fate(trace: Trace, own: Sequence[Message], *, before: _Said, holds: Callable[[str], bool], kept: Kept) -> Fate:
    for layer in trace.layers:
        text = kept.texts.get(layer.digest or "") or kept.summaries.get(layer.digest or "") or ""
        if text and holds(text):
            status = "included" if layer.status in ("included", "compacted") else layer.status
            return _made(trace, layer, status=status, reason=f"the words stand in {layer.id}")
    if holds(_text(own[0])):
        return _made(trace, _layer(trace, "input"), status="included", reason="said here")
    if any(holds(_text(message)) for message in own[1:]):
        return _made(trace, _layer(trace, "turn"), status="included", reason="said in this turn")
    if before.turns:
        return _in_history(trace, before, kept=kept)
    nowhere = "nothing that was shown, as far as it is kept, holds the words"
    return Fate(trace.turn_id, trace.call, "", "absent", nowhere, 0)


def _in_history(trace: Trace, before: _Said, *, kept: Kept) -> Fate:
    history, where = _layer(trace, "history"), f"said in turn {before.turns[-1]}"
    if before.turns[-1] <= before.cleared:
        return _made(trace, history, status="dropped", reason=f"{where}, before the context was cleared")
    first = before.number.get(history.since or "", 1) if history is not None else 1
    if before.turns[-1] >= first and history is not None and history.tokens:
        return _made(trace, history, status="included", reason=f"{where}, shown in full")
    summary = _layer(trace, "summary")
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
