"""Sources keep what they promise, and the contract finds those that do not."""

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from antiphon import Layer, View
from antiphon.context._source import Source, source
from antiphon.errors import Misuse
from antiphon.testing import SourceContract
from antiphon.transcript import Turn


class TestFunctionSource(SourceContract):
    """A sync function that gives a text."""

    def make_source(self) -> Source:
        return source("said")(lambda view: f"{len(view.turns)} turns so far in {view.session_id}")


class TestAsyncFunctionSource(SourceContract):
    """An async function that gives layers of its own, or none."""

    def make_source(self) -> Source:
        @source("tried", timeout=5, placement="system")
        async def tried(view: View) -> Sequence[Layer]:
            await asyncio.sleep(0)
            return [Layer(turn.id, turn.status, truncate="end") for turn in view.turns]

        return tried


class Basket:
    """What is in the basket of the state, a layer for each thing; it needs what the caller handed in."""

    id = "basket"

    async def contribute(self, view: View) -> Sequence[Layer]:
        currency = view.deps["currency"]  # type: ignore[index]
        return [Layer(f"basket:{name}", f"{name}, in {currency}") for name in view.state["basket"]]


class TestSourceObject(SourceContract):
    """An object with an id and `contribute`, on a view of its own."""

    def make_source(self) -> Source:
        return Basket()

    def view(self, turns: Sequence[Turn] = ()) -> View:
        return replace(super().view(turns), deps={"currency": "euro"})


class Unfinished(SourceContract):
    """Not collected: a contract without its hook."""


class NotAsync:
    """Breaks R1."""

    id = "broken"

    def contribute(self, view: View) -> Sequence[Layer]:
        return []


class Foreign:
    """Breaks R2: its layer has another's name."""

    id = "broken"

    async def contribute(self, view: View) -> Sequence[Layer]:
        return [Layer("docs", "text")]


def changing(view: View) -> str:
    """Breaks R4."""
    view.state["basket"].append("herring")
    return "changed"


def counting() -> Source:
    """Breaks R5: what it gives depends on how often it was asked."""
    numbers = itertools.count(1)
    return source("broken")(lambda view: f"asked {next(numbers)} times")


async def hanging(view: View) -> str:
    """Breaks R6."""
    await asyncio.sleep(10)
    return "late"


async def blocking(view: View) -> str:
    """Breaks R6: it holds up the loop, and its deadline with it."""
    time.sleep(0.1)  # noqa: ASYNC251 - that is what is wrong with it
    return "late"


async def stubborn(view: View) -> str:
    """Breaks R6: it goes on when it is cancelled."""
    try:
        await asyncio.sleep(0.01)
    except asyncio.CancelledError:
        await asyncio.sleep(0)
    return "here nevertheless"


def remembering() -> Source:
    """Breaks R7: what it read first is given for ever."""
    first: list[str] = []

    @source("broken")
    async def remember(view: View) -> str:
        first.append(" ".join(str(message) for turn in view.turns for message in turn.messages))
        return first[0]

    return remember


FAULTY: dict[str, Callable[[], Any]] = {
    "r1": NotAsync,
    "r1-class": lambda: Basket,
    "r1-function": lambda: hanging,
    "r2": Foreign,
    "r2-nonsense": lambda: source("broken")(lambda view: {"text": "x"}),  # type: ignore[arg-type, return-value]
    "r2-reserved": lambda: source("broken")(lambda view: Layer("broken", "text", kind="history")),
    "r3": lambda: source("broken")(lambda view: str(view.turns[0].status)),
    "r3-status": lambda: source("broken")(lambda view: " ".join(turn.reply for turn in view.turns)),  # type: ignore[misc]
    "r4": lambda: source("broken")(changing),
    "r5": counting,
    "r6": lambda: source("broken", timeout=0.05)(hanging),
    "r6-blocking": lambda: source("broken", timeout=0.05)(blocking),
    "r6-stubborn": lambda: source("broken")(stubborn),
    "r7": remembering,
}
PROMISES = sorted(name for name in dir(SourceContract) if name.startswith("test_r"))


@pytest.mark.parametrize("fault", FAULTY)
def test_a_broken_source_promise_is_found(fault: str) -> None:
    """A source that breaks a promise fails a test that is named after it."""

    class Faulty(SourceContract):
        def make_source(self) -> Source:
            made: Source = FAULTY[fault]()
            return made

    broken = 0
    for name in [name for name in PROMISES if name[5:7] == fault[:2]]:
        try:
            getattr(Faulty(), name)()
        except Exception:
            broken += 1
    assert broken >= 1


@pytest.mark.parametrize("promise", PROMISES)
def test_a_contract_without_its_source_fails(promise: str) -> None:
    """Without a source to test, no test of the contract passes."""
    with pytest.raises(Misuse, match="make_source"):
        getattr(Unfinished(), promise)()
