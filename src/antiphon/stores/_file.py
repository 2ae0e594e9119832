"""Sessions as files: one directory, one JSON Lines file a session, each append synced."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Iterable, Sequence

from ..errors import SessionNotFound
from ..journal._codec import Line
from ._deletion import delete
from ._derived import DerivedFiles
from ._directory import Directory
from ._disk import Disk
from ._disk_threads import DiskThreads
from ._journal_files import JournalFiles
from ._leases import Lease
from ._listing import listed, sessions_in
from ._store import Listed
from ._unchecked_reader import UncheckedReader

_LISTED_AT_ONCE = 16


class FileStore:
    """Keeps each session in `<directory>/<id>.jsonl`, and survives a power loss.

    An append returns when its lines are on the disk (POSIX `fdatasync`; `F_FULLFSYNC` on macOS). Several processes
    may use one directory on a local disk: appends take the journal's lock, and `lease` holds a session for a turn.
    Files are plain text, readable by their owner only (0600, in directories of 0700, whatever the umask); Antiphon
    encrypts nothing. Nothing is touched before the first call, and no file stays open between calls.

    Beside the journals lie `.new` (journals being created), `.locks` (leases) and `.derived` (what can be made
    again). Session ids are 1 to 128 of `a-z 0-9 . _ -`.

    Args:
        directory: where the sessions are; made, with what is missing above it, by the first session.
        disk: makes the file calls; the default is the system's. `antiphon.testing.FailingDisk` makes them fail.
    """

    def __init__(self, directory: str | os.PathLike[str], *, disk: Disk | None = None) -> None:
        self._directory = Directory(directory, disk if disk is not None else Disk())
        self._files = JournalFiles(self._directory)
        self._derived = DerivedFiles(self._directory)
        self._threads = DiskThreads()

    def __repr__(self) -> str:
        return f"FileStore({self._directory.shown!r})"

    def __str__(self) -> str:
        return self._directory.shown

    async def create(self, session_id: str, lines: Sequence[Line]) -> None:
        """Begin a session's journal.

        Raises:
            SessionExists: the id is taken.
            InvalidSessionId: the id cannot be a file name everywhere.
            AppendFailed: nothing was kept.
            AppendUncertain: it cannot be told whether anything was kept.
            StoreUnreadable: the directory cannot be used.
        """
        self._directory.check(session_id)
        await self._threads.run(session_id, self._files.create, session_id, tuple(lines))

    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        """Add lines at the end and sync them. If the caller is cancelled, the append still happens.

        Args:
            session_id: the session.
            lines: what to add, in order.
            if_last: the id that the last entry must have; None adds at the end, whatever that is.

        Raises:
            SessionNotFound, InvalidSessionId.
            JournalMoved: the last entry is another; nothing was written.
            SessionBusy: another writer held the journal for 5 seconds.
            CorruptJournal: the last line is no entry.
            AppendFailed: nothing was kept, because of a full disk for example.
            AppendUncertain: it cannot be told whether anything was kept.
            StoreUnreadable: the journal cannot be opened.
        """
        self._directory.check(session_id)
        await self._threads.run(session_id, self._files.append, session_id, tuple(lines), if_last=if_last)

    def read(self, session_id: str, *, after: str | None = None) -> AsyncIterator[Line]:
        """Give the lines that are there now, in order. Reading takes no lock and changes nothing.

        Args:
            session_id: the session; an unknown one has no lines.
            after: an entry's id, to get only the lines behind it. For the last entry that this store wrote or read,
                that costs only what came since; for another one, reading up to it.

        Raises:
            InvalidSessionId, UnknownCursor.
            CorruptJournal: a line is no entry; the lines before it have been given.
            StoreUnreadable: the file cannot be read, or was deleted meanwhile.
        """
        self._directory.check(session_id)
        return self._read(session_id, after)

    async def _read(self, session_id: str, after: str | None) -> AsyncIterator[Line]:
        reader = self._files.read(session_id, after=after)
        while not reader.done:
            for line in await self._threads.run(session_id, reader.next_lines):
                yield line
        self._files.know(session_id, reader.known)

    async def read_unchecked(self, session_id: str) -> AsyncIterator[Sequence[bytes]]:
        """Give all lines in order, some at a time, and leave looking into them to the caller.

        Raises:
            InvalidSessionId, StoreUnreadable.
        """
        self._directory.check(session_id)
        reader = UncheckedReader(self._directory, session_id)
        try:
            while not reader.done:
                yield await self._threads.run(session_id, reader.next_lines)
        finally:
            # On the session's thread: if the caller was cancelled, a read may still be under way there.
            self._threads.post(session_id, reader.close)

    def lease(self, session_id: str) -> contextlib.AbstractAsyncContextManager[None]:
        """Hold a session while a turn runs. The hold ends with the process, however that ends.

        Raises:
            InvalidSessionId, StoreUnreadable.
            SessionBusy: at once, if it is held, by this store too.
        """
        self._directory.check(session_id)
        return self._leased(session_id)

    @contextlib.asynccontextmanager
    async def _leased(self, session_id: str) -> AsyncIterator[None]:
        lease = Lease(self._directory, session_id)
        try:
            await self._threads.run(session_id, lease.take)
            yield
        finally:
            if lease.is_taken:
                lease.let_go()  # Here and now, so that no cancel comes between; closing writes nothing.
            else:
                # Cancelled meanwhile: the thread may be taking it still, so the letting go queues behind that.
                self._threads.post(session_id, lease.let_go)

    async def list_sessions(self, *, before: str | None = None) -> AsyncIterator[Listed]:
        """Give the sessions, last changed first, at most 128 KiB read of each (more for a long first line).

        Args:
            before: a session's id, to go on behind it.

        Raises:
            InvalidSessionId, StoreUnreadable.
            SessionNotFound: there is no session `before`.
        """
        if before is not None:
            self._directory.check(before)
        sessions = await self._threads.run("", sessions_in, self._directory)
        if before is not None:
            position = next((place for place, (_, found) in enumerate(sessions) if found == before), None)
            if position is None:
                raise SessionNotFound(before, self._directory.shown)
            sessions = sessions[position + 1 :]
        for begin in range(0, len(sessions), _LISTED_AT_ONCE):
            for item in await self._threads.run("", self._look, sessions[begin : begin + _LISTED_AT_ONCE]):
                yield item

    def _look(self, sessions: Iterable[tuple[int, str]]) -> list[Listed]:
        looked = (listed(self._directory, session_id, changed=changed) for changed, session_id in sessions)
        return [item for item in looked if item is not None]

    async def delete(self, session_id: str) -> tuple[str, ...]:
        """Erase a session: its derived content, then its journal. What was interrupted can be repeated.

        Returns:
            the names of the erased files, relative to the directory.

        Raises:
            SessionNotFound, InvalidSessionId, StoreUnreadable.
            SessionBusy: a turn of it is running, or it is being written.
        """
        self._directory.check(session_id)
        return await self._threads.run(session_id, delete, self._directory, session_id)

    async def get_derived(self, session_id: str, key: str) -> bytes | None:
        """Give what was derived under `key`, or None if that is lost or damaged.

        Raises:
            InvalidSessionId
        """
        self._directory.check(session_id)
        return await self._threads.run(session_id, self._derived.get, session_id, key)

    async def put_derived(self, session_id: str, key: str, *, content: bytes) -> None:
        """Keep what can be made again; not synced.

        Raises:
            SessionNotFound, InvalidSessionId, StoreUnreadable.
        """
        self._directory.check(session_id)
        await self._threads.run(session_id, self._derived.put, session_id, key, content=content)
