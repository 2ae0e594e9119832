"""The journal files of one directory: create, append, read. Plain blocking calls, for the store's threads.

Who writes holds the lock of the journal file. The order of the calls is what makes acknowledged lines durable;
`tests/faults` fails each call once and kills the process at each.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from ..errors import AppendFailed, JournalMoved, Misuse, SessionNotFound
from ..journal._codec import Line
from ._directory import Directory
from ._disk import reason, unreadable
from ._held_file import locked_journal
from ._journal_append import JournalAppend
from ._journal_creation import JournalCreation, prepare
from ._journal_end import Known, end_of
from ._journal_reader import JournalReader
from ._torn_tail import End

_REMEMBERED = 1024


class JournalFiles:
    """The journals of one directory, and where each was last seen to end."""

    def __init__(self, directory: Directory) -> None:
        self._directory, self._disk = directory, directory.disk
        self._known: dict[str, Known] = {}
        self._is_prepared = False

    def create(self, session_id: str, lines: Sequence[Line]) -> None:
        """Begin a journal.

        Raises:
            SessionExists, AppendFailed, AppendUncertain, StoreUnreadable, Misuse (no lines, or a line feed in one).
        """
        content = _content(lines)
        if not content:
            raise Misuse("a journal cannot begin without a line")
        if not self._is_prepared:
            with unreadable(self._directory.shown):
                prepare(self._directory)
            self._is_prepared = True
        self._known.pop(session_id, None)
        status = JournalCreation(self._directory, session_id).write(content)
        if status is not None:
            self.know(session_id, _end_behind(status, lines[-1]))

    def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        """Lock, look at the end, write.

        Raises:
            SessionNotFound, SessionBusy, JournalMoved, CorruptJournal, AppendFailed, AppendUncertain,
            StoreUnreadable, Misuse (a line feed in a line).
        """
        content = _content(lines)
        with locked_journal(self._directory, session_id) as descriptor:
            try:
                end = self._end(session_id, descriptor)
            except OSError as error:
                raise AppendFailed(session_id, reason(error)) from error
            if end.id is None:
                raise SessionNotFound(session_id, self._directory.shown)
            if if_last is not None and if_last != end.id:
                raise JournalMoved(session_id, expected=if_last, found=end.id)
            if not content:
                return
            self._known.pop(session_id, None)
            JournalAppend(self._disk, session_id, descriptor=descriptor, end=end).write(content)
            with contextlib.suppress(OSError):  # The lines are committed; not knowing the end costs one look.
                self.know(session_id, _end_behind(self._disk.stat(descriptor), lines[-1]))

    def read(self, session_id: str, *, after: str | None) -> JournalReader:
        """Begin a reading; when it is done, `know` takes what it learnt."""
        return JournalReader(self._directory, session_id, after=after, known=self._known.get(session_id))

    def know(self, session_id: str, known: Known | None) -> None:
        """Remember an end, unless a later one is known."""
        older = self._known.get(session_id)
        if known is None or (older is not None and older.inode == known.inode and older.size > known.size):
            return
        if len(self._known) >= _REMEMBERED:
            self._known.clear()  # Bounded; having forgotten costs one look at a journal's end.
        self._known[session_id] = known

    def _end(self, session_id: str, descriptor: int) -> End:
        status = self._disk.stat(descriptor)
        if status.st_nlink == 0:
            return End(None, 0, 0)  # Deleted while this call waited for the lock.
        known = self._known.get(session_id)
        if known is not None and known.is_end_of(status):
            return End(known.id, known.start, known.size)
        shown = self._directory.shown_journal(session_id)
        return end_of(self._disk, descriptor, size=status.st_size, shown=shown)


def _content(lines: Sequence[Line]) -> bytes:
    for line in lines:
        if b"\n" in line.data:
            raise Misuse(f"the data of entry {line.id!r} holds a line feed", "write it as one line of JSON")
    return b"".join([part for line in lines for part in (line.data, b"\n")])


def _end_behind(status: os.stat_result, last: Line) -> Known:
    start = status.st_size - len(last.data) - 1
    return Known(status.st_ino, status.st_size, status.st_mtime_ns, start, last.id)
