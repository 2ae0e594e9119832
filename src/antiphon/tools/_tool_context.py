"""What a running tool may know of its call, and say while it runs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

D = TypeVar("D")

Report = Callable[[str, float | None], None]
"""Takes a note on how far a tool is, and the fraction of its work that is done, from 0 to 1, or None."""


def _unheard(note: str, fraction: float | None) -> None:
    """Nobody listens to what a tool says of its progress."""


@dataclass(frozen=True, slots=True)
class ToolContext(Generic[D]):
    """What a tool is given in its parameter annotated `ToolContext[...]`; no model sees that parameter.

    Attributes:
        session_id: the session.
        turn_id: the turn.
        call_id: the model's call; models may use an id again in a later round.
        round: which of the turn's model replies asked for it, from 1.
        deps: what the caller handed in with the turn.
        attempt: how many times this call has been started, this time included, from 1.
        report: takes what `progress` is given.
    """

    session_id: str
    turn_id: str
    call_id: str
    deps: D
    attempt: int = 1
    round: int = 1
    report: Report = _unheard

    @property
    def key(self) -> str:
        """A text of 32 characters that this call always has, in every attempt and every process.

        Hand it to the outside system as its idempotency key: that makes a tool safe to run again after a crash.
        """
        # Lengths stand in it, so that no two rows of ids give the same text.
        ids = (self.session_id, self.turn_id, str(self.round), self.call_id)
        seed = "".join(f"{len(each)}:{each}" for each in ids)
        return hashlib.sha256(seed.encode(errors="surrogatepass")).hexdigest()[:32]

    def progress(self, note: str, *, fraction: float | None = None) -> None:
        """Say how far the work is. Never fails, and may be called from any thread.

        Args:
            note: in a few words, for people.
            fraction: how much is done; what is below 0 or above 1 is taken as that.
        """
        known = fraction is not None and math.isfinite(fraction)
        self.report(str(note), min(1.0, max(0.0, fraction)) if known and fraction is not None else None)
