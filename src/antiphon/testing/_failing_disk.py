"""A disk of which one call fails, so that a test can loop over every call that a scenario makes."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Callable
from typing import Literal, TypeVar

from ..stores._disk import Disk

_T = TypeVar("_T")

When = Literal["before", "after", "half"]


class FailingDisk(Disk):
    """Passes calls on to a disk and counts them; the `at`-th fails.

    A scenario is run once with `at=0` to learn from `calls` how many calls it makes, then once for each of them.

    Args:
        disk: the disk that does the work; the default is the system's.
        at: the number of the call that fails, counted from 1; 0 for none.
        how: `before` it did anything, `after` it did everything, or `half`: a write writes the first half of its
            bytes, any other call is as `before`.
        error: what it raises; the default says that the disk is full (ENOSPC).
        times: how many calls in a row fail, from `at` on.
        kill: kill the process at that call (SIGKILL) instead of raising.

    Attributes:
        calls: the names of the calls so far.
    """

    def __init__(
        self,
        disk: Disk | None = None,
        *,
        at: int = 0,
        how: When = "before",
        error: OSError | None = None,
        times: int = 1,
        kill: bool = False,
    ) -> None:
        self.calls: list[str] = []
        self._disk = disk if disk is not None else Disk()
        self.patience = self._disk.patience
        self._failing = range(at, at + times) if at else range(0)
        self._how, self._kill = how, kill
        self._error = error if error is not None else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _call(self, name: str, act: Callable[[], _T], *, half: Callable[[], object] | None = None) -> _T:
        self.calls.append(name)
        if len(self.calls) not in self._failing:
            return act()
        if self._how == "after":
            with contextlib.suppress(OSError):  # It fails either way.
                act()
        elif self._how == "half" and half is not None:
            half()
        if self._kill:
            os.kill(os.getpid(), signal.SIGKILL)
        raise self._error

    def open(self, path: str, flags: int) -> int:
        """See `Disk.open`; a failure after opening leaves nothing open."""
        opened: list[int] = []

        def act() -> int:
            opened.append(self._disk.open(path, flags))
            return opened[0]

        try:
            return self._call("open", act)
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            raise

    def stat(self, target: int | str) -> os.stat_result:
        """See `Disk.stat`."""
        return self._call("stat", lambda: self._disk.stat(target))

    def read(self, descriptor: int, *, length: int, offset: int) -> bytes:
        """See `Disk.read`."""
        return self._call("read", lambda: self._disk.read(descriptor, length=length, offset=offset))

    def write(self, descriptor: int, content: bytes | memoryview) -> int:
        """See `Disk.write`."""
        first = content[: len(content) // 2]
        return self._call(
            "write",
            lambda: self._disk.write(descriptor, content),
            half=lambda: self._disk.write(descriptor, first),
        )

    def truncate(self, descriptor: int, size: int) -> None:
        """See `Disk.truncate`."""
        self._call("truncate", lambda: self._disk.truncate(descriptor, size))

    def sync_data(self, descriptor: int) -> None:
        """See `Disk.sync_data`."""
        self._call("sync_data", lambda: self._disk.sync_data(descriptor))

    def sync_directory(self, path: str) -> None:
        """See `Disk.sync_directory`."""
        self._call("sync_directory", lambda: self._disk.sync_directory(path))

    def link(self, path: str, second: str) -> None:
        """See `Disk.link`."""
        self._call("link", lambda: self._disk.link(path, second))

    def replace(self, path: str, other: str) -> None:
        """See `Disk.replace`."""
        self._call("replace", lambda: self._disk.replace(path, other))

    def remove(self, path: str) -> None:
        """See `Disk.remove`."""
        self._call("remove", lambda: self._disk.remove(path))

    def make_directory(self, path: str) -> bool:
        """See `Disk.make_directory`."""
        return self._call("make_directory", lambda: self._disk.make_directory(path))

    def list_directory(self, path: str) -> list[tuple[str, int]]:
        """See `Disk.list_directory`."""
        return self._call("list_directory", lambda: self._disk.list_directory(path))

    def try_lock(self, descriptor: int) -> bool:
        """See `Disk.try_lock`."""
        return self._call("try_lock", lambda: self._disk.try_lock(descriptor))
