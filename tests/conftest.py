"""What holds for every test: no network, one event loop, seeded examples. Fixtures of one area live there."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.offline import refuse_the_network

refuse_the_network()

# Reduced and seeded, so that a change is judged by what it did and not by the luck of its run.
settings.register_profile("reduced", derandomize=True, max_examples=40, deadline=None, database=None)
settings.register_profile(
    "prove",
    max_examples=2_000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("prove" if os.environ.get("ANTIPHON_PROVE") == "1" else "reduced")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, which the library is written for."""
    return "asyncio"
