"""Sources: asked at once, each for itself; what one does wrong costs its own layers."""

import asyncio
import contextlib
import gc
import sys
import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, cast

import pytest

from antiphon import Layer, View
from antiphon.context._source import Contribution, Source, check_sources, gather, source
from antiphon.errors import Misuse

pytestmark = pytest.mark.anyio

VIEW = View("s1", "ana", (), "Which port?", "Which port?", deps={"port": "Delft"})
SOON = 0.05
CALLER: ContextVar[str] = ContextVar("caller", default="nobody")


@source("good")
def good(view: View) -> str:
    """Gives one text."""
    return f"You asked: {view.query}"


@source("late", timeout=SOON)
async def late(view: View) -> str:
    """Never answers."""
    await asyncio.Event().wait()
    return "too late"


class Plain:
    """A source without decoration or timeout, which gives what it was made with."""

    def __init__(self, id: str, given: Any) -> None:
        self.id, self._given = id, given

    async def contribute(self, view: View) -> Sequence[Layer]:
        if isinstance(self._given, BaseException):
            raise self._given
        return cast(Sequence[Layer], self._given)


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Lets go, at the test's end, of whoever waits for it."""
    event = threading.Event()
    yield event
    event.set()


async def only(one: Source) -> Contribution:
    """What one source gives."""
    [given] = await gather([one], VIEW)
    return given


async def beside_a_good_one(one: Source) -> str | None:
    """Why a source failed, and that its neighbours did not."""
    first, given, last = await gather([Plain("first", [Layer("first", "1")]), one, good], VIEW)
    assert [first.failure, last.failure] == [None, None] and first.layers and last.layers
    assert given.layers == ()
    return given.failure


# --- what functions may give -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, []),
        ("", []),
        (" \n\t", []),
        ([], []),
        ("text", [("docs", "text")]),
        (Layer("docs", "text"), [("docs", "text")]),
        (Layer("17", "text"), [("docs:17", "text")]),
        (Layer("docs:17", "text"), [("docs:17", "text")]),
        (Layer("docsier", "text"), [("docs:docsier", "text")]),
        (("one", Layer("2", "two"), "\n"), [("docs", "one"), ("docs:2", "two")]),
        ([Layer("1", ["", " "])], []),
    ],
)
async def test_a_function_gives_text_or_layers(given: Any, expected: list[tuple[str, str]]) -> None:
    """Text, layers, several of both or nothing: layers stand under the source's id, blank ones are none."""
    contribution = await only(source("docs")(lambda view: given))
    assert [(layer.id, layer.text) for layer in contribution.layers] == expected
    assert contribution.failure is None


async def test_texts_have_the_settings_of_their_source() -> None:
    """A text becomes a layer with the decorator's settings; a layer keeps its own."""
    decorate = source("docs", priority=7, pinned=True, placement="system", kind="manual")
    given = await only(decorate(lambda view: ["text", Layer("docs:own", "text")]))
    settings = [(layer.kind, layer.priority, layer.pinned, layer.placement) for layer in given.layers]
    assert settings == [("manual", 7, True, "system"), ("custom", 500, False, "input")]


@pytest.mark.parametrize("placement", ["system", "input"])
@pytest.mark.parametrize("kind", ["memory", "custom"])
async def test_layers_are_counted_where_they_are_placed(kind: str, placement: Any) -> None:
    """Whatever place its kind usually has, a source's layer stands where its maker says."""
    [layer] = (await only(Plain("docs", [Layer("docs", "text", kind=kind, placement=placement)]))).layers
    assert layer.where == placement and Layer.from_row(layer.to_row()).where == placement


async def asked(view: View) -> str:
    """An async function."""
    return view.query


class Callable:
    """Objects that can be called are functions too."""

    async def __call__(self, view: View) -> str:
        return view.query


@pytest.mark.parametrize("function", [asked, partial(asked), lambda view: asked(view), Callable()])
async def test_async_functions_of_every_kind(function: Any) -> None:
    """However a function is async, what it gives is awaited."""
    assert [layer.text for layer in (await only(source("docs")(function))).layers] == [VIEW.query]


async def test_a_sync_function_runs_in_a_thread_of_its_own() -> None:
    """It may block without holding up the loop or the end of the process, and it runs in its caller's context."""
    CALLER.set("ana")
    seen: list[tuple[str, bool, str]] = []

    @source("docs")
    def looks(view: View) -> None:
        thread = threading.current_thread()
        seen.append((thread.name, thread.daemon, CALLER.get()))

    await only(looks)
    assert seen == [("antiphon-source", True, "ana")]


# --- what goes wrong -------------------------------------------------------------------------------------------


async def test_order_is_that_of_the_list() -> None:
    """Whoever answers first: what is given stands in the order of declaration, and so do the failures."""
    seen = asyncio.Event()

    @source("waits")
    async def waits(view: View) -> str:
        await seen.wait()
        return "slow"

    @source("quick")
    async def quick(view: View) -> str:
        seen.set()
        return "quick"

    assert [each.source_id for each in await gather([waits, late, quick], VIEW)] == ["waits", "late", "quick"]


async def test_a_hanging_async_source_costs_only_itself() -> None:
    """After its timeout it is cancelled, and the others have answered meanwhile."""
    assert await beside_a_good_one(late) == "gave no answer within 0.05 s"


async def test_a_hanging_sync_source_costs_only_itself(release: threading.Event) -> None:
    """A thread cannot be stopped: it is left behind, and many that hang hold up no other."""
    hang = source("hang", timeout=SOON)(lambda view: str(release.wait()))
    many = await gather([*[hang] * 40, good], VIEW)
    assert {each.failure for each in many[:-1]} == {"gave no answer within 0.05 s"}
    assert many[-1].layers


async def test_a_source_that_ignores_its_cancellation_is_left_behind() -> None:
    """Nobody waits for it, and what it raises in the end is no warning."""
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, about: complaints.append(about))
    free, ended = asyncio.Event(), asyncio.Event()

    @source("stubborn", timeout=SOON)
    async def stubborn(view: View) -> str:
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                gc.collect()
        ended.set()
        raise ValueError("late")

    assert await beside_a_good_one(stubborn) == "gave no answer within 0.05 s"
    free.set()
    await ended.wait()
    await asyncio.sleep(0)
    gc.collect()
    assert complaints == []


async def test_what_is_left_behind_is_not_collected_at_work() -> None:
    """A task that waits for what nobody else knows of goes on until it ends, and the loop does not complain."""
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, about: complaints.append(about))

    @source("stubborn", timeout=SOON)
    async def stubborn(view: View) -> str:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()
        return "late"

    await only(stubborn)
    await asyncio.sleep(0)
    gc.collect()
    assert complaints == []


async def test_cancelling_the_caller_cancels_all() -> None:
    """When the turn is cancelled, no source goes on."""
    started, canceled = asyncio.Event(), []

    async def waits(name: str, view: View) -> str:
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            canceled.append(name)
        return name

    task = asyncio.create_task(gather([source(name)(partial(waits, name)) for name in ("a", "b")], VIEW))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert canceled == ["a", "b"]


class Wordless(Exception):
    """Cannot say what happened."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ValueError("no such\n  port"), "raised ValueError: no such port"),
        (KeyError("port"), "raised KeyError: 'port'"),
        (ValueError(), "raised ValueError"),
        (Wordless(), "raised Wordless"),
        (ValueError("x" * 400), "raised ValueError: " + "x" * 300 + "…"),
        (asyncio.CancelledError(), "cancelled itself"),
    ],
)
async def test_a_raising_source_costs_only_itself(error: BaseException, says: str) -> None:
    """What it raised is told in one line."""
    assert await beside_a_good_one(Plain("docs", error)) == says


@pytest.mark.parametrize(
    ("error", "says"), [(SystemExit(3), "raised SystemExit: 3"), (KeyboardInterrupt(), "raised KeyboardInterrupt")]
)
async def test_a_function_that_ends_its_thread_ends_no_other(error: BaseException, says: str) -> None:
    """`sys.exit` in a sync function is a failure of this source, and the process goes on."""

    @source("docs")
    def exits(view: View) -> str:
        if isinstance(error, SystemExit):
            sys.exit(3)
        raise error

    assert await beside_a_good_one(exits) == says


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"docs": "text"}, "gave a dict, not layers"),
        ("text", "gave a str, not layers"),
        (b"text", "gave a bytes, not layers"),
        (Layer("docs", "text"), "gave a Layer, not layers"),
        (None, "gave a NoneType, not layers"),
        (7, "gave a int, not layers"),
        ([Layer("docs", "text"), 7], "gave a int among its layers"),
        ([Layer(cast(Any, 7), "text")], "gave layer 7 of kind 'custom' and priority 500: two texts and a number are"),
        ([Layer("docs", "x", priority=cast(Any, None))], "gave layer 'docs' of kind 'custom' and priority None: two"),
        ([Layer("docs", "text", kind="history")], "gave layer 'docs' of kind 'history', which only Antiphon gives"),
        ([Layer("docs", "text", placement=cast(Any, "top"))], "gave layer 'docs' with placement='top' and truncate"),
        ([Layer("docs", "text", truncate=cast(Any, "left"))], "gave layer 'docs' with placement='input' and truncate"),
    ],
)
async def test_nonsense_costs_only_its_source(given: Any, says: str) -> None:
    """What are no layers, or none that could be packed, are found here and not where they would cost the turn."""
    assert str(await beside_a_good_one(Plain("docs", given))).startswith(says)


@pytest.mark.parametrize("given", [7, {"docs": "text"}, b"text", ["text", 7]])
async def test_a_function_may_give_no_nonsense_either(given: Any) -> None:
    """A decorated function is held to the same."""
    assert "not layers" in str(why := await beside_a_good_one(source("docs")(lambda view: given))) or "among" in str(
        why
    )


# --- what is refused at once -----------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["", " ", "instructions", "history", "input", "overhead", "tools:mine", None])
def test_ids_of_ours_and_blank_ones_are_refused(id: Any) -> None:
    """A source has an id of its own, at decoration and in a list."""
    with pytest.raises(Misuse, match="a source has the id"):
        source(id)
    with pytest.raises(Misuse, match="a source has the id"):
        check_sources([Plain(id, [])])


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), None, "2"])
def test_a_timeout_is_above_zero(timeout: Any) -> None:
    """0 and None would mean no time, or no end: neither is meant."""
    with pytest.raises(Misuse, match="timeout of"):
        source("docs", timeout=timeout)
    plain = Plain("docs", [])
    plain.__dict__["timeout"] = timeout
    with pytest.raises(Misuse, match="timeout of"):
        check_sources([plain])


def test_kinds_of_ours_are_refused() -> None:
    """Lines of these kinds are Antiphon's own."""
    with pytest.raises(Misuse, match="kind 'history'"):
        source("docs", kind="history")


@pytest.mark.parametrize(
    ("sources", "says"),
    [
        (good, "sources is a _FunctionSource"),
        ("good", "sources is a str"),
        ([good, asked], r"sources\[1\] is a function, not a source; decorate"),
        ([Plain], r"sources\[0\] is a class Plain"),
        ([good, Plain("good", [])], "two sources have the id 'good'"),
    ],
)
def test_what_are_no_sources_is_refused(sources: Any, says: str) -> None:
    """A constructor says at once which of its sources it cannot use."""
    with pytest.raises(Misuse, match=says):
        check_sources(sources)


async def test_no_sources_give_nothing() -> None:
    """A list may be empty."""
    assert check_sources([]) == () and await gather([], VIEW) == []
