"""What FileStore lists, and what that costs."""

import os
from pathlib import Path

import pytest

from antiphon.stores import FileStore, Listed
from antiphon.testing._failing_disk import FailingDisk
from antiphon.testing._store_hooks import line, lines
from tests.stores.places import written

pytestmark = pytest.mark.anyio


async def listed(place: Path, *, before: str | None = None) -> list[Listed]:
    """List a directory."""
    return [item async for item in FileStore(place).list_sessions(before=before)]


def keep(place: Path, session_id: str, *, content: bytes) -> None:
    """Put a journal there as it is."""
    (place / f"{session_id}.jsonl").write_bytes(content)


async def test_a_damaged_session_costs_no_other(tmp_path: Path) -> None:
    """Of three sessions the damaged one is listed with its problem, the others as they are."""
    good = b"".join(each.data + b"\n" for each in lines(1, 2))
    keep(tmp_path, "a", content=good)
    keep(tmp_path, "b", content=good + b"[]\n" + good)
    keep(tmp_path, "c", content=b"[]\n" + good)
    found = {item.id: item for item in await listed(tmp_path)}
    assert (found["a"].problem, found["a"].whole) == (None, True)
    assert found["b"].problem is not None and found["b"].problem.startswith("line 3: not an entry")
    assert (found["b"].first, found["b"].whole) == (line(1), False)
    assert found["c"].problem is not None and found["c"].first is None


async def test_other_files_are_passed_over(tmp_path: Path) -> None:
    """Files and directories that are no journals of ours are not listed."""
    keep(tmp_path, "a", content=lines(1)[0].data)
    for name in ("Upper", "x.", ".hidden", "con", "a b"):
        keep(tmp_path, name, content=lines(1)[0].data)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "d.jsonl").mkdir()
    (tmp_path / "lost.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert [(item.id, item.first, item.whole) for item in await listed(tmp_path)] == [("a", line(1), True)]


async def test_a_session_is_looked_at_within_bounds(tmp_path: Path) -> None:
    """Of a large session two blocks of 64 KiB are read, whatever its size."""
    disk = FailingDisk()
    await FileStore(tmp_path).create("a", [line(n, comment="x" * 1_000) for n in range(5_000)])
    (item,) = [item async for item in FileStore(tmp_path, disk=disk).list_sessions()]
    assert disk.calls == ["list_directory", "open", "stat", "read", "read"]
    assert item.first == line(0, comment="x" * 1_000)
    assert [each.id for each in item.tail] == [f"entry-{n}" for n in range(5_000 - len(item.tail), 5_000)]
    assert 40 < len(item.tail) < 64 and not item.whole


@pytest.mark.parametrize("first", [100, 65_000, 66_000, 140_000, 900_000])
async def test_long_first_lines_are_shown(first: int, tmp_path: Path) -> None:
    """A first line of up to a mebibyte is shown; whether that is all is right at every length."""
    content = [line(1, comment="x" * first), *lines(2, 3)]
    await FileStore(tmp_path).create("a", content)
    (item,) = await listed(tmp_path)
    assert (item.first, list(item.tail), item.whole, item.problem) == (content[0], content[1:], True, None)


async def test_a_longer_first_line_is_a_problem(tmp_path: Path) -> None:
    """A first line over a mebibyte is not read to its end, and the listing says so."""
    await FileStore(tmp_path).create("a", [line(1, comment="x" * (1 << 20)), line(2)])
    (item,) = await listed(tmp_path)
    assert (item.first, item.whole, item.problem) == (None, False, "the first line is longer than 1,048,576 bytes")


async def test_a_long_last_line_is_beyond_the_look(tmp_path: Path) -> None:
    """When the last line is longer than the look, the tail is empty and the session not whole."""
    await FileStore(tmp_path).create("a", [*lines(1, 2), line(3, comment="x" * 200_000)])
    (item,) = await listed(tmp_path)
    assert (item.first, item.tail, item.whole, item.problem) == (line(1), (), False, None)


async def test_fragments_are_passed_over(tmp_path: Path) -> None:
    """A fragment is no problem, and a last entry without newline is listed."""
    good = b"".join(each.data + b"\n" for each in [line(1), line(2, comment="x" * 100_000), line(3)])
    keep(tmp_path, "a", content=good + line(4).data)
    keep(tmp_path, "b", content=good + line(4).data[:-1])
    found = {item.id: item for item in await listed(tmp_path)}
    assert [each.id for each in found["a"].tail] == ["entry-3", "entry-4"]
    assert [each.id for each in found["b"].tail] == ["entry-3"]
    assert found["a"].problem is None and found["b"].problem is None


async def test_pages_join(tmp_path: Path) -> None:
    """Page behind page gives every session once, last changed first, those of one moment by id."""
    for number in range(40):
        keep(tmp_path, f"s-{number:02}", content=lines(1)[0].data)
        os.utime(tmp_path / f"s-{number:02}.jsonl", (1_000 + number // 4, 1_000 + number // 4))
    whole = [item.id for item in await listed(tmp_path)]
    assert whole == [f"s-{number:02}" for number in reversed(range(40))]
    assert [item.id for item in await listed(tmp_path, before=whole[6])] == whole[7:]
    assert (await listed(tmp_path))[0].changed == 1_009.0


def test_written_helper_makes_a_session(tmp_path: Path) -> None:
    """The tests' own way to make a session leaves a journal of these lines."""
    assert written(tmp_path, 1, 2).read_bytes() == b"".join(each.data + b"\n" for each in lines(1, 2))
