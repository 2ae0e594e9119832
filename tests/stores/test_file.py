"""What FileStore does beyond the promises of every store."""

import asyncio
import os
from pathlib import Path

import pytest

from antiphon.errors import (
    CorruptJournal,
    InvalidSessionId,
    JournalMoved,
    Misuse,
    SessionBusy,
    SessionExists,
    SessionNotFound,
    StoreUnreadable,
    UnknownCursor,
)
from antiphon.journal import Line
from antiphon.stores import FileStore
from antiphon.stores._disk import Disk
from antiphon.testing._failing_disk import FailingDisk
from antiphon.testing._store_hooks import ids, line, lines, read
from tests.stores.places import files_in, numbers, written

pytestmark = pytest.mark.anyio


async def test_nothing_is_touched_before_the_first_session(tmp_path: Path) -> None:
    """A store that only reads and lists makes no directory."""
    store = FileStore(tmp_path / "chats")
    assert await ids(store, "ana-1") == []
    assert [item async for item in store.list_sessions()] == []
    assert await store.get_derived("ana-1", "key") is None
    assert not (tmp_path / "chats").exists()


async def test_journal_is_one_line_an_entry(tmp_path: Path) -> None:
    """The file holds the lines' bytes, each ended by one LF, and nothing else."""
    store = FileStore(tmp_path)
    await store.create("ana-1", lines(1))
    await store.append("ana-1", lines(2, 3), if_last=None)
    expected = b"".join(each.data + b"\n" for each in lines(1, 2, 3))
    assert (tmp_path / "ana-1.jsonl").read_bytes() == expected


async def test_reading_writes_nothing(tmp_path: Path) -> None:
    """Reading leaves a fragment, the time of change and the directory as they are."""
    await FileStore(tmp_path).create("ana-1", lines(1))
    path = tmp_path / "ana-1.jsonl"
    with path.open("ab") as file:
        file.write(b'{"id"')
    before = (path.read_bytes(), path.stat().st_mtime_ns, files_in(tmp_path))
    assert await numbers(tmp_path) == [1]
    assert [item.id async for item in FileStore(tmp_path).list_sessions()] == ["ana-1"]
    assert (path.read_bytes(), path.stat().st_mtime_ns, files_in(tmp_path)) == before


async def test_a_relative_directory_stays_where_it_was(tmp_path: Path) -> None:
    """A store of a relative path keeps its place when the working directory changes, and errors show it as given."""
    here = os.getcwd()
    try:
        os.chdir(tmp_path)
        store = FileStore("chats")
        os.chdir("/")
        await store.create("ana-1", lines(1))
    finally:
        os.chdir(here)
    assert (tmp_path / "chats" / "ana-1.jsonl").exists()
    with pytest.raises(SessionNotFound, match="no chat session 'ben-2' in chats"):
        await store.append("ben-2", lines(1), if_last=None)


@pytest.mark.parametrize("session_id", ["../x", "/abs", "a\\b", "", ".", "x.", "Ana", "con", "lpt1.txt", "a" * 129])
async def test_refused_ids_touch_no_disk(session_id: str, tmp_path: Path) -> None:
    """An id that cannot be a file name everywhere is refused before any file call, with the rule."""
    disk = FailingDisk()
    store = FileStore(tmp_path, disk=disk)
    with pytest.raises(InvalidSessionId, match="use 1 to 128 of a-z"):
        await store.create(session_id, lines(1))
    with pytest.raises(InvalidSessionId):
        store.read(session_id)
    with pytest.raises(InvalidSessionId):
        store.lease(session_id)
    with pytest.raises(InvalidSessionId):
        await store.delete(session_id)
    assert disk.calls == []


@pytest.mark.parametrize("session_id", ["a", "0", "a" * 128, "a.b_c-d", "conx", "com", "a-", "a_", "nul-1"])
async def test_accepted_ids(session_id: str, tmp_path: Path) -> None:
    """Every id within the rule is held."""
    await FileStore(tmp_path).create(session_id, lines(1))
    assert await numbers(tmp_path, session_id=session_id) == [1]


async def test_damage_names_file_and_line(tmp_path: Path) -> None:
    """A malformed line ends the reading with its file and number, behind all lines before it."""
    content = [each.data for each in lines(*range(1, 101))]
    content[49] = b"[]"
    (tmp_path / "ana-1.jsonl").write_bytes(b"\n".join(content) + b"\n")
    reading = FileStore(tmp_path).read("ana-1")
    for _ in range(49):
        await anext(reading)
    with pytest.raises(CorruptJournal, match=r"ana-1.jsonl, line 50: .*the 49 lines before it are readable"):
        await anext(reading)


async def test_damage_far_behind_is_counted(tmp_path: Path) -> None:
    """The number of a damaged line is right behind several blocks, and behind a remembered end."""
    store = FileStore(tmp_path)
    await store.create("ana-1", [line(n, comment="x" * 500) for n in range(6_000)])
    with (tmp_path / "ana-1.jsonl").open("ab") as file:
        file.write(b"\n")
    for after in (None, "entry-5999", "entry-7"):
        with pytest.raises(CorruptJournal, match="line 6001: a blank line"):
            await read(store, "ana-1", after=after)
    with pytest.raises(CorruptJournal, match="line 6001"):
        await store.append("ana-1", lines(9_000), if_last=None)


async def test_very_long_lines_are_read(tmp_path: Path) -> None:
    """A line of 20 MB between small ones is read and appended behind (specstoryai/getspecstory#108)."""
    written_lines = [line(1), line(2, comment="x" * 20_000_000), line(3)]
    await FileStore(tmp_path).create("ana-1", written_lines[:2])
    await FileStore(tmp_path).append("ana-1", written_lines[2:], if_last="entry-2")
    assert await read(FileStore(tmp_path), "ana-1") == written_lines
    assert await ids(FileStore(tmp_path), "ana-1", after="entry-2") == [3]


async def test_a_line_feed_in_a_line_is_refused(tmp_path: Path) -> None:
    """Bytes that would be two lines, and a journal without a line, are the caller's mistake."""
    store = FileStore(tmp_path)
    with pytest.raises(Misuse, match="line feed"):
        await store.create("ana-1", [Line("a", "x", b'{"id":"a",\n"type":"x"}')])
    with pytest.raises(Misuse, match="without a line"):
        await store.create("ana-1", [])
    await store.create("ana-1", lines(1))
    await store.append("ana-1", [], if_last="entry-1")
    assert await ids(store, "ana-1") == [1]


async def test_unreadable_journals_say_why(tmp_path: Path) -> None:
    """A directory in place of a journal, and a file in place of the directory, give the system's reason."""
    (tmp_path / "ana-1.jsonl").mkdir()
    with pytest.raises(StoreUnreadable, match=r"ana-1.jsonl cannot be used: Is a directory"):
        await ids(FileStore(tmp_path), "ana-1")
    with pytest.raises(StoreUnreadable, match="Is a directory"):
        await FileStore(tmp_path).append("ana-1", lines(1), if_last=None)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnreadable, match="Not a directory"):
        await FileStore(tmp_path / "file").create("ana-1", lines(1))


async def test_another_store_is_noticed(tmp_path: Path) -> None:
    """What another store appended is known from the file: the loser is told, reading goes on behind it."""
    mine, other = FileStore(tmp_path), FileStore(tmp_path)
    await mine.create("ana-1", lines(1))
    await other.append("ana-1", lines(2), if_last="entry-1")
    with pytest.raises(JournalMoved):
        await mine.append("ana-1", lines(3), if_last="entry-1")
    assert await ids(mine, "ana-1", after="entry-1") == [2]
    await mine.append("ana-1", lines(3), if_last="entry-2")
    assert await numbers(tmp_path) == [1, 2, 3]


async def test_a_session_made_anew_is_noticed(tmp_path: Path) -> None:
    """A journal deleted and made anew with the same shape is not taken for the remembered one."""
    mine, other = FileStore(tmp_path), FileStore(tmp_path)
    await mine.create("ana-1", lines(1))
    for number in (2, 3, 4):
        await other.delete("ana-1")
        await asyncio.sleep(0.01)
        await other.create("ana-1", lines(number))
        with pytest.raises(JournalMoved):
            await mine.append("ana-1", lines(8), if_last="entry-1")
        with pytest.raises(UnknownCursor):
            await ids(mine, "ana-1", after="entry-1")


async def test_a_journal_held_elsewhere_is_busy(tmp_path: Path) -> None:
    """An append waits for the journal's lock, and after the disk's patience says that the session is busy."""
    disk = Disk()
    path = await asyncio.to_thread(written, tmp_path, 1)
    holder = disk.open(str(path), os.O_RDWR)
    assert disk.try_lock(holder)
    hurried = Disk()
    hurried.patience = 0.05
    with pytest.raises(SessionBusy):
        await FileStore(tmp_path, disk=hurried).append("ana-1", lines(2), if_last=None)
    waiting = asyncio.create_task(FileStore(tmp_path).append("ana-1", lines(2), if_last="entry-1"))
    await asyncio.sleep(0.05)
    assert await numbers(tmp_path) == [1]
    os.close(holder)
    await waiting
    assert await numbers(tmp_path) == [1, 2]


async def test_remains_of_a_creator_are_no_session(tmp_path: Path) -> None:
    """A file without one complete entry is no session: it cannot be read or appended to, and create takes its place."""
    for number, remains in enumerate((b"", b'{"id"', b"\x00" * 100)):
        session_id = f"ana-{number}"
        (tmp_path / f"{session_id}.jsonl").write_bytes(remains)
        store = FileStore(tmp_path)
        assert await ids(store, session_id) == []
        assert [item async for item in store.list_sessions() if item.id == session_id] == []
        with pytest.raises(SessionNotFound):
            await store.append(session_id, lines(1), if_last=None)
        await store.create(session_id, lines(2))
        with pytest.raises(SessionExists):
            await store.create(session_id, lines(3))
        assert await ids(store, session_id) == [2]


async def test_old_unnamed_journals_are_swept(tmp_path: Path) -> None:
    """What a dead creator left is removed by a later store after an hour, and never listed."""
    await FileStore(tmp_path).create("ana-1", lines(1))
    old, young = (tmp_path / ".new" / name for name in ("00-old", "01-young"))
    for path in (old, young):
        path.write_bytes(b"")
    os.utime(old, (1, 1))
    await FileStore(tmp_path).create("ben-2", lines(1))
    assert (old.exists(), young.exists()) == (False, True)
    assert {item.id async for item in FileStore(tmp_path).list_sessions()} == {"ana-1", "ben-2"}


@pytest.mark.parametrize("entries", [10, 3_000])
async def test_an_append_costs_the_same_at_any_length(entries: int, tmp_path: Path) -> None:
    """An append makes the same six file calls, one write and one sync among them, however long the journal is."""
    disk = FailingDisk()
    store = FileStore(tmp_path, disk=disk)
    await store.create("ana-1", lines(*range(entries)))
    disk.calls.clear()
    await store.append("ana-1", lines(9_001, 9_002), if_last=None)
    assert disk.calls == ["open", "try_lock", "stat", "write", "sync_data", "stat"]


async def test_reading_on_costs_what_came_since(tmp_path: Path) -> None:
    """Behind the last line written or read, one block is read, however long the journal is."""
    disk = FailingDisk()
    store = FileStore(tmp_path, disk=disk)
    await store.create("ana-1", [line(n, comment="x" * 1_000) for n in range(5_000)])
    await FileStore(tmp_path).append("ana-1", lines(6_000), if_last=None)
    disk.calls.clear()
    assert await ids(store, "ana-1", after="entry-4999") == [6_000]
    assert await ids(store, "ana-1", after="entry-6000") == []
    assert disk.calls == ["open", "stat", "read"] * 2


async def test_a_reading_ends_where_the_file_ended(tmp_path: Path) -> None:
    """Lines appended during a reading belong to the next one."""
    store = FileStore(tmp_path)
    await store.create("ana-1", [line(n, comment="x" * 1_000) for n in range(3_000)])
    seen: list[str] = []
    async for each in store.read("ana-1"):
        if not seen:
            await store.append("ana-1", lines(9_000), if_last=None)
        seen.append(each.id)
    assert seen == [f"entry-{n}" for n in range(3_000)]
    assert await ids(store, "ana-1", after="entry-2999") == [9_000]


async def test_a_session_deleted_during_a_reading_is_told(tmp_path: Path) -> None:
    """A reading whose journal is deleted between two blocks ends with an error, not early."""
    store = FileStore(tmp_path)
    await store.create("ana-1", [line(n, comment="x" * 1_000) for n in range(3_000)])
    reading = store.read("ana-1")
    await anext(reading)
    await store.delete("ana-1")
    with pytest.raises(StoreUnreadable, match="deleted while it was read"):
        assert [each async for each in reading]


class StaleDisk(Disk):
    """Gives once what the file held a moment ago: a fragment where a line has been written since."""

    def __init__(self, stale: bytes) -> None:
        self._stale: bytes | None = stale

    def read(self, descriptor: int, *, length: int, offset: int) -> bytes:
        stale, self._stale = self._stale, None
        return stale if stale is not None else super().read(descriptor, length=length, offset=offset)


async def test_a_line_that_is_being_replaced_is_read_again(tmp_path: Path) -> None:
    """A malformed line is read once more before it is corrupt: a writer may just have replaced a fragment."""
    await FileStore(tmp_path).create("ana-1", lines(1, 2))
    first, second = (each.data for each in lines(1, 2))
    for stale in (first + b"\n" + b'{"id":"torn' + second[11:-1] + b"\n", b"{" + first[2:] + b"\n"):
        assert await ids(FileStore(tmp_path, disk=StaleDisk(stale)), "ana-1") == [1, 2]
