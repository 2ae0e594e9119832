"""Content that can be made again, one file a key, beside the journals.

A digest stands in front of the content, so that damage reads as absence. A file gets its name in one step and is not
synced: after a power loss it may be missing or damaged, which is the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import os

from ..errors import SessionNotFound
from ._directory import Directory
from ._disk import ensure_directory, unreadable, write_all

_DIGEST = hashlib.sha256
_DIGEST_BYTES = 32


class DerivedFiles:
    """The derived content of the sessions of one directory."""

    def __init__(self, directory: Directory) -> None:
        self._directory, self._disk = directory, directory.disk

    def get(self, session_id: str, key: str) -> bytes | None:
        """Give the content under `key`; None if it is lost, damaged or unreadable."""
        try:
            descriptor = self._disk.open(self._directory.derived_file(session_id, key), os.O_RDONLY)
        except OSError:
            return None
        try:
            found = self._disk.read(descriptor, length=self._disk.stat(descriptor).st_size, offset=0)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        digest, content = found[:_DIGEST_BYTES], found[_DIGEST_BYTES:]
        return content if digest == _DIGEST(content).digest() else None

    def put(self, session_id: str, key: str, *, content: bytes) -> None:
        """Keep content.

        Raises:
            SessionNotFound: also if the session was deleted meanwhile; then nothing stays behind.
            StoreUnreadable
        """
        with unreadable(self._directory.shown):
            session = self._session(session_id)
            if session is not None:
                self._write(session_id, self._directory.derived_file(session_id, key), content=content)
                if self._session(session_id) == session:
                    return
                self.erase(session_id)
        raise SessionNotFound(session_id, self._directory.shown)

    def erase(self, session_id: str) -> list[str]:
        """Remove everything derived from a session and give the names of what that was, relative to the store.

        Raises:
            OSError
        """
        directory = self._directory.derived(session_id)
        try:
            names = [name for name, _ in self._disk.list_directory(directory)]
        except FileNotFoundError:
            return []
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                self._disk.remove(os.path.join(directory, name))
        with contextlib.suppress(FileNotFoundError):
            self._disk.remove(directory)
        return [f".derived/{session_id}/{name}" for name in sorted(names)]

    def _session(self, session_id: str) -> tuple[int, int] | None:
        try:
            status = self._disk.stat(self._directory.journal(session_id))
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    def _write(self, session_id: str, path: str, *, content: bytes) -> None:
        ensure_directory(self._disk, self._directory.derived(session_id))
        temporary = f"{path}.{os.urandom(8).hex()}"
        descriptor = self._disk.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            write_all(self._disk, descriptor, content=_DIGEST(content).digest() + content)
            self._disk.replace(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                self._disk.remove(temporary)
            raise
        finally:
            os.close(descriptor)
