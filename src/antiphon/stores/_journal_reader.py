"""One reading of a journal file, in batches, without a lock and without keeping the file open.

It ends where the file ended when it was opened. Every batch starts where a line starts, so no line is put together
from what the file held at two times: a writer may replace a fragment meanwhile. A malformed line is read once more
before it is called corrupt, for the same reason.
"""

from __future__ import annotations

import os

from ..errors import CorruptJournal, StoreUnreadable, UnknownCursor
from ..journal._codec import Line
from ._directory import Directory
from ._disk import unreadable
from ._journal_end import Known, lines_before
from ._torn_tail import kept, lines_in

BLOCK = 1 << 20
"""Bytes of a batch, unless one line is longer."""


class JournalReader:
    """Reads the lines of one session, or those behind `after`.

    Attributes:
        done: whether there are no more.
    """

    def __init__(self, directory: Directory, session_id: str, *, after: str | None, known: Known | None) -> None:
        self.done = False
        self._directory, self._disk, self._session_id = directory, directory.disk, session_id
        self._after, self._known = after, known
        self._status: os.stat_result | None = None
        self._offset = self._end = 0
        self._last: tuple[int, str] | None = None
        self._suspect = -1

    @property
    def known(self) -> Known | None:
        """What is now known of the journal's end: of use once `done`."""
        if self._status is None or self._last is None:
            return None
        start, last_id = self._last
        return Known(self._status.st_ino, self._offset, self._status.st_mtime_ns, start, last_id)

    def next_lines(self) -> list[Line]:
        """Give the next lines, at least one unless `done`.

        Raises:
            UnknownCursor, CorruptJournal, StoreUnreadable (also: it was deleted meanwhile).
        """
        with unreadable(self._directory.shown_journal(self._session_id)):
            try:
                descriptor = self._disk.open(self._directory.journal(self._session_id), os.O_RDONLY)
            except FileNotFoundError:
                return self._missing()
            try:
                return self._started(descriptor) if self._status is None else self._continued(descriptor)
            finally:
                os.close(descriptor)

    def _missing(self) -> list[Line]:
        if self._status is not None:
            raise StoreUnreadable(self._directory.shown_journal(self._session_id), "it was deleted while it was read")
        if self._after is not None:
            raise UnknownCursor(self._session_id, self._after)
        self.done = True
        return []

    def _started(self, descriptor: int) -> list[Line]:
        self._status = self._disk.stat(descriptor)
        self._end = self._status.st_size
        if self._after is None:
            return self._batch(descriptor)
        lines = self._behind_known(descriptor, self._after)
        if lines is None:
            self._offset, self._suspect, self.done = 0, -1, False
            lines = self._behind_scanned(descriptor, self._after)
        return lines or ([] if self.done else self._batch(descriptor))

    def _continued(self, descriptor: int) -> list[Line]:
        if self._status is not None and self._disk.stat(descriptor).st_ino != self._status.st_ino:
            return self._missing()
        return self._batch(descriptor)

    def _behind_known(self, descriptor: int, after: str) -> list[Line] | None:
        """Start at the line that this store wrote or read last, if it is `after` and still stands there."""
        known, status = self._known, self._status
        if known is None or status is None or (known.id, known.inode) != (after, status.st_ino):
            return None
        self._offset = known.start
        try:
            lines = self._batch(descriptor)
        except CorruptJournal:
            return None
        return lines[1:] if lines and lines[0].id == after else None

    def _behind_scanned(self, descriptor: int, after: str) -> list[Line]:
        while not self.done:
            lines = self._batch(descriptor)
            for index, line in enumerate(lines):
                if line.id == after:
                    return lines[index + 1 :]
        raise UnknownCursor(self._session_id, after)

    def _batch(self, descriptor: int) -> list[Line]:
        while True:
            block, is_last = self._block(descriptor)
            lines, used, why = lines_in(block)
            self._offset += used
            if why is None or lines:
                break
            if self._suspect == self._offset:
                number = lines_before(self._disk, descriptor, stop=self._offset) + 1
                raise CorruptJournal(self._directory.shown_journal(self._session_id), number, why=why)
            self._suspect = self._offset
        if lines:
            self._last = (self._offset - len(lines[-1].data) - 1, lines[-1].id)
        if why is None and is_last:
            self._finish(lines, block[used:])
        return lines

    def _block(self, descriptor: int) -> tuple[bytes, bool]:
        length = BLOCK
        while True:
            wanted = max(0, min(length, self._end - self._offset))
            block = self._disk.read(descriptor, length=wanted, offset=self._offset)
            is_last = len(block) < wanted or self._offset + wanted >= self._end
            if is_last or b"\n" in block:
                return block, is_last
            length *= 4

    def _finish(self, lines: list[Line], rest: bytes) -> None:
        self.done = True
        line = kept(rest)
        if line is not None:
            lines.append(line)
            self._last = (self._offset, line.id)
            self._offset += len(rest) + 1  # As if the newline were there: so the file does not pass for known.
