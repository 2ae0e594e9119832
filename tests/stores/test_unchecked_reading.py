"""Reading a whole journal without looking into its lines."""

import os
from pathlib import Path

import pytest

from antiphon import Chat, FileStore
from antiphon.errors import CorruptJournal
from antiphon.testing import FailingDisk

pytestmark = pytest.mark.anyio

WHOLE = b'{"id":"1","type":"a"}\n{"id":"2","type":"b","text":"\xc3\xa9\xe2\x80\xa8"}\n'
ENDINGS = {
    "nothing": b"",
    "an entry without newline": b'{"id":"3","type":"c"}',
    "a fragment": b'{"id":"3","ty',
    "a fragment in a character": b'{"id":"3","type":"\xc3',
    "a long line": b'{"id":"3","type":"c","text":"' + b"x" * 3_000_000 + b'"}\n',
}


def descriptors() -> int:
    """How many files this process holds open, where the system says so."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
async def test_it_gives_what_reading_gives(tmp_path: Path, ending: bytes) -> None:
    """The lines are those of `read`, whatever the file ends with."""
    (tmp_path / "s.jsonl").write_bytes(WHOLE + ending)
    store = FileStore(tmp_path)
    unchecked = [data.removesuffix(b"\n") async for lines in store.read_unchecked("s") for data in lines]
    assert unchecked == [line.data async for line in store.read("s")]


async def test_an_unknown_session_has_no_lines(tmp_path: Path) -> None:
    """As in `read`, a session that is not there gives nothing."""
    assert [lines async for lines in FileStore(tmp_path).read_unchecked("s") if lines] == []


async def test_the_file_is_closed(tmp_path: Path) -> None:
    """Every file that is opened is closed, also when the reading is left in the middle."""
    (tmp_path / "s.jsonl").write_bytes(WHOLE * 40_000)
    store = FileStore(tmp_path, disk=FailingDisk())
    open_files = descriptors()
    reading = store.read_unchecked("s")
    assert await anext(reading)
    await reading.aclose()  # type: ignore[attr-defined]
    assert await store.get_derived("s", "x") is None  # behind the closing, on the session's thread
    assert descriptors() == open_files


async def test_damage_is_told_with_its_place(tmp_path: Path) -> None:
    """Opening a session with a damaged journal names file and line, though its lines are not looked into first."""
    async with Chat("echo:", store=FileStore(tmp_path)) as chat:
        await (await chat.create_session("s")).ask("hello")
    with (tmp_path / "s.jsonl").open("ab") as file:
        file.write(b"not json\n")
    with pytest.raises(CorruptJournal, match=r"s\.jsonl, line 5: not an entry: not JSON; the 4 lines before it"):
        await Chat("echo:", store=FileStore(tmp_path)).open_session("s")
