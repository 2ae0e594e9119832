"""The thread that runs a blocking Chat: an event loop of its own, and how other threads wait for it.

A call becomes a task on the loop, in a copy of its caller's context; its caller waits for a lock, which a signal
interrupts. Nothing of the loop is touched from elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextvars import copy_context
from functools import partial
from typing import Any, Generic, TypeVar

from .chat import LiveTurn
from .errors import Misuse, SessionClosed

_Closing = Coroutine[Any, Any, None]
Closes = Callable[..., _Closing]

T = TypeVar("T")
W = TypeVar("W")

INTERRUPTED = "the caller was interrupted"
"""The reason of a turn that KeyboardInterrupt canceled."""

_MOST_AHEAD = 256
"""Entries that an iterator takes in one trip at most; it begins with one and doubles, so that few are read in vain."""

_PATIENCE = -1.0 if os.name == "posix" else 0.1
"""Seconds after which a wait looks up: only POSIX wakes a lock's waiter for a signal."""


class LoopThread:
    """Runs calls one after another or at once, as an event loop does, for callers in any other thread.

    The thread begins with the first call and ends with `end`, or when nobody holds this object any more. Calls after
    the end run on a loop of their own: what can still be read then is read.

    Args:
        aclose: closes what runs here; it takes `drain`, see `Chat.aclose`.
    """

    def __init__(self, aclose: Closes) -> None:
        self._aclose = aclose
        self._lock = threading.RLock()  # Reentrant: a signal's function may call while its own thread is in here.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process: int | None = None
        self._ended = False
        self._wrappers: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._abandoned: weakref.finalize[Any, Any] | None = None

    def run(self, work: Callable[[], Awaitable[T]], *, turn: LiveTurn | None = None) -> T:
        """Await what `work` gives, on the loop, and wait for it.

        KeyboardInterrupt, or whatever else a signal raises, cancels the work, and then `turn`, or the turn that the
        work had begun; it is raised again once that is committed. A second one does not wait.

        Raises:
            Misuse: from the loop's own thread, or in a process forked off after the first call.
            SessionClosed: if the thread ended meanwhile.
        """
        return self._waited(work, turn).result()

    def call(self, work: Callable[[], T], *, turn: LiveTurn | None = None) -> T:
        """Call a function that is not async on the loop; else as `run`."""

        async def called() -> T:
            return work()

        return self._waited(called, turn).result()

    def iterate(self, source: Callable[[], AsyncIterator[T]], *, turn: LiveTurn | None = None) -> Iterator[T]:
        """Iterate over what `source` gives; one of a running `turn` hands on each item as it comes.

        Raises:
            Misuse: as `run`, at once.
        """
        self._must_be_callable()
        return self._items(_Reading(source), turn)

    def _items(self, reading: _Reading[T], turn: LiveTurn | None) -> Iterator[T]:
        ahead = 1
        while not reading.over:
            call = self._waited(partial(reading.pull, None if self._ended else ahead), turn)
            yield from reading.taken()
            call.result()  # What went wrong stands behind what came before it.
            ahead = 1 if turn is not None else min(2 * ahead, _MOST_AHEAD)

    def one(self, wrapper: Callable[[LoopThread, T], W], wrapped: T) -> W:
        """The wrapper of an object: the same one for as long as somebody holds it."""
        with self._lock:
            kept = self._wrappers.get(id(wrapped))
            if kept is None:
                kept = self._wrappers[id(wrapped)] = wrapper(self, wrapped)
        found: W = kept
        return found

    def end(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run a last call and end the thread; what still runs is canceled. Does nothing in a forked process.

        Raises:
            Misuse: from the loop's own thread.
        """
        if self._forked():
            return
        self._must_be_callable()
        try:
            with contextlib.suppress(SessionClosed):  # Another thread was faster.
                self.run(work)
        finally:
            self._stop()

    def _stop(self) -> None:
        with self._lock:
            self._ended = True
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
        if loop is None or thread is None:
            return
        if self._abandoned is not None:
            self._abandoned.detach()
        loop.call_soon_threadsafe(_wind_up, loop, partial(self._aclose, drain=0.0))
        thread.join()

    def _forked(self) -> bool:
        return self._process not in (None, os.getpid())

    def _must_be_callable(self) -> None:
        # Before anything is locked: whoever held the lock is not there in a forked process.
        if self._forked():
            raise Misuse(
                "a blocking Chat was called in a process that was forked off after its first call",
                "its thread is not there; make a Chat in the new process",
            )
        thread = self._thread
        if thread is not None and thread.ident == threading.get_ident():
            raise Misuse(
                "a blocking Chat was called from the thread that runs its turns, and would wait for itself for ever",
                "in async functions, contexts and listeners use what they are given, or `antiphon.Chat`",
            )

    def _waited(self, work: Callable[[], Awaitable[T]], turn: LiveTurn | None) -> _Call[T]:
        self._must_be_callable()
        call = _Call(work)
        waited = False
        try:
            self._post(call)
            call.wait()
            waited = True
        finally:
            if not waited:
                self._give_up(call, turn)
        return call

    def _post(self, call: _Call[Any]) -> None:
        context = copy_context()
        with self._lock:
            call.loop = loop = self._begun()
            loop.call_soon_threadsafe(call.start, context=context)
            if self._ended:
                loop.call_soon_threadsafe(_wind_up, loop, call.ended)

    def _begun(self) -> asyncio.AbstractEventLoop:
        if self._loop is not None:
            return self._loop
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_serve, args=(loop,), name="antiphon-blocking", daemon=True)
        thread.start()
        if not self._ended:
            self._loop, self._thread, self._process = loop, thread, os.getpid()
            self._abandoned = weakref.finalize(self, _abandon, loop, self._aclose, process=os.getpid())
            self._abandoned.atexit = False  # The interpreter ends without asking daemon threads.
        return loop

    def _give_up(self, call: _Call[Any], turn: LiveTurn | None) -> None:
        if call.loop is None:
            return
        with contextlib.suppress(RuntimeError):  # The loop has ended, and the call with it.
            call.loop.call_soon_threadsafe(call.cancel)
        call.wait()
        given = call.given
        begun = given if isinstance(given, LiveTurn) else turn
        if begun is not None:
            canceling = _Call(lambda: begun.cancel(INTERRUPTED))
            self._post(canceling)
            canceling.wait()


class _Call(Generic[T]):
    """One call, made in its caller's thread and run as a task on the loop.

    Attributes:
        loop: where it runs, once it is on its way.
    """

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self._settled = False
        self._pending = threading.Lock()
        self._pending.acquire()

    # --- on the loop ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin the task."""
        self._task = asyncio.get_running_loop().create_task(self._worked())
        self._task.add_done_callback(self._settle)

    async def _worked(self) -> T:
        return await self._work()

    def cancel(self) -> None:
        """Cancel the task; one that never began is over at once."""
        if self._task is not None:
            self._task.cancel()
        else:
            self._settle(None)

    async def ended(self) -> None:
        """Wait until it is over, however."""
        if self._task is not None:
            await asyncio.wait({self._task})

    def _settle(self, task: asyncio.Task[T] | None) -> None:
        if task is not None and not task.cancelled():
            task.exception()  # Looked at, for its caller may have left.
        if not self._settled:
            self._settled = True
            self._pending.release()

    # --- in the caller's thread -------------------------------------------------------------------------------

    def wait(self) -> None:
        """Wait until it is over."""
        while not self._settled:
            self._pending.acquire(timeout=_PATIENCE)

    @property
    def given(self) -> T | None:
        """What it gave, if it did."""
        task = self._task
        return None if task is None or task.cancelled() or task.exception() is not None else task.result()

    def result(self) -> T:
        """What it gave, or raised.

        Raises:
            SessionClosed: if it was canceled, which only the end of the thread does to a call that is waited for.
        """
        if self._task is None or self._task.cancelled():
            raise SessionClosed()
        return self._task.result()


class _Reading(Generic[T]):
    """An async iterator that is read a few items at a time.

    Dropping it in the middle is enough: the loop closes a generator that nobody holds.

    Attributes:
        over: whether its end was reached.
    """

    def __init__(self, source: Callable[[], AsyncIterator[T]]) -> None:
        self.over = False
        self._source = source
        self._stream: AsyncIterator[T] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready: deque[T] = deque()

    async def pull(self, count: int | None) -> None:
        """Read so many items, or all.

        Raises:
            SessionClosed: if the loop on which it began has ended.
        """
        loop = asyncio.get_running_loop()
        if self._stream is None:
            self._stream, self._loop = self._source(), loop
        elif self._loop is not loop:
            raise SessionClosed()
        async for each in self._stream:
            self._ready.append(each)
            if len(self._ready) == count:
                return
        self.over = True

    def taken(self) -> Iterator[T]:
        """The items that were read, each once."""
        while self._ready:
            yield self._ready.popleft()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    stopped = False
    try:
        while not stopped:
            # What means the end of a process, raised by a function of the caller's, ends only that function's turn.
            with contextlib.suppress(KeyboardInterrupt, SystemExit):
                loop.run_forever()
                stopped = True
    finally:
        loop.close()


def _abandon(loop: asyncio.AbstractEventLoop, aclose: Closes, *, process: int) -> None:
    if process == os.getpid() and not loop.is_closed():
        loop.call_soon_threadsafe(_wind_up, loop, partial(aclose, drain=None))


def _wind_up(loop: asyncio.AbstractEventLoop, first: Callable[[], _Closing]) -> None:
    """Let the loop end once `first` is done; called on the loop."""
    winding = loop.create_task(_wound_up(first))
    winding.add_done_callback(lambda _: loop.stop())


async def _wound_up(first: Callable[[], _Closing]) -> None:
    me = asyncio.current_task()
    await asyncio.gather(asyncio.ensure_future(first()), return_exceptions=True)
    left = [task for task in asyncio.all_tasks() if task is not me]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
