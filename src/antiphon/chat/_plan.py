"""What one turn is run with: decided when it is sent, unchanged while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .._jsonable import Jsonable
from .._messages import StoredInput
from .._tool_spec import ToolSpec
from ..context._view import ContextFunction, View
from ..models import Model
from ..tools import Tool, Toolbox, ToolPolicy
from ._answering import Answering
from ._hooks import Hooks, Telling
from ._limits import Limits

Instructions = str | Callable[[View], str]
KeepTexts = Literal["stable", "all", "none"]


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What one turn is run with.

    Attributes:
        turn_id: the turn.
        input: what the person said.
        build: decides what the model is shown.
        answers: what answers.
        instructions: pinned text, or a function that gives it.
        limits: how much the turn may take.
        key: the caller's idempotency key.
        retry_of: the turn that this one tries again.
        deps: handed to contexts and responders.
        metadata: kept with the input.
        options: kept with the input: what was asked for this turn alone.
        toolbox: what may be called.
        policy: decides on each call, when it is to run.
        card_note: stands in the system text while a tool with cards is offered.
        keep_texts: which texts are kept in the journal, once each.
        hooks: the caller's functions.
        errors: tells the hook of errors.
        find_model: makes a model from its name, and gives any other back.
    """

    turn_id: str
    input: StoredInput
    build: ContextFunction
    answers: Answering
    find_model: Callable[[str | Model], Model]
    instructions: Instructions = ""
    limits: Limits = field(default_factory=Limits)
    key: str | None = None
    retry_of: str | None = None
    deps: object = None
    metadata: Mapping[str, Jsonable] = field(default_factory=dict)
    options: Mapping[str, Jsonable] = field(default_factory=dict)
    toolbox: Toolbox = field(default_factory=lambda: Toolbox(()))
    policy: ToolPolicy = field(default_factory=ToolPolicy)
    card_note: str = ""
    keep_texts: KeepTexts = "stable"
    hooks: Hooks = field(default_factory=Hooks)
    errors: Telling = field(default_factory=Telling)

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """What a model is told of the tools that are offered from the start."""
        return tuple(self._told_of(tool) for tool in self.toolbox.offered())

    @property
    def unlockable(self) -> tuple[ToolSpec, ...]:
        """What a layer may unlock."""
        offered = self.toolbox.offered(self.toolbox.unlockable)
        return tuple(self._told_of(tool) for tool in offered[len(self.toolbox.offered()) :])

    def _told_of(self, tool: Tool) -> ToolSpec:
        return tool.noted(self.card_note) if tool.card and self.card_note else tool.spec
