"""Erasing a session. The journal goes last, so that what was interrupted can be asked for again."""

from __future__ import annotations

import contextlib
import os

from ..errors import SessionNotFound
from ._derived import DerivedFiles
from ._directory import Directory
from ._disk import unreadable
from ._held_file import locked_journal
from ._leases import Lease


def delete(directory: Directory, session_id: str) -> tuple[str, ...]:
    """Erase derived content, remains of creators and the journal, and give their names relative to the directory.

    Raises:
        SessionNotFound, SessionBusy, StoreUnreadable.
    """
    with unreadable(directory.shown):
        try:
            directory.disk.stat(directory.journal(session_id))
        except FileNotFoundError:
            raise SessionNotFound(session_id, directory.shown) from None
        lease = Lease(directory, session_id)
        lease.take()
        try:
            with locked_journal(directory, session_id):
                return _erased(directory, session_id)
        finally:
            lease.let_go()


def _erased(directory: Directory, session_id: str) -> tuple[str, ...]:
    derived = DerivedFiles(directory)
    erased = derived.erase(session_id) + _remains_erased(directory, session_id)
    journal = directory.journal(session_id)
    directory.disk.remove(journal)
    directory.disk.sync_directory(directory.root)
    erased += derived.erase(session_id)  # What another process kept between these steps.
    return (*erased, os.path.basename(journal))


def _remains_erased(directory: Directory, session_id: str) -> list[str]:
    """A dead creator may have left a second name of the journal, or a journal that never got its name."""
    erased: list[str] = []
    with contextlib.suppress(FileNotFoundError):
        for name, _ in directory.disk.list_directory(directory.fresh):
            if directory.creator_of(name) == session_id:
                directory.disk.remove(os.path.join(directory.fresh, name))
                erased.append(f".new/{name}")
    return erased
