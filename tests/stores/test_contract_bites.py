"""A store that breaks a promise fails the tests that are named after it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence

import pytest

from antiphon.errors import AntiphonError, JournalMoved, SessionExists, SessionNotFound, UnknownCursor
from antiphon.journal import Line
from antiphon.stores import InMemoryStore
from antiphon.testing._store_contract import StoreContract
from antiphon.testing._store_hooks import ABILITIES


class S01Overwrites(InMemoryStore):
    async def create(self, session_id: str, lines: Sequence[Line]) -> None:
        with contextlib.suppress(SessionNotFound):
            await self.delete(session_id)
        await super().create(session_id, lines)


class S02Forgets(InMemoryStore):
    """Says that it survives reopening, see below, and does not."""


class S03Hurries(InMemoryStore):
    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        await asyncio.sleep(0.02 if int(lines[0].id[-1]) % 3 else 0)
        await super().append(session_id, lines, if_last=if_last)


class S04KeepsWhatItRefuses(InMemoryStore):
    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        try:
            await super().append(session_id, lines, if_last=if_last)
        except JournalMoved:
            await super().append(session_id, lines, if_last=None)
            raise


class S05Cleans(InMemoryStore):
    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        cleaned = [Line(each.id, each.type, each.data.replace(b"\xe2\x80\xa8", b" ")) for each in lines]
        await super().append(session_id, cleaned, if_last=if_last)


class S06GivesTheCursorToo(InMemoryStore):
    async def _read(self, session_id: str, after: str | None) -> AsyncIterator[Line]:
        found = [each async for each in super()._read(session_id, None)]
        if after is not None and after not in [each.id for each in found]:
            raise UnknownCursor(session_id, after)
        for place, each in enumerate(found):
            if after is None or after in [before.id for before in found[: place + 1]]:
                yield each


class S07StartsAnew(InMemoryStore):
    async def _read(self, session_id: str, after: str | None) -> AsyncIterator[Line]:
        found = [each async for each in super()._read(session_id, None)]
        begin = [each.id for each in found].index(after) + 1 if after in [each.id for each in found] else 0
        for each in found[begin:]:
            yield each


class S08BeginsWhatIsRead(InMemoryStore):
    async def _read(self, session_id: str, after: str | None) -> AsyncIterator[Line]:
        async for each in super()._read(session_id, after):
            yield each
        with contextlib.suppress(SessionExists):
            await self.create(session_id, [Line("entry-0", "x", b'{"id":"entry-0","type":"x"}')])


class S09Tidies(InMemoryStore):
    async def create(self, session_id: str, lines: Sequence[Line]) -> None:
        tidied = [Line(each.id, each.type, json.dumps(json.loads(each.data)).encode()) for each in lines]
        await super().create(session_id, tidied)


class S10Folds(InMemoryStore):
    async def create(self, session_id: str, lines: Sequence[Line]) -> None:
        await super().create(session_id.lower(), lines)


class S11BeginsWhatIsAppendedTo(InMemoryStore):
    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        with contextlib.suppress(SessionExists):
            return await self.create(session_id, lines)
        return await super().append(session_id, lines, if_last=if_last)


class S12KeepsTheLastLineForAll(InMemoryStore):
    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        for other in self._sessions:
            await super().append(other, lines, if_last=None)


class S13WritesAnyway(InMemoryStore):
    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        await super().append(session_id, lines, if_last=None)


FAULTY = [cls for cls in InMemoryStore.__subclasses__() if cls.__module__ == __name__]


class FaultySuite(StoreContract):
    """The shipped suite on a faulty store."""

    abilities = ABILITIES
    survives_reopening = True

    def __init__(self, faulty: type[InMemoryStore]) -> None:
        self._faulty = faulty

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[InMemoryStore]:
        yield self._faulty()


def failures(faulty: type[InMemoryStore], promise: str) -> list[str]:
    """Run the tests of a promise and name those that fail."""
    suite, failed = FaultySuite(faulty), []
    for name in dir(StoreContract):
        if name.startswith(f"test_{promise}"):
            try:
                getattr(suite, name)()
            except (AssertionError, AntiphonError):
                failed.append(name)
    return failed


@pytest.mark.parametrize("faulty", FAULTY, ids=lambda faulty: faulty.__name__)
def test_a_broken_promise_fails(faulty: type[InMemoryStore]) -> None:
    """The tests named after a promise fail for a store that breaks it."""
    assert failures(faulty, faulty.__name__[:3].lower())


def test_every_promise_has_a_broken_store() -> None:
    """Each of the thirteen promises is broken by one store of this file."""
    assert [faulty.__name__[:3] for faulty in FAULTY] == [f"S{number:02}" for number in range(1, 14)]
