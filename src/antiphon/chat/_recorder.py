"""The one writer of a session: it checks, joins and appends entries, and keeps the transcript that they make.

Nothing is in the transcript before the store has acknowledged it. Entries put while an append runs travel together
in the next one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .._clock import Clock, system_clock, written
from ..errors import (
    AppendUncertain,
    CorruptJournal,
    IllegalEntry,
    JournalMoved,
    SessionNotFound,
    StoreError,
    UnknownCursor,
)
from ..journal._codec import Line, decode, encode
from ..journal._entries import Entry, KnownEntry, TurnEntry, commutes, heading
from ..journal._lifecycle import NotAllowed, TurnState, after
from ..stores._store import Store
from ..transcript._replay import Transcript

_logger = logging.getLogger("antiphon")

E = TypeVar("E", bound=KnownEntry)

_ATTEMPTS = 20
"""How often an append goes on behind commuting entries of others before it gives up: they would have to write
faster than we read, twenty times in a row."""


@dataclass(slots=True)
class _Batch:
    entries: tuple[KnownEntry, ...]
    lines: tuple[Line, ...]
    committed: asyncio.Future[None]


class Recorder:
    """Writes the entries of one session.

    Args:
        store: where they go.
        transcript: the session as read; it moves on with every commit.
        place: how errors call the store.
        clock: gives the time of entries.
    """

    def __init__(self, store: Store, transcript: Transcript, *, place: str, clock: Clock = system_clock) -> None:
        self.transcript = transcript
        self._store = store
        self._place = place
        self._clock = clock
        self._projected: dict[str, TurnState] = {}
        self._deferred: list[KnownEntry] = []
        self._queue: list[_Batch] = []
        self._flushing: asyncio.Task[None] | None = None
        self._unsure = False
        self._turn_of = asyncio.Lock()

    def entry(self, cls: Callable[..., E], **fields: Any) -> E:
        """Make an entry of this session, of now."""
        return cls(**heading(self.transcript.session_id, written(self._clock())), **fields)

    def defer(self, entry: KnownEntry) -> None:
        """Let an entry travel with whatever is put next."""
        self._deferred.append(entry)

    def put(self, *entries: KnownEntry) -> asyncio.Future[None]:
        """Check entries against everything committed and queued, and queue them.

        Returns:
            A future that is done once they are committed, or holds the `StoreError` that prevented it.

        Raises:
            IllegalEntry: if the state table refuses one; nothing is queued.
        """
        entries = (*self._deferred, *entries)
        self._deferred = []
        self._project(entries)
        committed = asyncio.get_running_loop().create_future()
        committed.add_done_callback(_seen)
        self._queue.append(_Batch(entries, tuple(encode(entry) for entry in entries), committed))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return committed

    async def write(self, *entries: KnownEntry) -> None:
        """Put entries and wait for their commit.

        Raises:
            StoreError: see `put`.
            CancelledError: if the waiting task was canceled, but only once the entries are committed.
        """
        committed = self.put(*entries)
        canceled = False
        while not committed.done():
            try:
                await asyncio.wait({committed})
            except asyncio.CancelledError:
                canceled = True
        committed.result()
        if canceled:
            raise asyncio.CancelledError

    async def drain(self) -> None:
        """Wait until nothing is queued or being written."""
        canceled = False
        while self._flushing is not None:
            try:
                await asyncio.wait({self._flushing})
            except asyncio.CancelledError:
                canceled = True
        if canceled:
            raise asyncio.CancelledError

    async def catch_up(self) -> None:
        """Read and apply what others have written since.

        Raises:
            SessionNotFound: if the journal is gone.
            CorruptJournal, StoreError: if it cannot be read.
        """
        async with self._turn_of:
            await self._read_new()

    async def _read_new(self) -> list[Entry]:
        came: list[Entry] = []
        session_id = self.transcript.session_id
        try:
            async for line in self._store.read(session_id, after=self.transcript.last_id):
                entry = decode(line.data)
                self.transcript.apply(entry)
                came.append(entry)
        except UnknownCursor:
            raise SessionNotFound(session_id, self._place) from None
        except NotAllowed as refusal:
            where = f"chat session {session_id!r} in {self._place}"
            raise CorruptJournal(where, self.transcript.lines + 1, why=str(refusal)) from None
        self._unsure = False
        return came

    def _project(self, entries: tuple[KnownEntry, ...]) -> None:
        projected = dict(self._projected)
        for entry in entries:
            if not isinstance(entry, TurnEntry):
                continue
            state = projected.get(entry.turn_id) or self.transcript.state_of(entry.turn_id)
            try:
                projected[entry.turn_id] = after(state, entry)
            except NotAllowed as refusal:
                raise IllegalEntry(entry.type, str(refusal)) from None
        self._projected = projected

    async def _flush(self) -> None:
        batches: list[_Batch] = []
        try:
            while self._queue:
                async with self._turn_of:
                    batches, self._queue = self._queue, []
                    await self._commit(batches)
        finally:
            # Reached with work left only if this task was stopped, or by a fault of ours: nobody may wait for ever.
            self._flushing = None
            self._fail(batches + self._queue, AppendUncertain(self.transcript.session_id, "the writer was stopped"))

    async def _commit(self, batches: list[_Batch]) -> None:
        try:
            known = await self._append([line for batch in batches for line in batch.lines])
            self._apply([entry for batch in batches for entry in batch.entries if entry.id not in known])
        except StoreError as error:
            # What was queued behind stands on what has just failed, so it fails with it.
            self._fail(batches + self._queue, error)
            return
        except asyncio.CancelledError:
            self._unsure = True
            raise
        if not self._queue:
            self._projected = {}
        for batch in batches:
            _settle(batch.committed, None)

    def _apply(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self.transcript.apply(entry)

    def _fail(self, batches: list[_Batch], error: StoreError) -> None:
        self._queue, self._projected = [], {}
        for batch in batches:
            _settle(batch.committed, error)

    async def _append(self, lines: list[Line]) -> frozenset[str]:
        """Append lines; give the ids of those that were found to be there already."""
        ids = frozenset(line.id for line in lines)
        if self._unsure:
            await self._read_new()
        expected = self.transcript.last_id
        for _ in range(_ATTEMPTS):
            try:
                await self._try_append(lines)
                return frozenset()
            except (JournalMoved, asyncio.CancelledError):
                # A loop that shuts down cancels this task while the store may be at work: the journal tells.
                came = await self._read_new()
                _logger.debug("session %s: %d entries of others came", self.transcript.session_id, len(came))
                if ids <= {entry.id for entry in came}:
                    return ids
                if not (_all_commute(came) or _all_commute([decode(line.data) for line in lines])):
                    break
        raise JournalMoved(self.transcript.session_id, expected=expected, found=self.transcript.last_id)

    async def _try_append(self, lines: list[Line]) -> None:
        session_id = self.transcript.session_id
        try:
            await self._store.append(session_id, lines, if_last=self.transcript.last_id)
        except AppendUncertain:
            self._unsure = True
            raise
        except StoreError:
            raise
        except Exception as error:  # isolates: wrapped store
            self._unsure = True
            raise AppendUncertain(session_id, f"the store raised {type(error).__name__}: {error}") from error


def _all_commute(entries: Sequence[Entry]) -> bool:
    return all(commutes(entry) for entry in entries)


def _settle(future: asyncio.Future[None], error: StoreError | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)


def _seen(future: asyncio.Future[None]) -> None:
    # Whoever put the entry may have been canceled; its error is then nobody's, and no reason for a warning.
    if not future.cancelled():
        future.exception()
