"""One reading of a whole journal by someone who decodes every line anyway: nothing is looked into here but its end."""

from __future__ import annotations

import io
import os
from typing import Any

from ._directory import Directory
from ._disk import Disk, unreadable
from ._torn_tail import kept

_BATCH = 1 << 20
"""Bytes of lines that are handed over at once: below, the hops between threads show."""

_PIECE = 1 << 20
"""Bytes of one read."""


class _Bytes(io.RawIOBase):
    """The bytes of an open journal, up to where it ended when it was opened."""

    def __init__(self, disk: Disk, descriptor: int) -> None:
        self._disk, self._descriptor = disk, descriptor
        self._offset, self._end = 0, disk.stat(descriptor).st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        length = min(len(buffer), self._end - self._offset)
        piece = self._disk.read(self._descriptor, length=length, offset=self._offset)
        buffer[: len(piece)] = piece
        self._offset += len(piece)
        return len(piece)


class UncheckedReader:
    """Gives the lines of one session, some at a time; see `ReadsUnchecked`.

    Attributes:
        done: whether there are no more.
    """

    def __init__(self, directory: Directory, session_id: str) -> None:
        self.done = False
        self._disk, self._path = directory.disk, directory.journal(session_id)
        self._shown = directory.shown_journal(session_id)
        self._descriptor: int | None = None
        self._lines: io.BufferedReader | None = None

    def next_lines(self) -> list[bytes]:
        """Give the next lines, most with their LF, and none once all were given.

        Raises:
            StoreUnreadable
        """
        with unreadable(self._shown):
            lines = self._opened().readlines(_BATCH) if self._is_there() else []
        self.done = not lines
        if lines and not lines[-1].endswith(b"\n"):
            last = kept(lines.pop())
            lines += [] if last is None else [last.data]
        return lines

    def _is_there(self) -> bool:
        if self._descriptor is None:
            try:
                self._descriptor = self._disk.open(self._path, os.O_RDONLY)
            except FileNotFoundError:
                return False
        return True

    def _opened(self) -> io.BufferedReader:
        if self._lines is None:
            assert self._descriptor is not None  # asked only when it is there
            self._lines = io.BufferedReader(_Bytes(self._disk, self._descriptor), _PIECE)
        return self._lines

    def close(self) -> None:
        """Close the file."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
