"""Opening a long session, beside reading and decoding its lines, and beside decoding alone."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Awaitable, Callable

from antiphon import Chat, FileStore
from antiphon.journal import decode
from bench.claims import Claim
from bench.sample import fill, typed_decoder

TURNS = 10_000
ROUNDS = 5


async def claims() -> list[Claim]:
    """Measure opening a session of ten thousand turns."""
    with tempfile.TemporaryDirectory() as folder:
        await fill(FileStore(folder), "long", turns=TURNS)
        lines = [line.data async for line in FileStore(folder).read("long")]
        opening, reading, decoding = [], [], []
        for _ in range(ROUNDS):
            opening.append(await _timed(lambda: _open(folder)))
            reading.append(await _timed(lambda: _read(folder)))
            decoding.append(await _timed(lambda: _decode(lines)))
    ours, read, bare = min(opening), min(reading), min(decoding)
    return [
        Claim(f"opening {TURNS:,} turns, against reading and decoding", ours * 1e3, read * 1.5e3, read * 1e3, "ms"),
        Claim(f"opening {TURNS:,} turns, against a bare typed decode", ours * 1e3, bare * 3e3, bare * 1e3, "ms"),
    ]


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    gc.collect()
    began = time.perf_counter()
    kept = await work()
    took = time.perf_counter() - began
    del kept
    return took


async def _open(folder: str) -> object:
    chat = Chat("echo:", store=FileStore(folder))
    return chat, await chat.open_session("long")


async def _read(folder: str) -> object:
    return [decode(line.data) async for line in FileStore(folder).read("long")]


async def _decode(lines: list[bytes]) -> object:
    decoder = typed_decoder()
    return [decoder.decode(line) for line in lines]
