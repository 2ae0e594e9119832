"""Where a Chat's sessions are: they are begun, read and found here, one object for each id."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._clock import Clock, written
from .._ids import new_session_id
from .._jsonable import NULL, Jsonable, freeze
from ..errors import AntiphonError, JournalMoved, SessionClosed, SessionExists, SessionNotFound, StoreUnreadable
from ..journal import Entry, Origin, SessionCreated, StateChanged, TurnAccepted, heading
from ..journal._entries import KnownEntry
from ..stores import ReadsUnchecked, Store
from ..transcript import Transcript, replay, replay_unchecked
from ._copying import Told, forked, imported
from ._planner import Planner
from ._recorder import Recorder, begin
from ._redaction import Redact, redacted
from ._session import Session


class Shelf:
    """Finds and makes sessions.

    Attributes:
        store: where they are kept.
        place: how errors call the store.
        sessions: the session objects that someone holds, by id.
    """

    def __init__(self, store: Store, planner: Planner, *, clock: Clock, redact: Redact | None) -> None:
        self.store = store
        named = type(store).__str__ is not object.__str__
        self.place = str(store) if named else f"the {type(store).__name__}"
        self.sessions: weakref.WeakValueDictionary[str, Session] = weakref.WeakValueDictionary()
        self._planner = planner
        self._clock = clock
        self._redact = redact

    def must_be_open(self) -> None:
        """Refuse once the Chat is closed.

        Raises:
            SessionClosed
        """
        if self._planner.closed:
            raise SessionClosed()

    async def create(
        self,
        id: str | None,
        *,
        scope: str | None,
        title: str | None = None,
        metadata: Mapping[str, Jsonable] | None = None,
    ) -> Session:
        """See `Chat.create_session`."""
        return await self._begin([self._created(id, scope=scope, title=title, metadata=metadata)])

    async def find(self, id: str, *, scope: str | None, create: bool) -> Session:
        """See `Chat.open_session`."""
        session = await self._found(id)
        if session is None and create:
            try:
                return await self.create(id, scope=scope)
            except SessionExists:
                session = await self._found(id)  # another one was faster
        if session is None or (scope is not None and session.scope != scope):
            raise SessionNotFound(id, self.place)
        return session

    async def fork(self, entries: Sequence[Entry], of: Transcript, *, at: str | None, id: str | None) -> Session:
        """See `Session.fork`."""
        self.must_be_open()
        if not entries:
            raise SessionNotFound(of.session_id, self.place)
        turns = [entry.turn_id for entry in entries if isinstance(entry, TurnAccepted)]
        origin = Origin(of.session_id, at if at is not None or not turns else turns[-1])
        first = of.created
        assert first is not None  # a transcript without its first entry is refused when it is read
        created = self._created(id, scope=first.scope, title=of.title, metadata=first.metadata, origin=origin)
        return await self._begin(forked(entries, created.session_id, up_to=at, created=created))

    async def import_messages(
        self, told: Told, *, id: str | None, scope: str | None, state: Mapping[str, Jsonable]
    ) -> tuple[Session, Sequence[str]]:
        """See `Chat.import_session`; gives also what could not be carried over."""
        created = self._created(id, scope=scope)
        at = created.at

        def entry(cls: Callable[..., Any], **fields: Any) -> Any:
            return cls(**heading(created.session_id, at), **fields)

        turns, lost = imported(told, entry)
        frozen = {key: freeze(value, f"state {key!r}") for key, value in state.items()}
        kept = [entry(StateChanged, key=key, value_json=value) for key, value in frozen.items()]
        return await self._begin([created, *turns, *kept]), lost

    def _created(
        self,
        id: str | None,
        *,
        scope: str | None,
        title: str | None = None,
        metadata: Mapping[str, Jsonable] | None = None,
        origin: Origin | None = None,
    ) -> SessionCreated:
        id = new_session_id() if id is None else id
        kept = freeze(dict(metadata), "metadata") if metadata else NULL
        begun = heading(id, written(self._clock()))
        return SessionCreated(**begun, title=title, scope=scope, metadata_json=kept, forked_from=origin)

    async def _begin(self, entries: Sequence[KnownEntry]) -> Session:
        self.must_be_open()
        if self._redact is not None:
            entries = [redacted(entry, self._redact) for entry in entries]
        return self._keep(await begin(self.store, *entries))

    async def _found(self, id: str) -> Session | None:
        held = self.sessions.get(id)
        if held is not None:
            try:
                await held.refresh()
                return held
            except (SessionNotFound, JournalMoved):  # deleted or replaced elsewhere; what is there now is read anew
                if self.sessions.get(id) is held:
                    del self.sessions[id]
        transcript = await self._read(id)
        return None if transcript.created is None else self._keep(transcript)

    async def _read(self, id: str) -> Transcript:
        try:
            if isinstance(self.store, ReadsUnchecked):
                transcript = await replay_unchecked(id, self.store.read_unchecked(id))
                if transcript is not None:
                    return transcript
            return await replay(id, self.store.read(id), where=f"chat session {id!r} in {self.place}")
        except AntiphonError:
            raise
        except Exception as error:  # isolates: wrapped store
            raise StoreUnreadable(self.place, f"it raised {type(error).__name__}: {error}") from error

    def _keep(self, transcript: Transcript) -> Session:
        # Two tasks may have opened it at once: the first Session made is the one that both get.
        held = self.sessions.get(transcript.session_id)
        if held is not None and held.begins_with(transcript):
            return held
        recorder = Recorder(self.store, transcript, place=self.place, clock=self._clock, redact=self._redact)
        session = Session(self._planner, self, recorder=recorder)
        self.sessions[transcript.session_id] = session
        return session
