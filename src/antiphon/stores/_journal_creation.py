"""Beginning a journal in one durable step.

The lines are written and synced under a private name; a link gives them the session's name, which fails if it is
taken; a sync of the directory makes the name durable. A file under a session's name is therefore complete.
"""

from __future__ import annotations

import contextlib
import os
import time

from ..errors import (
    AppendFailed,
    AppendUncertain,
    CorruptJournal,
    SessionBusy,
    SessionExists,
    SessionNotFound,
    StoreUnreadable,
)
from ._directory import Directory
from ._disk import ensure_directory, reason, unreadable, write_all
from ._held_file import HeldFile, locked_journal
from ._journal_end import end_of

_DEAD_AFTER = 3600.0
"""Seconds after which a journal without a name is taken for the remains of a dead creator."""


def prepare(directory: Directory) -> None:
    """Have the directories, such that they outlive a power loss, and sweep up after dead creators.

    Raises:
        OSError
    """
    disk = directory.disk
    ensure_directory(disk, directory.root)
    ensure_directory(disk, directory.fresh)
    # Another process may have made the directory and died before it synced its name.
    with contextlib.suppress(PermissionError):
        disk.sync_directory(os.path.dirname(directory.root))
    oldest = (time.time() - _DEAD_AFTER) * 1e9
    for name, changed in disk.list_directory(directory.fresh):
        if changed < oldest:
            with contextlib.suppress(OSError):
                disk.remove(os.path.join(directory.fresh, name))


class JournalCreation:
    """Creates one journal."""

    def __init__(self, directory: Directory, session_id: str) -> None:
        self._directory, self._disk, self._session_id = directory, directory.disk, session_id
        self._path = directory.journal(session_id)
        self._temporary = directory.new_journal(session_id)

    def write(self, content: bytes) -> os.stat_result | None:
        """Write the journal and give what is then known of its file.

        Raises:
            SessionExists, AppendFailed, AppendUncertain, StoreUnreadable.
        """
        with unreadable(self._directory.shown):
            file = HeldFile(self._disk, self._temporary, flags=os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        try:
            self._write(file.descriptor, content)
            with contextlib.suppress(OSError):
                return self._disk.stat(file.descriptor)
        finally:
            with contextlib.suppress(OSError):
                self._disk.remove(self._temporary)
            file.close()
        return None

    def _write(self, descriptor: int, content: bytes) -> None:
        try:
            # Whoever sees the name early waits for this lock, so no line can follow one that is taken back.
            self._disk.try_lock(descriptor)
            write_all(self._disk, descriptor, content=content)
            self._disk.sync_data(descriptor)
            named = self._name(descriptor)
        except OSError as error:
            raise AppendFailed(self._session_id, reason(error)) from error
        if not named:
            raise SessionExists(self._session_id, self._directory.shown)
        try:
            self._disk.sync_directory(self._directory.root)
        except OSError as error:
            self._take_name_back(error)

    def _name(self, descriptor: int) -> bool:
        try:
            self._disk.link(self._temporary, self._path)
        except OSError as error:
            if self._is_named(descriptor):
                return True  # Done though it failed: so open(2) says of links on NFS.
            if not isinstance(error, FileExistsError):
                raise
            return self._replaced_remains(descriptor)
        return True

    def _is_named(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(self._disk.stat(self._path), self._disk.stat(descriptor))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise AppendUncertain(self._session_id, reason(error)) from error

    def _replaced_remains(self, descriptor: int) -> bool:
        """Take the place of a file without one complete entry: no session, its creator died writing it in place."""
        shown = self._directory.shown_journal(self._session_id)
        try:
            with locked_journal(self._directory, self._session_id) as old:
                status = self._disk.stat(old)
                if status.st_nlink == 0 or end_of(self._disk, old, size=status.st_size, shown=shown).id is not None:
                    return False
                self._disk.replace(self._temporary, self._path)
                return True
        except (SessionBusy, SessionNotFound, CorruptJournal, StoreUnreadable):
            return False
        except OSError:
            if self._is_named(descriptor):
                return True
            raise

    def _take_name_back(self, cause: OSError) -> None:
        try:
            self._disk.remove(self._path)
            self._disk.sync_directory(self._directory.root)
        except OSError as error:
            raise AppendUncertain(self._session_id, f"{reason(cause)}; taking it back: {reason(error)}") from cause
        raise AppendFailed(self._session_id, reason(cause)) from cause
