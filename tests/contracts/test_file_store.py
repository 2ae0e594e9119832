"""FileStore keeps every promise of the seam."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from antiphon.stores import DeletesSessions, FileStore, KeepsDerived, LeasesSessions, ListsSessions
from antiphon.testing._store_contract import StoreContract


class TestFileStore(StoreContract):
    abilities = frozenset({LeasesSessions, ListsSessions, DeletesSessions, KeepsDerived})
    survives_reopening = True
    place: Path

    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> None:
        self.place = tmp_path / "not" / "there yet"

    @contextlib.asynccontextmanager
    async def open_store(self) -> AsyncIterator[FileStore]:
        yield FileStore(self.place)
