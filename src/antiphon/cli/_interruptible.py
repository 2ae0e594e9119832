"""Runs a command's async part so that Ctrl-C ends it in order: once to cancel, twice to leave at once."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ._endings import STOPPED, Interrupted

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end. The first Ctrl-C cancels the work, which may tidy up; the second ends the process.

    Raises:
        Interrupted: if it was canceled and said nothing better itself.
    """
    try:
        return asyncio.run(_heeding_ctrl_c(work))
    except asyncio.CancelledError:
        raise Interrupted("stopped") from None


async def _heeding_ctrl_c(work: Coroutine[Any, Any, T]) -> T:
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        return await work  # Signals are not ours, or whoever started us wants none heeded.
    before = signal.signal(signal.SIGINT, _canceler())
    try:
        return await work
    finally:
        signal.signal(signal.SIGINT, before)


def _canceler() -> Callable[[int, object], None]:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None  # a coroutine that runs has one
    pressed: list[int] = []

    def press(number: int, _frame: object) -> None:
        pressed.append(number)
        if len(pressed) > 1:
            os._exit(STOPPED)
        # Not task.cancel() alone: the loop may be asleep, and a signal does not wake it.
        loop.call_soon_threadsafe(task.cancel)

    return press
