"""What chat tests are driven with: a store that is a list, gates, and short ways to a session."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon import Chat, InMemoryStore, Line, Session, Store, TurnRequest
from antiphon.errors import JournalMoved, SessionExists, SessionNotFound, UnknownCursor
from antiphon.journal import SessionCreated, encode, heading

AT = "2026-01-01T00:00:00.000Z"


@dataclass
class Act:
    """What one append does: insert lines of others, wait at a gate, write or not, raise or not."""

    error: BaseException | None = None
    writes: bool = True
    gate: asyncio.Event | None = None
    foreign: Sequence[Line] = ()


@dataclass
class ListStore:
    """A store that keeps each session in a list, has no leases, and does what its script says.

    Attributes:
        lines: what is kept, by session.
        script: what the next appends do; behind its end they work.
        appends: the types of the entries of each append so far, refused ones too.
        reached: set whenever an append waits at a gate.
        unreadable: raised by the next readings.
    """

    lines: dict[str, list[Line]] = field(default_factory=dict)
    script: list[Act] = field(default_factory=list)
    appends: list[list[str]] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    unreadable: Exception | None = None
    readings: int = 0

    async def create(self, session_id: str, lines: Sequence[Line]) -> None:
        """Begin a session."""
        if session_id in self.lines:
            raise SessionExists(session_id, "a list")
        self.lines[session_id] = list(lines)

    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        """Follow the script."""
        self.appends.append([line.type for line in lines])
        act = self.script.pop(0) if self.script else Act()
        if act.gate is not None:
            self.reached.set()
            await act.gate.wait()
        await asyncio.sleep(0)
        if session_id not in self.lines:
            raise SessionNotFound(session_id, "a list")
        kept = self.lines[session_id]
        kept += act.foreign
        if act.writes:
            if if_last is not None and if_last != kept[-1].id:
                raise JournalMoved(session_id, expected=if_last, found=kept[-1].id)
            kept += lines
        if act.error is not None:
            raise act.error

    async def read(self, session_id: str, *, after: str | None = None) -> AsyncIterator[Line]:
        """Give what is kept."""
        self.readings += 1
        if self.unreadable is not None:
            raise self.unreadable
        lines = list(self.lines.get(session_id, ()))
        ids = [line.id for line in lines]
        if after is not None and after not in ids:
            raise UnknownCursor(session_id, after)
        for line in lines[ids.index(after) + 1 if after is not None else 0 :]:
            await asyncio.sleep(0)
            yield line

    def types(self, session_id: str = "s") -> list[str]:
        """The types of a session's entries, in order."""
        return [line.type for line in self.lines[session_id]]


def line(cls: Callable[..., Any], session_id: str = "s", **fields: Any) -> Line:
    """An entry as others would have written it."""
    return encode(cls(**heading(session_id, AT), **fields))


def created(session_id: str = "s") -> SessionCreated:
    """A session's first entry."""
    return SessionCreated(**heading(session_id, AT))


@dataclass
class Gate:
    """A responder that says how far it came, waits until it is opened, and then answers.

    Attributes:
        requests: what it was asked.
        canceled: how often it was canceled while it waited.
    """

    answer: str = "answered"
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[TurnRequest] = field(default_factory=list)
    canceled: int = 0

    async def __call__(self, request: TurnRequest) -> str:
        """Answer, once opened."""
        self.requests.append(request)
        self.begun.set()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.canceled += 1
            raise
        return self.answer

    def open(self) -> None:
        """Let it answer, now and from now on."""
        self.opened.set()


async def gated(store: Store | None = None) -> tuple[Gate, Chat, Session]:
    """A session whose turns wait at a gate."""
    gate = Gate()
    chat = Chat(responder=gate, store=InMemoryStore() if store is None else store)
    return gate, chat, await chat.create_session("s")


async def types_of(session: Session) -> list[str]:
    """The types of a session's entries, as its store holds them."""
    return [entry.type async for entry in session.journal()]


async def failure(work: Awaitable[object]) -> BaseException:
    """What an awaitable raises."""
    try:
        await work
    except asyncio.CancelledError as error:
        return error
    except Exception as error:
        return error
    raise AssertionError("it was to fail")


async def passing(steps: int) -> None:
    """Let other tasks make some steps."""
    for _ in range(steps):
        await asyncio.sleep(0)


def said(session: Session) -> list[tuple[str, str]]:
    """Role and text of every message of a session's dialogue."""
    return [(message.role, message.text) for message in session.messages()]
