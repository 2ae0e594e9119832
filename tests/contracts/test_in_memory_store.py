"""InMemoryStore keeps every promise of the seam."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from antiphon.errors import Misuse
from antiphon.stores import DeletesSessions, InMemoryStore, KeepsDerived, LeasesSessions, ListsSessions, Store
from antiphon.testing._store_contract import StoreContract


class TestInMemoryStore(StoreContract):
    abilities = frozenset({LeasesSessions, ListsSessions, DeletesSessions, KeepsDerived})
    survives_reopening = False

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[InMemoryStore]:
        yield InMemoryStore()


class _OnlyPromises:
    """A store of the three methods and nothing more."""

    def __init__(self, store: InMemoryStore) -> None:
        self.create, self.append, self.read = store.create, store.append, store.read


class TestStoreWithoutAbilities(StoreContract):
    """The suite also fits a store that has no optional ability."""

    abilities = frozenset()
    survives_reopening = False

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[Store]:
        yield _OnlyPromises(InMemoryStore())


def test_suite_without_its_hook_fails() -> None:
    """A suite that never says which store it tests fails instead of passing with nothing tested."""
    with pytest.raises(Misuse, match="open_store"):
        StoreContract().test_s05_an_unknown_session_has_no_lines()


def test_suite_with_undeclared_abilities_fails() -> None:
    """A suite that declares other abilities than its store has fails."""
    suite = TestInMemoryStore()
    suite.abilities = frozenset({LeasesSessions})
    with pytest.raises(AssertionError):
        suite.test_abilities_are_declared()
