"""The promises S1 to S13 of the seam to storage, as tests that anyone can run on a store of their own.

class TestMyStore(StoreContract):
    abilities = frozenset({LeasesSessions})
    survives_reopening = True

    @pytest.fixture(autouse=True)
    def _place(self, tmp_path):
        self.place = tmp_path

    @contextlib.asynccontextmanager
    async def open_store(self):
        yield MyStore(self.place)
"""

from __future__ import annotations

import asyncio

from ..errors import InvalidSessionId, JournalMoved, SessionExists, SessionNotFound, StoreError, UnknownCursor
from ..journal._codec import Line
from ..stores._store import DeletesSessions, KeepsDerived, LeasesSessions, Store
from ._store_abilities import AbilityPromises
from ._store_hooks import ABILITIES, TEXTS, StoreHooks, ids, line, lines, read, refused


class _WritingPromises(StoreHooks):
    def test_s01_create_refuses_an_existing_session(self) -> None:
        """S1: a session that exists is not begun again, and keeps its lines."""

        async def promise(store: Store) -> None:
            await store.create(self.session_ids[0], lines(1, 2))
            with refused(SessionExists, "creating a session twice"):
                await store.create(self.session_ids[0], lines(3))
            assert await ids(store, self.session_ids[0]) == [1, 2]

        self.check(promise)

    def test_s01_one_of_many_creators_succeeds(self) -> None:
        """S1: of creators at the same time exactly one succeeds, with all its lines."""

        async def promise(store: Store) -> None:
            attempts = [store.create(self.session_ids[0], lines(2 * n, 2 * n + 1)) for n in range(10)]
            ended = await asyncio.gather(*attempts, return_exceptions=True)
            winners = [n for n, error in enumerate(ended) if error is None]
            assert len(winners) == 1, ended
            assert all(isinstance(error, SessionExists) for error in ended if error is not None)
            assert await ids(store, self.session_ids[0]) == [2 * winners[0], 2 * winners[0] + 1]

        self.check(promise)

    def test_s02_what_was_acknowledged_is_there_when_opened_again(self) -> None:
        """S2: acknowledged lines are there for another opening of the place, if the store says it survives that."""

        async def promise(store: Store) -> None:
            await store.create(self.session_ids[0], lines(1))
            await store.append(self.session_ids[0], lines(2, 3), if_last="entry-1")
            async with self.open_store() as again:
                found = await ids(again, self.session_ids[0])
                assert found == ([1, 2, 3] if self.survives_reopening else [])

        self.check(promise)

    def test_s03_overlapping_appends_keep_the_order_of_calls(self) -> None:
        """S3: the order of lines is the order of the calls, also when 200 appends overlap."""

        async def promise(store: Store) -> None:
            await store.create(self.session_ids[0], lines(0))
            attempts = [
                asyncio.create_task(store.append(self.session_ids[0], lines(2 * n - 1, 2 * n), if_last=None))
                for n in range(1, 201)
            ]
            await asyncio.gather(*attempts)
            assert await ids(store, self.session_ids[0]) == list(range(401))

        self.check(promise)

    def test_s03_a_cancelled_append_is_whole_or_absent(self) -> None:
        """S3: an append whose caller was cancelled left all of its lines or none, before all later ones."""

        async def promise(store: Store) -> None:
            await store.create(self.session_ids[0], lines(0))
            cancelled = asyncio.create_task(store.append(self.session_ids[0], lines(1, 2), if_last=None))
            await asyncio.sleep(0)
            cancelled.cancel()
            await asyncio.gather(cancelled, return_exceptions=True)
            await store.append(self.session_ids[0], lines(3), if_last=None)
            assert await ids(store, self.session_ids[0]) in ([0, 3], [0, 1, 2, 3])

        self.check(promise)

    def test_s04_a_refused_write_leaves_nothing(self) -> None:
        """S4: of a write that was refused no line is there, and the next one works."""

        async def promise(store: Store) -> None:
            await store.create(self.session_ids[0], lines(1))
            with refused(StoreError, "a wrong if_last"):
                await store.append(self.session_ids[0], lines(2, 3), if_last="entry-0")
            with refused(StoreError, "creating a session twice"):
                await store.create(self.session_ids[0], lines(4, 5))
            await store.append(self.session_ids[0], lines(6), if_last="entry-1")
            assert await ids(store, self.session_ids[0]) == [1, 6]

        self.check(promise)

    def test_s11_no_session_takes_no_lines(self) -> None:
        """S11: appending to no session is refused and does not begin one."""

        async def promise(store: Store) -> None:
            for if_last in (None, "entry-1"):
                with refused(SessionNotFound, "appending to no session"):
                    await store.append(self.session_ids[0], lines(1), if_last=if_last)
            assert await ids(store, self.session_ids[0]) == []
            await store.create(self.session_ids[0], lines(2))

        self.check(promise)

    def test_s12_sessions_never_mix(self) -> None:
        """S12: lines of two sessions written at the same time stay apart."""

        async def promise(store: Store) -> None:
            for session_id in self.session_ids:
                await store.create(session_id, lines(0))
            one, two = self.session_ids
            await asyncio.gather(
                *(store.append(one if n % 2 else two, lines(n), if_last=None) for n in range(1, 41)),
            )
            assert sorted(await ids(store, one)) == [0, *range(1, 41, 2)]
            assert sorted(await ids(store, two)) == [0, *range(2, 41, 2)]

        self.check(promise)

    def test_s13_if_last_holds_the_last_line(self) -> None:
        """S13: lines are added behind the expected last one; else the error names both and nothing is written."""

        async def promise(store: Store) -> None:
            await store.create(self.session_ids[0], lines(1))
            await store.append(self.session_ids[0], lines(2, 3), if_last="entry-1")
            await store.append(self.session_ids[0], lines(4), if_last="entry-3")
            for wrong in ("entry-2", "entry-9", ""):
                with refused(JournalMoved, f"if_last={wrong!r} behind entry-4") as told:
                    await store.append(self.session_ids[0], lines(5), if_last=wrong)
                assert (told[0].expected, told[0].found) == (wrong, "entry-4")
            await store.append(self.session_ids[0], lines(6), if_last=None)
            assert await ids(store, self.session_ids[0]) == [1, 2, 3, 4, 6]

        self.check(promise)

    def test_s13_one_of_two_writers_is_told(self) -> None:
        """S13: of writers that expect the same last line one succeeds, the others are told."""

        async def promise(store: Store) -> None:
            await store.create(self.session_ids[0], lines(0))
            attempts = [store.append(self.session_ids[0], lines(n), if_last="entry-0") for n in range(1, 9)]
            ended = await asyncio.gather(*attempts, return_exceptions=True)
            assert [type(error) for error in ended if error is not None] == [JournalMoved] * 7
            assert await ids(store, self.session_ids[0]) == [0, 1 + ended.index(None)]

        self.check(promise)


class _ReadingPromises(StoreHooks):
    def test_s05_lines_come_back_equal_and_in_order(self) -> None:
        """S5: whatever text lines hold, they come back equal, in the order of commit."""

        async def promise(store: Store) -> None:
            written = [line(n, comment=text) for n, text in enumerate(TEXTS)]
            await store.create(self.session_ids[0], written[:1])
            await store.append(self.session_ids[0], written[1:], if_last=None)
            assert await read(store, self.session_ids[0]) == written

        self.check(promise)

    def test_s05_order_is_not_that_of_clocks(self) -> None:
        """S5: lines of one moment, and of a clock that steps back, stay in the order of commit."""

        async def promise(store: Store) -> None:
            times = ["2026-01-01T00:00:00.000Z"] * 3 + ["2020-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z"]
            await store.create(self.session_ids[0], lines(90))
            for number, at in zip((50, 10, 70, 5, 60), times, strict=True):
                await store.append(self.session_ids[0], [line(number, at=at)], if_last=None)
            assert await ids(store, self.session_ids[0]) == [90, 50, 10, 70, 5, 60]

        self.check(promise)

    def test_s05_an_unknown_session_has_no_lines(self) -> None:
        """S5: reading an unknown session gives nothing and is no error."""

        async def promise(store: Store) -> None:
            assert await read(store, self.session_ids[0]) == []

        self.check(promise)

    def test_s06_after_gives_only_later_lines(self) -> None:
        """S6: behind each line come exactly the later ones, whoever wrote them and however often one asks."""

        async def promise(store: Store) -> None:
            await store.create(self.session_ids[0], lines(0, 1, 2))
            assert await ids(store, self.session_ids[0], after="entry-2") == []
            await store.append(self.session_ids[0], lines(3, 4), if_last=None)
            for last in range(5):
                assert await ids(store, self.session_ids[0], after=f"entry-{last}") == list(range(last + 1, 5))

        self.check(promise)

    def test_s07_an_unknown_cursor_is_refused(self) -> None:
        """S7: a cursor that the session does not hold is refused, and so is any in an unknown session."""

        async def promise(store: Store) -> None:
            await store.create(self.session_ids[0], lines(1, 2))
            for session_id, after in ((self.session_ids[0], "entry-9"), (self.session_ids[1], "entry-1")):
                with refused(UnknownCursor, f"cursor {after} in {session_id}"):
                    await read(store, session_id, after=after)
            with refused(UnknownCursor, "an empty cursor"):
                await read(store, self.session_ids[0], after="")

        self.check(promise)

    def test_s08_reading_and_appending_change_nothing_that_is_there(self) -> None:
        """S8: lines stay as they are, however often they are read and whatever is added."""

        async def promise(store: Store) -> None:
            await store.create(self.session_ids[0], lines(1, 2))
            first = await read(store, self.session_ids[0])
            await read(store, self.session_ids[1])
            await store.append(self.session_ids[0], lines(3), if_last="entry-2")
            assert (await read(store, self.session_ids[0]))[:2] == first == lines(1, 2)
            await store.create(self.session_ids[1], lines(4))

        self.check(promise)

    def test_s09_unknown_types_survive_byte_for_byte(self) -> None:
        """S9: lines of unknown types, with any spacing, key order and numbers, come back byte for byte."""

        async def promise(store: Store) -> None:
            odd = b'{ "type":"x.future","b":1.0e5 , "a":[1,{"z":null}],"id":"entry-2","n":12345678901234567890 }'
            written = [line(1), Line("entry-2", "x.future", odd)]
            await store.create(self.session_ids[0], written)
            assert await read(store, self.session_ids[0]) == written

        self.check(promise)

    def test_s09_long_lines_survive(self) -> None:
        """S9: a line of a million bytes between short ones comes back whole."""

        async def promise(store: Store) -> None:
            written = [line(1), line(2, comment="ä" * 500_000), line(3)]
            await store.create(self.session_ids[0], written)
            await store.append(self.session_ids[0], lines(4), if_last="entry-3")
            assert await read(store, self.session_ids[0]) == [*written, line(4)]

        self.check(promise)

    def test_s10_an_id_is_refused_everywhere_or_held(self) -> None:
        """S10: an odd id is refused on every call, or names a session of its own."""

        async def promise(store: Store) -> None:
            for number, session_id in enumerate(self.odd_ids):
                try:
                    await store.create(session_id, lines(number))
                except InvalidSessionId:
                    await _refused_everywhere(store, session_id)
                else:
                    assert await ids(store, session_id) == [number]

        self.check(promise)


async def _refused_everywhere(store: Store, session_id: str) -> None:
    with refused(InvalidSessionId, f"append to {session_id!r}"):
        await store.append(session_id, lines(1), if_last=None)
    for after in (None, "entry-1"):
        with refused(InvalidSessionId, f"reading {session_id!r}"):
            await read(store, session_id, after=after)
    if isinstance(store, LeasesSessions):
        with refused(InvalidSessionId, f"leasing {session_id!r}"):
            async with store.lease(session_id):
                pass
    if isinstance(store, DeletesSessions):
        with refused(InvalidSessionId, f"deleting {session_id!r}"):
            await store.delete(session_id)
    if isinstance(store, KeepsDerived):
        with refused(InvalidSessionId, f"deriving from {session_id!r}"):
            await store.put_derived(session_id, "key", content=b"")
        with refused(InvalidSessionId, f"what was derived from {session_id!r}"):
            await store.get_derived(session_id, "key")


class StoreContract(_WritingPromises, _ReadingPromises, AbilityPromises):
    """Subclass it as a pytest class, say what `StoreHooks` asks for, and every promise becomes a test.

    Each test runs an event loop of its own, so nothing but pytest is needed.
    """

    def test_abilities_are_declared(self) -> None:
        """The abilities found in the store are those that the subclass declares: none goes untested unseen."""

        async def promise(store: Store) -> None:
            found = {wanted.__name__ for wanted in ABILITIES if isinstance(store, wanted)}
            assert found == {wanted.__name__ for wanted in self.abilities}

        self.check(promise)
