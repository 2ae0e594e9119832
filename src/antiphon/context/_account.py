"""The lines of a trace for what a context decided, and the sentences that go with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._messages import Message
from .._trace import Layer
from ..transcript._sizes import BYTES_PER_TOKEN
from ..transcript._turn import Turn
from ._assembly import digest
from ._boundary import Measured
from ._compaction import Told
from ._counting import PER_MESSAGE, count_messages, count_parts
from ._history import left_out_note, place
from ._ladder import Running, Shorter
from ._source import Contribution
from ._stubs import LAST_SHORTENED
from ._summarizing import marked
from ._tokens import TokenCounter


class Telling(NamedTuple):
    """The messages that stand for what is before the boundary: a summary, and a line on what none covers."""

    summary: Sequence[Message] = ()
    note: Sequence[Message] = ()

    @property
    def messages(self) -> list[Message]:
        """Both, in order."""
        return [*self.summary, *self.note]


def telling(earlier: Shorter, told: Told, *, measured: Measured) -> Telling:
    """Decide what stands for the turns before the boundary."""
    summary = [] if told.summary is None else [marked(told.summary.text)]
    boundary = earlier.position.boundary
    if boundary <= told.covers or not earlier.noted:
        return Telling(summary)
    first, last = measured.turn_of(told.covers), measured.turn_of(boundary)
    within = last < len(measured.starts) and measured.starts[last] < boundary
    return Telling(summary, [left_out_note(last - first, within=within)])


def cost_of(messages: Sequence[Message], counter: TokenCounter) -> int:
    """Tokens of messages, framing included."""
    return count_messages(messages, counter) + PER_MESSAGE * len(messages)


def source_lines(contributions: Sequence[Contribution], layers: Sequence[Layer]) -> list[Layer]:
    """One line for each layer, and one for each source that gave none."""
    found: list[Layer] = []
    left = iter(layers)
    for each in contributions:
        own = [next(left) for _ in each.layers]
        if each.failure is not None:
            own = [Layer(each.source_id, "").failed(each.failure)]
        elif not own:
            own = [Layer(each.source_id, "").kept(0).remarked(reason="gave nothing")]
        found += [own[0].remarked(ms=each.ms), *own[1:]]
    return found


def summary_line(told: Told, *, measured: Measured, counter: TokenCounter) -> list[Layer]:
    """The line of the summary, or of the one that there should have been."""
    if told.summary is None:
        return [] if told.failure is None else [Layer("summary", "", kind="summary").failed(told.failure)]
    message = marked(told.summary.text)
    line = Layer("summary", message.text, kind="summary").compacted(
        count_parts(message, counter),
        original_tokens=measured.full[told.covers] // BYTES_PER_TOKEN,
        digest=digest(told.summary.text),
        reason=f"{_stretch(1, measured.turn_of(told.covers - 1) + 1)}; summary by {told.summary.model}",
    )
    return [line]


def history_line(
    earlier: Shorter,
    turns: Sequence[Turn],
    *,
    measured: Measured,
    covers: int,
    tokens: int,
    keep_recent: int,
) -> Layer:
    """The line of what is shown word for word, with where it begins and up to where it has stubs.

    Args:
        earlier: what is shown.
        turns: earlier turns.
        measured: their sizes.
        covers: units that a summary tells of.
        tokens: what the messages cost, and the line on what is left out.
        keep_recent: turns that should have stayed whole.
    """
    line = Layer("history", "", kind="history").kept(tokens)
    boundary, stubbed = earlier.position
    if not turns or not (boundary or stubbed):
        return line
    lost = measured.full[boundary] - measured.full[min(covers, boundary)]
    hidden = measured.hidden(earlier.position)
    return line.cut(
        since=place(turns, measured, unit=boundary),
        stubbed=place(turns, measured, unit=stubbed) if hidden else None,
        original_tokens=tokens + (lost + hidden) // BYTES_PER_TOKEN,
        reason=_history_reason(earlier, measured, covers=covers, keep_recent=keep_recent),
    )


def _history_reason(earlier: Shorter, measured: Measured, *, covers: int, keep_recent: int) -> str:
    boundary, stubbed = earlier.position
    first, last = measured.turn_of(boundary) + 1, len(measured.starts)
    said = [_stretch(first, last)] if first <= last else []
    if covers < boundary:
        said.append(f"{_stretch(measured.turn_of(covers) + 1, measured.turn_of(boundary - 1) + 1)} left out")
    if measured.hidden(earlier.position):
        said.append(f"long results before turn {measured.turn_of(stubbed) + 1} are stubs")
    if last - first + 1 < min(keep_recent, last):
        said.append(f"the last {keep_recent} do not fit")
    return "; ".join(said)


def _stretch(first: int, last: int) -> str:
    return f"turn {first}" if first >= last else f"turns {first}-{last}"


def turn_line(run: Running, turn_id: str, *, original: int, counter: TokenCounter) -> list[Layer]:
    """The line of the running turn's own rounds, where something of them is not sent."""
    said = []
    if run.left_out:
        said.append(f"{run.left_out} earlier round{'s' if run.left_out > 1 else ''} left out")
    if run.stubbed > run.left_out:
        said.append("long results of earlier rounds are stubs")
    if run.shortened:
        said.append(LAST_SHORTENED)
    if not said:
        return []
    line = Layer("turn", "", kind="history").kept(count_messages(run.messages, counter))
    return [
        line.cut(
            since=f"{turn_id}#{run.left_out + 1}" if run.left_out else None,
            stubbed=f"{turn_id}#{run.stubbed + 1}" if run.stubbed > run.left_out else None,
            original_tokens=original,
            reason="; ".join(said),
        )
    ]
