"""The readers, and the checks over whole sessions, on samples of our own in the shapes of other programs' files."""

import asyncio
from pathlib import Path

import pytest

from antiphon import Chat, ToolResult
from tests.properties.histories import unpaired
from tests.real.readers import conversations
from tests.real.walking import WINDOWS, Figures, Walk

SAMPLES = Path(__file__).parent / "samples"
FILES = sorted(path.name for path in SAMPLES.iterdir())
TURNS = {
    "chatgpt.json": [6],
    "claude_ai.json": [4],
    "claude_code.jsonl": [7],
    "codex.jsonl": [6],
    "gemini.json": [5],
    "pi.jsonl": [9],
    "sharegpt.json": [2, 3, 4],
    "swe_agent.traj": [1],
}


def test_every_shape_has_its_sample() -> None:
    """No file among the samples goes unread, and none that is named is missing."""
    assert sorted(TURNS) == FILES


@pytest.mark.parametrize("name", FILES)
def test_a_sample_is_read(name: str) -> None:
    """Each file gives its conversations, with as many turns as were told in it."""
    found = []
    for messages in conversations(SAMPLES / name):
        session = asyncio.run(Chat("echo:").import_session(messages))
        found.append(len(session.turns()))
        assert unpaired([message for turn in session.turns()[:-1] for message in turn.messages]) == []
    assert found == TURNS[name]


@pytest.mark.parametrize("name", ["pi.jsonl", "claude_code.jsonl", "codex.jsonl", "swe_agent.traj", "gemini.json"])
def test_results_find_their_calls(name: str) -> None:
    """What tools gave is read with them: every result of a file answers a call of it."""
    (messages,) = conversations(SAMPLES / name)
    asked = [call.id for message in messages for call in message.calls]
    returned = [part.call_id for message in messages for part in message.parts if isinstance(part, ToolResult)]
    assert len(asked) >= 5
    assert set(returned) <= set(asked)
    assert len(returned) >= len(asked) - 1


@pytest.mark.parametrize("window", [*WINDOWS, 2_000, 4_000])
@pytest.mark.parametrize("name", FILES)
def test_every_call_of_a_sample_is_valid(name: str, window: int) -> None:
    """Every call of every turn fits its window and holds no call alone, the input, and the last round."""
    found = Figures(window)
    for messages in conversations(SAMPLES / name):
        found += asyncio.run(Walk(window).through(messages))
    assert found.calls >= found.turns >= sum(TURNS[name]) - found.refused
    assert found.refused == 0 or window < 8_000


def test_small_windows_do_cut() -> None:
    """The samples are long enough for something to be cut: else the checks above would say little."""
    (messages,) = conversations(SAMPLES / "pi.jsonl")
    assert asyncio.run(Walk(2_000).through(messages)).cut >= 4
