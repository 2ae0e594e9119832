"""What answers a turn: a model, or a function in its place. Looked at once, and not in every turn."""

from __future__ import annotations

from dataclasses import dataclass

from .._jsonable import Jsonable
from ..context._budget import UNBOUNDED, Budget, budget_for
from ..context._families import counter_for
from ..models import HasWindow, Model
from ._responder import Responder, responder_name


@dataclass(frozen=True, slots=True)
class Answering:
    """A model or a responder.

    Attributes:
        name: how traces call it.
        budget: the room that it has.
        model: the model, or None.
        responder: the function, or None.
    """

    name: str
    budget: Budget
    model: Model | None = None
    responder: Responder | None = None

    @property
    def told(self) -> Jsonable:
        """What an outcome says of it."""
        return {"kind": "function" if self.model is None else "model", "name": self.name}


def by_model(model: Model) -> Answering:
    """Let a model answer; one that does not say what it holds is taken to hold little."""
    window = model.window if isinstance(model, HasWindow) else None
    return Answering(model.name, budget_for(window, counter=counter_for(str(model.name))), model=model)


def by_responder(responder: Responder) -> Answering:
    """Let a function answer; what it sends on is its own affair, so nothing bounds what it is given."""
    return Answering(responder_name(responder), UNBOUNDED, responder=responder)
