"""Journals of every released format, and damaged ones: what each is read as stands beside it.

`version-1/NAME.jsonl` is the journal of the session NAME, `NAME.json` what its turns must be. `damaged/NAME.jsonl`
cannot be read, and `NAME.error.txt` is the error, `{where}` standing for the place.
"""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from antiphon import FileStore, Message, Turn
from antiphon.errors import CorruptJournal, StoreError, UnsupportedVersion
from antiphon.journal import Line, UnknownEntry, decode, encode
from antiphon.journal._entries import TYPES
from antiphon.transcript import Transcript, dialogue, replay

HERE = Path(__file__).parent
JOURNALS = sorted((HERE / "version-1").glob("*.jsonl"))
OURS = [path for path in JOURNALS if path.stem.startswith("ours") and path.stem != "ours-later-fields"]
DAMAGED = sorted((HERE / "damaged").glob("*.jsonl"))


def lines_of(journal: Path, directory: Path) -> AsyncIterator[Line]:
    """The lines that a store gives of a copy of this file."""
    shutil.copy(journal, directory / journal.name)
    return FileStore(directory).read(journal.stem)


def opened(journal: Path, directory: Path) -> Transcript:
    """Read a journal through a store, as a session is opened."""
    return asyncio.run(replay(journal.stem, lines_of(journal, directory), where="the place"))


def words(message: Message) -> str | list[Any]:
    """What a message says: its text, or the outputs in it."""
    return [result.output for result in message.results] if message.results else message.text


def described(turn: Turn) -> dict[str, Any]:
    """A turn as the files beside the journals describe it; what is empty is left out."""
    usage = turn.usage
    all_of_it = {
        "id": turn.id,
        "status": turn.status,
        "key": turn.key,
        "retryOf": turn.retry_of,
        "messages": [[message.role, words(message)] for message in turn.messages],
        "steering": list(turn.steering),
        "error": turn.error,
        "partial": turn.partial,
        "finish": turn.finish_reason if turn.finish_reason != "stop" else None,
        "metadata": turn.metadata,
        "options": turn.options,
        "preferred": [each.preferred for each in turn.feedback if each.preferred],
        "totals": [trace.total for trace in turn.traces],
        "usage": usage
        and {
            "input": usage.input,
            "output": usage.output,
            "cached": usage.cached,
            "cacheWritten": usage.cache_written,
            "reasoning": usage.reasoning,
        },
    }
    return {name: value for name, value in all_of_it.items() if value or name == "messages"}


@pytest.mark.parametrize("journal", JOURNALS, ids=lambda path: path.stem)
def test_journal_is_read_as_ever(journal: Path, tmp_path: Path) -> None:
    """A journal of a released format gives the turns, the dialogue and the state that it always gave."""
    expected = json.loads(journal.with_suffix(".json").read_text("utf-8"))
    transcript = opened(journal, tmp_path)
    turns = transcript.turns()
    assert [described(turn) for turn in turns] == expected["turns"]
    said = dialogue(turns)
    assert [each.text or "|".join(result.text for result in each.results) for each in said] == expected["dialogue"]
    assert transcript.title == expected["title"]
    assert {key: entry.value for key, entry in transcript.state.items()} == expected["state"]
    assert transcript.cleared == expected.get("cleared", 0)
    assert transcript.texts() == expected.get("texts", {})


@pytest.mark.parametrize("journal", JOURNALS, ids=lambda path: path.stem)
def test_reading_changes_no_byte(journal: Path, tmp_path: Path) -> None:
    """Opening a session leaves its file as it was, a torn end too (J-061)."""
    opened(journal, tmp_path)
    assert (tmp_path / journal.name).read_bytes() == journal.read_bytes()
    assert [path.name for path in tmp_path.glob("*")] == [journal.name]


@pytest.mark.parametrize("journal", JOURNALS, ids=lambda path: path.stem)
def test_lines_come_back_byte_for_byte(journal: Path, tmp_path: Path) -> None:
    """A store gives the lines as they stand in the file, but for a fragment at its end."""

    async def read() -> list[bytes]:
        return [line.data async for line in lines_of(journal, tmp_path)]

    lines = asyncio.run(read())
    pieces = journal.read_bytes().split(b"\n")
    whole = [piece for piece in pieces[:-1] if piece]
    assert lines in (whole, [*whole, pieces[-1]])


@pytest.mark.parametrize("journal", OURS, ids=lambda path: path.stem)
def test_our_own_lines_are_written_the_same(journal: Path) -> None:
    """What this release writes for an entry of ours is what the journal holds, byte for byte."""
    for line in journal.read_bytes().split(b"\n"):
        if line.endswith(b"}") and not isinstance(entry := decode(line), UnknownEntry):
            assert json.loads(encode(entry).data) == json.loads(line)
            assert encode(entry).data == line or b"\\u" in line


def test_every_entry_type_is_kept_here() -> None:
    """The journals hold an entry of every type, and one of a type that nobody knows."""
    lines = [line for path in JOURNALS for line in path.read_bytes().split(b"\n") if line.endswith(b"}")]
    assert {json.loads(line)["type"] for line in lines} > set(TYPES)


@pytest.mark.parametrize("journal", DAMAGED, ids=lambda path: path.stem)
def test_damage_is_named(journal: Path, tmp_path: Path) -> None:
    """A damaged journal is an error that names the place, the line, the damage and what is readable before it."""
    expected = journal.with_suffix(".error.txt").read_text("utf-8").strip()
    with pytest.raises((CorruptJournal, UnsupportedVersion)) as caught:
        opened(journal, tmp_path)
    error: StoreError = caught.value
    places = ("the place", str(tmp_path / journal.name))
    assert str(error) in [expected.replace("{where}", place) for place in places]


@pytest.mark.parametrize("journal", DAMAGED, ids=lambda path: path.stem)
def test_lines_before_the_damage_are_readable(journal: Path, tmp_path: Path) -> None:
    """What stands before the damaged line is read, line by line, as the error says."""
    expected = journal.with_suffix(".error.txt").read_text("utf-8")
    number = int(expected.split("line ")[1].split(":")[0])
    transcript = Transcript(journal.stem)

    async def read() -> None:
        lines = lines_of(journal, tmp_path)
        for _ in range(number - 1):
            transcript.apply(decode((await anext(lines)).data))

    asyncio.run(read())
    assert transcript.lines == number - 1
    assert (tmp_path / journal.name).read_bytes() == journal.read_bytes()
