"""What the turn loop asks for. Each effect names the type of its answer; the driver has one method for each.

Failure, cancel and deadline are answers like any other: nothing is thrown into the loop.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Generic, Literal, TypeVar

import msgspec

from .._messages import ToolCall, ToolResult
from ..context._assembly import Shown
from ..journal._entries import KnownEntry, Outcome
from ..journal._lifecycle import CallPhase
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


class OpenCall(msgspec.Struct, frozen=True):
    """A call that has no result yet.

    Attributes:
        call: as the model made it.
        phase: where it stands.
        arguments: what a person put in place of the model's arguments, or None.
        attempts: how often it was started.
        by: who decided on it, or None.
        reason: what that person said.
    """

    call: ToolCall
    phase: CallPhase = "called"
    arguments: msgspec.Raw | None = None
    attempts: int = 0
    by: str | None = None
    reason: str | None = None


class Verdict(msgspec.Struct, frozen=True):
    """What is to be done with a call.

    Attributes:
        open: the call.
        action: run it, ask a person, or answer it without running it.
        reason: why a person is asked.
        arguments: what a person is shown in place of the model's arguments, or None.
        result: what it is answered with.
        ready: what is run, as the driver prepared it.
    """

    open: OpenCall
    action: Literal["run", "ask", "answer"]
    reason: str = ""
    arguments: msgspec.Raw | None = None
    result: ToolResult | None = None
    ready: Any = None


class Judged(msgspec.Struct, frozen=True):
    """It is decided what becomes of each call."""

    verdicts: tuple[Verdict, ...]


class Open(msgspec.Struct, frozen=True):
    """The calls of the last reply that have no result."""

    calls: tuple[OpenCall, ...]


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


class Judge(Effect[Judged | Stopped], frozen=True):
    """Decide what becomes of calls. `truncated`: their reply was cut off, so that none of them may run."""

    calls: tuple[OpenCall, ...]
    truncated: bool = False


class RunCalls(Effect[Done | Stopped | Broken], frozen=True):
    """Run calls that are journaled as started; the result of each is committed as it ends."""

    verdicts: tuple[Verdict, ...]


class LookUp(Effect[Open | Stopped], frozen=True):
    """Read which calls of the last reply have no result, with what people decided by now."""


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
