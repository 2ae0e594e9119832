"""Sources: what an application adds to what the model is shown, asked for in parallel, each for itself.

A source that raises, hangs or gives nonsense costs its own layers and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from .._trace import RESERVED, Layer, Placement
from ..errors import Misuse
from ._view import View

TIMEOUT = 2.0
"""Seconds that a source has which does not say how many it needs."""

_LONGEST_WORDS = 300
"""Characters of a source's error that a trace repeats."""

_left_behind: set[asyncio.Task[Any]] = set()
"""Tasks that nobody waits for: the loop holds its tasks weakly, and complains of one that is collected at work."""


@runtime_checkable
class Source(Protocol):
    """Something that adds layers to what the model is shown. `antiphon.testing.SourceContract` checks the promises.

    An attribute `timeout` says how many seconds it may take; 2 where there is none.

    R1  It has an id that is not blank and none of Antiphon's own, and an async `contribute`.
    R2  It gives layers, or none; their ids are its own, or begin with it and a colon.
    R3  It works in a session without turns, and with turns of every status.
    R4  It changes nothing that it is given to look at.
    R5  The same view gives the same layers.
    R6  It ends within its timeout, and when it is cancelled.
    R7  What it gives for one session and scope holds nothing of another one's.
    """

    @property
    def id(self) -> str:
        """Names the source in traces; unique in a context."""
        ...

    async def contribute(self, view: View) -> Sequence[Layer]:
        """Give the layers for one turn. What it raises costs its own layers, and is told in the trace."""
        ...


Given = str | Layer | Sequence[str | Layer] | None
SourceFunction = Callable[[View], Given | Awaitable[Given]]
"""What `source` makes a source of: a function of a View, sync or async, that gives text, layers, several or None."""


def source(
    id: str,
    *,
    timeout: float = TIMEOUT,
    priority: int = 500,
    pinned: bool = False,
    placement: Placement = "input",
    kind: str = "custom",
) -> Callable[[SourceFunction], Source]:
    """Make a source of a function.

        @source("clock", priority=300)
        def clock(view: View) -> str:
            return "It is a quarter past nine."

    A text becomes a layer with these settings; a layer stays as it is. A sync function runs in a thread of its own,
    so that it may block.

    Args:
        id: names the source in traces, and its layers.
        timeout: seconds that it may take; later it costs its layers.
        priority: of its texts; higher survives longer when room is short.
        pinned: whether its texts are never cut and never dropped.
        placement: whether its texts stand with the system text, or with the newest input.
        kind: groups its texts in traces and shares.

    Raises:
        Misuse: if the id is blank, or if id or kind is one of Antiphon's own, or if the timeout is not above 0.
    """
    _check_id(id)
    _check_timeout(id, timeout)
    if kind in RESERVED:
        raise Misuse(f"source {id!r}: only Antiphon makes layers of kind {kind!r}", "choose another kind")
    style = {"kind": kind, "priority": priority, "pinned": pinned, "placement": placement}

    def made(function: SourceFunction) -> Source:
        return _FunctionSource(id, timeout, function, style)

    return made


@dataclass(frozen=True, slots=True)
class _FunctionSource:
    """A function as a source."""

    id: str
    timeout: float
    function: SourceFunction
    style: dict[str, Any]

    async def contribute(self, view: View) -> Sequence[Layer]:
        """Run the function, and make layers of what it gives."""
        given: Any = _started(self.function, view)
        while inspect.isawaitable(given):
            given = await given
        if given is None:
            return ()
        several = [given] if isinstance(given, str | Layer) else given
        if isinstance(several, bytes) or not isinstance(several, Sequence):
            return cast(Sequence[Layer], given)  # Who gathers says what is wrong with it.
        return [self._layer(each) for each in several]

    def _layer(self, given: Any) -> Layer:
        if isinstance(given, Layer):
            return _under(self.id, given)
        return Layer(self.id, given, **self.style) if isinstance(given, str) else given


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one source gave.

    Attributes:
        source_id: the source.
        layers: its layers, under its id; blank ones are left out.
        failure: why there are none, as the end of a sentence on the source; None if it did not fail.
        ms: how long it took, in milliseconds.
    """

    source_id: str
    layers: tuple[Layer, ...]
    failure: str | None
    ms: int


def check_sources(sources: Sequence[Source]) -> tuple[Source, ...]:
    """Give the sources, if they can all be used together.

    Raises:
        Misuse: if one is no source, has an id that it may not have, or that another one has, or a timeout of 0.
    """
    given: Any = sources
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise Misuse(f"sources is a {type(given).__name__}", "give a list of sources")
    seen: set[str] = set()
    for n, each in enumerate(given):
        if isinstance(each, type) or not isinstance(each, Source):
            name = f"class {each.__name__}" if isinstance(each, type) else type(each).__name__
            advice = "decorate a function with @source(id), or give an object with `id` and `contribute`"
            raise Misuse(f"sources[{n}] is a {name}, not a source", advice)
        _check_id(each.id)
        _check_timeout(each.id, time_of(each))
        if each.id in seen:
            raise Misuse(f"two sources have the id {each.id!r}", "give each an id of its own")
        seen.add(each.id)
    return tuple(given)


async def gather(sources: Sequence[Source], view: View) -> list[Contribution]:
    """Ask all the sources at once, each with its own deadline, and give what they gave in the order of `sources`.

    A source that does not end when it is cancelled is left behind. When the caller is cancelled, all sources are.
    """
    return list(await asyncio.gather(*(_contribution(each, view) for each in sources)))


async def _contribution(source: Source, view: View) -> Contribution:
    loop = asyncio.get_running_loop()
    began, timeout = loop.time(), time_of(source)
    task = asyncio.create_task(_asked(source, view), name=f"source {source.id}")
    try:
        await asyncio.wait({task}, timeout=timeout)
    finally:
        if not task.done():
            _leave(task)
    layers, failure = _outcome(task, timeout)
    return Contribution(source.id, layers, failure, round((loop.time() - began) * 1_000))


async def _asked(source: Source, view: View) -> tuple[Layer, ...]:
    given: Any = source.contribute(view)
    return _read(source.id, await given if inspect.isawaitable(given) else given)


def _outcome(task: asyncio.Task[tuple[Layer, ...]], timeout: float) -> tuple[tuple[Layer, ...], str | None]:
    if not task.done():
        return (), f"gave no answer within {timeout:g} s"
    if task.cancelled():
        return (), "cancelled itself"
    error = task.exception()
    return (task.result(), None) if error is None else ((), _failure(error))


def _leave(task: asyncio.Task[Any]) -> None:
    _left_behind.add(task)
    task.add_done_callback(_forget)
    task.cancel()


def _forget(task: asyncio.Task[Any]) -> None:
    _left_behind.discard(task)
    if not task.cancelled():
        task.exception()  # Looked at, so that nobody is told that it was not.


def _failure(error: BaseException) -> str:
    if isinstance(error, _Failed):
        return str(error)
    try:
        words = " ".join(str(error).split())
    except Exception:  # isolates: source
        words = ""
    if len(words) > _LONGEST_WORDS:
        words = words[:_LONGEST_WORDS] + "…"
    return f"raised {type(error).__name__}: {words}" if words else f"raised {type(error).__name__}"


class _Failed(Exception):
    """Says itself what became of a source."""


def _read(source_id: str, given: object) -> tuple[Layer, ...]:
    if isinstance(given, str | bytes | Layer) or not isinstance(given, Sequence):
        raise _Failed(f"gave a {type(given).__name__}, not layers")
    for each in given:
        if wrong := wrong_with(each):
            raise _Failed(wrong)
    return tuple(_under(source_id, layer).placed() for layer in given if layer.text.strip())


def wrong_with(given: Any) -> str | None:
    """What is wrong with something that should be a layer: it is only found out where it would cost the turn."""
    if not isinstance(given, Layer):
        return f"gave a {type(given).__name__} among its layers"
    id, kind, priority = (vars(given)[name] for name in ("id", "kind", "priority"))
    if not isinstance(id, str) or not isinstance(kind, str) or not isinstance(priority, int | float):
        return f"gave layer {id!r} of kind {kind!r} and priority {priority!r}: two texts and a number are meant"
    if given.kind in RESERVED:
        return f"gave layer {given.id!r} of kind {given.kind!r}, which only Antiphon gives"
    if given.placement not in ("system", "input") or given.truncate not in (None, "start", "middle", "end"):
        return f"gave layer {given.id!r} with placement={given.placement!r} and truncate={given.truncate!r}"
    return None


def _under(source_id: str, layer: Layer) -> Layer:
    own = layer.id == source_id or layer.id.startswith(f"{source_id}:")
    return layer if own else layer.named(f"{source_id}:{layer.id}")


def time_of(source: Source) -> float:
    """Seconds that a source may take."""
    return cast(float, getattr(source, "timeout", TIMEOUT))


def _check_id(id: object) -> None:
    if not isinstance(id, str) or not id.strip():
        raise Misuse(f"a source has the id {id!r}", "give it a name that is not blank")
    if id.split(":")[0] in RESERVED:
        raise Misuse(f"a source has the id {id!r}, which only Antiphon gives", "choose another id")


def _check_timeout(id: str, timeout: object) -> None:
    if not isinstance(timeout, int | float) or not timeout > 0:
        raise Misuse(f"source {id!r} has a timeout of {timeout!r}", "give it seconds above 0")


def _started(function: SourceFunction, view: View) -> Any:
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    return function(view) if inspect.iscoroutinefunction(called) else _in_a_thread(function, view)


async def _in_a_thread(function: SourceFunction, view: View) -> Any:
    """Run a function in a thread of its own: one that never comes back blocks no other and keeps no process alive."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def run() -> None:
        try:
            given, error = function(view), None
        except BaseException as raised:  # isolates: source
            given, error = None, raised
        with contextlib.suppress(RuntimeError):  # The loop was closed meanwhile: nobody waits any more.
            loop.call_soon_threadsafe(lambda: None if ended.done() else ended.set_result((given, error)))

    threading.Thread(target=copy_context().run, args=(run,), name="antiphon-source", daemon=True).start()
    given, error = await ended
    if error is None:
        return given
    # What would end the loop's own thread ends this one only.
    raise error if isinstance(error, Exception) else _Failed(_failure(error))
