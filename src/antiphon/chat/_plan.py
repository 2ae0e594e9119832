"""What one turn is run with: decided when it is sent, unchanged while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .._jsonable import Jsonable
from .._messages import StoredInput
from ..context._budget import UNBOUNDED, Budget, budget_for
from ..context._view import Context, ContextFunction, View
from ..models._model import HasWindow, Model
from ._limits import Limits
from ._responder import Responder, responder_name

Instructions = str | Callable[[View], str]
KeepTexts = Literal["stable", "none"]


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What one turn is run with.

    Attributes:
        turn_id: the turn.
        input: what the person said.
        context: decides what the model is shown.
        answers: a model, or a function in its place.
        instructions: pinned text, or a function that gives it.
        limits: how much the turn may take.
        key: the caller's idempotency key.
        retry_of: the turn that this one tries again.
        deps: handed to contexts and responders.
        metadata: kept with the input.
        options: kept with the input: what was asked for this turn alone.
        keep_texts: whether texts that rarely change are kept in the journal, once each.
    """

    turn_id: str
    input: StoredInput
    context: Context | ContextFunction
    answers: Model | Responder
    instructions: Instructions = ""
    limits: Limits = field(default_factory=Limits)
    key: str | None = None
    retry_of: str | None = None
    deps: object = None
    metadata: Mapping[str, Jsonable] = field(default_factory=dict)
    options: Mapping[str, Jsonable] = field(default_factory=dict)
    keep_texts: KeepTexts = "stable"

    @property
    def model_name(self) -> str:
        """How traces call what answers."""
        return self.answers.name if isinstance(self.answers, Model) else responder_name(self.answers)

    @property
    def budget(self) -> Budget:
        """The room that what answers has."""
        if not isinstance(self.answers, Model):
            return UNBOUNDED
        return budget_for(self.answers.window if isinstance(self.answers, HasWindow) else None)

    @property
    def responder(self) -> Jsonable:
        """What the outcome says of what answered."""
        kind = "model" if isinstance(self.answers, Model) else "function"
        return {"kind": kind, "name": self.model_name}
