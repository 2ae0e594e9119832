"""A trace as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .._messages import ToolCall, ToolResult
from .._trace import Layer, Trace
from .._usage import Usage
from ..chat import Session
from ..journal import ModelReplied, ToolReturned, TurnCompleted, TurnShown
from ..journal._entries import TurnEntry
from ..transcript import Turn
from ._aligned import write_aligned
from ._call_text import called, returned, written
from ._endings import Refused
from ._screen import Ink, Screen, Words
from ._turn_choice import turn_named, turn_numbers

_BAR = 64
"""Most cells of a bar."""

_STYLES: Mapping[str, str] = {
    "system": "cyan",
    "tools": "yellow",
    "history": "green",
    "input": "red",
    "reply": "dim",
    "margin": "dim",
}
_LETTERS: Mapping[str, str] = {name: name[0] for name in _STYLES} | {"free": "."}
_STATUS_STYLES: Mapping[str, str] = {"truncated": "yellow", "compacted": "yellow", "dropped": "red", "failed": "red"}


class Asked(NamedTuple):
    """One model call that was made.

    Attributes:
        trace: what it was shown.
        number: its turn's number.
        usage: what its provider reported, or None.
        calls: what of tools it asked for.
        results: what these gave, as far as they did.
    """

    trace: Trace
    number: int
    usage: Usage | None
    calls: Sequence[ToolCall] = ()
    results: Sequence[ToolReturned] = ()


def write_trace(screen: Screen, trace: Trace, *, number: int | None, usage: Usage | None = None) -> None:
    """Write what a call was shown: how it fills the window, a line for each piece, and what was reported of it.

    Args:
        screen: where it is written.
        trace: what the call was shown.
        number: its turn's number; None is a call that is not made.
        usage: what its provider reported, or None.
    """
    call = f"turn {number} ({trace.turn_id}), call {trace.call}"
    screen.line("not sent" if number is None else call, f" · {trace.model}")
    account = str(trace).split("\n")[1].strip()
    screen.line(Ink(account, "red") if trace.window and trace.headroom < 0 else account)
    write_bar(screen, trace)
    rows: list[list[Words]] = [_row(layer) for layer in trace.layers]
    write_aligned(screen, ["layer", "where", "status", "tokens", "was", "why"], rows=rows, right=(3, 4))
    if reported := _reported(trace, usage):
        screen.line(Ink(reported, "dim"))
    for warning in trace.warnings:
        screen.line(Ink(f"warning: {warning}", "yellow"))


def _row(layer: Layer) -> list[Words]:
    status = Ink(layer.status, _STATUS_STYLES[layer.status]) if layer.status in _STATUS_STYLES else layer.status
    was = f"{layer.original_tokens:,}" if layer.original_tokens != layer.tokens else ""
    return [layer.id, layer.where, status, f"{layer.tokens:,}", was, layer.reason or ""]


def _reported(trace: Trace, usage: Usage | None) -> str:
    said = [] if trace.shared is None else [f"prefix shared with the last call {trace.shared:,}"]
    if usage is not None and usage.cached:
        said.append(f"read from cache {usage.cached:,}")
    if usage is not None and usage.input:
        said.append(f"the provider counted {usage.input:,} sent, {usage.output:,} in the reply")
    return " · ".join(said)


# --- the bar ------------------------------------------------------------------------------------------------------


def write_bar(screen: Screen, trace: Trace) -> None:
    """Write a bar of the window and its legend; without colours each place is its first letter."""
    sizes = {name: trace.totals[name] for name in ("system", "tools", "history", "input")}
    sizes |= {"reply": trace.reserve, "margin": trace.margin, "free": trace.headroom}
    shown = {name: size for name, size in sizes.items() if size > 0}
    if not shown:
        return
    width = _BAR if screen.width is None else max(min(_BAR, screen.width - 2), 1)
    lengths = bar_lengths(shown, width)
    pieces = [_piece(screen, name, length=length) for name, length in lengths.items()]
    screen.line("[", *pieces, "]")
    legend: list[Words] = []
    for name, size in shown.items():
        legend += [_piece(screen, name, length=1), f" {name} {size:,}   "]
    screen.line(*legend[:-1], str(legend[-1]).rstrip())


def bar_lengths(sizes: Mapping[str, int], width: int) -> dict[str, int]:
    """Share cells among sizes; each that is more than nothing has at least one, as long as there are enough."""
    total = sum(sizes.values())
    lengths = {name: max(1, size * width // total) for name, size in sizes.items()}
    while (left := width - sum(lengths.values())) != 0:
        # What is left goes to whom most is missing; what is too much comes from who has most to spare.
        missing = {name: sizes[name] * width / total - length for name, length in lengths.items()}
        if left > 0:
            name = max(missing, key=missing.__getitem__)
        else:
            spare = [name for name, length in lengths.items() if length > 1]
            if not spare:
                break
            name = min(spare, key=missing.__getitem__)
        lengths[name] += 1 if left > 0 else -1
    return lengths


def _piece(screen: Screen, name: str, *, length: int) -> Words:
    if not screen.has_colours:
        return _LETTERS[name] * length
    block = {"free": "·", "reply": "▒", "margin": "░"}.get(name, "█")
    return Ink(block * length, _STYLES[name]) if name in _STYLES else block * length


# --- which call ---------------------------------------------------------------------------------------------------


def call_of(session: Session, turn: str | None, *, number: int | None) -> Trace:
    """Give what one model call was shown: by default the last of the turn.

    Raises:
        Refused: if there is no such turn or call.
    """
    return asked_of(session, turn, number=number).trace


def asked_of(session: Session, turn: str | None, *, number: int | None) -> Asked:
    """Give one model call: by default the last of the turn.

    Raises:
        Refused: if there is no such turn or call.
    """
    found = turn_named(session, turn)
    position = turn_numbers(session)[found.id]
    if not found.traces:
        why = "no model was asked in it, or its process died while one was"
        raise Refused(f"turn {position} of chat session {session.id!r} has no trace: {why}")
    places = [place for place, trace in enumerate(found.traces) if number in (None, trace.call)]
    if not places:
        calls = ", ".join(str(trace.call) for trace in found.traces)
        raise Refused(f"turn {found.id!r} has no model call {number}; it has {calls}")
    place = places[-1]
    behind = _behind(found, place)
    replied = next((each for each in behind if isinstance(each, ModelReplied | TurnCompleted)), None)
    asked = replied.message.calls if replied is not None and replied.message is not None else ()
    results = [each for each in behind if isinstance(each, ToolReturned)]
    return Asked(found.traces[place], position, None if replied is None else replied.usage, asked, results)


def _behind(turn: Turn, place: int) -> Sequence[TurnEntry]:
    """What came of the call whose trace is the turn's `place`th, up to the next one."""
    shown = [at for at, entry in enumerate(turn.entries) if isinstance(entry, TurnShown)]
    return turn.entries[shown[place] + 1 : shown[place + 1] if place + 1 < len(shown) else None]


def write_calls(screen: Screen, asked: Asked, *, full: bool) -> None:
    """Write what of tools a model call asked for, each with what it gave."""
    given = {each.call_id: each for each in asked.results}
    for call in asked.calls:
        screen.line(*called(call.name, written(call), full=full))
        if (entry := given.get(call.id)) is not None:
            gave = ToolResult(entry.call_id, entry.name, entry.output_json, entry.is_error, entry.media)
            screen.line(*returned(gave, full=full))
