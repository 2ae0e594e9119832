"""A store that says of each entry, once it has promised to keep it, that it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..journal import Line
from ..stores import FileStore


class AcknowledgingStore(FileStore):
    """Keeps sessions as any `FileStore` does, and tells the id of every entry that it has acknowledged.

    Args:
        directory: where the sessions are.
        tell: is told an entry's id after the call that kept it has returned, never before.
    """

    def __init__(self, directory: Path, tell: Callable[[str], None]) -> None:
        super().__init__(directory)
        self._tell = tell

    async def create(self, session_id: str, lines: Sequence[Line]) -> None:
        """See `FileStore.create`."""
        await super().create(session_id, lines)
        self._tell_of(lines)

    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        """See `FileStore.append`."""
        await super().append(session_id, lines, if_last=if_last)
        self._tell_of(lines)

    def _tell_of(self, lines: Sequence[Line]) -> None:
        for line in lines:
            self._tell(line.id)
