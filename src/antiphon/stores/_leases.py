"""Holding a session for a turn: the lock of a file that is never removed.

A dead holder never blocks, because the system lets its lock go; a removed lock file would let two hold one session.
"""

from __future__ import annotations

import contextlib
import os

from ..errors import SessionBusy
from ._directory import Directory
from ._disk import ensure_directory, unreadable
from ._held_file import HeldFile


class Lease:
    """One hold of a session: taken once, let go once."""

    def __init__(self, directory: Directory, session_id: str) -> None:
        self._directory, self._session_id = directory, session_id
        self._file: HeldFile | None = None

    @property
    def is_taken(self) -> bool:
        """Whether it was taken and not yet let go."""
        return self._file is not None

    def take(self) -> None:
        """Take it.

        Raises:
            SessionBusy: if it is held, by whomever.
            StoreUnreadable
        """
        path = self._directory.lock(self._session_id)
        with unreadable(self._directory.shown):
            file = self._opened(path)
            try:
                if self._directory.disk.try_lock(file.descriptor):
                    self._file = file
            finally:
                if self._file is None:
                    file.close()
        if self._file is None:
            raise SessionBusy(self._session_id)

    def let_go(self) -> None:
        """Let it go, if it was taken; in a forked child this leaves the parent's hold alone."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self, path: str) -> HeldFile:
        with contextlib.suppress(FileNotFoundError):
            return HeldFile(self._directory.disk, path, flags=os.O_RDWR)
        ensure_directory(self._directory.disk, os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            return HeldFile(self._directory.disk, path, flags=os.O_RDWR | os.O_CREAT | os.O_EXCL)
        return HeldFile(self._directory.disk, path, flags=os.O_RDWR)
