"""Open files that carry a lock, and what becomes of them in a forked child.

A lock of flock(2) belongs to the open file, and a fork copies the descriptor: a child that lived on would hold the
lock of a parent that is dead. So the child closes them. That lets nothing go that the parent still holds.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

from ..errors import Misuse, SessionBusy, SessionNotFound
from ._directory import Directory
from ._disk import Disk, lock_within, unreadable

_opening = threading.Lock()
_held: set[HeldFile] = set()


class HeldFile:
    """A file opened to be locked. Close it to let the lock go."""

    def __init__(self, disk: Disk, path: str, *, flags: int) -> None:
        self._descriptor: int | None = None
        with _opening:  # No fork may come between opening and noting.
            self._descriptor = disk.open(path, flags)
            _held.add(self)

    @property
    def descriptor(self) -> int:
        """The open file."""
        if self._descriptor is None:
            raise Misuse("a store call was carried over a fork", "make it again in the child")
        return self._descriptor

    def close(self) -> None:
        """Close the file, once; in a child that was forked meanwhile this does nothing."""
        with _opening:
            self._close()
            _held.discard(self)

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):  # The lock is gone all the same.
                os.close(descriptor)


def _close_in_child() -> None:
    for file in _held:
        file._close()
    _held.clear()
    _opening.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_close_in_child)


@contextlib.contextmanager
def locked_journal(directory: Directory, session_id: str) -> Iterator[int]:
    """Open an existing journal for reading and appending, and hold its lock.

    Raises:
        SessionNotFound: if it is not there.
        SessionBusy: if another writer holds it for longer than the disk's patience.
        StoreUnreadable: if it cannot be opened or locked.
    """
    disk, where = directory.disk, directory.shown_journal(session_id)
    with unreadable(where):
        try:
            file = HeldFile(disk, directory.journal(session_id), flags=os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            raise SessionNotFound(session_id, directory.shown) from None
    try:
        with unreadable(where):
            if not lock_within(disk, file.descriptor, seconds=disk.patience):
                raise SessionBusy(session_id)
        yield file.descriptor
    finally:
        file.close()
