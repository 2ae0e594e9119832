"""Where a journal file ends: remembered, or found by a bounded look."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..errors import CorruptJournal
from ._disk import Disk
from ._torn_tail import End, end_in

_LOOK = 1 << 16


class Known(NamedTuple):
    """The end of a journal as a store left it.

    Attributes:
        inode: the file's number.
        size: bytes up to its last good newline.
        changed: its last change, in nanoseconds. A deleted journal's number is given out again at once, so number
            and size alone could mean another file.
        start: where the last line starts.
        id: the last line's id.
    """

    inode: int
    size: int
    changed: int
    start: int
    id: str

    def is_end_of(self, status: os.stat_result) -> bool:
        """Say whether nobody has written since."""
        return (self.inode, self.size, self.changed) == (status.st_ino, status.st_size, status.st_mtime_ns)


def end_of(disk: Disk, descriptor: int, *, size: int, shown: str) -> End:
    """Read backwards until the last entry is whole: no more than some times its length.

    Args:
        disk: makes the file calls.
        descriptor: the open journal.
        size: its size in bytes.
        shown: its path, for the error.

    Raises:
        CorruptJournal: if the last line that ends in LF is no entry.
        OSError
    """
    length = _LOOK
    while True:
        begin = max(0, size - length)
        end = end_in(disk.read(descriptor, length=size - begin, offset=begin), whole=begin == 0)
        if end is not None:
            break
        length *= 4
    if end.why is not None:
        raise CorruptJournal(shown, lines_before(disk, descriptor, stop=begin + end.start) + 1, why=end.why)
    return end._replace(start=begin + end.start, stop=begin + end.stop)


def lines_before(disk: Disk, descriptor: int, *, stop: int) -> int:
    """Count the lines in front of an offset: only to tell where damage is."""
    counted = position = 0
    while block := disk.read(descriptor, length=min(1 << 20, stop - position), offset=position):
        counted += block.count(b"\n")
        position += len(block)
    return counted
