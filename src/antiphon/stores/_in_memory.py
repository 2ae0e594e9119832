"""Sessions in memory: they end with the process. For tests, notebooks and chats that need no trace."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from ..errors import (
    InvalidSessionId,
    JournalMoved,
    Misuse,
    SessionBusy,
    SessionExists,
    SessionNotFound,
    UnknownCursor,
)
from ..journal._codec import Line
from ._store import Listed

_WHERE = "memory"
_LISTED_LINES = 64


@dataclass(slots=True)
class _Kept:
    lines: list[Line]
    changed: float
    order: int
    derived: dict[str, bytes] = field(default_factory=dict)


class InMemoryStore:
    """Keeps sessions in memory. An append is committed when it returns, and ends with the process.

    Any text but the empty one is a session id. May be used from several threads and event loops.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, _Kept] = {}
        self._leases: dict[str, int] = {}
        self._changes = 0
        self._lock = threading.Lock()

    def __str__(self) -> str:
        return _WHERE

    def __repr__(self) -> str:
        return f"InMemoryStore({len(self._sessions)} sessions)"

    async def create(self, session_id: str, lines: Sequence[Line]) -> None:
        """Begin a session.

        Raises:
            SessionExists: the id is taken.
            InvalidSessionId: the id is empty.
        """
        _check(session_id)
        copied = _copied(lines)
        if not copied:
            raise Misuse("a journal cannot begin without a line")
        with self._lock:
            if session_id in self._sessions:
                raise SessionExists(session_id, _WHERE)
            self._sessions[session_id] = kept = _Kept([], 0.0, 0)
            self._add(kept, copied)

    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        """Add lines at the end.

        Raises:
            SessionNotFound, InvalidSessionId.
            JournalMoved: the last entry is not `if_last`; nothing was added.
        """
        _check(session_id)
        copied = _copied(lines)
        with self._lock:
            kept = self._kept(session_id)
            found = kept.lines[-1].id
            if if_last is not None and if_last != found:
                raise JournalMoved(session_id, expected=if_last, found=found)
            if copied:
                self._add(kept, copied)

    def read(self, session_id: str, *, after: str | None = None) -> AsyncIterator[Line]:
        """Give the lines that are there now, in order, or only those behind the entry `after`.

        Raises:
            InvalidSessionId, UnknownCursor.
        """
        _check(session_id)
        return self._read(session_id, after)

    async def _read(self, session_id: str, after: str | None) -> AsyncIterator[Line]:
        with self._lock:
            kept = self._sessions.get(session_id)
            lines = kept.lines[:] if kept is not None else []
        begin = 0
        if after is not None:
            # From the end: a cursor is nearly always one of the last entries.
            begin = next((place + 1 for place in reversed(range(len(lines))) if lines[place].id == after), -1)
            if begin < 0:
                raise UnknownCursor(session_id, after)
        for place in range(begin, len(lines)):
            yield lines[place]

    def lease(self, session_id: str) -> AbstractAsyncContextManager[None]:
        """Hold a session in this process.

        Raises:
            InvalidSessionId
            SessionBusy: at once, if it is held.
        """
        _check(session_id)
        return self._leased(session_id)

    @contextlib.asynccontextmanager
    async def _leased(self, session_id: str) -> AsyncIterator[None]:
        with self._lock:
            if self._is_leased(session_id):
                raise SessionBusy(session_id)
            self._leases[session_id] = os.getpid()
        try:
            yield
        finally:
            with self._lock:
                self._leases.pop(session_id, None)

    def _is_leased(self, session_id: str) -> bool:
        return self._leases.get(session_id) == os.getpid()  # A forked child has a copy of the store, not the lease.

    async def list_sessions(self, *, before: str | None = None) -> AsyncIterator[Listed]:
        """Give the sessions, last changed first; `before` goes on behind that session.

        Raises:
            SessionNotFound: there is no session `before`.
        """
        with self._lock:
            below = self._kept(before).order if before is not None else self._changes + 1
            older = [(kept.order, session_id) for session_id, kept in self._sessions.items() if kept.order < below]
        for _, session_id in sorted(older, reverse=True):
            with self._lock:
                kept = self._sessions.get(session_id)
                item = _listed(session_id, kept) if kept is not None else None
            if item is not None:
                yield item

    async def delete(self, session_id: str) -> tuple[str, ...]:
        """Erase a session and give the names of what it kept: its id, and the keys of what was derived.

        Raises:
            SessionNotFound, InvalidSessionId.
            SessionBusy: it is held.
        """
        _check(session_id)
        with self._lock:
            kept = self._kept(session_id)
            if self._is_leased(session_id):
                raise SessionBusy(session_id)
            del self._sessions[session_id]
        return (*sorted(kept.derived), session_id)

    async def get_derived(self, session_id: str, key: str) -> bytes | None:
        """Give what was derived under `key`, or None.

        Raises:
            InvalidSessionId
        """
        _check(session_id)
        kept = self._sessions.get(session_id)
        return kept.derived.get(key) if kept is not None else None

    async def put_derived(self, session_id: str, key: str, *, content: bytes) -> None:
        """Keep what can be made again.

        Raises:
            SessionNotFound, InvalidSessionId.
        """
        _check(session_id)
        with self._lock:
            self._kept(session_id).derived[key] = bytes(content)

    def _kept(self, session_id: str) -> _Kept:
        kept = self._sessions.get(session_id)
        if kept is None:
            raise SessionNotFound(session_id, _WHERE)
        return kept

    def _add(self, kept: _Kept, lines: list[Line]) -> None:
        kept.lines += lines
        self._changes += 1
        kept.order, kept.changed = self._changes, time.time()


def _check(session_id: str) -> None:
    if not session_id:
        raise InvalidSessionId(session_id, "use any text but the empty one")


def _copied(lines: Sequence[Line]) -> list[Line]:
    for line in lines:
        if b"\n" in line.data:
            raise Misuse(f"the data of entry {line.id!r} holds a line feed", "write it as one line of JSON")
    return [Line(line.id, line.type, bytes(line.data)) for line in lines]


def _listed(session_id: str, kept: _Kept) -> Listed:
    tail = tuple(kept.lines[1:][-_LISTED_LINES:])
    return Listed(session_id, kept.lines[0], tail, len(tail) + 1 == len(kept.lines), kept.changed)
