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
    AntiphonError,
    AppendFailed,
    AppendUncertain,
    CorruptJournal,
    IllegalEntry,
    JournalMoved,
    SessionBusy,
    SessionNotFound,
    StoreError,
    StoreUnreadable,
    UnknownCursor,
    UnsupportedVersion,
)
from ..journal._codec import Line, decode
from ..journal._entries import Entry, KnownEntry, TurnEntry, commutes, heading
from ..journal._lifecycle import NotAllowed, TurnState, after
from ..stores._store import Store
from ..transcript._replay import Transcript, placed
from ._lines import readable_line
from ._redaction import Redact, redacted

_logger = logging.getLogger("antiphon")

E = TypeVar("E", bound=KnownEntry)

_ATTEMPTS = 45
"""How often an append goes on behind commuting entries of others before it gives up: they would have to write
faster than we read, twenty times in a row."""


class _Commit(asyncio.Future[None]):
    """Done when entries are committed. Whoever waits for it waits to the end: a cancellation is raised after it."""

    def cancel(self, msg: Any | None = None) -> bool:  # noqa: ARG002 - asyncio's signature
        """Refuse: what is being written is not unwritten."""
        return False


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
        redact: runs over every text before it is written.
    """

    def __init__(
        self,
        store: Store,
        transcript: Transcript,
        *,
        place: str,
        clock: Clock = system_clock,
        redact: Redact | None = None,
    ) -> None:
        self._redact = redact
        self.transcript = transcript
        self._store = store
        self._place = place
        self._clock = clock
        self._projected: dict[str, TurnState] = {}
        self._deferred: list[tuple[Line, KnownEntry]] = []
        self._queue: list[_Batch] = []
        self._unsettled: set[asyncio.Future[None]] = set()
        self._flushing: asyncio.Task[None] | None = None
        self._doubtful: set[str] = set()
        self._turn_of = asyncio.Lock()

    def entry(self, cls: Callable[..., E], **fields: Any) -> E:
        """Make an entry of this session, of now."""
        entry = cls(**heading(self.transcript.session_id, written(self._clock())), **fields)
        return entry if self._redact is None else redacted(entry, self._redact)

    def defer(self, entry: KnownEntry) -> None:
        """Let an entry travel with whatever is put next.

        Raises:
            NotStorable: if it could not be read again.
        """
        self._deferred.append(readable_line(entry))

    def put(self, *entries: KnownEntry) -> asyncio.Future[None]:
        """Check entries against everything committed and queued, and queue them.

        Returns:
            A future that is done once they are committed, or holds the `StoreError` that prevented it.

        Raises:
            IllegalEntry: if the state table refuses one; nothing is queued.
            NotStorable: if one could not be read again; nothing is queued.
        """
        read = [*self._deferred, *(readable_line(entry) for entry in entries)]
        lines, entries = zip(*read, strict=True)
        self._projected = self._after(entries, self._projected)
        self._deferred = []
        committed = _Commit()
        committed.add_done_callback(_seen)
        committed.add_done_callback(self._unsettled.discard)
        self._unsettled.add(committed)
        self._queue.append(_Batch(entries, lines, committed))
        self._wake()
        return committed

    async def write(self, *entries: KnownEntry) -> None:
        """Put entries and wait for their commit.

        Raises:
            StoreError: see `put`.
            CancelledError: if the waiting task was canceled, but only once the entries are committed.
        """
        commit = self.put(*entries)
        try:
            await commit
        except asyncio.CancelledError:
            commit.result()  # that it failed says more
            raise

    async def drain(self) -> None:
        """Wait until nothing is queued or being written."""
        canceled = False
        while pending := {committed for committed in self._unsettled if not committed.done()}:
            try:
                await asyncio.wait(pending)
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
        """Apply what the journal holds behind the last entry known here, and give it."""
        came: list[Entry] = []
        session_id = self.transcript.session_id
        where = f"chat session {session_id!r} in {self._place}"
        try:
            async for line in self._store.read(session_id, after=self.transcript.last_id):
                entry = decode(line.data)
                self.transcript.apply(entry)
                came.append(entry)
        except UnknownCursor:
            raise await _gone(self._store, self.transcript, place=self._place) from None
        except NotAllowed as refusal:
            raise CorruptJournal(where, self.transcript.lines + 1, why=str(refusal)) from None
        except (CorruptJournal, UnsupportedVersion) as error:
            raise placed(error, where, line=self.transcript.lines + 1) from None
        except StoreError:
            raise
        except Exception as error:  # isolates: wrapped store
            raise StoreUnreadable(self._place, f"it raised {type(error).__name__}: {error}") from error
        self._doubtful = set()
        return came

    def _after(self, entries: Sequence[KnownEntry], projected: dict[str, TurnState]) -> dict[str, TurnState]:
        """Where these entries lead from what is committed, and over that from what is projected.

        Raises:
            IllegalEntry: if one of them cannot stand there.
        """
        projected = dict(projected)
        for entry in entries:
            if not isinstance(entry, TurnEntry):
                continue
            state = projected.get(entry.turn_id) or self.transcript.state_of(entry.turn_id)
            try:
                projected[entry.turn_id] = after(state, entry)
            except NotAllowed as refusal:
                raise IllegalEntry(entry.type, str(refusal)) from None
        return projected

    def _wake(self) -> None:
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
            self._flushing.add_done_callback(self._woken_again)

    def _woken_again(self, _: asyncio.Task[None]) -> None:
        # A loop that shuts down may have canceled the task before its first step.
        if self._queue:
            self._wake()

    async def _flush(self) -> None:
        batches: list[_Batch] = []
        try:
            while self._queue:
                async with self._turn_of:
                    batches, self._queue = self._queue, []
                    await self._commit(batches)
        finally:
            # Unsettled only if this task was stopped, or by a fault of ours: nobody may wait for ever.
            _settle(batches, AppendUncertain(self.transcript.session_id, "the writer was stopped"))

    async def _commit(self, batches: list[_Batch]) -> None:
        entries = [entry for batch in batches for entry in batch.entries]
        lines = [line for batch in batches for line in batch.lines]
        try:
            known = await self._append(entries, lines)
        except StoreError as error:
            # What was queued behind stands on what has just failed, so it fails with it.
            failed, self._queue, self._projected = batches + self._queue, [], {}
            _settle(failed, error)
            return
        except asyncio.CancelledError:
            self._projected = {}
            raise
        for entry in entries:
            if entry.id not in known:
                self.transcript.apply(entry)
        if not self._queue:
            self._projected = {}
        _settle(batches, None)

    async def _append(self, entries: Sequence[KnownEntry], lines: list[Line]) -> frozenset[str]:
        """Append lines; give the ids of those that were found to be there already."""
        ids = frozenset(line.id for line in lines)
        session_id, expected = self.transcript.session_id, self.transcript.last_id
        doubtful = self._doubtful
        # What became of entries in doubt is read first; ours among them are no reason to decide anew.
        came = [entry for entry in await self._read_new() if entry.id not in doubtful] if doubtful else []
        for _ in range(_ATTEMPTS):
            if not self._may_follow(entries, came):
                raise JournalMoved(session_id, expected=expected, found=self.transcript.last_id)
            try:
                await self._try_append(lines)
                return frozenset()
            except (JournalMoved, asyncio.CancelledError):
                # A loop that shuts down cancels this task while the store may be at work: the journal tells.
                came = await self._read_new()
                _logger.debug("session %s: %d entries came", session_id, len(came))
                if ids <= {entry.id for entry in came}:
                    return ids
        raise AppendFailed(session_id, f"its end moved {_ATTEMPTS} times while it was to be written")

    def _may_follow(self, entries: Sequence[KnownEntry], came: Sequence[Entry]) -> bool:
        """Whether entries may stand behind what came, without deciding anew."""
        try:
            self._after(entries, {})
        except IllegalEntry:
            return False
        return _all_commute(came) or _all_commute(entries)

    async def _try_append(self, lines: list[Line]) -> None:
        session_id = self.transcript.session_id
        try:
            await self._store.append(session_id, lines, if_last=self.transcript.last_id)
        except (AppendUncertain, asyncio.CancelledError):
            self._doubtful |= {line.id for line in lines}
            raise
        except StoreError:
            raise
        except SessionBusy as error:
            raise AppendFailed(session_id, "another writer holds its journal") from error
        except Exception as error:  # isolates: wrapped store
            self._doubtful |= {line.id for line in lines}
            raise AppendUncertain(session_id, f"the store raised {type(error).__name__}: {error}") from error


async def _gone(store: Store, transcript: Transcript, *, place: str) -> StoreError:
    """Why the last entry known here is not in the journal: it was deleted, or another one took its place."""
    session_id, found = transcript.session_id, None
    async for line in store.read(session_id):
        found = line.id
    if found is None:
        return SessionNotFound(session_id, place)
    return JournalMoved(session_id, expected=transcript.last_id, found=found)


async def begin(store: Store, *entries: KnownEntry) -> Transcript:
    """Commit a session's first entries.

    Raises:
        NotStorable: if it could not be read again; nothing is written.
        SessionExists, StoreError: as the store raises them.
    """
    session_id = entries[0].session_id
    lines, read = zip(*(readable_line(entry) for entry in entries), strict=True)
    transcript = Transcript(session_id)
    transcript.apply_all(read)
    try:
        await store.create(session_id, lines)
    except AntiphonError:
        raise
    except Exception as error:  # isolates: wrapped store
        why = f"the store raised {type(error).__name__}: {error}"
        raise AppendUncertain(session_id, why) from error
    return transcript


def _all_commute(entries: Sequence[Entry]) -> bool:
    return all(commutes(entry) for entry in entries)


def _settle(batches: Sequence[_Batch], error: StoreError | None) -> None:
    for batch in batches:
        if batch.committed.done():
            continue
        if error is None:
            batch.committed.set_result(None)
        else:
            batch.committed.set_exception(error)


def _seen(future: asyncio.Future[None]) -> None:
    # Whoever put the entry may have been canceled; its error is then nobody's, and no reason for a warning.
    if not future.cancelled():
        future.exception()
