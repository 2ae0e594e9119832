"""Every context of ours keeps what contexts promise, and the contract finds those that do not."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from antiphon import Assembled, FullContext, Layer, LayeredContext, Message, SummaryContext, View, source
from antiphon.context import Context, ContextFunction
from antiphon.errors import Misuse
from antiphon.testing import ContextContract


class TestFullContext(ContextContract):
    """The whole dialogue."""

    def make_context(self) -> Context:
        return FullContext()


class TestFullContextWithoutSteps(ContextContract):
    """The whole dialogue without calls and results."""

    def make_context(self) -> Context:
        return FullContext(steps="none")


class TestSummaryContext(ContextContract):
    """A summary and the turns since."""

    def make_context(self) -> Context:
        return SummaryContext()


class TestIncrementalSummaryContext(ContextContract):
    """A summary written from the one before, and in its place, if need be, everything."""

    def make_context(self) -> Context:
        return SummaryContext(keep_recent=2, compact_after=6, incremental=True, on_failure="full")


class TestLayeredContext(ContextContract):
    """Everything under one budget, with room for all of it."""

    def make_context(self) -> Context:
        return LayeredContext(window=32_000)


class TestLayeredContextInASmallWindow(ContextContract):
    """One that has to summarise, with a source of its own."""

    def make_context(self) -> Context:
        return LayeredContext(window=2_000, sources=[hour])


class TestLayeredContextThatTrims(ContextContract):
    """One that leaves out."""

    def make_context(self) -> Context:
        return LayeredContext(window=1_500, when_full="trim", keep_recent=2)


@source("hour")
async def hour(view: View) -> str:
    """Tells how many turns there were."""
    return f"turn {len(view.turns) + 1}"


def last(view: View) -> Sequence[dict[str, str]]:
    """Shows the last completed turn only, as plain dicts."""
    turns = [turn for turn in view.turns if turn.status == "completed"][-1:]
    return [{"role": message.role, "content": message.text} for turn in turns for message in turn.messages]


class TestPlainFunction(ContextContract):
    """A function of a View is a context too."""

    def make_context(self) -> ContextFunction:
        return last


class TestAsyncFunction(ContextContract):
    """So is an async one, with system text and a block of its own."""

    def make_context(self) -> ContextFunction:
        async def context(view: View) -> Assembled:
            await asyncio.sleep(0)
            return Assembled(last(view), system="Be brief.", with_input=f"{len(view.turns)} turns so far")

        return context


class Unfinished(ContextContract):
    """Not collected: a contract without its hook."""


def changing(view: View) -> list[Message]:
    """Breaks C5."""
    view.metadata["tags"].append("changed")
    return []


class Counting:
    """Breaks C6: what it gives depends on how often it was asked."""

    count = 0

    def build(self, view: View) -> Assembled:
        self.count += 1
        return Assembled([], system=f"build {self.count} of {len(view.turns)} turns")


class Remembering:
    """Breaks C6: what it was shown first is given for ever."""

    def __init__(self) -> None:
        self.first: list[Message] | None = None

    def build(self, view: View) -> list[Message]:
        said = [message for turn in view.turns for message in turn.messages if message.role == "user"]
        self.first = self.first or said
        return self.first


async def asking(view: View) -> list[Message]:
    """Breaks C7."""
    assert view.ask is not None
    return [Message.of("user", await view.ask(None, [], instructions=""))]


FAULTY: dict[str, Callable[[], Any]] = {
    "c1": lambda: FullContext,
    "c2": lambda: lambda view: "text",
    "c3": lambda: lambda view: [view.turns[-1].reply],
    "c4": lambda: lambda view: [Message.of("user", view.input)],
    "c5": lambda: changing,
    "c6": Counting,
    "c6-mixing": Remembering,
    "c7": lambda: asking,
    "c8": lambda: lambda view: Assembled([], layers=[Layer("history", "", kind="history").kept(50)]),
}
PROMISES = sorted(name for name in dir(ContextContract) if name.startswith("test_c"))


@pytest.mark.parametrize("fault", FAULTY)
def test_a_broken_context_promise_is_found(fault: str) -> None:
    """A context that breaks a promise fails a test that is named after it."""

    class Faulty(ContextContract):
        def make_context(self) -> Context:
            context: Context = FAULTY[fault]()
            return context

    broken = 0
    for name in [name for name in PROMISES if name[5:7] == fault[:2]]:
        try:
            getattr(Faulty(), name)()
        except Exception:
            broken += 1
    assert broken >= 1


@pytest.mark.parametrize("promise", PROMISES)
def test_a_contract_without_its_context_fails(promise: str) -> None:
    """Without a context to test, no test of the contract passes."""
    with pytest.raises(Misuse, match="make_context"):
        getattr(Unfinished(), promise)()
