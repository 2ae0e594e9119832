"""Who may read what FileStore writes."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.stores import FileStore
from antiphon.stores._disk import Disk
from antiphon.testing._store_hooks import lines

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")]


class WatchingDisk(Disk):
    """Notes the mode of each file that is to get a name."""

    def __init__(self) -> None:
        self.modes: list[int] = []

    def link(self, path: str, second: str) -> None:
        self.modes.append(mode(path))
        super().link(path, second)

    def replace(self, path: str, other: str) -> None:
        self.modes.append(mode(path))
        super().replace(path, other)


def mode(path: str | Path) -> int:
    """The permission bits of a file."""
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o277], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """The process's mask for a test."""
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
async def test_only_the_owner_may_read(tmp_path: Path) -> None:
    """Directories have mode 0700 and files 0600, temporary and lock files too, whatever the umask."""
    disk = WatchingDisk()
    store = FileStore(tmp_path / "above" / "chats", disk=disk)
    await store.create("ana-1", lines(1))
    await store.append("ana-1", lines(2), if_last=None)
    await store.put_derived("ana-1", "key", content=b"x")
    async with store.lease("ana-1"):
        made = list((tmp_path / "above").rglob("*"))
        assert {mode(path) for path in made if path.is_file()} == {0o600}
        assert {mode(path) for path in [tmp_path / "above", *made] if path.is_dir()} == {0o700}
    assert disk.modes == [0o600, 0o600]


async def test_modes_of_others_stay(tmp_path: Path) -> None:
    """A directory and a journal that were there keep the modes that they have."""
    place = tmp_path / "chats"
    place.mkdir(mode=0o755)
    place.chmod(0o755)
    journal = place / "ana-1.jsonl"
    journal.write_bytes(lines(1)[0].data + b"\n")
    journal.chmod(0o640)
    await FileStore(place).append("ana-1", lines(2), if_last="entry-1")
    await FileStore(place).create("ben-2", lines(1))
    assert (mode(place), mode(journal)) == (0o755, 0o640)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_what_may_not_be_read_is_listed_with_its_problem(tmp_path: Path) -> None:
    """A journal of someone else is listed, marked, and costs no other its place."""
    store = FileStore(tmp_path)
    for session_id in ("ana-1", "ben-2"):
        await store.create(session_id, lines(1))
    (tmp_path / "ana-1.jsonl").chmod(0)
    found = {item.id: item.problem async for item in store.list_sessions()}
    assert found == {"ana-1": "Permission denied", "ben-2": None}
