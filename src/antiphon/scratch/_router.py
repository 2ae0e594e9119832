"""Several models under one, of which one is active."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from typing import Any, NamedTuple

from ..context._budget import budget_for
from ..context._tokens import estimate_tokens
from ..errors import Misuse, UnknownModel
from ..models import HasWindow, Model, ModelEvent, ModelRequest
from ..tools import Tool
from ._compactor import Compactor
from ._completing import CapsModelCalls, ScratchLimits, complete
from ._messages import ScratchReply
from ._scratchpad import Scratchpad

Catalog = Mapping[str, HasWindow]
"""What is known of models, by name: at least the window, 0 where it is not known."""
CatalogSource = Catalog | Callable[[], Catalog | Awaitable[Catalog]]
"""A catalog, or a function that fetches one, now or when awaited."""
Models = Mapping[str, Model] | Sequence[Model] | Callable[[str], Model]
"""Models by name, models that have their names, or a function that makes one of a name."""


class _Active(NamedTuple):
    name: str
    model: Model
    window: int


_NOTHING: Any = object()
_LIMITS = ScratchLimits()


class Router:
    """Is the model that is active, and keeps a scratchpad that outlives a switch from one to another.

    A switch sets the token limit of the scratchpad's compactor to what the model holds, less room for its reply and
    for the error of the count. It compacts nothing: the next append does. Where no window is known the limit stays as
    it is, and one that is off stays off.

    Args:
        models: see `Models`; none for a router that has a catalog only.
        catalog: see `CatalogSource`; fetched when it is first needed, and kept.
        tools: functions and Tools that its own `complete` offers.
        scratchpad: by default an empty one with a compactor.

    Attributes:
        scratchpad: what its own `complete` asks with.
        tools: see above.
    """

    def __init__(
        self,
        models: Models = (),
        *,
        catalog: CatalogSource | None = None,
        tools: Sequence[Tool | Callable[..., Any]] = (),
        scratchpad: Scratchpad | None = None,
    ) -> None:
        self._models = models if callable(models) else _named(models)
        self._source: CatalogSource = {} if catalog is None else catalog
        self._catalog: Catalog | None = None
        self._fetching = asyncio.Lock()
        self._active: _Active | None = None
        self.tools = tools
        self.scratchpad = Scratchpad(Compactor()) if scratchpad is None else scratchpad

    @property
    def active(self) -> str | None:
        """The name under which a model was activated, or None."""
        return None if self._active is None else self._active.name

    @property
    def name(self) -> str:
        """How traces and errors call the active model; `router` where none is."""
        return "router" if self._active is None else self._active.model.name

    @property
    def window(self) -> int:
        """Tokens of request and reply together that the active model holds; 0 is not known."""
        return 0 if self._active is None else self._active.window

    async def activate(self, name: str) -> None:
        """Make a model the active one. Messages stay as they are.

        Raises:
            Misuse: if the router has a catalog only.
            UnknownModel: if it has no model of this name.
            Exception: whatever fetching the catalog raises; the active model stays.
        """
        model = self._find(name)
        known = [size for size in (_size(model), _size((await self.catalog()).get(name))) if size]
        # Both may be set with reason, the one by the provider and the other by who runs it: the smaller one holds.
        window = min(known, default=0)
        self._active = _Active(name, model, window)
        compactor = self.scratchpad.compactor
        if window and compactor is not None and compactor.max_tokens:
            budget = budget_for(window, counter=compactor.counter or estimate_tokens)
            compactor.max_tokens = max(1, budget.packed_limit)

    async def catalog(self) -> Catalog:
        """What is known of models, by name; fetched once."""
        async with self._fetching:
            if self._catalog is None:
                self._catalog = await _fetched(self._source)
            return self._catalog

    async def refresh(self) -> Catalog:
        """Fetch the catalog again; if that fails, the one before stays."""
        async with self._fetching:
            self._catalog = await _fetched(self._source)
            return self._catalog

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer with the active model: the one that is active when the first event is asked for.

        Raises:
            Misuse: if none is.
            ModelError: as the model raises it.
        """
        stream: Any = self._answering().stream(request)
        async with aclosing(stream) if hasattr(stream, "aclose") else nullcontext():
            async for event in stream:
                yield event

    async def complete(self, said: object = _NOTHING, *, limits: CapsModelCalls = _LIMITS) -> ScratchReply:
        """Ask the active model with the router's scratchpad and tools; see `complete`.

        Args:
            said: appended first, as the user's; nothing if it is left out, as after a failure.
            limits: see `complete`.

        Raises:
            Misuse: if no model is active; nothing is appended then.
        """
        self._answering()
        if said is not _NOTHING:
            self.scratchpad.user(said)
        return await complete(self, self.scratchpad, tools=self.tools, limits=limits)

    def _answering(self) -> Model:
        if self._active is not None:
            return self._active.model
        if not self._models:
            raise _only_a_catalog()
        raise Misuse("no model of this router is active", "await router.activate(name) first")

    def _find(self, name: str) -> Model:
        if not self._models:
            raise _only_a_catalog()
        if callable(self._models):
            return self._models(name)
        if name not in self._models:
            raise UnknownModel(name, f"this router has {', '.join(map(repr, self._models))}")
        return self._models[name]


def _only_a_catalog() -> Misuse:
    return Misuse("this router has a catalog only, and no model to ask", "give it models")


def _named(models: Mapping[str, Model] | Sequence[Model]) -> Mapping[str, Model]:
    found = dict(models) if isinstance(models, Mapping) else {model.name: model for model in models}
    if len(found) < len(models):
        raise Misuse("two models of the router have one name", "give a dict of models by name")
    return found


def _size(known: object) -> int:
    """A window in tokens, 0 where it is not known; a catalog that lacks a figure must not read as one without end."""
    found = getattr(known, "window", None)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0


async def _fetched(source: CatalogSource) -> Catalog:
    if isinstance(source, Mapping):
        return source
    found = source()
    return await found if inspect.isawaitable(found) else found
