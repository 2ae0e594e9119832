"""Fixtures of chat tests."""

from pathlib import Path

import pytest

from antiphon import FileStore, InMemoryStore, Store


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Each of the stores that come with the library."""
    return InMemoryStore() if request.param == "memory" else FileStore(tmp_path / "chats")
