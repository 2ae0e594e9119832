"""What the turn loop asks for. Each effect names the type of its answer; the driver has one method for each.

Failure, cancel and deadline are answers like any other: nothing is thrown into the loop.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..context._assembly import Shown
from ..journal._entries import KnownEntry, Outcome
from ..models._events import Replied

A = TypeVar("A")
R = TypeVar("R")


class Effect(Generic[A]):
    """Something the loop wants done; `A` is the type of the answer."""


Loop = Generator[Effect[Any], Any, R]


def perform(effect: Effect[A]) -> Loop[A]:
    """Ask for one effect and give back its answer, with its type."""
    answer: A = yield effect
    return answer


# --- answers ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Built:
    """A context was built. `steered`: how many of the turn's steerings it holds."""

    shown: Shown
    steered: int


@dataclass(frozen=True, slots=True)
class Answered:
    """A model replied."""

    reply: Replied


@dataclass(frozen=True, slots=True)
class Broken:
    """Something failed; `partial` is what had been said since the last reply."""

    error: BaseException
    partial: str = ""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turn was canceled, or its time is over."""

    reason: str | None
    partial: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """It is committed."""


@dataclass(frozen=True, slots=True)
class MoreSteering:
    """A person said more than the reply had seen; nothing was written."""


# --- effects ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Show(Effect[Built | Broken | Stopped]):
    """Build what call number `call` is shown. `offer_tools`: False for the last call that the limits allow."""

    call: int
    offer_tools: bool = True


@dataclass(frozen=True, slots=True)
class Ask(Effect[Answered | Broken | Stopped]):
    """Ask the model."""

    shown: Shown
    call: int
    offer_tools: bool = True


@dataclass(frozen=True, slots=True)
class Write(Effect[Done | Broken]):
    """Commit entries that do not end the turn."""

    entries: tuple[KnownEntry, ...]


@dataclass(frozen=True, slots=True)
class Finish(Effect[Done | MoreSteering | Stopped | Broken]):
    """Commit the outcome, unless the turn was canceled or steered since.

    `seen` is how many steerings the outcome has seen; None ends the turn however many there are.
    """

    entry: Outcome
    seen: int | None = None
    final: bool = False
