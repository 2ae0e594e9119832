"""The order of disk calls that a loss of power is argued from."""

import errno
from pathlib import Path

import pytest

from antiphon import FileStore, Line
from antiphon.errors import AppendFailed
from antiphon.stores import Disk
from antiphon.testing import FailingDisk

pytestmark = pytest.mark.anyio

FIRST, SECOND = (Line(id, "note", b'{"id":"%s","type":"note"}' % id.encode()) for id in ("1", "2"))


class NamingDisk(Disk):
    """Notes under which names files are renamed over others."""

    def __init__(self) -> None:
        self.renamed: list[str] = []

    def replace(self, path: str, other: str) -> None:
        """Note the first name, and rename."""
        self.renamed.append(path)
        super().replace(path, other)


async def test_a_new_journal_is_synced_before_it_has_its_name(tmp_path: Path) -> None:
    """Content first, then the name, then the directory: a file under a session's name is whole after a power loss."""
    disk = FailingDisk()
    await FileStore(tmp_path, disk=disk).create("s", [FIRST])
    made = disk.calls[disk.calls.index("write") :]
    order = [call for call in made if call in ("write", "sync_data", "link", "sync_directory")]
    assert order == ["write", "sync_data", "link", "sync_directory"]


async def test_an_append_that_is_taken_back_is_synced_again(tmp_path: Path) -> None:
    """What was called failed must not come back after a power loss: the file is cut, and the cut is synced."""
    await FileStore(tmp_path).create("s", [FIRST])
    dry = FailingDisk()
    await FileStore(tmp_path, disk=dry).append("s", [SECOND], if_last="1")
    disk = FailingDisk(at=dry.calls.index("write") + 1, how="half", error=OSError(errno.ENOSPC, "no space"))
    with pytest.raises(AppendFailed):
        await FileStore(tmp_path, disk=disk).append("s", [SECOND], if_last="2")
    behind = disk.calls[disk.calls.index("write") + 1 :]
    assert [call for call in behind if call in ("truncate", "sync_data")] == ["truncate", "sync_data"]


async def test_derived_content_is_written_under_a_name_of_its_own(tmp_path: Path) -> None:
    """Two writers of the same content never share a temporary file, which could publish a mixture."""
    disk = NamingDisk()
    store = FileStore(tmp_path, disk=disk)
    await store.create("s", [FIRST])
    for content in (b"one", b"two"):
        await store.put_derived("s", "summary", content=content)
    assert len(set(disk.renamed)) == 2
