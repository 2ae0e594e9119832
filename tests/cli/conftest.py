"""A user for every test of the command."""

from pathlib import Path

import pytest

from tests.cli.running import Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A user with an empty home."""
    return Terminal(tmp_path)
