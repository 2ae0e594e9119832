"""Building what a turn is shown, from sessions of many messages, beside walking over as many messages once."""

from __future__ import annotations

import gc
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from antiphon import Chat, InMemoryStore, Layer, Message, Session, View
from antiphon.context import estimate_tokens
from antiphon.context._budget import budget_for
from antiphon.context._layered import LayeredContext
from bench.claims import Claim, median_us

WINDOW = 8_000
FEW, MANY = 5_000, 100_000
SAMPLES = 60
RULES = "Answer in the words of the house, and say where each figure comes from. " * 4


class Found:
    """A source that takes no time."""

    id = "found"

    async def contribute(self, view: View) -> Sequence[Layer]:
        """Give what was found."""
        return [Layer("found:1", f"Labels are printed at counter {len(view.turns)}.")]


async def session_of(messages: int) -> Session:
    """A session of so many messages of 100 to 300 characters, the newest of which nobody has counted yet."""
    words = "Take it to any counter within thirty days; the carrier prints a label from your order number. "
    told = [Message.of("user" if n % 2 == 0 else "assistant", f"{n}: {words * (1 + n % 3)}") for n in range(messages)]
    chat = Chat("echo:", store=InMemoryStore(), context=layered(), instructions=RULES)
    return await chat.import_session(told)


def layered() -> LayeredContext:
    """The context that is measured. It leaves out what does not fit: no summarizer is to be measured."""
    return LayeredContext(window=WINDOW, sources=[Found()], when_full="trim")


def view_of(session: Session, cache: dict[Any, Any]) -> View:
    """What the context looks at."""
    return View(
        session_id=session.id,
        scope=None,
        turns=session.turns(),
        input="And now?",
        query="And now?",
        budget=budget_for(WINDOW),
        turn_id="now",
        instructions=RULES,
        cache=cache,
    )


async def median_of(work: Callable[[], Awaitable[object]], *, samples: int = SAMPLES) -> float:
    """The median of some runs, in microseconds, with the collector at rest as `timeit` does."""
    await work()
    seconds = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(samples):
            began = time.perf_counter()
            await work()
            seconds.append(time.perf_counter() - began)
    finally:
        gc.enable()
    return median_us(seconds)


async def built(messages: int) -> tuple[float, float, float]:
    """Microseconds of a build with everything counted, of one through `preview`, and of walking over what is sent."""
    session, cache, context = await session_of(messages), dict[Any, Any](), layered()
    view = view_of(session, cache)

    async def walk() -> int:
        # The floor: each message that could be sent is looked at once and its text is joined.
        said = [message for turn in view.turns[-40:] for message in turn.messages]
        return len("\n".join(message.text for message in said))

    build = await median_of(lambda: context.build(view))
    preview = await median_of(lambda: session.preview("And now?"))
    return build, preview, await median_of(walk)


async def first_build(messages: int) -> tuple[float, float]:
    """Microseconds of the first build over messages that nobody counted, and of estimating what it sends, alone."""
    builds, counts = [], []
    for run in range(7):
        session = await session_of(messages)
        view, context = view_of(session, {}), layered()
        gc.collect()
        gc.disable()
        began = time.perf_counter()
        assembled = await context.build(view)
        between = time.perf_counter()
        gc.enable()
        # Texts that are counted for the first time: those that were built are remembered.
        texts = [f"{run}{message.text}" for message in assembled.before_input if isinstance(message, Message)]
        began_floor = time.perf_counter()
        for text in texts:
            estimate_tokens(text)
        counts.append(time.perf_counter() - began_floor)
        builds.append(between - began)
    return median_us(builds), median_us(counts)


async def claims() -> list[Claim]:
    """Measure builds from few and from many messages."""
    few, preview, floor = await built(FEW)
    many, _, _ = await built(MANY)
    first, counting = await first_build(FEW)
    return [
        Claim("a build to 8,000 tokens from 5,000 counted messages", few, 500, floor),
        Claim("the same through session.preview", preview, 1_000, few),
        Claim("a build from 100,000 counted messages, against 5,000", many, 1.5 * few, few),
        Claim("the first build over 5,000 uncounted messages", first, 10_000, counting),
    ]
