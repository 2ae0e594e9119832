"""A user for every test of the command."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.calling import Asker, calling_model
from tests.cli.running import Terminal


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A user with an empty home."""
    return Terminal(tmp_path)


@pytest.fixture
def asker(terminal: Terminal) -> Iterator[Asker]:
    """A user whose model makes the calls that it is told to."""
    with calling_model() as (model, gate):
        yield Asker(terminal, model, gate=gate)
