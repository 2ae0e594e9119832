"""Appending to a FileStore, beside a bare write and fdatasync of the same bytes on the same disk."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from antiphon import FileStore, Line
from bench.claims import Claim, median_us

SAMPLES = 400
TURNS = 10_000
ENTRY = b"x" * 900


def line(n: int) -> Line:
    """A line of about a kilobyte."""
    data = b'{"id":"%d","type":"note","version":1,"text":"%s"}' % (n, ENTRY)
    return Line(str(n), "note", data)


async def claims() -> list[Claim]:
    """Measure an append, and whether it stays the same as the journal grows."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        ours, raw = await _append_and_floor(Path(folder))
        ratio = await _last_over_first(Path(folder))
    limit = raw + 250 if raw < 300 else raw * 1.7
    return [
        Claim("append of one entry, against write + fdatasync of its bytes", ours, limit, raw),
        Claim(f"the same, last tenth over first tenth of {TURNS:,}", ratio, 1.1, 1.0, "ratio"),
    ]


async def _append_and_floor(folder: Path) -> tuple[float, float]:
    store = FileStore(folder / "store")
    await store.create("s", [line(0)])
    file = os.open(folder / "raw", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    ours: list[float] = []
    raw: list[float] = []
    for n in range(1, SAMPLES):
        began = time.perf_counter()
        await store.append("s", [line(n)], if_last=str(n - 1))
        between = time.perf_counter()
        os.write(file, line(n).data + b"\n")
        os.fdatasync(file)
        ours.append(between - began)
        raw.append(time.perf_counter() - between)
    os.close(file)
    return median_us(ours), median_us(raw)


async def _last_over_first(folder: Path) -> float:
    """Medians, with a floor's append between two of ours, so that a slower disk slows both."""
    store = FileStore(folder / "grows")
    await store.create("s", [line(0)])
    times: list[float] = []
    for n in range(1, TURNS + 1):
        began = time.perf_counter()
        await store.append("s", [line(n)], if_last=str(n - 1))
        times.append(time.perf_counter() - began)
    tenth = TURNS // 10
    return median_us(times[-tenth:]) / median_us(times[:tenth])
