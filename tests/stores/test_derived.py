"""Derived content beside the journals, and erasing sessions."""

from pathlib import Path

import pytest

from antiphon.errors import SessionNotFound, StoreUnreadable
from antiphon.stores import FileStore
from antiphon.testing._failing_disk import FailingDisk
from antiphon.testing._store_hooks import ids, lines
from tests.stores.places import files_in

pytestmark = pytest.mark.anyio


async def kept(place: Path) -> tuple[FileStore, Path]:
    """Make a session with one derived content and give its file."""
    store = FileStore(place)
    await store.create("ana-1", lines(1))
    await store.put_derived("ana-1", "summary", content=b"short")
    (path,) = (place / ".derived" / "ana-1").iterdir()
    return store, path


@pytest.mark.parametrize("damage", [b"", b"short", b"\x00" * 37, b"\xff" * 1_000])
async def test_damage_reads_as_absence(damage: bytes, tmp_path: Path) -> None:
    """Content that is cut, zeroed or foreign is not given out, and can be put again."""
    store, path = await kept(tmp_path)
    path.write_bytes(damage)
    assert await store.get_derived("ana-1", "summary") is None
    await store.put_derived("ana-1", "summary", content=b"again")
    assert await store.get_derived("ana-1", "summary") == b"again"


async def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    """A single changed byte anywhere makes the content absent."""
    store, path = await kept(tmp_path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert await store.get_derived("ana-1", "summary") is None


async def test_losing_all_of_it_loses_no_line(tmp_path: Path) -> None:
    """The whole directory of derived content may be removed at any time."""
    store, path = await kept(tmp_path)
    path.unlink()
    path.parent.rmdir()
    assert await store.get_derived("ana-1", "summary") is None
    assert await ids(store, "ana-1") == [1]
    await store.put_derived("ana-1", "summary", content=b"again")


async def test_a_full_disk_leaves_the_old_content(tmp_path: Path) -> None:
    """Whichever call fails, old or new content is there, never a mix, and no temporary file."""
    store, path = await kept(tmp_path)
    dry = FailingDisk()
    await FileStore(tmp_path, disk=dry).put_derived("ana-1", "summary", content=b"short")
    for at in range(1, len(dry.calls) + 1):
        failing = FileStore(tmp_path, disk=FailingDisk(at=at, how="half"))
        with pytest.raises(StoreUnreadable, match="No space left on device"):
            await failing.put_derived("ana-1", "summary", content=b"longer than that")
        assert await store.get_derived("ana-1", "summary") in (b"short", b"longer than that")
        assert list(path.parent.iterdir()) == [path]


async def test_deletion_names_what_it_erased(tmp_path: Path) -> None:
    """Journal, derived content and remains of creators are erased and named; only the lock file stays."""
    store, path = await kept(tmp_path)
    (tmp_path / ".new" / "00-ana-1").write_bytes(b"old")
    (tmp_path / ".new" / "00-ben-2").write_bytes(b"old")
    erased = await store.delete("ana-1")
    assert erased == (f".derived/ana-1/{path.name}", ".new/00-ana-1", "ana-1.jsonl")
    assert files_in(tmp_path) == {".locks/ana-1", ".new/00-ben-2"}


async def test_interrupted_deletion_can_be_repeated(tmp_path: Path) -> None:
    """Whichever call of a deletion fails, asking again erases the rest, or says that the session is gone."""
    store, _ = await kept(tmp_path)
    await store.delete("ana-1")  # what is made once, the lock, is there from now on
    await store.create("ana-1", lines(1))
    await store.put_derived("ana-1", "summary", content=b"short")
    dry = FailingDisk()
    await FileStore(tmp_path, disk=dry).delete("ana-1")
    for at in range(1, len(dry.calls) + 1):
        await store.create("ana-1", lines(1))
        await store.put_derived("ana-1", "summary", content=b"short")
        try:
            await FileStore(tmp_path, disk=FailingDisk(at=at)).delete("ana-1")
        except StoreUnreadable:
            try:
                await store.delete("ana-1")
            except SessionNotFound:
                assert dry.calls[at - 1] in ("sync_directory", "list_directory")
        assert not (tmp_path / "ana-1.jsonl").exists() and not (tmp_path / ".derived" / "ana-1").exists()
