"""A Chat: what answers, where sessions are kept, and what the model is shown, put together once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from .._clock import Clock, system_clock
from .._jsonable import Jsonable
from .._messages import Message, read_message
from ..errors import Misuse, SessionBusy, SessionNotFound
from ..journal import SessionCreated, decode
from ..stores import DeletesSessions, InMemoryStore, ListsSessions, Store
from ..tools import Tool, ToolPolicy
from ._copying import Told
from ._hooks import Hooks
from ._limits import Limits
from ._listing import SessionSummary, summary_of
from ._plan import Instructions, KeepTexts
from ._planner import CARD_NOTE, AnyContext, AnyModel, Planner, Settings, Tools, toolbox_of
from ._redaction import Redact
from ._responder import Responder
from ._session import Session
from ._shelf import Shelf
from ._snapshot import read_snapshot

_logger = logging.getLogger("antiphon")


class Chat:
    """Opens sessions and runs their turns.

    Args:
        model: a Model, or a model's name as in `local:smollm2` or `echo:`.
        responder: a function in place of a model; it is given a `TurnRequest` and gives text, a `Message`, or a
            `Replied` with usage; or it is an async generator of text.
        store: where sessions are kept; by default a new `InMemoryStore`, gone with this object.
        context: what the model is shown: an object with `build(view)` or a function; by default `FullContext()`.
        instructions: pinned system text, or a function of the `View` that gives it.
        tools: what models may call: functions, Tools, or a Toolbox of them. A function that nobody marked runs when a
            model asks, as the policy leaves it to the tool.
        policy: decides which calls run; by default each tool's own `needs_approval`.
        hooks: functions that see, and may change, what is sent and received.
        card_note: pinned system text while a tool with `card=True` is offered; empty leaves it out.
        limits: how much one turn may take; by default `Limits()`.
        keep_texts: `stable` keeps system texts in the journal, once each; `all` every text that a context adds;
            `none` only digests.
        redact: runs over every text that anyone said before it is written; what was written is what is used from
            then on. It does not see what a running reply's readers are told.
        clock: gives the time of entries.

    Raises:
        Misuse: if both a model and a responder are given, or the store is none.
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
        tools: Tools = (),
        policy: ToolPolicy | None = None,
        hooks: Hooks | None = None,
        card_note: str = CARD_NOTE,
        limits: Limits | None = None,
        keep_texts: KeepTexts = "stable",
        redact: Redact | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._planner = Planner(
            Settings(
                model=model,
                responder=responder,
                context=context,
                instructions=instructions,
                tools=tools,
                policy=policy,
                card_note=card_note,
                limits=limits,
                keep_texts=keep_texts,
                hooks=hooks,
            )
        )
        kept_in: object = InMemoryStore() if store is None else store
        if isinstance(kept_in, type) or not isinstance(kept_in, Store):
            raise Misuse(f"store is {kept_in!r}", "give a store, as in FileStore('chats')")
        self._shelf = Shelf(kept_in, self._planner, clock=clock, redact=redact)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What models may call, from the next turn on; set a list of functions and Tools, or a Toolbox."""
        return self._planner.toolbox.tools

    @tools.setter
    def tools(self, given: Tools) -> None:
        self._planner.toolbox = toolbox_of(given)

    @property
    def store(self) -> Store:
        """Where sessions are kept."""
        return self._shelf.store

    @property
    def place(self) -> str:
        """How errors call the store."""
        return self._shelf.place

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
        return await self._shelf.create(id, scope=scope, title=title, metadata=metadata)

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
        self._shelf.must_be_open()
        return await self._shelf.find(id, scope=scope, create=create)

    async def import_session(
        self, messages: Sequence[Message | Mapping[str, Any]], *, id: str | None = None, scope: str | None = None
    ) -> Session:
        """Begin a session with a conversation that was kept elsewhere.

        A turn begins with a user's message behind a reply. Calls without a result get one that says so, a last turn
        without a reply is canceled, and system messages are left out: give them as `instructions`. What could not be
        carried over is logged, a line each.

        Args:
            messages: in order, as `Message`s or as OpenAI-style objects.
            id: by default a random one.
            scope: the session's owner.

        Raises:
            NotStorable: if a message cannot be read.
            SessionExists, InvalidSessionId, StoreError: as for `create_session`.
        """
        read = [read_message(message) for message in messages]
        session, lost = await self._shelf.import_messages(Told(read), id=id, scope=scope, state={})
        for each in lost:
            _logger.warning("session %s was imported without %s", session.id, each)
        return session

    async def restore(
        self, snapshot: Mapping[str, Jsonable], *, id: str | None = None, scope: str | None = None
    ) -> Session:
        """Begin a session from what `Session.snapshot` gave: its messages and its state, and no permission of any kind.

        Raises:
            Misuse, NotStorable: if it is no snapshot that can be read.
            SessionExists, InvalidSessionId, StoreError: as for `create_session`.
        """
        told, state = read_snapshot(snapshot)
        session, _ = await self._shelf.import_messages(told, id=id, scope=scope, state=state)
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
            held = self._shelf.sessions.get(listed.id)
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
        held = self._shelf.sessions.get(id)
        if held is not None and held.live_turn is not None:
            raise SessionBusy(id, turn_id=held.live_turn.id)
        erased = await self.store.delete(id)
        self._shelf.sessions.pop(id, None)
        return erased

    async def _scope_of(self, id: str) -> str | None:
        async for line in self.store.read(id):
            first = decode(line.data)
            return first.scope if isinstance(first, SessionCreated) else None
        return None

    async def aclose(self, *, drain: float | None = 30.0) -> None:
        """Close the Chat: no turn starts any more, running ones may end, then they are canceled.

        Args:
            drain: seconds that running turns have; None however long, 0 none.
        """
        self._planner.closed = True
        await asyncio.gather(*(session.settle(drain=drain) for session in list(self._shelf.sessions.values())))
        await self._planner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await (self.aclose() if kind is None else self.aclose(drain=0.0))

    def __repr__(self) -> str:
        return f"Chat({self.place})"
