"""A Chat: what answers, where sessions are kept, and what the model is shown, put together once."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Self

from .._clock import Clock, system_clock, written
from .._ids import new_session_id
from .._jsonable import NULL, Jsonable, freeze
from ..errors import Misuse, SessionBusy, SessionClosed, SessionExists, SessionNotFound
from ..journal import SessionCreated, decode, heading
from ..stores import DeletesSessions, InMemoryStore, ListsSessions, ReadsUnchecked, Store
from ..transcript import Transcript, replay, replay_unchecked
from ._limits import Limits
from ._listing import SessionSummary, summary_of
from ._plan import Instructions, KeepTexts
from ._planner import AnyContext, AnyModel, Planner, Settings
from ._recorder import Recorder, begin
from ._responder import Responder
from ._session import Session


class Chat:
    """Opens sessions and runs their turns.

    Args:
        model: a Model, or a model's name as in `local:smollm2` or `echo:`.
        responder: a function in place of a model; it is given a `TurnRequest`.
        store: where sessions are kept; by default a new `InMemoryStore`, gone with this object.
        context: what the model is shown: an object with `build(view)` or a function; by default `FullContext()`.
        instructions: pinned system text, or a function of the `View` that gives it.
        limits: how much one turn may take; by default `Limits()`.
        keep_texts: `stable` keeps system texts in the journal, once each; `none` keeps only their digests.
        clock: gives the time of entries.

    Raises:
        Misuse: if both a model and a responder are given.
        TypeError: if the context is none.
        UnknownModel, MissingExtra: if the model's name leads nowhere.
    """

    def __init__(
        self,
        model: AnyModel | None = None,
        *,
        responder: Responder | None = None,
        store: Store | None = None,
        context: AnyContext | None = None,
        instructions: Instructions | None = None,
        limits: Limits | None = None,
        keep_texts: KeepTexts = "stable",
        clock: Clock = system_clock,
    ) -> None:
        self.store: Store = InMemoryStore() if store is None else store
        self._clock = clock
        self._planner = Planner(
            Settings(
                model=model,
                responder=responder,
                context=context,
                instructions=instructions,
                limits=limits,
                keep_texts=keep_texts,
            )
        )
        self._sessions: weakref.WeakValueDictionary[str, Session] = weakref.WeakValueDictionary()

    @property
    def place(self) -> str:
        """How errors call the store."""
        named = type(self.store).__str__ is not object.__str__
        return str(self.store) if named else f"the {type(self.store).__name__}"

    async def create_session(
        self,
        id: str | None = None,
        *,
        scope: str | None = None,
        title: str | None = None,
        metadata: Mapping[str, Jsonable] | None = None,
    ) -> Session:
        """Begin a session; its first entry is committed when this returns.

        Args:
            id: by default a random UUID of version 4.
            scope: its owner: a filter on opening, listing and deleting, and no login.
            title: shown in listings.
            metadata: kept with it.

        Raises:
            SessionExists: if the id is taken.
            InvalidSessionId: if the store cannot hold the id.
            NotStorable: if the title, the scope or the metadata cannot be kept.
            StoreError: if it could not be committed.
        """
        self._must_be_open()
        id = new_session_id() if id is None else id
        kept = freeze(dict(metadata), "metadata") if metadata else NULL
        begun = heading(id, written(self._clock()))
        created = SessionCreated(**begun, title=title, scope=scope, metadata_json=kept)
        return self._keep(await begin(self.store, created))

    async def open_session(self, id: str, *, scope: str | None = None, create: bool = False) -> Session:
        """Open a session, as it is now.

        Args:
            id: the session.
            scope: its owner; another's session is not found. None opens anyone's.
            create: begin it if it is not there.

        Raises:
            SessionNotFound: if it is not there, or is another's.
            InvalidSessionId: if the store cannot hold the id.
            CorruptJournal, UnsupportedVersion: if it cannot be read, naming the place.
            StoreError: if the store fails.
        """
        self._must_be_open()
        session = await self._found(id)
        if session is None and create:
            try:
                return await self.create_session(id, scope=scope)
            except SessionExists:
                session = await self._found(id)  # another one was faster
        if session is None or (scope is not None and session.scope != scope):
            raise SessionNotFound(id, self.place)
        return session

    async def _found(self, id: str) -> Session | None:
        held = self._sessions.get(id)
        if held is not None:
            try:
                await held.refresh()
                return held
            except SessionNotFound:  # deleted elsewhere; there may be another one under its id
                if self._sessions.get(id) is held:
                    del self._sessions[id]
        transcript = await self._read(id)
        return None if transcript.created is None else self._keep(transcript)

    async def _read(self, id: str) -> Transcript:
        if isinstance(self.store, ReadsUnchecked):
            transcript = await replay_unchecked(id, self.store.read_unchecked(id))
            if transcript is not None:
                return transcript
        return await replay(id, self.store.read(id), where=f"chat session {id!r} in {self.place}")

    def _keep(self, transcript: Transcript) -> Session:
        # Two tasks may have opened it at once: the first Session made is the one that both get.
        held = self._sessions.get(transcript.session_id)
        if held is not None and held.begins_with(transcript):
            return held
        recorder = Recorder(self.store, transcript, place=self.place, clock=self._clock)
        session = Session(self._planner, store=self.store, recorder=recorder)
        self._sessions[transcript.session_id] = session
        return session

    async def sessions(
        self,
        *,
        scope: str | None = None,
        status: Sequence[str] = (),
        limit: int | None = 50,
        before: str | None = None,
    ) -> AsyncIterator[SessionSummary]:
        """List sessions, last changed first, at a bounded cost each.

        Args:
            scope: only those of this owner.
            status: only those with one of these.
            limit: at most so many; None for all.
            before: go on behind this session.

        Raises:
            Misuse: if the store cannot list, or the limit is negative.
            StoreUnreadable: if the store cannot be read.
        """
        if not isinstance(self.store, ListsSessions):
            raise Misuse(f"{self.place} cannot list its sessions", "keep their ids yourself")
        if limit is not None and limit < 0:
            raise Misuse(f"limit={limit} is negative", "give how many sessions you want, or None for all")
        given = 0
        async for listed in self.store.list_sessions(before=before):
            if limit is not None and given >= limit:
                return
            held = self._sessions.get(listed.id)
            found = summary_of(listed, running=held is not None and held.live_turn is not None)
            if (scope is None or found.scope == scope) and (not status or found.status in status):
                given += 1
                yield found

    async def delete_session(self, id: str, *, scope: str | None = None) -> Sequence[str]:
        """Erase a session for good, with everything derived from it; forks of it stay.

        Returns:
            The names of what was erased.

        Raises:
            SessionNotFound: if it is not there, or is another's.
            SessionBusy: if a turn of it runs.
            Misuse: if the store cannot delete.
            StoreError: if the store fails.
        """
        if not isinstance(self.store, DeletesSessions):
            raise Misuse(f"{self.place} cannot delete sessions", "delete where it keeps them")
        if scope is not None and await self._scope_of(id) != scope:
            raise SessionNotFound(id, self.place)
        held = self._sessions.get(id)
        if held is not None and held.live_turn is not None:
            raise SessionBusy(id, turn_id=held.live_turn.id)
        erased = await self.store.delete(id)
        self._sessions.pop(id, None)
        return erased

    async def _scope_of(self, id: str) -> str | None:
        async for line in self.store.read(id):
            first = decode(line.data)
            return first.scope if isinstance(first, SessionCreated) else None
        return None

    def _must_be_open(self) -> None:
        if self._planner.closed:
            raise SessionClosed()

    async def aclose(self, *, drain: float | None = 30.0) -> None:
        """Close the Chat: no turn starts any more, running ones may end, then they are canceled.

        Args:
            drain: seconds that running turns have; None however long, 0 none.
        """
        self._planner.closed = True
        await asyncio.gather(*(session.settle(drain=drain) for session in list(self._sessions.values())))
        await self._planner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await (self.aclose() if kind is None else self.aclose(drain=0.0))

    def __repr__(self) -> str:
        return f"Chat({self.place})"
