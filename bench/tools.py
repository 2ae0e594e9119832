"""Turns with tools that take no time: a round beside its syncs, many calls at once, and listeners."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from antiphon import Chat, Event, FileStore, InMemoryStore, Message, ToolCall, View, tool
from antiphon.models import ModelRequest
from antiphon.testing import ScriptedModel
from bench.claims import Claim, median_us
from bench.turns import CountingDisk

SAMPLES = 100
WIDE = 50
LISTENED = (0, 1, 100)


@tool
async def look_up(number: int) -> str:
    """Look something up that is at hand."""
    return f"{number}: found"


def calling(width: int) -> Callable[[ModelRequest], str | Message]:
    """A model that asks for so many calls, and then answers."""
    calls = tuple(ToolCall.of(f"c{n}", "look_up", arguments={"number": n}) for n in range(width))

    def answer(request: ModelRequest) -> str | Message:
        return Message("assistant", calls) if request.messages[-1].role == "user" else "done"

    return answer


def answering(request: ModelRequest) -> str:  # noqa: ARG001 - a script is a function of the request
    """A model that only answers."""
    return "done"


def nothing_earlier(view: View) -> Sequence[Message]:  # noqa: ARG001 - a context is a function of the view
    """Shows nothing of earlier turns: what they cost is measured elsewhere."""
    return ()


def unmoved(event: Event) -> None:
    """Listens, and does nothing."""


async def turns_of(width: int, *, store: FileStore | InMemoryStore, listeners: int = 0) -> list[float]:
    """Seconds of turns with one round of so many calls; none at all for a width of 0."""
    seconds = []
    model = ScriptedModel(calling(width) if width else answering)
    async with Chat(model, store=store, tools=[look_up], context=nothing_earlier) as chat:
        session = await chat.create_session()
        for _ in range(listeners):
            session.events.on(Event, unmoved)
        await session.ask("hi")
        for _ in range(SAMPLES):
            began = time.perf_counter()
            await session.ask("hi")
            seconds.append(time.perf_counter() - began)
    return seconds


def syncing(folder: Path, *, times: int) -> float:
    """Microseconds of so many raw writes, each with its sync."""
    seconds = []
    file = os.open(folder / "raw", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for _ in range(SAMPLES):
        began = time.perf_counter()
        for _ in range(times):
            os.write(file, b"x" * 400)
            os.fdatasync(file)
        seconds.append(time.perf_counter() - began)
    os.close(file)
    return median_us(seconds)


async def claims() -> list[Claim]:
    """Measure rounds, count their syncs, and add listeners."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder, disk = Path(name), CountingDisk()
        store = FileStore(folder / "store", disk=disk)
        plain = median_us(await turns_of(0, store=store))
        before = disk.syncs
        narrow = median_us(await turns_of(1, store=store))
        narrow_syncs = (disk.syncs - before) / (SAMPLES + 1)
        before = disk.syncs
        wide = median_us(await turns_of(WIDE, store=store))
        wide_syncs = (disk.syncs - before) / (SAMPLES + 1)
        # Measured before and behind: a disk that is slow for a while must not pass for a fast round.
        plain = min(plain, median_us(await turns_of(0, store=store)))
        two = syncing(folder, times=2)
    quiet, one, many = [median_us(await turns_of(1, store=InMemoryStore(), listeners=n)) for n in LISTENED]
    return [
        Claim("a round with an instant tool, against its two syncs", narrow - plain, two + 1_500, two),
        Claim("syncs of a turn with one round", narrow_syncs, 4.2, 4, "syncs"),
        Claim(f"a round with {WIDE} instant tools at once", wide - plain, two + 1_500 + 400 * WIDE, narrow - plain),
        Claim("syncs of that turn", wide_syncs, 5.2, 4, "syncs"),
        Claim("a turn with one listener, against none", one, quiet * 1.2 + 50, quiet),
        Claim("the same with a hundred", many, quiet + 100 * 10 * 8, quiet),
    ]
