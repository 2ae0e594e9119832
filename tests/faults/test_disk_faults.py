"""Every file call fails once, in each way, and the process dies at each: nothing acknowledged is lost."""

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import Awaitable
from pathlib import Path

import pytest

from antiphon.errors import AppendFailed, AppendUncertain, JournalMoved, StoreError
from antiphon.stores import FileStore
from antiphon.testing._failing_disk import FailingDisk, When
from antiphon.testing._store_hooks import ids, line, lines
from tests.faults import killed_writers
from tests.stores.places import ended, numbers, python, written

HOW: tuple[When, ...] = ("before", "after", "half")
PROVE = os.environ.get("ANTIPHON_PROVE") == "1"


class Outcome:
    """What the writer of a scenario was told."""

    def __init__(self) -> None:
        self.acknowledged: list[int] = []
        self.uncertain: list[int] = []
        self.errors: list[StoreError] = []

    async def step(self, write: Awaitable[None], *numbers: int) -> None:
        """Do one write and note its end."""
        try:
            await write
            self.acknowledged += numbers
        except AppendUncertain as error:
            self.uncertain += numbers
            self.errors.append(error)
        except StoreError as error:
            self.errors.append(error)


async def scenario(place: Path, disk: FailingDisk) -> Outcome:
    """Create, append, then append behind a fragment and behind an entry without its newline."""
    store, outcome = FileStore(place / "chats", disk=disk), Outcome()
    path = place / "chats" / "ana-1.jsonl"
    await outcome.step(store.create("ana-1", lines(1, 2)), 1, 2)
    await outcome.step(store.append("ana-1", lines(3, 4), if_last=None), 3, 4)
    if path.exists():
        with path.open("ab") as file:
            file.write(b'{"id":"torn')
    await outcome.step(store.append("ana-1", lines(5), if_last=None), 5)
    if path.exists() and outcome.acknowledged:
        os.truncate(path, path.stat().st_size - 1)
    await outcome.step(store.append("ana-1", lines(6), if_last=None), 6)
    return outcome


def calls_of(place: Path) -> int:
    """How many file calls the scenario makes when none fails."""
    disk = FailingDisk()
    outcome = asyncio.run(scenario(place, disk))
    assert outcome.acknowledged == [1, 2, 3, 4, 5, 6]
    return len(disk.calls)


async def check_promises(place: Path, outcome: Outcome) -> None:
    """Hold a place against what its writer was told, and that it takes a next append."""
    found = await numbers(place / "chats")
    assert set(outcome.acknowledged) <= set(found) <= {*outcome.acknowledged, *outcome.uncertain}
    assert found == sorted(found), "in the order of the calls, none twice"
    store = FileStore(place / "chats")
    if found:
        await store.append("ana-1", lines(9), if_last=f"entry-{found[-1]}")
    else:
        await store.create("ana-1", lines(9))
    assert await numbers(place / "chats") == [*found, 9]


@pytest.mark.parametrize("times", [1, 2, 3, 1_000], ids="{}-calls".format)
@pytest.mark.parametrize("how", HOW)
def test_every_call_fails(how: When, times: int, tmp_path: Path) -> None:
    """Whichever call fails, and some or all behind it: acknowledged lines stay, refused ones are not there."""
    for at in range(1, calls_of(tmp_path / "dry") + 1):
        place = tmp_path / str(at)
        outcome = asyncio.run(scenario(place, FailingDisk(at=at, how=how, times=times)))
        asyncio.run(check_promises(place, outcome))


@pytest.mark.parametrize("how", HOW)
def test_one_failing_call_is_never_uncertain(how: When, tmp_path: Path) -> None:
    """What one failing call leaves can be taken back, so the writer is told that nothing was kept."""
    for at in range(1, calls_of(tmp_path / "dry") + 1):
        outcome = asyncio.run(scenario(tmp_path / str(at), FailingDisk(at=at, how=how)))
        assert outcome.uncertain == []
        assert all("No space left on device" in str(error) for error in outcome.errors[:1])


@pytest.mark.parametrize("call", ["write", "sync_data"])
def test_what_cannot_be_taken_back_is_uncertain(call: str, tmp_path: Path) -> None:
    """When taking back fails as well, the writer is told to read; the next append finds the file as it is."""
    dry = FailingDisk()
    asyncio.run(scenario(tmp_path / "dry", dry))
    first_append = dry.calls.index("sync_directory", dry.calls.index("link")) + 1
    at = dry.calls.index(call, first_append) + 1
    broken = OSError(errno.EIO, os.strerror(errno.EIO))
    outcome = asyncio.run(scenario(tmp_path / "x", FailingDisk(at=at, how="half", times=3, error=broken)))
    assert isinstance(outcome.errors[0], AppendUncertain)
    assert "may or may not have been written: Input/output error" in str(outcome.errors[0])
    asyncio.run(check_promises(tmp_path / "x", outcome))


def test_a_full_disk_is_told_plainly(tmp_path: Path) -> None:
    """A full disk gives its reason; what was half written is gone, and with space the next append works."""
    written(tmp_path, 1)
    before = (tmp_path / "ana-1.jsonl").read_bytes()
    full = FileStore(tmp_path, disk=FailingDisk(at=5, how="half"))
    with pytest.raises(AppendFailed, match="'ana-1' could not be written, nothing was kept: No space left on device"):
        asyncio.run(full.append("ana-1", lines(2), if_last=None))
    assert (tmp_path / "ana-1.jsonl").read_bytes() == before
    asyncio.run(full.append("ana-1", lines(3), if_last="entry-1"))
    assert asyncio.run(numbers(tmp_path)) == [1, 3]


def test_a_limit_of_the_system_is_told_plainly(tmp_path: Path) -> None:
    """A real short write, at the limit of a file's size, is taken back and told."""
    written(tmp_path, 1)
    program = """if True:
        import asyncio, resource, sys
        from antiphon.errors import AppendFailed
        from antiphon.stores import FileStore
        from antiphon.testing._store_hooks import ids, lines
        resource.setrlimit(resource.RLIMIT_FSIZE, (350, 350))
        store = FileStore(sys.argv[1])
        try:
            asyncio.run(store.append("ana-1", lines(2, 3), if_last="entry-1"))
        except AppendFailed as error:
            print(error.why, asyncio.run(ids(store, "ana-1")))
    """
    assert ended(python(program, str(tmp_path))) == "File too large [1]"
    assert len((tmp_path / "ana-1.jsonl").read_bytes()) == len(line(1).data) + 1


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="the process that is killed is a fork of this one, and this system has no os.fork"
)
@pytest.mark.parametrize("how", HOW)
def test_killed_at_every_call(how: When, tmp_path: Path) -> None:
    """A writer killed at any call leaves every acknowledged line, at most the batch it died in, and a usable store."""
    program = [sys.executable, str(Path(killed_writers.__file__)), str(tmp_path), how]
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    calls = int(subprocess.run(program, env=environment, stdout=subprocess.PIPE, check=True, timeout=300).stdout)
    for at in range(1, calls + 1):
        place, outcome = tmp_path / str(at), Outcome()
        outcome.acknowledged = [int(number) for number in (place / "acknowledged").read_text().split()]
        batch = {0: [1, 2], 2: [3], 3: [4, 5], 5: []}[len(outcome.acknowledged)]
        outcome.uncertain = batch
        asyncio.run(check_promises(place, outcome))


def cuts(length: int) -> list[int]:
    """Where to cut: everywhere in a proof, else in steps that hit every place within a character."""
    return list(range(length)) if PROVE else sorted({*range(0, length, 7), *range(length - 12, length)})


def test_a_tail_torn_anywhere(tmp_path: Path) -> None:
    """Cut at any byte of its last entry, a journal keeps the entries before, and the next append replaces the rest."""
    last = line(3, comment="ä漢😀")
    before = b"".join(each.data + b"\n" for each in lines(1, 2))
    for cut in cuts(len(last.data) + 1):
        whole = cut == len(last.data)
        (tmp_path / "ana-1.jsonl").write_bytes(before + last.data[:cut])
        assert asyncio.run(numbers(tmp_path)) == ([1, 2, 3] if whole else [1, 2])
        asyncio.run(FileStore(tmp_path).append("ana-1", lines(9), if_last=None))
        kept = before + (last.data + b"\n" if whole else b"")
        assert (tmp_path / "ana-1.jsonl").read_bytes() == kept + line(9).data + b"\n"


WRITER = """if True:
    import asyncio, sys
    from antiphon.errors import JournalMoved
    from antiphon.stores import FileStore
    from antiphon.testing._store_hooks import lines
    async def main(place, first, count):
        store, last, refused = FileStore(place), None, 0
        for number in range(first, first + 2 * count, 2):
            while True:
                async for each in store.read("ana-1", after=last):
                    last = each.id
                try:
                    await store.append("ana-1", lines(number, number + 1), if_last=last)
                    break
                except JournalMoved:
                    refused += 1
            last = f"entry-{number + 1}"
        print(refused)
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


def test_two_processes_at_once(tmp_path: Path) -> None:
    """Two writers that each expect the last line lose none, tear no batch apart, and tell who comes second."""
    count = 400 if PROVE else 60
    written(tmp_path, 0)
    writers = [python(WRITER, str(tmp_path), str(first), str(count)) for first in (1_001, 2_001)]
    refused = [int(ended(writer)) for writer in writers]
    found = asyncio.run(numbers(tmp_path))
    assert sorted(found) == sorted([0, *range(1_001, 1_001 + 2 * count), *range(2_001, 2_001 + 2 * count)])
    pairs = list(zip(found[1::2], found[2::2], strict=True))
    assert all(second == first + 1 for first, second in pairs)
    for begin in (1_001, 2_001):
        own = [first for first, _ in pairs if begin <= first < begin + 1_000]
        assert own == sorted(own)
    assert len(refused) == 2


def test_two_processes_in_turns(tmp_path: Path) -> None:
    """Writers that take turns each find what the other wrote; one that did not look is told."""
    written(tmp_path, 0)
    for number, count in ((1, 3), (101, 2), (201, 1)):
        assert ended(python(WRITER, str(tmp_path), str(number), str(count))) == "0"
    assert asyncio.run(numbers(tmp_path)) == [0, *range(1, 7), *range(101, 105), *range(201, 203)]
    with pytest.raises(JournalMoved):
        asyncio.run(FileStore(tmp_path).append("ana-1", lines(9), if_last="entry-6"))


def test_no_encoding_of_the_platform_is_used(tmp_path: Path) -> None:
    """With a C locale and UTF-8 mode off, the same bytes are written and read (Ruya-AI/cozempic#1)."""
    program = """if True:
        import asyncio, sys
        from antiphon.stores import FileStore
        from antiphon.testing._store_hooks import TEXTS, line, read
        store, content = FileStore(sys.argv[1]), [line(n, comment=text) for n, text in enumerate(TEXTS)]
        asyncio.run(store.create("ana-1", content))
        print(asyncio.run(read(store, "ana-1")) == content)
    """
    started = python(program, str(tmp_path), PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", LC_ALL="C")
    assert ended(started) == "True"
    assert asyncio.run(ids(FileStore(tmp_path), "ana-1")) == list(range(7))
