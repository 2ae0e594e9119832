"""One neutral form for what a call consumed."""

import msgspec

from antiphon import Usage


def test_context_filled_is_input_and_output() -> None:
    """Cached input is a part of the input and is not counted again (anomalyco/opencode#4416)."""
    usage = Usage(input=184_000, output=900, cached=183_000, cache_written=500, reasoning=400)
    assert usage.total == 184_900


def test_usages_add_up_by_field() -> None:
    """A sum holds the sum of each figure."""
    first, second = Usage(1, 2, 3, cache_written=4, reasoning=5), Usage(10, 20, 30, cache_written=40, reasoning=50)
    assert first + second == Usage(11, 22, 33, cache_written=44, reasoning=55)
    assert sum([first, second], Usage()) == first + second


def test_usage_is_written_without_zeros() -> None:
    """Figures that are zero take no place in a journal, and names are camelCase there."""
    assert msgspec.json.encode(Usage(input=7, cache_written=2)) == b'{"input":7,"cacheWritten":2}'
    assert msgspec.json.encode(Usage()) == b"{}"
