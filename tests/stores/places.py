"""What the tests of FileStore need over and over."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from antiphon.stores import FileStore
from antiphon.testing._store_hooks import ids, lines


def written(place: Path, *numbers: int, session_id: str = "ana-1") -> Path:
    """Make a session with these lines and give its file."""
    asyncio.run(FileStore(place).create(session_id, lines(*numbers)))
    return place / f"{session_id}.jsonl"


async def numbers(place: Path, *, session_id: str = "ana-1") -> list[int]:
    """Read a session through a store that knows nothing yet."""
    return await ids(FileStore(place), session_id)


def python(program: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start a Python program that finds the library as this one does."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path), **environment},
    )


def ended(program: subprocess.Popen[str]) -> str:
    """Wait for a program that must succeed, and give what it printed."""
    out, errors = program.communicate(timeout=50)
    assert program.returncode == 0, errors
    return out.strip()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens in another thread."""
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it has not happened within ten seconds")


def files_in(place: Path) -> set[str]:
    """Name every file below a directory."""
    return {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}


def open_files() -> int:
    """How many files this process has open, 0 where that cannot be seen."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
