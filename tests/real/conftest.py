"""Sessions that people really had are no part of the project: a variable names a folder of them.

Without it the tests over them do not exist, and what is written here is checked over samples of our own.
"""

import os
from pathlib import Path

import pytest

GIVEN = os.environ.get("ANTIPHON_REAL_SESSIONS", "")

collect_ignore = [] if GIVEN else ["test_given_sessions.py"]


@pytest.fixture(scope="session")
def given_sessions() -> Path:
    """The folder of sessions that were had."""
    return Path(GIVEN)
