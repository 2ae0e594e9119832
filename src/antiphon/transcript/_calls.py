"""Model calls of turns: what had been estimated for each, and what its provider reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .._trace import Trace
from ..journal._entries import ModelReplied, TurnCompleted, TurnShown
from ._turn import Turn


class CountedCall(NamedTuple):
    """A model call of which both the estimate and the report are known.

    Attributes:
        model: the model that was asked, as named.
        estimated: tokens of everything sent, as counted before sending.
        reported: input tokens as the provider counted them, cached ones included; 0 where it said nothing.
        counter: who made the estimate.
    """

    model: str
    estimated: int
    reported: int
    counter: str = ""


def calls_of(turns: Iterable[Turn]) -> Iterator[CountedCall]:
    """Each model call of some turns that was answered: what had been estimated for it, and what was reported."""
    for turn in turns:
        yield from _calls(turn)


def _calls(turn: Turn) -> Iterator[CountedCall]:
    traces = iter(turn.traces)
    trace: Trace | None = None
    for entry in turn.entries:
        if isinstance(entry, TurnShown):
            # Built anew for the same call, as after a refusal: the last one is what was answered.
            trace = next(traces)
        elif isinstance(entry, ModelReplied | TurnCompleted):
            if trace is not None and entry.usage is not None:
                yield CountedCall(trace.model, trace.total, entry.usage.input, trace.counter)
            trace = None
