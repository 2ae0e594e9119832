"""From entries to turns: the fold that every reading of a session is.

`Transcript` is what has been committed, entry by entry. It refuses what the state table refuses, by raising; who is
to blame is the caller's to say.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Collection, Sequence

from .._jsonable import NULL, Jsonable, thaw_object
from ..errors import CorruptJournal, UnsupportedVersion
from ..journal._codec import Line, decode
from ..journal._entries import (
    TURN_ENTRIES,
    ContextCleared,
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


class _Record:
    """One turn being folded."""

    __slots__ = ("entries", "state", "turn")

    def __init__(self, state: TurnState) -> None:
        self.entries: list[TurnEntry] = []
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
        cleared: how many turns stood before the context was last cleared.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.created: SessionCreated | None = None
        self.title: str | None = None
        self.last_id: str | None = None
        self.lines = 0
        self.state: dict[str, StateChanged] = {}
        self.kept_texts: set[str] = set()
        self.cleared = 0
        self._records: dict[str, _Record] = {}
        self._keys: dict[str, str] = {}

    def apply(self, entry: Entry) -> None:
        """Take one more entry.

        Raises:
            NotAllowed: if it cannot stand here.
        """
        if entry.session_id != self.session_id:
            raise NotAllowed(f"it belongs to chat session {entry.session_id!r}")
        if self.created is None and type(entry) is not SessionCreated:
            raise NotAllowed(f"the first entry is {entry.type}, not session.created")
        if type(entry) in TURN_ENTRIES:
            self._apply_to_turn(entry)  # type: ignore[arg-type]
        else:
            self._apply_to_session(entry)
        self.last_id = entry.id
        self.lines += 1

    def _apply_to_turn(self, entry: TurnEntry) -> None:
        # Opening a long session is this method, tens of thousands of times: so types are compared, not tested.
        kind, turn_id = type(entry), entry.turn_id
        record = self._records.get(turn_id)
        if record is None:
            self._records[turn_id] = record = _Record(after(ABSENT, entry))
        else:
            record.state = record.state.moves.get(kind) or after(record.state, entry)
            record.turn = None
        record.entries.append(entry)
        if kind is TurnAccepted or kind is TurnSteered:
            if entry.key is not None:  # type: ignore[union-attr]
                self._keys.setdefault(entry.key, turn_id)  # type: ignore[union-attr]
        elif kind is TurnShown and entry.texts_json is not NULL:  # type: ignore[union-attr]
            self.kept_texts.update(thaw_object(entry.texts_json))  # type: ignore[union-attr]

    def _apply_to_session(self, entry: Entry) -> None:
        if isinstance(entry, SessionCreated):
            if self.created is not None:
                raise NotAllowed("the session was created before")
            self.created, self.title = entry, entry.title
        elif isinstance(entry, SessionRenamed):
            self.title = entry.title
        elif isinstance(entry, StateChanged):
            self.state[entry.key] = entry
        elif isinstance(entry, ContextCleared):
            self.cleared = len(self._records)

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
        """Every turn, oldest first, whatever its status."""
        return tuple(_read(record, turn_id in live) for turn_id, record in self._records.items())

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
        batches: the data of the lines, some at a time.
    """
    transcript = Transcript(session_id)
    apply = transcript.apply
    try:
        async for batch in batches:
            for data in batch:
                apply(decode(data))
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
        except CorruptJournal as error:
            raise CorruptJournal(where, transcript.lines + 1, why=error.why) from None
        except UnsupportedVersion as error:
            raise UnsupportedVersion(error.version, where=where, line=transcript.lines + 1) from None
    return transcript
