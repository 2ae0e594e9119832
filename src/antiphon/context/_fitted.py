"""From what fits to what is given: the messages, the texts, the tools, and a line of the trace for each piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._trace import Layer
from ._account import Telling, history_line, source_lines, summary_line, telling, turn_line
from ._assembly import reads_back
from ._boundary import Measured
from ._compaction import Told
from ._counting import count_messages
from ._ladder import Running, Shorter
from ._packing import declared_wrongly
from ._parts import Packed, Parts
from ._stubs import READ_RESULT
from ._view import Assembled, View


@dataclass(frozen=True, slots=True)
class Fitted:
    """Everything that a call is shown, decided.

    Attributes:
        view: what was looked at, with the budget that was kept.
        parts: what there was beside history.
        beside: what is sent of it.
        measured: the sizes of earlier turns.
        earlier: what is shown of them word for word.
        told: what is told of the rest.
        keep_recent: turns that should have stayed whole.
        run: what stands for the running turn's rounds, or None for all of them.
        reading: whether reading back what stubs stand for may be offered.
        further: whether history had to give way more than its sizes say.
    """

    view: View
    parts: Parts
    beside: Packed
    measured: Measured
    earlier: Shorter
    told: Told
    keep_recent: int
    run: Running | None = None
    reading: bool = False
    further: bool = False

    def assembled(self) -> Assembled:
        """What the context gives."""
        told = telling(self.earlier, self.told, measured=self.measured)
        return Assembled(
            [*told.messages, *self.earlier.messages],
            system=self.beside.system,
            with_input=self.beside.block,
            layers=self._lines(told),
            warnings=self._warnings(),
            tools=[*self.beside.tools, READ_RESULT] if self.reading and self._has_stubs() else self.beside.tools,
            rounds=None if self.run is None else self.run.messages,
            budget=self.view.budget,
        )

    def _has_stubs(self) -> bool:
        in_turn = self.run is not None and self.run.stubbed > self.run.left_out
        if in_turn or self.measured.hidden(self.earlier.position) > 0:
            return True
        rounds = () if self.run is None else self.run.messages
        return reads_back(self.beside.tools, [*self.earlier.messages, *rounds])

    def _asked_for(self) -> bool:
        """Whether history begins where a person had it begin: that few turns are shown is no lack of room then."""
        boundary = self.earlier.position.boundary
        return any(self.measured.start_of(asked.covers) == boundary for asked in self.view.compactions)

    def _lines(self, told: Telling) -> list[Layer]:
        count, turns = self.view.budget.counter, self.view.turns
        lines = source_lines(self.parts.contributions, self.beside.layers)
        lines += summary_line(self.told, measured=self.measured, counter=count)
        tokens = count_messages([*told.note, *self.earlier.messages], count)
        lines.append(
            history_line(
                self.earlier,
                turns,
                measured=self.measured,
                covers=self.told.covers,
                tokens=tokens,
                keep_recent=0 if self._asked_for() else self.keep_recent,
            )
        )
        if self.run is not None:
            lines += turn_line(
                self.run, self.view.turn_id, original=count_messages(self.view.rounds, count), counter=count
            )
        return lines

    def _warnings(self) -> Sequence[str]:
        failed = [f"source {each.source_id!r} {each.failure}" for each in self.parts.contributions if each.failure]
        said = [*failed, *declared_wrongly(self.beside.layers)]
        if self.told.failure is not None:
            said.append(f"not everything left out is summarised: {self.told.failure}")
        if self.further:
            said.append("earlier turns are cut further for this call: counted, they take more than their sizes say")
        return said
