"""What came of building a session's calls anew: a row for each, their sums, a table and a plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Literal

from .._html import figure, paragraph, table
from .._jsonable import Jsonable
from .._plot import Stack, stacked
from .._trace import Trace
from ..errors import WindowTooSmall

HEADINGS = ("turn", "calls", "sent", "system", "tools", "history", "input", "free", "as before", "what happened")
_HISTORY = ("summary", "history", "turn")
_AREAS = ("system", "tools", "history", "input")


@dataclass(frozen=True, slots=True)
class WhatIfCall:
    """One model call as it would have been.

    Attributes:
        turn: the turn's number, from 1.
        turn_id: the turn.
        call: number of the model call in its turn, from 1.
        status: shown, or refused: it does not fit.
        tokens: what would have been sent; 0 if refused.
        system, tools, history, input: the same by place.
        window: tokens the model holds, or 0 if unknown.
        headroom: window less margin, reserve and everything sent.
        dropped: layers of which nothing would have been sent: dropped and failed ones.
        truncated, compacted: layers that would have been cut, or sent as something shorter.
        boundary: where the history begins if that is not at its first turn, as in `Layer.since`.
        stubbed: up to where long results and arguments are stubs, as in `Layer.stubbed`.
        begins: the boundary as a person reads it: a turn's number, with the number of a reply in it.
        whole_from: up to where there are stubs, in the same words.
        moved: whether the boundary or the stubs stand elsewhere than in the call before.
        only_stubs: whether only the latter do.
        shared: tokens at its start that are the same as in the call before.
        needed: tokens that a refused call would need, its reply included; else 0.
        error: why it was refused, or None.
    """

    turn: int
    turn_id: str
    call: int
    status: Literal["shown", "refused"] = "shown"
    tokens: int = 0
    system: int = 0
    tools: int = 0
    history: int = 0
    input: int = 0
    window: int = 0
    headroom: int = 0
    dropped: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    compacted: tuple[str, ...] = ()
    boundary: str | None = None
    stubbed: str | None = None
    begins: str = ""
    whole_from: str = ""
    moved: bool = False
    only_stubs: bool = False
    shared: int = 0
    needed: int = 0
    error: str | None = None

    @classmethod
    def of(
        cls, trace: Trace, *, number: int, before: Trace | None, same: int, numbers: Mapping[str, int]
    ) -> WhatIfCall:
        """A call that would have been made.

        Args:
            trace: what it would have been shown.
            number: its turn's number.
            before: what the call before would have been shown, or None.
            same: tokens at its start that are the same there.
            numbers: every turn's number, by id.
        """
        sent, (boundary, stubbed) = trace.totals, _places(trace)
        earlier = (boundary, stubbed) if before is None else _places(before)
        return cls(
            number,
            trace.turn_id,
            trace.call,
            tokens=trace.total,
            system=sent["system"],
            tools=sent["tools"],
            history=sent["history"],
            input=sent["input"],
            window=trace.window,
            headroom=trace.headroom,
            dropped=_named(trace, "dropped", "failed"),
            truncated=_named(trace, "truncated"),
            compacted=_named(trace, "compacted"),
            boundary=boundary,
            stubbed=stubbed,
            begins="" if boundary is None else placed(boundary, numbers),
            whole_from="" if stubbed is None else placed(stubbed, numbers),
            moved=(boundary, stubbed) != earlier,
            only_stubs=boundary == earlier[0] and stubbed != earlier[1],
            shared=same,
        )

    @classmethod
    def refusal(cls, number: int, *, call: int, turn_id: str, error: WindowTooSmall) -> WhatIfCall:
        """A call that would not have been made, for it does not fit."""
        return cls(number, turn_id, call, "refused", window=error.window, needed=error.needed, error=str(error))

    @property
    def happened(self) -> tuple[str, ...]:
        """What there is to say of it, in a few words each."""
        if self.status == "refused":
            return (f"refused: needs {self.needed:,}",)
        said = []
        if self.only_stubs:
            said.append(f"long results before {self.whole_from} are stubs" if self.stubbed else "no stubs any more")
        elif self.moved:
            said.append(f"history begins at {self.begins or 'its first turn'}")
        if self.moved:  # What has become of the history stays so: it is told where that changes.
            said += [f"{fate} summary" for fate, names in self._fates() if "summary" in names]
        for fate, names in self._fates():
            others = [name for name in names if name not in _HISTORY]
            said += [f"{fate} {', '.join(others)}"] if others else []
        return tuple(said)

    def _fates(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return ("without", self.dropped), ("cut", self.truncated), ("compacted into a", self.compacted)


def _named(trace: Trace, *statuses: str) -> tuple[str, ...]:
    return tuple(layer.id for layer in trace.layers if layer.status in statuses)


def _places(trace: Trace) -> tuple[str | None, str | None]:
    """Where the history begins and up to where it is stubs; what the running turn left out comes last."""
    since = [layer.since for layer in trace.layers if layer.since is not None]
    stubbed = [layer.stubbed for layer in trace.layers if layer.stubbed is not None]
    return (since[-1] if since else None), (stubbed[-1] if stubbed else None)


def placed(place: str, numbers: Mapping[str, int]) -> str:
    """A place in the history as a person reads it, as in `turn 12` or `turn 12, reply 2`."""
    turn_id, mark, reply = place.rpartition("#")
    if place in numbers or not mark:
        return f"turn {numbers.get(place, place)}"
    turn = f"turn {numbers.get(turn_id, turn_id)}"
    return f"the end of {turn}" if reply == "end" else f"{turn}, reply {reply}"


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A session's calls as another context would have had them shown.

    Attributes:
        calls: one row each, in order.
        model: whose window and counter were used.
        context: what the context is called.
    """

    calls: tuple[WhatIfCall, ...]
    model: str = ""
    context: str = ""

    @property
    def total(self) -> int:
        """How many calls there are."""
        return len(self.calls)

    @property
    def sent(self) -> int:
        """Tokens that all the calls would have sent."""
        return sum(call.tokens for call in self.calls)

    @property
    def shared_tokens(self) -> int:
        """Those of them that stand at a call's start and are the same as in the call before."""
        return sum(call.shared for call in self.calls)

    @property
    def moves(self) -> int:
        """How often the history began elsewhere than in the call before, or the stubs ended elsewhere."""
        return sum(call.moved for call in self.calls)

    @property
    def refused(self) -> int:
        """How many calls do not fit."""
        return sum(call.status == "refused" for call in self.calls)

    @property
    def account(self) -> tuple[str, ...]:
        """What was built and the sums, in two lines."""
        share = f" ({self.shared_tokens / self.sent:.0%})" if self.sent else ""
        windows = [call.window for call in self.calls if call.window]
        ends = dict.fromkeys(f"{end(windows):,}" for end in (min, max)) if windows else ()
        window = f"window {' to '.join(ends)}" if ends else "window unknown"
        which = " · ".join(each for each in (self.context, self.model, window) if each)
        sums = [
            f"{self.total:,} call{'' if self.total == 1 else 's'}",
            f"{self.sent:,} tokens sent",
            f"{self.shared_tokens:,}{share} as in the call before",
            f"history moved {self.moves:,} time{'' if self.moves == 1 else 's'}",
            f"{self.refused:,} refused",
        ]
        return which, " · ".join(sums)

    def rows(self) -> list[dict[str, Any]]:
        """One dict a call, ready for a data frame."""
        return [asdict(call) for call in self.calls]

    def cells(self, *, every_call: bool = False) -> list[list[str]]:
        """The table that `HEADINGS` stand over: a turn's last call and what happened in any of them, or every call."""
        if every_call:
            return [_cells([call], str(call.call)) for call in self.calls]
        turns = [list(calls) for _, calls in groupby(self.calls, key=lambda call: call.turn)]
        return [_cells(calls, str(len(calls))) for calls in turns]

    def to_json(self) -> dict[str, Jsonable]:
        """The sums and the rows, for other programs; `turn` is a turn's id there, `number` its number."""
        sums: dict[str, Jsonable] = {name: getattr(self, name) for name in ("total", "sent", "moves", "refused")}
        named: dict[str, Jsonable] = {"context": self.context, "model": self.model}
        return named | sums | {"shared": self.shared_tokens, "calls": [_row_json(row) for row in self.rows()]}

    def plot(self) -> str:
        """What each call would have sent, by place, under the window, as SVG text."""
        return stacked(
            Stack(
                areas={place: [getattr(call, place) for call in self.calls] for place in _AREAS},
                steps=[_step(call) for call in self.calls],
                limits=[call.window for call in self.calls],
                marks={n: _told(call) for n, call in enumerate(self.calls) if call.moved},
                refused={n: _told(call) for n, call in enumerate(self.calls) if call.status == "refused"},
                across="turn (each step is a model call)",
                up="tokens",
            )
        )

    def __str__(self) -> str:
        rows = [list(HEADINGS), *self.cells()]
        widths = [max(len(row[n]) for row in rows) for n in range(len(HEADINGS) - 1)]
        lines = [
            "  ".join([*(cell.rjust(wide) for cell, wide in zip(row, widths, strict=False)), row[-1]]).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *self.account])

    def _repr_html_(self) -> str:
        """The plot and the table of turns, as a notebook displays them."""
        shown = [row for row in self.cells() if row[-1]]
        return figure(*map(paragraph, self.account), self.plot(), table(HEADINGS, shown) if shown else "")


def _row_json(row: dict[str, Any]) -> dict[str, Jsonable]:
    number, turn_id = row.pop("turn"), row.pop("turn_id")
    rest = {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}
    return {"turn": turn_id, "number": number} | rest


def _step(call: WhatIfCall) -> str:
    return f"{call.turn}" if call.call == 1 else f"{call.turn}.{call.call}"


def _told(call: WhatIfCall) -> str:
    return f"turn {call.turn}, call {call.call}: {'; '.join(call.happened)}"


def _cells(calls: Sequence[WhatIfCall], which: str) -> list[str]:
    last = calls[-1]
    refused = [call for call in calls if call.status == "refused"]
    said = [each for call in calls if call.status == "shown" for each in call.happened]
    if len(refused) > 1:
        said.append(f"refused: {len(refused)} calls, need up to {max(call.needed for call in refused):,}")
    else:
        said += [each for call in refused for each in call.happened]
    numbers = [last.tokens, *(getattr(last, place) for place in _AREAS), last.headroom, last.shared]
    figures = ["" if last.status == "refused" else f"{number:,}" for number in numbers]
    return [str(last.turn), which, *figures, "; ".join(dict.fromkeys(said))]
