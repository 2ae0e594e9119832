"""The store's own threads: file calls never run on the event loop.

A queue and a callback into the loop cost 70 microseconds a call; an executor of `concurrent.futures` costs more than
that again. A session always gets the same thread, so its calls run in the order in which they were made. The threads
are daemons: they never keep the interpreter alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Jobs = SimpleQueue[Callable[[], None] | None]

THREADS = 4


class DiskThreads:
    """Up to four threads, started when first needed and made anew in a forked child."""

    def __init__(self) -> None:
        self._jobs: dict[tuple[int, int], _Jobs] = {}
        # Not at exit: the interpreter ends without asking daemon threads.
        weakref.finalize(self, _stop, self._jobs).atexit = False

    async def run(self, session_id: str, job: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Run `job` on the session's thread. If the caller is cancelled, the job is still done."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()

        def work() -> None:
            try:
                settle: Callable[[], None] = _settled(future, job(*args, **kwargs))
            except BaseException as error:  # isolates: a job fails for its caller, the thread goes on
                settle = _failed(future, error)
            with contextlib.suppress(RuntimeError):  # The loop was closed meanwhile: nobody waits any more.
                loop.call_soon_threadsafe(settle)

        self._jobs_for(session_id).put(work)
        return await future

    def post(self, session_id: str, job: Callable[[], None]) -> None:
        """Have a job that cannot fail done behind those that the session's thread has; do not wait."""
        self._jobs_for(session_id).put(job)

    def _jobs_for(self, session_id: str) -> _Jobs:
        place = (os.getpid(), hash(session_id) % THREADS)
        jobs = self._jobs.get(place)
        if jobs is None:
            mine: _Jobs = SimpleQueue()
            jobs = self._jobs.setdefault(place, mine)
            if jobs is mine:
                threading.Thread(target=_serve, args=(mine,), name="antiphon-store", daemon=True).start()
        return jobs


def _settled(future: asyncio.Future[_T], result: _T) -> Callable[[], None]:
    return lambda: None if future.done() else future.set_result(result)


def _failed(future: asyncio.Future[_T], error: BaseException) -> Callable[[], None]:
    return lambda: None if future.done() else future.set_exception(error)


def _serve(jobs: _Jobs) -> None:
    while (work := jobs.get()) is not None:
        work()
        del work  # While the thread waits, it must not keep the store alive.


def _stop(jobs: dict[tuple[int, int], _Jobs]) -> None:
    for queue in jobs.values():
        queue.put(None)
