"""Running calls: one result for each, in call order, whatever tools do."""

import asyncio
import contextvars
import functools
import threading
from typing import Any

import pytest

from antiphon import ToolCall, ToolResult
from antiphon.tools import Tool, ToolContext, prepared, run_call, schedule, tool

pytestmark = pytest.mark.anyio
SOON = 0.02
WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="nobody")


def context(report: Any = lambda note, fraction: None) -> ToolContext[str]:
    """What a tool is told."""
    return ToolContext("s", "t", "c1", "the deps", report=report)


async def ran(made: Tool, *, timeout: float | None = None, report: Any = None, **arguments: Any) -> ToolResult:
    """The result of one call."""
    call = prepared(made, ToolCall.of("c1", made.name, arguments=arguments))
    return await run_call(made, call, context=context(report) if report else context(), timeout=timeout)


class Rude(BaseException):
    """No ordinary error."""


def raising(error: BaseException, *, later: bool) -> Tool:
    """A tool, async or not, that raises."""

    def now() -> None:
        raise error

    async def awaited() -> None:
        raise error

    return tool(name="fails")(awaited if later else now)


async def test_async_and_sync_tools_run() -> None:
    """A tool is awaited or run in a thread; either sees the caller's context variables and its own context."""
    WHO.set("ana")

    @tool
    async def awaited(ctx: ToolContext[str], x: int) -> list[Any]:
        return [x, ctx.deps, WHO.get(), threading.current_thread() is threading.main_thread()]

    @tool
    def threaded(ctx: ToolContext[str], x: int) -> list[Any]:
        return [x, ctx.deps, WHO.get(), threading.current_thread() is threading.main_thread()]

    assert await ran(awaited, x=1) == ToolResult.of("c1", "awaited", output=[1, "the deps", "ana", True])
    assert await ran(threaded, x=1) == ToolResult.of("c1", "threaded", output=[1, "the deps", "ana", False])


async def test_a_function_that_gives_an_awaitable_is_awaited() -> None:
    """Partials, objects and plain functions that give a coroutine are awaited too."""

    async def later(x: int) -> int:
        return x + 1

    class Called:
        async def __call__(self, x: int) -> int:
            return x + 1

    def plain(x: int) -> Any:
        return later(x)

    for made in (functools.partial(later), Called(), plain):
        assert (await ran(tool(made), x=1)).output == 2


@pytest.mark.parametrize("later", [True, False], ids=["async", "sync"])
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no"), "ValueError: no"),
        (ValueError(), "ValueError: it says nothing more"),
        (Rude("bye"), "Rude: bye"),
        (TimeoutError("its own"), "TimeoutError: its own"),
        (asyncio.CancelledError("its own"), "CancelledError: "),
        (GeneratorExit(), "GeneratorExit: "),
    ],
)
async def test_what_a_tool_raises_is_its_result(error: BaseException, text: str, later: bool) -> None:
    """Whatever is raised becomes one error result under the call's id, which is never empty
    (smallest-inc/smallest-python-sdk#118)."""
    found = await ran(raising(error, later=later))
    assert (found.call_id, found.name, found.is_error) == ("c1", "fails", True)
    assert found.text.startswith(text)


async def test_a_stop_iteration_is_no_end_of_ours() -> None:
    """StopIteration, which no future takes, is an error like any other."""
    assert (await ran(raising(StopIteration("x"), later=False))).text == "StopIteration: x"


async def test_a_tool_past_its_time_is_left() -> None:
    """A tool that hangs is answered, and what it says or gives afterwards is not heard."""
    go, heard, over = threading.Event(), [], threading.Event()

    @tool(timeout=SOON)
    def hang(ctx: ToolContext[str]) -> str:
        go.wait(30)
        ctx.progress("late")
        over.set()
        return "late"

    found = await ran(hang, report=lambda note, fraction: heard.append(note))
    assert found.text.startswith("ToolTimeout: tool 'hang' gave nothing within 0.02 s and was left")
    go.set()
    assert await asyncio.to_thread(over.wait, 30)
    await asyncio.sleep(0)
    assert heard == []


@pytest.mark.parametrize(("own", "given"), [(SOON, 30), (30, SOON), (None, SOON), (SOON, None)])
async def test_the_shorter_time_holds(own: float | None, given: float | None) -> None:
    """A tool has the shorter of its own time and what is left of the turn's; an async one is canceled."""
    canceled = asyncio.Event()

    @tool(timeout=own)
    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            canceled.set()
            raise

    assert (await ran(hang, timeout=given)).text.startswith("ToolTimeout: tool 'hang' gave nothing within 0.02 s")
    assert canceled.is_set()


async def test_a_tool_that_will_not_be_canceled_is_left() -> None:
    """An async tool that swallows its cancellation is answered all the same."""
    free = asyncio.Event()

    @tool
    async def stubborn() -> str:
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    assert (await ran(stubborn, timeout=SOON)).is_error
    free.set()


async def test_cancellation_reaches_the_tool() -> None:
    """Who cancels the call cancels the tool, whose clean-up is waited for."""
    started, cleaned = asyncio.Event(), []

    @tool
    async def hang() -> None:
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    task = asyncio.create_task(ran(hang))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned


async def test_progress_is_heard_in_the_loops_thread() -> None:
    """Whichever thread a tool speaks from, it is heard in order, in the loop's, before its result."""
    heard: list[tuple[str, float | None, bool]] = []

    def hear(note: str, fraction: float | None) -> None:
        heard.append((note, fraction, threading.current_thread() is threading.main_thread()))

    @tool
    def build(ctx: ToolContext[str]) -> None:
        ctx.progress("half", fraction=0.5)
        ctx.progress("done", fraction=1)

    await ran(build, report=hear)
    assert heard == [("half", 0.5, True), ("done", 1.0, True)]


async def test_the_context_is_not_the_models_to_give() -> None:
    """Arguments that name the context's parameter do not replace it."""

    def who(ctx: ToolContext[str], **given: Any) -> str:
        return ctx.deps

    made = Tool(who, name="who", parameters={"type": "object"})
    assert (await ran(made, ctx="mine")).output == "the deps"


def test_sequential_tools_run_alone() -> None:
    """Neighbours run at once, a sequential tool alone, and batches keep the order of the calls."""
    free, alone = (
        Tool(print, name="free", parameters={"type": "object"}),
        Tool(print, name="alone", parameters={"type": "object"}, sequential=True),
    )
    batches = schedule([(free, 1), (free, 2), (alone, 3), (alone, 4), (free, 5)])
    assert [[number for _, number in batch] for batch in batches] == [[1, 2], [3], [4], [5]]
    assert schedule([]) == []


async def test_results_stand_in_call_order() -> None:
    """Calls that end in reverse have their results in call order, and one that fails costs no other
    (can1357/oh-my-pi#11179, huggingface/smolagents#2554)."""
    ended = [asyncio.Event() for _ in range(4)]
    ended[3].set()

    @tool
    async def step(number: int) -> int:
        await ended[number + 1].wait()
        ended[number].set()
        return 1 // (1 - number)

    calls = [prepared(step, ToolCall.of(f"c{n}", "step", arguments={"number": n})) for n in range(3)]
    (batch,) = schedule([(step, call) for call in calls])
    found = await asyncio.gather(*(run_call(made, call, context=context()) for made, call in batch))
    assert [result.call_id for result in found] == ["c0", "c1", "c2"]
    assert [result.output for result in found if not result.is_error] == [1, -1]
    assert found[1].text.startswith("ZeroDivisionError")


@pytest.mark.parametrize("wait", [False, True], ids=["sync", "async"])
async def test_a_tool_that_exits_has_given_an_error(wait: bool) -> None:
    """A command line inside a tool that exits ends its call, and not the process."""

    def leaves() -> None:
        raise SystemExit(2)

    async def leaves_later() -> None:
        raise SystemExit(2)

    result = await ran(Tool(leaves_later if wait else leaves, name="leave"))
    assert result.is_error
    assert "SystemExit: 2" in result.text
