"""What a test suite for stores asks of its user, and the lines it writes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import unittest
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from ..errors import AntiphonError, Misuse
from ..journal._codec import Line
from ..stores._store import DeletesSessions, KeepsDerived, LeasesSessions, ListsSessions, Store

_A = TypeVar("_A")
_E = TypeVar("_E", bound=AntiphonError)

ABILITIES: frozenset[type] = frozenset({LeasesSessions, ListsSessions, DeletesSessions, KeepsDerived})
"""The optional abilities that are tested where a store has them."""

TEXTS = (
    "plain",
    "",
    "line\u2028separator, paragraph\u2029separator, next\u0085line, \v \f \x1c \x1d \x1e and \r\n",
    "nul \x00 and the six characters \\u0000",
    "a lone \ud800 surrogate",
    "😀 ünïcödé 漢字 \ufeff",
    '"quotes" and \\ and {"json": [1]}',
)
"""Texts that have been cut, changed or refused by stores."""


def line(number: int, entry_type: str = "feedback.recorded", **fields: Any) -> Line:
    """Give a line of our own making; the same number gives the same id, `entry-<number>`."""
    facts = {"version": 1, "id": f"entry-{number}", "sessionId": "any", "at": "2026-01-01T00:00:00.000Z"}
    text = json.dumps({**facts, "type": entry_type, "turnId": "turn-1", **fields}, ensure_ascii=False)
    try:
        return Line(f"entry-{number}", entry_type, text.encode())
    except UnicodeEncodeError:
        return Line(f"entry-{number}", entry_type, json.dumps(json.loads(text)).encode())


def lines(*numbers: int) -> list[Line]:
    """Give several lines."""
    return [line(number) for number in numbers]


async def read(store: Store, session_id: str, *, after: str | None = None) -> list[Line]:
    """Read all that there is."""
    return [each async for each in store.read(session_id, after=after)]


async def ids(store: Store, session_id: str, *, after: str | None = None) -> list[int]:
    """Read all that there is and give the lines' numbers."""
    return [int(each.id.removeprefix("entry-")) for each in await read(store, session_id, after=after)]


@contextlib.contextmanager
def refused(error: type[_E], what: str) -> Iterator[list[_E]]:
    """Hold that something is refused with this error, and give it in a list."""
    told: list[_E] = []
    try:
        yield told
    except error as found:
        told.append(found)
        return
    raise AssertionError(f"{what} was accepted, {error.__name__} is promised")


def ability(store: Store, wanted: type[_A]) -> _A:
    """Give the store as one that has an ability, or skip the test."""
    if not isinstance(store, wanted):
        raise unittest.SkipTest(f"the store is no {wanted.__name__}")
    return store


class StoreHooks:
    """What a subclass of `StoreContract` says of its store.

    Attributes:
        abilities: which of the optional abilities the store has, as in `frozenset({LeasesSessions})`. Must be
            defined, so that none is left untested by mistake.
        survives_reopening: whether sessions are still there when the place is opened again. Must be defined.
        session_ids: two ids that the store can hold.
        odd_ids: ids that a store either refuses on every call or keeps apart.
        patience: seconds that one test may take.
    """

    abilities: frozenset[type]
    survives_reopening: bool
    session_ids: tuple[str, str] = ("ana-1", "ben-2")
    odd_ids: Sequence[str] = (
        *("", ".", "..", "../x", "/abs", "a/b", "a\\b", "a:b", "con", "nul", "aux.txt", "Ana-1", "ANA-1"),
        *(".hidden", "-x", "_x", "x.", "x ", " x", "a\x00b", "a\nb", "é", "x" * 129, "x" * 5000, "%2e%2e", "~"),
    )
    patience: float = 60.0

    def open_store(self) -> AbstractAsyncContextManager[Store]:
        """Open the store. Must be defined.

        Every test begins at an empty place; called again within one test, this opens the same place again.
        """
        raise Misuse(f"{type(self).__name__} has no open_store", "define it: it opens the store to be tested")

    def check(self, promise: Callable[[Store], Awaitable[None]]) -> None:
        """Run one check on an opened store, in an event loop of its own."""

        async def run() -> None:
            async with asyncio.timeout(self.patience), self.open_store() as store:
                await promise(store)

        asyncio.run(run())
