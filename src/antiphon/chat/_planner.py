"""Decides what each turn is run with: a Chat's settings, and over them what was asked for one turn alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from .._jsonable import Jsonable
from .._messages import StoredInput
from .._model_names import model_from_name
from ..context import Context, ContextFunction, FullContext
from ..context._assembly import digest
from ..errors import Misuse, UnknownModel
from ..models import Model
from ..tools import Tool, Toolbox, ToolPolicy
from ._answering import by_model, by_responder
from ._hooks import Hooks, Telling
from ._limits import Limits
from ._plan import Instructions, KeepTexts, TurnPlan
from ._responder import Responder

_DIGEST = re.compile("[0-9a-f]{12}")
"""What stands in place of instructions whose text is not kept."""

AnyModel = str | Model
AnyContext = Context | ContextFunction
Tools = Toolbox | Sequence[Tool | Callable[..., Any]]


CARD_NOTE = (
    "Some tools show a card to the user. A card stands in your reply where its tool was called: refer to it, say what"
    " it means, and do not repeat what is on it."
)
"""Written for models: it may change in any version and is not to be parsed."""


@dataclass(slots=True, kw_only=True)
class Settings:
    """What a Chat was given; see there."""

    model: AnyModel | None
    responder: Responder | None
    context: AnyContext | None
    instructions: Instructions | None
    tools: Tools
    policy: ToolPolicy | None
    card_note: str = CARD_NOTE
    limits: Limits | None
    keep_texts: KeepTexts
    hooks: Hooks | None


class Planner:
    """Makes turn plans.

    Attributes:
        closed: whether the Chat is closed: no turn starts any more.
        context: decides what models are shown.
        toolbox: what models may call.
        hooks: the caller's functions.
        running: what runs; a task that nobody holds may be collected before its end.

    Raises:
        Misuse: if the settings contradict each other.
        UnknownModel, MissingExtra: if the model's name leads nowhere.
    """

    def __init__(self, settings: Settings) -> None:
        if settings.model is not None and settings.responder is not None:
            raise Misuse("a Chat was given both a model and a responder", "give one of the two")
        if settings.responder is not None and not callable(settings.responder):
            raise Misuse(f"responder is a {type(settings.responder).__name__}", "give a function of a TurnRequest")
        rules = settings.instructions
        if rules is not None and not isinstance(rules, str) and not callable(rules):
            raise Misuse(f"instructions is a {type(rules).__name__}", "give text, or a function of a View")
        if settings.keep_texts not in ("stable", "all", "none"):
            raise Misuse(f"keep_texts={settings.keep_texts!r} is not known", "use 'stable', 'all' or 'none'")
        if settings.policy is not None and not isinstance(settings.policy, ToolPolicy):
            raise Misuse(f"policy is a {type(settings.policy).__name__}", "give a ToolPolicy")
        if settings.hooks is not None and not isinstance(settings.hooks, Hooks):
            raise Misuse(f"hooks is a {type(settings.hooks).__name__}", "give Hooks(...)")
        self.hooks = settings.hooks or Hooks()
        self.toolbox = toolbox_of(settings.tools)
        self.closed = False
        self.running: set[object] = set()
        self._made: dict[str, Model] = {}
        self._settings = settings
        self.context: AnyContext = FullContext() if settings.context is None else settings.context
        self._build = building(self.context)
        self._answers = by_responder(settings.responder) if settings.responder is not None else None
        if settings.model is not None:
            self._answers = by_model(self.model(settings.model))

    def model(self, given: AnyModel) -> Model:
        """Give the model; one that is named is made once, and closed with the Chat.

        Raises:
            UnknownModel, MissingExtra: if there is none of this name here.
        """
        if not isinstance(given, str):
            if not isinstance(given, Model):
                raise Misuse(f"model is a {type(given).__name__}", "give a Model or a model's name")
            return given
        if given not in self._made:
            self._made[given] = model_from_name(given)
        return self._made[given]

    def plan(
        self,
        turn_id: str,
        input: StoredInput,
        *,
        options: Mapping[str, Any],
        retry_of: str | None = None,
        context: AnyContext | None = None,
    ) -> TurnPlan:
        """Decide what a turn is run with; `context` in place of the Chat's.

        Raises:
            Misuse: if nothing is there to answer.
        """
        answers = by_model(self.model(options["model"])) if "model" in options else self._answers
        if answers is None:
            raise Misuse("this Chat has neither a model nor a responder", "give it one, or give one with the turn")
        return TurnPlan(
            turn_id=turn_id,
            input=input,
            build=self._build if context is None else building(context),
            answers=answers,
            find_model=self.model,
            instructions=options.get("instructions", self._settings.instructions) or "",
            limits=options.get("limits") or self._settings.limits or Limits(),
            key=options.get("key"),
            retry_of=retry_of,
            deps=options.get("deps"),
            metadata=options.get("metadata") or {},
            options=_kept_options(options, texts=self._settings.keep_texts != "none"),
            toolbox=self.toolbox if options.get("tools") is None else toolbox_of(options["tools"]),
            policy=self._settings.policy or ToolPolicy(),
            card_note=self._settings.card_note,
            keep_texts=self._settings.keep_texts,
            hooks=self.hooks,
            errors=Telling(self.hooks.on_error),
        )

    def kept(self, options: Mapping[str, Any], *, given: Mapping[str, Any]) -> dict[str, Any]:
        """What a turn is resumed with: what it was sent with, as far as that is kept, and over it what is given now.

        Raises:
            Misuse: if its own instructions were not kept and none are given.
        """
        found = kept_options(options)
        if "instructions" not in given and _DIGEST.fullmatch(found.get("instructions", "")):
            raise Misuse("the turn's own instructions were not kept", "give them again: resume(instructions=…)")
        if "model" in found and "model" not in given:
            try:
                self.model(found["model"])
            except UnknownModel:  # The name of an object that was handed in; the Chat's model answers in its place.
                del found["model"]
        return found | dict(given)

    async def aclose(self) -> None:
        """Close the models that were made here and can be closed; one handed in is its owner's."""
        made, self._made = self._made, {}
        for model in made.values():
            close = getattr(model, "aclose", None)
            if close is not None:
                await close()


def building(given: AnyContext | None) -> ContextFunction:
    """A context as a function.

    Raises:
        TypeError: if it is none.
    """
    given = FullContext() if given is None else given
    if isinstance(given, Context) and not isinstance(given, type):
        return given.build
    if isinstance(given, type) or not callable(given):
        raise TypeError(f"context is {given!r}; give an object with build(view), or a function of a View")
    return given


def toolbox_of(given: Tools) -> Toolbox:
    """A toolbox of what was given.

    Raises:
        Misuse: if it is no list of functions and Tools.
    """
    return given if isinstance(given, Toolbox) else Toolbox(given)


def kept_options(kept: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for one turn alone, read back: instructions, limits, and the model where it was named."""
    found: dict[str, Any] = {}
    if isinstance(kept.get("instructions"), str):
        found["instructions"] = kept["instructions"]
    if isinstance(kept.get("limits"), Mapping):
        names = {field.name for field in fields(Limits)}
        found["limits"] = Limits(**{name: value for name, value in kept["limits"].items() if name in names})
    if isinstance(kept.get("model"), str) and ":" in kept["model"]:
        found["model"] = kept["model"]
    return found


def _kept_options(options: Mapping[str, Any], *, texts: bool) -> dict[str, Jsonable]:
    kept: dict[str, Jsonable] = {}
    if "instructions" in options:
        kept["instructions"] = options["instructions"] if texts else digest(options["instructions"])
    if "model" in options:
        given = options["model"]
        kept["model"] = given if isinstance(given, str) else given.name
    if options.get("limits") is not None:
        kept["limits"] = {name: value for name, value in asdict(options["limits"]).items() if value is not None}
    return kept
