"""What the turn loop asks for. Each effect names the type of its answer; the driver has one method for each.

Failure, cancel and deadline are answers like any other: nothing is thrown into the loop.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Generic, TypeVar

import msgspec

from ..context._assembly import Shown
from ..journal._entries import KnownEntry, Outcome
from ..models._events import Replied

A = TypeVar("A")
R = TypeVar("R")


class Effect(msgspec.Struct, Generic[A], frozen=True):
    """Something the loop wants done; `A` is the type of the answer."""


Loop = Generator[Effect[Any], Any, R]


def perform(effect: Effect[A]) -> Loop[A]:
    """Ask for one effect and give back its answer, with its type."""
    answer: A = yield effect
    return answer


# --- answers ---------------------------------------------------------------------------------------------------


class Built(msgspec.Struct, frozen=True):
    """A context was built. `steered`: how many of the turn's steerings it holds."""

    shown: Shown
    steered: int


class Answered(msgspec.Struct, frozen=True):
    """A model replied."""

    reply: Replied


class Broken(msgspec.Struct, frozen=True):
    """Something failed; `partial` is what had been said since the last reply."""

    error: BaseException
    partial: str = ""


class Stopped(msgspec.Struct, frozen=True):
    """The turn was canceled, or its time is over."""

    reason: str | None
    partial: str = ""


class Done(msgspec.Struct, frozen=True):
    """It is committed."""


class MoreSteering(msgspec.Struct, frozen=True):
    """A person said more than the reply had seen; nothing was written."""


# --- effects ---------------------------------------------------------------------------------------------------


class Show(Effect[Built | Broken | Stopped], frozen=True):
    """Build what call number `call` is shown.

    `offer_tools`: False for the last call that the limits allow. `refused`: what was built for it was too long for its
    model, as the provider counts.
    """

    call: int
    offer_tools: bool = True
    refused: Shown | None = None


class Ask(Effect[Answered | Broken | Stopped], frozen=True):
    """Ask the model."""

    shown: Shown
    call: int
    offer_tools: bool = True


class Write(Effect[Done | Broken], frozen=True):
    """Commit entries that do not end the turn."""

    entries: tuple[KnownEntry, ...]


class Finish(Effect[Done | MoreSteering | Stopped | Broken], frozen=True):
    """Commit the outcome, unless the turn was canceled or steered since.

    `seen` is how many steerings the outcome has seen; None ends the turn however many there are.
    """

    entry: Outcome
    seen: int | None = None
    final: bool = False
