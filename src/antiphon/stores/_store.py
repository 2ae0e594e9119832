"""The seam to storage: three methods, thirteen promises. Stores move lines and never look inside.

`antiphon.testing.StoreContract` checks the promises; they are:

S1   `create` refuses an existing session and is one durable step: a place without one complete entry is no session.
S2   `append` returns only when the lines would survive what the store names (the process, a power loss).
S3   The order of calls is the order of lines; appends that overlap are serialised.
S4   A failed append or create leaves none of its lines (`AppendFailed`), or says that it cannot tell
     (`AppendUncertain`). A crash may leave the first lines of a batch that was never acknowledged.
S5   `read` gives equal lines in order, and none for an unknown session.
S6   `after` gives only later lines.
S7   An unknown cursor raises `UnknownCursor`, in an unknown session too.
S8   Nothing is rewritten, and reading never writes.
S9   Lines of unknown types survive byte for byte.
S10  An id that the store cannot hold is refused on every call before any I/O (`InvalidSessionId`).
S11  Appending to no session raises `SessionNotFound`.
S12  Sessions never mix.
S13  `if_last` must be the last line's id, else `JournalMoved` and nothing is written; None appends at the end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..journal._codec import Line


@runtime_checkable
class Store(Protocol):
    """Keeps journals; see the promises S1 to S13 in this module."""

    async def create(self, session_id: str, lines: Sequence[Line]) -> None:
        """Begin a journal with these lines.

        Raises:
            SessionExists, InvalidSessionId, AppendFailed, AppendUncertain, StoreUnreadable, Misuse (no lines, or a
                line feed in one).
        """
        ...

    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        """Add lines at the end, if the last line's id is `if_last` (None: whatever it is).

        Raises:
            SessionNotFound, InvalidSessionId, JournalMoved, SessionBusy (another writer holds the journal),
            AppendFailed, AppendUncertain, CorruptJournal (its end is damaged), StoreUnreadable, Misuse (a line feed in
                a line).
        """
        ...

    def read(self, session_id: str, *, after: str | None = None) -> AsyncIterator[Line]:
        """Give the lines in order, or only those behind the entry `after`.

        Raises:
            InvalidSessionId, UnknownCursor, CorruptJournal, StoreUnreadable (also: it was deleted meanwhile).
        """
        ...


@runtime_checkable
class ReadsUnchecked(Protocol):
    """A store that can hand out a whole journal faster than line by line, for whoever decodes every line anyway."""

    def read_unchecked(self, session_id: str) -> AsyncIterator[Sequence[bytes]]:
        """Give the data of all lines in order, some at a time, with or without their LF, without looking into them.

        What is wrong with a line shows when it is decoded. Then read again by `read`, which says where it is, or
        finds that a writer was at work there.

        Raises:
            InvalidSessionId, StoreUnreadable.
        """
        ...


@runtime_checkable
class LeasesSessions(Protocol):
    """A store of which a turn can hold one session at a time: a lock that dies with its holder, never a row."""

    def lease(self, session_id: str) -> AbstractAsyncContextManager[None]:
        """Hold the session.

        Raises:
            SessionBusy: at once, if it is held.
        """
        ...


@dataclass(frozen=True, slots=True)
class Listed:
    """One session of a listing, known from a bounded look.

    Attributes:
        id: the session.
        first: its first line, or None if that cannot be read.
        tail: its last lines, oldest first, as far as the look reached.
        whole: whether `first` and `tail` together are all there is.
        changed: POSIX seconds of the last change.
        problem: what is wrong with it, or None.
    """

    id: str
    first: Line | None
    tail: tuple[Line, ...]
    whole: bool
    changed: float
    problem: str | None = None


@runtime_checkable
class ListsSessions(Protocol):
    """A store that can say what it holds, at a bounded cost a session."""

    def list_sessions(self, *, before: str | None = None) -> AsyncIterator[Listed]:
        """Give sessions, last changed first; `before` goes on behind that session.

        Raises:
            StoreUnreadable, SessionNotFound (an unknown `before`).
        """
        ...


@runtime_checkable
class DeletesSessions(Protocol):
    """A store that can erase a session, derived data included."""

    async def delete(self, session_id: str) -> tuple[str, ...]:
        """Erase everything kept of the session and say what that was, a name each.

        Raises:
            SessionNotFound, SessionBusy (a turn is running), InvalidSessionId, StoreUnreadable.
        """
        ...


@runtime_checkable
class KeepsDerived(Protocol):
    """A store that keeps what can be made again (summaries, indexes). Lost or damaged reads as absent."""

    async def get_derived(self, session_id: str, key: str) -> bytes | None:
        """Give what was put under `key`, or None."""
        ...

    async def put_derived(self, session_id: str, key: str, *, content: bytes) -> None:
        """Keep `content` under `key`, replacing what was there; not synced.

        Raises:
            SessionNotFound, InvalidSessionId, StoreUnreadable.
        """
        ...
