"""Holding a session in FileStore: across processes, deaths and forks."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from antiphon.errors import SessionBusy
from antiphon.stores import FileStore
from antiphon.stores._disk import Disk
from antiphon.testing._store_hooks import lines
from tests.stores.places import files_in, open_files, python

pytestmark = pytest.mark.anyio

HOLDER = """if True:
    import asyncio, os, sys, time
    from antiphon.stores import FileStore
    async def hold():
        async with FileStore(sys.argv[1]).lease("ana-1"):
            if len(sys.argv) > 2 and os.fork() == 0:
                time.sleep(8)
                os._exit(0)
            print("held", os.getpid(), flush=True)
            time.sleep(60)
    asyncio.run(hold())
"""


async def is_free(place: Path) -> bool:
    """Whether the session can be held now."""
    try:
        async with FileStore(place).lease("ana-1"):
            return True
    except SessionBusy:
        return False


@pytest.mark.parametrize("forked", [[], ["fork"]])
async def test_a_dead_holder_never_blocks(forked: list[str], tmp_path: Path) -> None:
    """A process holds a session against others until it dies, even if a child that it forked lives on."""
    holder = python(HOLDER, str(tmp_path), *forked)
    assert holder.stdout is not None
    assert (await asyncio.to_thread(holder.stdout.readline)).startswith("held")
    try:
        assert not await is_free(tmp_path)
        os.kill(holder.pid, signal.SIGKILL)
        await asyncio.to_thread(holder.wait)
        looks = 0
        while not await is_free(tmp_path):  # The forked child may not have run yet.
            await asyncio.sleep(0.02)
            assert (looks := looks + 1) < 100
    finally:
        holder.stdout.close()
        assert holder.stderr is not None
        holder.stderr.close()


async def test_the_lock_file_stays(tmp_path: Path) -> None:
    """Letting go leaves the lock file, and keeps no file open."""
    before = open_files()
    for _ in range(3):
        async with FileStore(tmp_path).lease("ana-1"):
            assert open_files() == (before + 1 if before else 0)
    assert files_in(tmp_path) == {".locks/ana-1"}
    assert open_files() == before


class SlowDisk(Disk):
    """Takes its time for a lock."""

    def try_lock(self, descriptor: int) -> bool:
        taken = super().try_lock(descriptor)
        asyncio.run(asyncio.sleep(0.05))
        return taken


async def test_a_lease_cancelled_while_it_is_taken_is_let_go(tmp_path: Path) -> None:
    """A caller cancelled while the thread takes the lock does not leave it taken."""
    store = FileStore(tmp_path, disk=SlowDisk())

    async def hold() -> None:
        async with store.lease("ana-1"):
            raise AssertionError("taken though cancelled")

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0.02)
    holder.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holder
    await store.create("ana-1", lines(1))  # Behind the letting go, on the session's thread.
    assert await is_free(tmp_path)


async def test_a_lease_holds_off_deletion_by_another_store(tmp_path: Path) -> None:
    """A session that another store holds is not deleted."""
    store = FileStore(tmp_path)
    await store.create("ana-1", lines(1))
    async with store.lease("ana-1"):
        with pytest.raises(SessionBusy):
            await FileStore(tmp_path).delete("ana-1")
    assert await FileStore(tmp_path).delete("ana-1") == ("ana-1.jsonl",)
