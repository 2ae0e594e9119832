"""Running calls. Whatever a tool does, its call has one result."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import Any, TypeVar

from .._messages import ToolResult
from .._tool_errors import ToolTimeout
from ._arguments import Prepared
from ._results import error_of, result_of
from ._tool import Tool
from ._tool_context import Report, ToolContext

T = TypeVar("T")

GRACE = 1.0
"""Seconds that an async tool has for its clean-up once it is canceled, before it is left behind."""


async def run_call(
    tool: Tool, call: Prepared, *, context: ToolContext[Any], timeout: float | None = None
) -> ToolResult:
    """Run a call and give its one result, an error among them.

    An async tool is awaited in a task of its own, a sync one runs in a thread of its own, both in a copy of the
    caller's context variables. A tool whose time is over is canceled; a thread cannot be, so it is left behind: what
    it still does is its own matter, what it says is not heard any more, and it keeps no process alive.

    Args:
        tool: what is run.
        call: its arguments, as `prepared` gives them.
        context: what the tool is told, where it asks; `report` is called in the loop's thread.
        timeout: seconds it may take at most; the tool's own timeout holds too.

    Raises:
        asyncio.CancelledError: if the caller is canceled, once the tool is.
        KeyboardInterrupt: from the tool: it means the process. A tool that exits, as a command line inside it does,
            has only given an error.
    """
    limits = [each for each in (tool.timeout, timeout) if each is not None]
    hearing = _Hearing(context.report)
    task = asyncio.create_task(_attempt(tool, call, context=replace(context, report=hearing.report)))
    try:
        done, _ = await asyncio.wait({task}, timeout=min(limits, default=None))
        if not done:
            await _abandon(task)
            return error_of(call.call, ToolTimeout(tool.name, min(limits)))
        if task.cancelled():
            return error_of(call.call, asyncio.CancelledError("the tool canceled itself"))
        return task.result()
    except asyncio.CancelledError:
        await _abandon(task)
        raise
    finally:
        hearing.over = True


def schedule(calls: Sequence[tuple[Tool, T]]) -> list[list[tuple[Tool, T]]]:
    """Put calls into batches to be run one after another, the calls of one batch at once.

    A `sequential` tool runs alone. Batches keep the order of the calls, so that their results, joined, stand in it.
    """
    found: list[list[tuple[Tool, T]]] = []
    for tool, call in calls:
        if found and not tool.sequential and not found[-1][0][0].sequential:
            found[-1].append((tool, call))
        else:
            found.append([(tool, call)])
    return found


class _Hearing:
    """Passes on what a running tool says, in the loop's thread, until its call has a result."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.over = False

    def report(self, note: str, fraction: float | None) -> None:
        """Take a note from any thread."""
        if threading.get_ident() == self._thread:
            self._pass_on(note, fraction)
            return
        with contextlib.suppress(RuntimeError):  # The loop was closed meanwhile: nobody listens any more.
            self._loop.call_soon_threadsafe(self._pass_on, note, fraction)

    def _pass_on(self, note: str, fraction: float | None) -> None:
        if not self.over:
            self._report(note, fraction)


async def _attempt(tool: Tool, call: Prepared, *, context: ToolContext[Any]) -> ToolResult:
    own = {tool.context: context} if tool.context else {}
    run = functools.partial(tool.run, **{**call.arguments, **own})
    try:
        given = run() if _is_async(tool.run) else await _in_thread(lambda: _finished(call, run))
        return _result(call, await given if inspect.isawaitable(given) else given)
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise
    except BaseException as error:  # isolates: tool
        return error_of(call.call, error)


def _finished(call: Prepared, run: Callable[[], object]) -> object:
    """Run a sync tool and make the result in its thread: a large one would hold up the loop."""
    try:
        given = run()
        return given if inspect.isawaitable(given) else _Made(result_of(call.call, given))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # isolates: tool
        return _Made(error_of(call.call, error))


class _Made:
    """A result that is made already, which is not the same as one that a tool gave."""

    def __init__(self, result: ToolResult) -> None:
        self.result = result


def _result(call: Prepared, given: object) -> ToolResult:
    return given.result if isinstance(given, _Made) else result_of(call.call, given)


def _is_async(function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    called = function if inspect.isroutine(function) else getattr(type(function), "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(called)


async def _in_thread(work: Callable[[], object]) -> object:
    """Run in a daemon thread: asyncio's own are waited for at exit, so that one that hangs would hang the process."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[tuple[object, BaseException | None]] = loop.create_future()

    def settle(given: object, error: BaseException | None) -> None:
        if not waiting.done():
            waiting.set_result((given, error))

    def runs() -> None:
        given: object = None
        raised: BaseException | None = None
        try:
            given = work()
        except KeyboardInterrupt as error:
            raised = error
        with contextlib.suppress(RuntimeError):  # The loop was closed meanwhile: nobody waits any more.
            loop.call_soon_threadsafe(settle, given, raised)

    threading.Thread(target=copy_context().run, args=(runs,), name="antiphon-tool", daemon=True).start()
    given, error = await waiting
    if error is not None:
        raise error
    return given


async def _abandon(task: asyncio.Task[ToolResult]) -> None:
    """Cancel a tool and give it a moment; what it ends in is nobody's any more, so nothing is logged of it."""
    task.cancel()
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    await asyncio.wait({task}, timeout=GRACE)
