"""Adding to a locked journal: repair its end, write all lines in one call, sync; or take all of it back."""

from __future__ import annotations

from ..errors import AppendFailed, AppendUncertain
from ._disk import Disk, reason, write_all
from ._torn_tail import End


class JournalAppend:
    """One append to an open, locked journal."""

    def __init__(self, disk: Disk, session_id: str, *, descriptor: int, end: End) -> None:
        self._disk, self._session_id, self._descriptor, self._end = disk, session_id, descriptor, end

    def write(self, content: bytes) -> None:
        """Write whole lines behind the last good byte.

        Raises:
            AppendFailed, AppendUncertain.
        """
        if self._end.lacks_newline:
            content = b"\n" + content
        try:
            if self._end.fragment:
                self._disk.truncate(self._descriptor, self._end.stop)
        except OSError as error:
            raise AppendFailed(self._session_id, reason(error)) from error
        try:
            write_all(self._disk, self._descriptor, content=content)
            self._disk.sync_data(self._descriptor)
        except OSError as error:
            self._take_back(error)

    def _take_back(self, cause: OSError) -> None:
        """Cut the file to what it was, durably: else a power loss could bring back what was called failed."""
        try:
            if self._disk.stat(self._descriptor).st_size != self._end.stop:
                self._disk.truncate(self._descriptor, self._end.stop)
                self._disk.sync_data(self._descriptor)
        except OSError as error:
            raise AppendUncertain(self._session_id, f"{reason(cause)}; taking it back: {reason(error)}") from cause
        raise AppendFailed(self._session_id, reason(cause)) from cause
