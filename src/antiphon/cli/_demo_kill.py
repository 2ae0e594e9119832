"""Starts another process that sends a turn, and kills it in the middle of the reply."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ._endings import Refused

PIECES = 12
"""After so many pieces of its reply the process is killed."""


@dataclass(frozen=True, slots=True)
class Killed:
    """What a killed process had done.

    Attributes:
        process_id: which one it was.
        entries: ids of the entries that its store had acknowledged.
        by_kill: whether the system says that SIGKILL ended it.
    """

    process_id: int
    entries: tuple[str, ...]
    by_kill: bool


async def killed_in_the_middle(folder: Path, session_id: str, *, embedded: bool, say: Callable[[str], None]) -> Killed:
    """Have another process send a turn, and kill it.

    Args:
        folder: the store.
        session_id: the session.
        embedded: whether the embedded model answers there.
        say: is given the pieces of the reply as they come.

    Raises:
        Refused: if the process ended by itself.
    """
    words = [sys.executable, "-m", f"{__package__}._demo_child", str(folder), session_id]
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    child = await asyncio.create_subprocess_exec(
        *words, "embedded" if embedded else "script", stdin=nothing, stdout=pipe, stderr=pipe
    )
    try:
        entries = await _heard(child, say)
        if child.returncode is None:
            child.kill()  # SIGKILL: nothing of that process runs after it, no handler and no `finally`.
        code = await child.wait()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return Killed(child.pid, tuple(entries), by_kill=os.name != "posix" or code == -signal.SIGKILL)


async def _heard(child: asyncio.subprocess.Process, say: Callable[[str], None]) -> list[str]:
    assert child.stdout is not None  # it was started with a pipe
    entries: list[str] = []
    said = 0
    async for line in child.stdout:
        told = json.loads(line)
        if "kept" in told:
            entries.append(told["kept"])
        else:
            say(told["said"])
            said += 1
        if said >= PIECES:
            return entries
    raise Refused(f"the other process was to be killed, but it ended by itself: {await _last_words(child)}")


async def _last_words(child: asyncio.subprocess.Process) -> str:
    assert child.stderr is not None  # it was started with a pipe
    lines = (await child.stderr.read()).decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "without a word")
