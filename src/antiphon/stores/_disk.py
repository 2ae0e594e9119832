"""The few file calls that `FileStore` makes, in one class, so that a test can make each of them fail.

Rules of the systems: POSIX.1-2017 (open, fdatasync, link), Linux flock(2), Apple's fcntl(2) for F_FULLFSYNC. On
Windows there are no modes and no directory sync, and locks are those of the C runtime.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

from ..errors import StoreUnreadable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_ALWAYS = getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""Bytes as they are; and never wait for the other end of a named pipe that lies where a journal should."""

_FAR = 1 << 40
"""Windows locks are mandatory, so the byte that is locked is one that no journal reaches."""


class Disk:
    """The file system as `FileStore` sees it. Every method raises OSError.

    Attributes:
        patience: seconds to wait for the lock of a journal that another writer holds.
    """

    patience: float = 5.0

    def open(self, path: str, flags: int) -> int:
        """Open a file, never inherited by other programs. A file that this call makes (`O_CREAT | O_EXCL`) has
        mode 0600, whatever the umask."""
        descriptor = os.open(path, flags | _ALWAYS, 0o600)
        if flags & os.O_CREAT and sys.platform != "win32":
            os.fchmod(descriptor, 0o600)
        return descriptor

    def stat(self, target: int | str) -> os.stat_result:
        """Say what is known of an open file or a path."""
        return os.stat(target)

    def read(self, descriptor: int, *, length: int, offset: int) -> bytes:
        """Read up to `length` bytes from `offset`; fewer only at the end."""
        if sys.platform == "win32":
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.read(descriptor, length)
        return os.pread(descriptor, length, offset)

    def write(self, descriptor: int, content: bytes | memoryview) -> int:
        """Write once and say how many bytes were taken."""
        return os.write(descriptor, content)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut an open file to `size` bytes."""
        os.ftruncate(descriptor, size)

    def sync_data(self, descriptor: int) -> None:
        """Return when the content of an open file, and its size, would survive a power loss."""
        if sys.platform == "darwin":
            # fsync leaves the content in the drive's own cache there.
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        elif sys.platform == "win32":
            os.fsync(descriptor)
        else:
            os.fdatasync(descriptor)

    def sync_directory(self, path: str) -> None:
        """Return when the names in a directory would survive a power loss."""
        if sys.platform == "win32":
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def link(self, path: str, second: str) -> None:
        """Give a file a second name; FileExistsError if that is taken."""
        os.link(path, second)

    def replace(self, path: str, other: str) -> None:
        """Rename a file over another in one step."""
        os.replace(path, other)

    def remove(self, path: str) -> None:
        """Remove a file, or an empty directory."""
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)

    def make_directory(self, path: str) -> bool:
        """Make a directory of mode 0700, whatever the umask, or say that something is there."""
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            return False
        os.chmod(path, 0o700)
        return True

    def list_directory(self, path: str) -> list[tuple[str, int]]:
        """Give name and last change (nanoseconds) of each file in a directory; what is no file is left out."""
        with os.scandir(path) as entries:
            changes = [(entry.name, _change(entry)) for entry in entries]
        return [(name, changed) for name, changed in changes if changed is not None]

    def try_lock(self, descriptor: int) -> bool:
        """Take the one lock of an open file, or say that another holds it. Closing the file lets it go."""
        try:
            if sys.platform == "win32":
                os.lseek(descriptor, _FAR, os.SEEK_SET)
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True


def _change(entry: os.DirEntry[str]) -> int | None:
    try:
        return entry.stat().st_mtime_ns if entry.is_file() else None
    except OSError:
        return None  # It went away, or is a link to nowhere.


def reason(error: OSError) -> str:
    """Give the system's sentence for an error, as in `No space left on device`."""
    return os.strerror(error.errno) if error.errno is not None else str(error)


@contextlib.contextmanager
def unreadable(where: str) -> Iterator[None]:
    """Turn an error of the system into StoreUnreadable."""
    try:
        yield
    except OSError as error:
        raise StoreUnreadable(where, reason(error)) from error


def write_all(disk: Disk, descriptor: int, *, content: bytes) -> None:
    """Write everything: in one call, unless the system takes less.

    Raises:
        OSError: some of it may then be written.
    """
    written = disk.write(descriptor, content)
    while written < len(content):
        # A full disk takes what fits; the next call says why it took no more.
        written += disk.write(descriptor, memoryview(content)[written:])


def lock_within(disk: Disk, descriptor: int, *, seconds: float) -> bool:
    """Take a lock, trying for some seconds; a blocking call could not be given up."""
    deadline = time.monotonic() + seconds
    pause = 0.0005
    while not disk.try_lock(descriptor):
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(2 * pause, 0.01)
    return True


def ensure_directory(disk: Disk, path: str) -> None:
    """Make a directory and those above it, each durable before the next is used."""
    try:
        made = disk.make_directory(path)
    except FileNotFoundError:
        ensure_directory(disk, os.path.dirname(path))
        made = disk.make_directory(path)
    if made:
        disk.sync_directory(os.path.dirname(path))
