"""Sessions that people really had, whole, under three windows: every call is valid, and history is not cut too deep."""

import asyncio
import sys
from pathlib import Path

import pytest

from antiphon import Message
from tests.real.readers import conversations
from tests.real.walking import HEADING, WINDOWS, Figures, Walk

JOINED = 40
"""Conversations of one file that are read one after another, as one long session; short ones alone try nothing."""


def sessions(folder: Path) -> list[list[Message]]:
    """Every conversation in a folder; many of one file are joined."""
    found: list[list[Message]] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        several = conversations(path)
        found += several[:JOINED]
        if len(several) > 1:
            found.append([message for one in several for message in one])
    return found


@pytest.fixture(scope="module")
def figures(given_sessions: Path) -> dict[int, Figures]:
    """What was found, by window."""
    found = {window: Figures(window) for window in WINDOWS}
    for messages in sessions(given_sessions):
        for window in WINDOWS:
            found[window] += asyncio.run(Walk(window).through(messages))
    return found


@pytest.mark.timeout(1_800)
def test_every_call_is_valid(figures: dict[int, Figures], capsys: pytest.CaptureFixture[str]) -> None:
    """Every call of every turn fits, holds no call alone, the input and the last round; what was found is printed."""
    with capsys.disabled():
        print("\n" + "\n".join([HEADING, *map(str, figures.values())]), file=sys.stderr)
    assert all(found.calls > 100 for found in figures.values())
    assert all(found.cut for found in figures.values())


@pytest.mark.timeout(1_800)
def test_history_is_not_cut_too_deep(figures: dict[int, Figures]) -> None:
    """Of twenty cut histories at 32,000 tokens at most one keeps less than a fifth of the low mark."""
    assert figures[32_000].shallow_share <= 0.05


@pytest.mark.timeout(1_800)
def test_the_beginning_moves_seldom(figures: dict[int, Figures]) -> None:
    """At 128,000 tokens history begins where it did in the turn before in nine of ten turns."""
    assert figures[128_000].moves <= 0.1 * figures[128_000].turns
