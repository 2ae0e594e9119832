"""The store's threads: order, cancelling, loops, forks, and what they keep alive."""

import asyncio
import gc
import os
import threading
import time
from pathlib import Path

import pytest

from antiphon.stores import FileStore
from antiphon.stores._disk_threads import THREADS, DiskThreads
from antiphon.testing._store_hooks import ids, lines
from tests.stores.places import ended, numbers, python, until

pytestmark = pytest.mark.anyio


async def test_a_session_keeps_its_thread() -> None:
    """Jobs of one session run on one thread in the order of the calls; all sessions share at most four."""
    threads = DiskThreads()
    ran: list[tuple[str, int, str]] = []

    def job(session_id: str, number: int) -> None:
        ran.append((session_id, number, str(threading.get_ident())))

    names = [f"session-{n}" for n in range(20)]
    await asyncio.gather(*(threads.run(name, job, name, number) for number in range(5) for name in names))
    for name in names:
        assert [number for found, number, _ in ran if found == name] == [0, 1, 2, 3, 4]
        assert len({thread for found, _, thread in ran if found == name}) == 1
    assert 1 < len({thread for _, _, thread in ran}) <= THREADS


async def test_a_failing_job_fails_for_its_caller() -> None:
    """What a job raises reaches its caller, and the thread goes on."""
    threads = DiskThreads()
    with pytest.raises(ZeroDivisionError):
        await threads.run("ana-1", lambda: 1 / 0)
    with pytest.raises(SystemExit):
        await threads.run("ana-1", exit)
    assert await threads.run("ana-1", lambda: 7) == 7


async def test_a_cancelled_append_is_finished(tmp_path: Path) -> None:
    """An append whose caller is cancelled while it runs is written, before what comes later."""
    store = FileStore(tmp_path)
    await store.create("ana-1", lines(1))
    appending = asyncio.create_task(store.append("ana-1", lines(2, 3), if_last=None))
    await asyncio.sleep(0)
    appending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await appending
    await store.append("ana-1", lines(4), if_last="entry-3")
    assert await numbers(tmp_path) == [1, 2, 3, 4]


def test_a_loop_may_close_before_its_job_ends(tmp_path: Path) -> None:
    """A loop that is gone when its append ends costs the next loop nothing."""
    store = FileStore(tmp_path)

    async def leave() -> None:
        await store.create("ana-1", lines(1))
        left = [asyncio.create_task(store.append("ana-1", lines(n), if_last=None)) for n in range(2, 6)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in left)

    asyncio.run(leave())
    assert asyncio.run(ids(store, "ana-1")) == [1, 2, 3, 4, 5]


def test_one_store_serves_several_loops(tmp_path: Path) -> None:
    """Loops in several threads share a store; no line is lost."""
    store = FileStore(tmp_path)
    asyncio.run(store.create("ana-1", lines(0)))

    async def write(begin: int) -> None:
        for number in range(begin, begin + 20):
            await store.append("ana-1", lines(number), if_last=None)

    workers = [threading.Thread(target=lambda begin=begin: asyncio.run(write(begin))) for begin in (1, 21, 41)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(asyncio.run(numbers(tmp_path))) == list(range(61))


async def test_a_dropped_store_ends_its_threads(tmp_path: Path) -> None:
    """A store that nobody has any more leaves no thread behind."""
    before = {thread.ident for thread in threading.enumerate()}

    def left() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.ident not in before]

    store = FileStore(tmp_path)
    for number in range(12):
        await store.create(f"ana-{number}", lines(1))
    assert left()
    del store
    gc.collect()
    await until(lambda: not left())


def test_idle_threads_let_the_interpreter_end(tmp_path: Path) -> None:
    """A program that leaves a store open ends as soon as its own work does."""
    program = """if True:
        import asyncio, sys
        from antiphon.stores import FileStore
        from antiphon.testing._store_hooks import lines
        store = FileStore(sys.argv[1])
        asyncio.run(store.create("ana-1", lines(1)))
        print("done")
    """
    began = time.monotonic()
    assert ended(python(program, str(tmp_path))) == "done"
    assert time.monotonic() - began < 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_threads_of_its_own(tmp_path: Path) -> None:
    """A store used before a fork works in the child and in the parent."""
    program = """if True:
        import asyncio, os, sys
        from antiphon.stores import FileStore
        from antiphon.testing._store_hooks import ids, lines
        store = FileStore(sys.argv[1])
        asyncio.run(store.create("ana-1", lines(1)))
        child = os.fork()
        number = 2 if child == 0 else 3
        if child:
            assert os.waitpid(child, 0)[1] == 0
        asyncio.run(store.append("ana-1", lines(number), if_last=None))
        if child == 0:
            os._exit(0)
        print(asyncio.run(ids(store, "ana-1")))
    """
    assert ended(python(program, str(tmp_path))) == "[1, 2, 3]"
