"""A call of the blocking facade, beside the same call with await."""

from __future__ import annotations

import asyncio
import time

from antiphon import Chat as AsyncChat
from antiphon.blocking import Chat
from bench.claims import Claim, median_us

CALLS = 400


def claims() -> list[Claim]:
    """Measure `ask` in memory, both ways."""
    floor = asyncio.run(_awaited())
    ours = _blocking()
    return [Claim("a blocking call, against the same with await", ours, floor + 250, floor)]


async def _awaited() -> float:
    async with AsyncChat("echo:") as chat:
        session = await chat.create_session()
        times = []
        for _ in range(CALLS):
            began = time.perf_counter()
            await session.rename("a title")
            times.append(time.perf_counter() - began)
    return median_us(times)


def _blocking() -> float:
    with Chat("echo:") as chat:
        session = chat.create_session()
        times = []
        for _ in range(CALLS):
            began = time.perf_counter()
            session.rename("a title")
            times.append(time.perf_counter() - began)
    return median_us(times)
