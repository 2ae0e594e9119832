"""A whole turn whose responder takes no time, beside the two syncs that it must wait for."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from antiphon import FileStore
from antiphon.stores import Disk
from bench.claims import Claim, median_us
from bench.sample import QUESTION, chat

SAMPLES = 300


class CountingDisk(Disk):
    """Counts the syncs that appends wait for."""

    syncs = 0

    def sync_data(self, file: int) -> None:
        """Count, and sync."""
        self.syncs += 1
        super().sync_data(file)


async def claims() -> list[Claim]:
    """Measure a turn, and count its syncs."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        disk = CountingDisk()
        turn, sync = [], []
        file = os.open(Path(folder) / "raw", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        async with chat(FileStore(Path(folder) / "store", disk=disk)) as talk:
            session = await talk.create_session("s")
            before = disk.syncs
            for _ in range(SAMPLES):
                began = time.perf_counter()
                await session.ask(QUESTION)
                between = time.perf_counter()
                for _ in range(2):
                    os.write(file, QUESTION.encode() * 4)
                    os.fdatasync(file)
                turn.append(between - began)
                sync.append(time.perf_counter() - between)
            syncs = (disk.syncs - before) / SAMPLES
        os.close(file)
    ours, floor = median_us(turn), median_us(sync)
    return [
        Claim("a turn with an instant responder, against its two syncs", ours, floor + 1_000, floor),
        Claim("syncs a turn", syncs, 2, 2, "syncs"),
    ]
