"""From entries to turns: the fold that every reading of a session is.

`Transcript` is what has been committed, entry by entry. It refuses what the state table refuses, by raising; who is
to blame is the caller's to say.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Collection, Sequence
from typing import Any, NamedTuple, cast

from .._jsonable import NULL, Jsonable, thaw_object
from ..errors import CorruptJournal, UnsupportedVersion
from ..journal._codec import Line, decode, decode_all
from ..journal._entries import (
    TURN_ENTRIES,
    ContextCleared,
    ContextCompacted,
    Entry,
    SessionCreated,
    SessionRenamed,
    StateChanged,
    TurnAccepted,
    TurnEntry,
    TurnShown,
    TurnSteered,
)
from ..journal._lifecycle import ABSENT, NotAllowed, TurnState, after
from ._turn import Turn, TurnStatus


class Compaction(NamedTuple):
    """A person asked for earlier turns to be summarised.

    Attributes:
        after: how many turns stood there by then.
        covers: how many of these are covered.
        focus: what the summary should keep above all, or None.
    """

    after: int
    covers: int
    focus: str | None = None


class _Record:
    """One turn being folded."""

    __slots__ = ("entries", "place", "state", "turn")

    def __init__(self, state: TurnState, place: int) -> None:
        self.entries: list[TurnEntry] = []
        self.place = place
        self.state = state
        self.turn: Turn | None = None


class Transcript:
    """The committed state of one session, folded from its entries.

    Attributes:
        session_id: the session.
        created: its first entry, or None before that was applied.
        title: the present title.
        last_id: id of the last entry, or None.
        lines: how many entries were applied.
        state: the session's state, by key, as frozen JSON.
        kept_texts: digests of the layer texts that the journal holds.
        clearings: how many turns stood before each clearing of the context.
        compactions: where a person asked for earlier turns to be summarised.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.created: SessionCreated | None = None
        self.title: str | None = None
        self.last_id: str | None = None
        self.lines = 0
        self.state: dict[str, StateChanged] = {}
        self.kept_texts: set[str] = set()
        self.clearings: list[int] = []
        self.compactions: list[Compaction] = []
        self._records: dict[str, _Record] = {}
        self._turns: list[Turn] = []
        self._unread: list[_Record] = []
        self._keys: dict[str, str] = {}

    def apply(self, entry: Entry) -> None:
        """Take one more entry.

        Raises:
            NotAllowed: if it cannot stand here.
        """
        self.apply_all((entry,))

    def apply_all(self, entries: Sequence[Entry]) -> None:
        """Take more entries, in order; those before one that cannot stand there are taken.

        Raises:
            NotAllowed: if one cannot stand where it does.
        """
        # Opening a long session is this loop, tens of thousands of times: types are compared here, and not tested.
        records, session_id = self._records, self.session_id
        for entry in cast(Sequence[Any], entries):
            kind = type(entry)
            if entry.session_id != session_id:
                raise NotAllowed(f"it belongs to chat session {entry.session_id!r}")
            if kind not in TURN_ENTRIES or self.created is None:
                self._apply_to_session(entry)
            elif (record := records.get(entry.turn_id)) is None:
                self._begin_turn(entry)
            else:
                record.state = record.state.moves.get(kind) or after(record.state, entry)
                record.entries.append(entry)
                if (
                    record.turn is not None
                    or kind is TurnSteered
                    or (kind is TurnShown and entry.texts_json is not NULL)
                ):
                    self._change_turn(record, entry)
            self.last_id = entry.id
            self.lines += 1

    def _begin_turn(self, entry: TurnEntry) -> None:
        record = _Record(after(ABSENT, entry), len(self._records))
        record.entries.append(entry)
        self._records[entry.turn_id] = record
        self._unread.append(record)
        if isinstance(entry, TurnAccepted) and entry.key is not None:
            self._keys.setdefault(entry.key, entry.turn_id)

    def _change_turn(self, record: _Record, entry: Entry) -> None:
        if record.turn is not None:
            record.turn = None
            self._unread.append(record)
        if isinstance(entry, TurnSteered) and entry.key is not None:
            self._keys.setdefault(entry.key, entry.turn_id)
        elif isinstance(entry, TurnShown):
            self.kept_texts.update(thaw_object(entry.texts_json))

    def _apply_to_session(self, entry: Entry) -> None:
        if self.created is None and not isinstance(entry, SessionCreated):
            raise NotAllowed(f"the first entry is {entry.type}, not session.created")
        if isinstance(entry, SessionCreated):
            if self.created is not None:
                raise NotAllowed("the session was created before")
            self.created, self.title = entry, entry.title
        elif isinstance(entry, SessionRenamed):
            self.title = entry.title
        elif isinstance(entry, StateChanged):
            self.state[entry.key] = entry
        elif isinstance(entry, ContextCleared):
            self.clearings.append(len(self._records))
        elif isinstance(entry, ContextCompacted):
            # One that names a turn which is not here, as in the journal of another writer, covers nothing.
            record = self._records.get(entry.up_to)
            covers = 0 if record is None else record.place + 1
            self.compactions.append(Compaction(len(self._records), covers, entry.focus))

    def state_of(self, turn_id: str) -> TurnState:
        """Where a turn stands; an unknown one is absent."""
        record = self._records.get(turn_id)
        return ABSENT if record is None else record.state

    def with_key(self, key: str) -> str | None:
        """The turn that was accepted or steered under this key, or None."""
        return self._keys.get(key)

    def turn(self, turn_id: str, *, live: Collection[str] = ()) -> Turn | None:
        """One turn, or None. `live`: ids of the turns that run in this process."""
        record = self._records.get(turn_id)
        return None if record is None else _read(record, turn_id in live)

    def turns(self, *, live: Collection[str] = ()) -> tuple[Turn, ...]:
        """Every turn, oldest first, whatever its status. What has not changed since the last look is not read again."""
        for record in self._unread:
            turn = _read(record, record.entries[0].turn_id in live)
            if record.place < len(self._turns):
                self._turns[record.place] = turn
            else:
                self._turns.append(turn)
        # A turn without outcome reads as running, interrupted or waiting, by who asks.
        self._unread = [record for record in self._unread if not record.state.over]
        return tuple(self._turns)

    @property
    def cleared(self) -> int:
        """How many turns stood before the context was last cleared."""
        return self.clearings[-1] if self.clearings else 0

    @property
    def turn_count(self) -> int:
        """How many turns there are."""
        return len(self._records)

    def texts(self) -> dict[str, Jsonable]:
        """Layer texts that were kept, by digest."""
        found: dict[str, Jsonable] = {}
        for record in self._records.values():
            for entry in record.entries:
                if isinstance(entry, TurnShown) and entry.texts_json != NULL:
                    found |= thaw_object(entry.texts_json)
        return found


def _read(record: _Record, live: bool) -> Turn:
    status = _status(record.state, live)
    if record.turn is None or record.turn.status != status:
        record.turn = Turn(record.entries, status)
    return record.turn


def _status(state: TurnState, live: bool) -> TurnStatus:
    if state.phase in ("completed", "failed", "canceled"):
        return state.phase
    if live:
        return "running"
    return "waiting" if state.waiting else "interrupted"


async def replay_unchecked(session_id: str, batches: AsyncIterable[Sequence[bytes]]) -> Transcript | None:
    """Fold a whole journal of which nobody has looked into a line; None if anything is wrong with it.

    Args:
        session_id: the session that the lines belong to.
        batches: the data of the lines, some at a time, with or without their LF.
    """
    transcript = Transcript(session_id)
    try:
        async for lines in batches:
            transcript.apply_all(decode_all(lines))
    except (NotAllowed, CorruptJournal, UnsupportedVersion):
        return None
    return transcript


async def replay(session_id: str, lines: AsyncIterable[Line], *, where: str) -> Transcript:
    """Fold a whole journal.

    Args:
        session_id: the session that the lines belong to.
        lines: as a store reads them.
        where: how errors call the journal, as in `chat session 'ab12' in chats`.

    Raises:
        CorruptJournal, UnsupportedVersion: naming the line, counted from 1.
    """
    transcript = Transcript(session_id)
    async for line in lines:
        try:
            transcript.apply(decode(line.data))
        except NotAllowed as refusal:
            raise CorruptJournal(where, transcript.lines + 1, why=f"{line.type}: {refusal}") from None
        except (CorruptJournal, UnsupportedVersion) as error:
            raise placed(error, where, line=transcript.lines + 1) from None
    return transcript


def placed(error: CorruptJournal | UnsupportedVersion, where: str, *, line: int) -> CorruptJournal | UnsupportedVersion:
    """The same error with its place; one that has a place keeps it."""
    if error.line is not None:
        return error
    if isinstance(error, UnsupportedVersion):
        return UnsupportedVersion(error.version, where=where, line=line)
    return CorruptJournal(where, line, why=error.why)
