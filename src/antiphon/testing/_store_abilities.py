"""The promises of a store's optional abilities, as tests. Each is skipped where the store lacks the ability."""

from __future__ import annotations

import asyncio

from ..errors import SessionBusy, SessionNotFound
from ..stores._store import DeletesSessions, KeepsDerived, LeasesSessions, Listed, ListsSessions, Store
from ._store_hooks import StoreHooks, ability, ids, line, lines, refused

KEYS = ("summary", "", "../x", "a/b", "ü" * 500, "lone \ud800")


async def _listed(store: Store, *, before: str | None = None) -> list[Listed]:
    return [item async for item in ability(store, ListsSessions).list_sessions(before=before)]


async def _is_free(leases: LeasesSessions, session_id: str) -> bool:
    try:
        async with leases.lease(session_id):
            return True
    except SessionBusy:
        return False


class _LeasePromises(StoreHooks):
    def test_lease_is_held_by_one(self) -> None:
        """A held session is refused at once; another one, and reading and writing, go on."""

        async def promise(store: Store) -> None:
            leases = ability(store, LeasesSessions)
            await store.create(self.session_ids[0], lines(1))
            async with leases.lease(self.session_ids[0]):
                assert not await _is_free(leases, self.session_ids[0])
                async with leases.lease(self.session_ids[1]):
                    await store.append(self.session_ids[0], lines(2), if_last="entry-1")
                assert await ids(store, self.session_ids[0]) == [1, 2]
            assert await _is_free(leases, self.session_ids[0])

        self.check(promise)

    def test_lease_is_held_against_another_opening(self) -> None:
        """A session held through one opening of the place is refused through another."""

        async def promise(store: Store) -> None:
            leases = ability(store, LeasesSessions)
            async with self.open_store() as again:
                other = ability(again, LeasesSessions)
                async with leases.lease(self.session_ids[0]):
                    assert await _is_free(other, self.session_ids[0]) is not self.survives_reopening
                assert await _is_free(other, self.session_ids[0])

        self.check(promise)

    def test_lease_ends_with_its_holder(self) -> None:
        """A holder that fails or is cancelled, at whatever moment, lets the session go."""

        async def promise(store: Store) -> None:
            leases = ability(store, LeasesSessions)

            async def hold() -> None:
                async with leases.lease(self.session_ids[0]):
                    await asyncio.sleep(60)

            for moments in (1, 2, 5, 200):
                holder = asyncio.create_task(hold())
                for _ in range(moments):
                    await asyncio.sleep(0)
                holder.cancel()
                await asyncio.gather(holder, return_exceptions=True)
                assert await _is_free(leases, self.session_ids[0])

        self.check(promise)


class _ListingPromises(StoreHooks):
    def test_listing_gives_last_changed_first(self) -> None:
        """Every session is listed once, the last changed first."""

        async def promise(store: Store) -> None:
            assert await _listed(store) == []
            one, two = self.session_ids
            for session_id in (one, two):
                await store.create(session_id, lines(1))
                await asyncio.sleep(0.02)
            assert [item.id for item in await _listed(store)] == [two, one]
            await store.append(one, lines(2), if_last=None)
            assert [item.id for item in await _listed(store)] == [one, two]

        self.check(promise)

    def test_listing_goes_on_behind_a_session(self) -> None:
        """`before` gives what comes behind that session; an unknown one is refused."""

        async def promise(store: Store) -> None:
            one, two = self.session_ids
            for session_id in (one, two):
                await store.create(session_id, lines(1))
                await asyncio.sleep(0.02)
            assert [item.id for item in await _listed(store, before=two)] == [one]
            assert await _listed(store, before=one) == []
            with refused(SessionNotFound, "an unknown `before`"):
                await _listed(store, before="unknown")

        self.check(promise)

    def test_listing_shows_the_ends_of_a_session(self) -> None:
        """A short session is listed whole; of a long one the first line and the last ones are shown."""

        async def promise(store: Store) -> None:
            one, two = self.session_ids
            await store.create(one, lines(1, 2, 3))
            await store.create(two, [line(1), *(line(n, comment="x" * 5_000) for n in range(2, 200))])
            found = {item.id: item for item in await _listed(store)}
            assert (found[one].first, list(found[one].tail), found[one].whole) == (line(1), lines(2, 3), True)
            assert found[two].first == line(1)
            assert [each.id for each in found[two].tail][-2:] == ["entry-198", "entry-199"]
            assert found[two].whole == (len(found[two].tail) == 198)
            assert all(item.problem is None for item in found.values())

        self.check(promise)


class _DeletionPromises(StoreHooks):
    def test_deleted_sessions_are_gone(self) -> None:
        """Nothing of a deleted session is left, it says what it erased, and the id is free."""

        async def promise(store: Store) -> None:
            deletes = ability(store, DeletesSessions)
            one, two = self.session_ids
            await store.create(one, lines(1, 2))
            await store.create(two, lines(3))
            assert all(isinstance(name, str) for name in await deletes.delete(one))
            assert (await ids(store, one), await ids(store, two)) == ([], [3])
            with refused(SessionNotFound, "appending to a deleted session"):
                await store.append(one, lines(4), if_last=None)
            if isinstance(store, ListsSessions):
                assert [item.id for item in await _listed(store)] == [two]
            await store.create(one, lines(5))
            assert await ids(store, one) == [5]

        self.check(promise)

    def test_deletion_erases_what_was_derived(self) -> None:
        """What was derived from a session goes with it, also if a session of the same id follows."""

        async def promise(store: Store) -> None:
            deletes, derived = ability(store, DeletesSessions), ability(store, KeepsDerived)
            await store.create(self.session_ids[0], lines(1))
            await derived.put_derived(self.session_ids[0], "summary", content=b"old")
            assert len(await deletes.delete(self.session_ids[0])) >= 2
            await store.create(self.session_ids[0], lines(1))
            assert await derived.get_derived(self.session_ids[0], "summary") is None

        self.check(promise)

    def test_deletion_is_refused(self) -> None:
        """An unknown session cannot be deleted, and neither can one that is held."""

        async def promise(store: Store) -> None:
            deletes = ability(store, DeletesSessions)
            with refused(SessionNotFound, "deleting an unknown session"):
                await deletes.delete(self.session_ids[0])
            leases = ability(store, LeasesSessions)
            await store.create(self.session_ids[0], lines(1))
            async with leases.lease(self.session_ids[0]):
                with refused(SessionBusy, "deleting a held session"):
                    await deletes.delete(self.session_ids[0])
            assert await ids(store, self.session_ids[0]) == [1]

        self.check(promise)


class _DerivedPromises(StoreHooks):
    def test_derived_content_comes_back(self) -> None:
        """Content comes back byte for byte under any key, the newest one, and is no line of the session."""

        async def promise(store: Store) -> None:
            derived = ability(store, KeepsDerived)
            await store.create(self.session_ids[0], lines(1))
            contents = {key: f"of {key!r}".encode() + b"\x00\n\xff" for key in KEYS}
            for key, content in contents.items():
                assert await derived.get_derived(self.session_ids[0], key) is None
                await derived.put_derived(self.session_ids[0], key, content=b"first")
                await derived.put_derived(self.session_ids[0], key, content=content)
            for key, content in contents.items():
                assert await derived.get_derived(self.session_ids[0], key) == content
            assert await ids(store, self.session_ids[0]) == [1]

        self.check(promise)

    def test_derived_content_belongs_to_its_session(self) -> None:
        """A key means another content in another session; an unknown session has none and takes none."""

        async def promise(store: Store) -> None:
            derived = ability(store, KeepsDerived)
            one, two = self.session_ids
            await store.create(one, lines(1))
            await derived.put_derived(one, "key", content=b"")
            assert await derived.get_derived(one, "key") == b""
            assert await derived.get_derived(two, "key") is None
            with refused(SessionNotFound, "deriving from no session"):
                await derived.put_derived(two, "key", content=b"x")

        self.check(promise)


class AbilityPromises(_LeasePromises, _ListingPromises, _DeletionPromises, _DerivedPromises):
    """The promises of all optional abilities."""
