"""Layers and traces: what one model call was shown, piece by piece, and what became of each piece.

A layer is one frozen value that carries its text and, once a context was built, its fate. A trace is the tuple of
the layers of one call: each has exactly one line, and the included ones sum to what was sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import msgspec

from ._html import COLORS, Segment, bar, figure, paragraph, table
from ._jsonable import Jsonable, encode, thaw_object
from .errors import CorruptJournal

Fate = Literal["included", "truncated", "dropped", "compacted", "failed"]
Placement = Literal["system", "input"]
Where = Literal["system", "tools", "history", "input"]

RESERVED = ("instructions", "tools", "skills", "summary", "history", "input", "overhead")
"""Layer ids that only Antiphon gives."""

_NUMBERS = ("window", "reserve", "margin", "counter", "shared")

ITEMS_APART = "\n\n"
"""What stands between the items of a layer that is made of some."""

_HOME: dict[str, Where] = {
    "instructions": "system",
    "memory": "system",
    "skills": "system",
    "tools": "tools",
    "summary": "history",
    "history": "history",
    "overhead": "input",
    "input": "input",
}


class Layer:
    """One piece of what a model may be shown.

    Args:
        id: `source:layer`, unique in a build.
        text: what the model reads; or items in order of rank, of which the last fall first where room is short.
        kind: groups layers in traces and shares.
        priority: higher survives longer when room is short.
        pinned: never cut and never dropped.
        placement: with the system text, or with the newest input.
        truncate: where text may be cut out to fit; None means wholly or not at all. Items are never cut inside.
        unlocks: names of tools offered only while this layer is included.
        tokens: the cost its maker declares; shown beside the counted one, never spent.

    Attributes:
        tokens: counted cost of what is sent; 0 until counted, and 0 for what is not sent.
        original_tokens: cost before cutting.
        status: included, truncated, dropped, compacted or failed.
        reason: why, wherever it is not simply included.
        digest: short digest of the text, or None.
        items: the items, if it was made of some; `text` is all of them.
        since: for history, where it begins if that is not at the session's first turn: a turn's id, with `#2` where it
            begins with that turn's second model reply; else None.
        stubbed: for history, up to where long results and arguments are stubs, in the same form; else None.
        ms: how long its source took, in milliseconds, or None.
    """

    id: str
    text: str
    kind: str
    priority: int
    pinned: bool
    placement: Placement
    truncate: Literal["start", "middle", "end"] | None
    unlocks: tuple[str, ...]
    declared: int | None
    where: Where
    tokens: int
    original_tokens: int
    status: Fate
    reason: str | None
    digest: str | None
    items: tuple[str, ...]
    since: str | None
    stubbed: str | None
    ms: int | None

    def __init__(
        self,
        id: str,
        text: str | Sequence[str],
        *,
        kind: str = "custom",
        priority: int = 500,
        pinned: bool = False,
        placement: Placement = "input",
        truncate: Literal["start", "middle", "end"] | None = None,
        unlocks: Sequence[str] = (),
        tokens: int | None = None,
    ) -> None:
        items = () if isinstance(text, str) else tuple(text)
        self.__dict__.update(
            id=id,
            text=text if isinstance(text, str) else ITEMS_APART.join(items),
            items=items,
            kind=kind,
            priority=priority,
            pinned=pinned,
            placement=placement,
            truncate=truncate,
            unlocks=tuple(unlocks),
            declared=tokens,
            where=_HOME.get(kind, placement),
            tokens=0,
            original_tokens=0,
            status="included",
            reason=None,
            digest=None,
            since=None,
            stubbed=None,
            ms=None,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Layer cannot be changed; make another one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Layer cannot be changed; {name!r} stays")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layer) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def _with(self, **changes: object) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **changes)
        return other

    def named(self, id: str) -> Self:
        """This layer under another id: two of one build may not share one."""
        return self._with(id=id)

    def placed(self) -> Self:
        """This layer, counted where it is placed, which is not where every kind has its place."""
        return self._with(where=self.placement)

    def kept(self, tokens: int, *, digest: str | None = None, since: str | None = None) -> Self:
        """This layer, sent whole, at the counted cost; `since`: the first turn of a history that was cut."""
        return self._with(tokens=tokens, original_tokens=tokens, digest=digest, since=since)

    def truncated(
        self,
        text: str,
        tokens: int,
        *,
        original_tokens: int,
        digest: str | None,
        reason: str,
        items: Sequence[str] = (),
    ) -> Self:
        """This layer, of which `text` is sent, or `items`, which it is made of."""
        fate = {"status": "truncated", "tokens": tokens, "original_tokens": original_tokens}
        return self._with(**fate, text=text, items=tuple(items), digest=digest, reason=reason)

    def cut(self, *, since: str | None, stubbed: str | None, original_tokens: int, reason: str | None) -> Self:
        """This history, of which earlier parts are not sent, or not as they were."""
        status = "truncated" if original_tokens > self.tokens else self.status
        places = {"since": since, "stubbed": stubbed, "reason": reason}
        return self._with(**places, status=status, original_tokens=max(original_tokens, self.tokens))

    def costing(self, more: int) -> Self:
        """This layer with tokens that its place between others costs."""
        return self._with(tokens=self.tokens + more, original_tokens=self.original_tokens + more)

    def remarked(self, *, reason: str | None = None, ms: int | None = None) -> Self:
        """This layer with a word on it, or with how long its source took."""
        return self._with(reason=self.reason if reason is None else reason, ms=self.ms if ms is None else ms)

    def compacted(self, tokens: int, *, original_tokens: int, digest: str, reason: str) -> Self:
        """This layer, sent in place of something longer."""
        fate = {"status": "compacted", "tokens": tokens, "original_tokens": original_tokens}
        return self._with(**fate, digest=digest, reason=reason)

    def failed(self, reason: str) -> Self:
        """This layer, of which nothing came."""
        return self._with(status="failed", tokens=0, original_tokens=0, reason=reason)

    def dropped(self, reason: str, *, original_tokens: int = 0) -> Self:
        """This layer, not sent, and why."""
        return self._with(status="dropped", tokens=0, original_tokens=original_tokens, reason=reason)

    def to_row(self) -> list[Jsonable]:
        """The compact array that journals hold; empty places at its end are left out.

        [id, kind, fate, tokens, original tokens, digest, reason, where, since, stubbed, ms]
        """
        was = self.original_tokens if self.original_tokens != self.tokens else None
        where = self.where if _HOME.get(self.kind) != self.where else None
        kind = self.kind if self.kind != self.id else None
        row: list[Jsonable] = [
            self.id,
            kind,
            self.status,
            self.tokens,
            was,
            self.digest,
            self.reason,
            where,
            self.since,
            self.stubbed,
            self.ms,
        ]
        while row[-1] is None:
            row.pop()
        return row

    @classmethod
    def from_row(cls, row: LayerRow | Sequence[Any]) -> Layer:
        """Read the array that `to_row` gives; the text is not in it."""
        kept = row if isinstance(row, LayerRow) else msgspec.convert(row, LayerRow)
        kind = kept.id if kept.kind is None else kept.kind
        return cls(kept.id, "", kind=kind)._with(
            status=kept.status,
            tokens=kept.tokens,
            original_tokens=kept.tokens if kept.was is None else kept.was,
            digest=kept.digest,
            reason=kept.reason,
            where=kept.where or _HOME.get(kind, "input"),
            since=kept.since,
            stubbed=kept.stubbed,
            ms=kept.ms,
        )


class LayerRow(msgspec.Struct, array_like=True):
    """A layer as journals hold it; places that are empty at its end are left out."""

    id: str
    kind: str | None
    status: Fate
    tokens: int
    was: int | None = None
    digest: str | None = None
    reason: str | None = None
    where: Where | None = None
    since: str | None = None
    stubbed: str | None = None
    ms: int | None = None


class _Kept(msgspec.Struct):
    layers: list[LayerRow] = []
    window: int = 0
    reserve: int = 0
    margin: int = 0
    counter: str = ""
    tools: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """What one model call was shown.

    Attributes:
        turn_id: the turn.
        call: number of the model call in its turn, from 1.
        model: the model that was asked, as named.
        window: tokens the model holds, or 0 if unknown.
        reserve: tokens kept free for the reply.
        layers: one a piece, in the order of placement; the included ones sum to `total`.
        counter: who counted.
        tools: names of the offered tools, in order.
        warnings: one sentence each.
        shared: tokens at its start that are the same as in the call before, so that a provider may have cached them;
            None if that call was not made in this process.
    """

    turn_id: str
    call: int
    model: str
    layers: tuple[Layer, ...]
    window: int = 0
    reserve: int = 0
    margin: int = 0
    counter: str = ""
    tools: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    shared: int | None = None

    @property
    def total(self) -> int:
        """Tokens of everything sent."""
        return sum(layer.tokens for layer in self.layers)

    @property
    def headroom(self) -> int:
        """Window less margin, reserve and everything sent; 0 if the window is unknown."""
        return self.window - self.margin - self.reserve - self.total if self.window else 0

    @property
    def totals(self) -> dict[str, int]:
        """Tokens sent by place (system, tools, history, input) and in total."""
        sums: dict[str, int] = {"system": 0, "tools": 0, "history": 0, "input": 0}
        for layer in self.layers:
            sums[layer.where] += layer.tokens
        return sums | {"total": self.total}

    def rows(self) -> list[dict[str, Jsonable]]:
        """One dict a layer, ready for a data frame."""
        return [
            {
                "turn": self.turn_id,
                "call": self.call,
                "layer": layer.id,
                "kind": layer.kind,
                "where": layer.where,
                "status": layer.status,
                "tokens": layer.tokens,
                "original_tokens": layer.original_tokens,
                "reason": layer.reason,
            }
            for layer in self.layers
        ]

    def to_json(self) -> msgspec.Raw:
        """The form that `turn.shown` holds: compact rows, and only what is not empty."""
        found: dict[str, Jsonable] = {"layers": [layer.to_row() for layer in self.layers]}
        for name in (*_NUMBERS, "tools", "warnings"):
            if value := getattr(self, name):
                found[name] = value
        return msgspec.Raw(encode(found))

    @classmethod
    def from_json(cls, kept: msgspec.Raw, *, turn_id: str, call: int, model: str) -> Trace:
        """Read what `to_json` gave.

        Raises:
            CorruptJournal: if it is nothing of the kind.
        """
        try:
            found = msgspec.convert(thaw_object(kept), _Kept)
        except msgspec.ValidationError as error:
            raise CorruptJournal(why=f"not a trace: {error}") from None
        rest = {name: getattr(found, name) for name in (*_NUMBERS, "tools", "warnings")}
        layers = tuple(Layer.from_row(row) for row in found.layers)
        return cls(turn_id=turn_id, call=call, model=model, layers=layers, **rest)

    def __str__(self) -> str:
        return "\n".join(_table(self))

    def _repr_html_(self) -> str:
        """The trace as a notebook displays it: a bar over the window, and the table."""
        sent = self.totals
        sizes = {place: sent[place] for place in ("system", "tools", "history", "input")}
        sizes |= {"reserve": self.reserve, "margin": self.margin, "free": self.headroom}
        segments = [Segment(name, size, COLORS.get(name, "none")) for name, size in sizes.items()]
        rows = [
            (
                layer.id,
                layer.where,
                layer.status,
                layer.tokens,
                layer.original_tokens if layer.original_tokens != layer.tokens else None,
                layer.reason,
            )
            for layer in self.layers
        ]
        return figure(
            paragraph(f"turn {self.turn_id}, call {self.call} · {self.model}"),
            bar(segments, whole=self.window),
            paragraph(_account(self)),
            table(("layer", "where", "status", "tokens", "was", "why"), rows),
            *(paragraph(f"warning: {warning}") for warning in self.warnings),
        )


def _table(trace: Trace) -> list[str]:
    lines = [f"turn {trace.turn_id}, call {trace.call} · {trace.model}", f"  {_account(trace)}"]
    width = max([5, *(len(layer.id) for layer in trace.layers)])
    lines.append(f"  {'layer':<{width}}  {'where':<7}  {'status':<9}  {'tokens':>7}  {'was':>7}  why")
    for layer in trace.layers:
        was = f"{layer.original_tokens:,}" if layer.original_tokens != layer.tokens else ""
        row = f"  {layer.id:<{width}}  {layer.where:<7}  {layer.status:<9}  {layer.tokens:>7,}  {was:>7}"
        lines.append(f"{row}  {layer.reason or ''}".rstrip())
    lines += [f"  warning: {warning}" for warning in trace.warnings]
    return lines


def _account(trace: Trace) -> str:
    if not trace.window:
        return f"{trace.total:,} sent, window unknown"
    free = f"{trace.headroom:,} free" if trace.headroom >= 0 else f"{-trace.headroom:,} over"
    margin = f" + {trace.margin:,} margin" if trace.margin else ""
    return f"window {trace.window:,} = {trace.total:,} sent + {trace.reserve:,} for the reply{margin} + {free}"
