"""What differs between what two model calls were shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._trace import Layer, Trace
from ._aligned import write_aligned
from ._screen import Ink, Screen, Words
from ._trace_table import Asked


@dataclass(frozen=True, slots=True)
class Change:
    """A layer that is not as it was.

    Attributes:
        layer: its id.
        where: system, tools, history or input.
        before, now: tokens; None where it is not there at all.
        what: how it differs, in a few words.
    """

    layer: str
    where: str
    before: int | None
    now: int | None
    what: str

    def to_json(self) -> dict[str, Any]:
        """For other programs."""
        return {"layer": self.layer, "where": self.where, "before": self.before, "now": self.now, "what": self.what}


def changes(before: Trace, now: Trace) -> list[Change]:
    """Every layer that differs, in the order of the later request; what is gone stands where it stood."""
    earlier, later = ({layer.id: layer for layer in trace.layers} for trace in (before, now))
    found = []
    for name in _in_order(list(earlier), list(later)):
        one, other = earlier.get(name), later.get(name)
        what = _what(one, other)
        if what and (either := other or one) is not None:
            was, is_now = (None if each is None else each.tokens for each in (one, other))
            found.append(Change(name, either.where, before=was, now=is_now, what=what))
    return found


def _in_order(before: Sequence[str], now: Sequence[str]) -> list[str]:
    found, left = [], list(before)
    for name in now:
        if name in left:
            place = left.index(name)
            found += [each for each in left[:place] if each not in now]
            left = left[place + 1 :]
        found.append(name)
    return [*found, *(each for each in left if each not in now)]


def _what(before: Layer | None, now: Layer | None) -> str:
    if before is None or now is None:
        return "appeared" if before is None else "gone"
    said = []
    if before.status != now.status:
        said.append(f"{before.status}, now {now.status}")
    if now.since != before.since:
        said.append("begins elsewhere")
    if now.stubbed != before.stubbed:
        said.append("other parts are stubs")
    if before.digest is not None and now.digest is not None and before.digest != now.digest:
        said.append("another text")
    if before.tokens != now.tokens:
        said.append("longer" if now.tokens > before.tokens else "shorter")
    return ", ".join(said)


def write_changes(screen: Screen, *, before: Asked, now: Asked) -> None:
    """Write what differs between two calls, the first layer named in front."""
    found = changes(before.trace, now.trace)
    screen.line(f"{_named(before)}, then {_named(now)}")
    if before.trace.model != now.trace.model:
        screen.line(f"the model was {before.trace.model}, then {now.trace.model}")
    if before.trace.window != now.trace.window:
        screen.line(f"the window was {before.trace.window:,}, then {now.trace.window:,}")
    if not found:
        screen.line("nothing differs, as far as traces tell: they hold sizes and digests, and not every text has one")
        return
    first = found[0]
    screen.line("the first layer that differs is ", Ink(first.layer, "bold"), f" ({first.where}): {first.what}")
    rows = [_row(change) for change in found]
    write_aligned(screen, ["layer", "where", "before", "now", "by", "what differs"], rows=rows, right=(2, 3, 4))


def _named(asked: Asked) -> str:
    return f"turn {asked.number}, call {asked.trace.call} ({asked.trace.total:,} tokens)"


def _row(change: Change) -> list[Words]:
    by = (change.now or 0) - (change.before or 0)
    before, now = ("" if tokens is None else f"{tokens:,}" for tokens in (change.before, change.now))
    what: Words = change.what
    if change.what == "gone" or "now dropped" in change.what or "now failed" in change.what:
        what = Ink(change.what, "red")
    return [change.layer, change.where, before, now, f"{by:+,}" if by else "", what]
