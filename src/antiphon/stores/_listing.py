"""What a directory holds, at a bounded cost a session: the first and the last 64 KiB of each journal.

One damaged journal is marked and costs no other its place.
"""

from __future__ import annotations

import os

from ..journal._codec import Line
from ._directory import Directory
from ._disk import Disk, reason, unreadable
from ._store import Listed
from ._torn_tail import kept, lines_in

LOOK = 1 << 16
"""Bytes read at each end of a journal."""

LONGEST_FIRST = 1 << 20
"""Bytes up to which a long first line is followed."""


def sessions_in(directory: Directory) -> list[tuple[int, str]]:
    """Give last change (nanoseconds) and id of each session, last changed first; nothing where no directory is.

    Raises:
        StoreUnreadable
    """
    with unreadable(directory.shown):
        try:
            files = directory.disk.list_directory(directory.root)
        except FileNotFoundError:
            return []
    named = [(changed, directory.session_of(name)) for name, changed in files]
    return sorted([(changed, session_id) for changed, session_id in named if session_id is not None], reverse=True)


def listed(directory: Directory, session_id: str, *, changed: int) -> Listed | None:
    """Look at one session; None if it is gone or holds no complete entry."""
    try:
        first, tail, whole, problem = _looked(directory.disk, directory.journal(session_id))
    except FileNotFoundError:
        return None
    except OSError as error:
        first, tail, whole, problem = None, (), False, reason(error)
    if first is None and problem is None:
        return None
    return Listed(session_id, first, tail, whole, changed / 1e9, problem)


_Look = tuple[Line | None, tuple[Line, ...], bool, str | None]


def _looked(disk: Disk, path: str) -> _Look:
    descriptor = disk.open(path, os.O_RDONLY)
    try:
        size = disk.stat(descriptor).st_size
        head = disk.read(descriptor, length=min(size, LOOK), offset=0)
        if size <= LOOK:
            return _all_of(head)
        if b"\n" not in head:
            head += disk.read(descriptor, length=LONGEST_FIRST - len(head), offset=len(head))
        begin = size - LOOK
        return _ends_of(head, disk.read(descriptor, length=LOOK, offset=begin), begin=begin)
    finally:
        os.close(descriptor)


def _all_of(content: bytes) -> _Look:
    lines, used, why = lines_in(content)
    if why is not None:
        return (lines[0] if lines else None), (), False, f"line {len(lines) + 1}: {why}"
    last = kept(content[used:])
    if last is not None:
        lines.append(last)
    return (lines[0] if lines else None), tuple(lines[1:]), True, None


def _ends_of(head: bytes, tail: bytes, *, begin: int) -> _Look:
    cut = head.find(b"\n") + 1
    if cut == 0:
        return None, (), False, f"the first line is longer than {LONGEST_FIRST:,} bytes"
    firsts, _, why = lines_in(head[:cut])
    if why is not None:
        return None, (), False, f"line 1: {why}"
    # The first line may reach into the tail; else the tail starts within some line, of which the rest is passed over.
    skipped = cut - begin if cut > begin else tail.find(b"\n") + 1
    if skipped == 0:
        return firsts[0], (), False, None
    lines, used, why = lines_in(tail[skipped:])
    if why is not None:
        return firsts[0], (), False, f"near its end: {why}"
    last = kept(tail[skipped + used :])
    if last is not None:
        lines.append(last)
    return firsts[0], tuple(lines), begin + skipped == cut, None
