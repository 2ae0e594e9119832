"""What InMemoryStore does beyond the promises of every store."""

import asyncio
import threading

import pytest

from antiphon.errors import InvalidSessionId, JournalMoved, Misuse
from antiphon.journal import Line
from antiphon.stores import InMemoryStore
from antiphon.testing._store_hooks import ids, lines, read

pytestmark = pytest.mark.anyio


async def test_any_text_is_an_id() -> None:
    """The rule for file names is FileStore's: every text but the empty one is held."""
    store = InMemoryStore()
    for number, session_id in enumerate(("../x", "Ana 1", "con", "x" * 1_000, "\ud800")):
        await store.create(session_id, lines(number))
        assert await ids(store, session_id) == [number]
    with pytest.raises(InvalidSessionId):
        await store.create("", lines(1))


async def test_what_is_kept_cannot_be_changed() -> None:
    """Neither the list nor the bytes that were handed in or given out lead to what is kept."""
    store = InMemoryStore()
    data = bytearray(lines(1)[0].data)
    given = [Line("entry-1", "feedback.recorded", data)]  # type: ignore[arg-type] # what a careless caller does
    await store.create("ana-1", given)
    data[:] = b"x" * len(data)
    given.clear()
    (await read(store, "ana-1")).clear()
    assert await read(store, "ana-1") == lines(1)


async def test_a_line_feed_in_a_line_is_refused() -> None:
    """The same mistakes are refused as by FileStore, so that they show in tests."""
    store = InMemoryStore()
    with pytest.raises(Misuse, match="line feed"):
        await store.create("ana-1", [Line("a", "x", b"{\n}")])
    with pytest.raises(Misuse, match="without a line"):
        await store.create("ana-1", [])


def test_threads_share_a_store() -> None:
    """Loops in several threads that expect the same last line: one succeeds each time, no line is lost."""
    store = InMemoryStore()
    asyncio.run(store.create("ana-1", lines(0)))

    async def write(begin: int) -> None:
        for number in range(begin, begin + 50):
            while True:
                last = [each async for each in store.read("ana-1")][-1].id
                try:
                    await store.append("ana-1", lines(number), if_last=last)
                    break
                except JournalMoved:
                    continue

    workers = [threading.Thread(target=lambda begin=begin: asyncio.run(write(begin))) for begin in (1, 51, 101)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(asyncio.run(ids(store, "ana-1"))) == list(range(151))


async def test_long_sessions_are_listed_in_part() -> None:
    """Listing shows the last 64 lines of a long session, whatever its length."""
    store = InMemoryStore()
    await store.create("ana-1", lines(*range(1_000)))
    (item,) = [item async for item in store.list_sessions()]
    assert ([each.id for each in item.tail], item.whole) == ([f"entry-{n}" for n in range(936, 1_000)], False)
