"""Server-sent events, from bytes to the data of each event. Pure.

httpx2's own `EventSource` is not used: it refuses any other content type than `text/event-stream`, reads a byte order
mark as text, takes one mebibyte for the most that an event may hold, and drops a last event that no blank line ends.
Servers that call themselves compatible do each of these.
"""

from __future__ import annotations

MAX_EVENT = 16 * 1024 * 1024
"""Bytes that one event may hold: more would be held in memory without end."""

_BOM = b"\xef\xbb\xbf"
# The second is no field of the standard; older llama.cpp servers say by it what went wrong.
_TAKEN = (b"data", b"error")


class SseDecoder:
    """Folds bytes, cut anywhere, into the data of the events that they hold.

    The rules are those of the HTML standard, section 9.2.6: lines end in LF, CRLF or CR, a byte order mark at the
    start is no text, lines that begin with a colon are comments, several lines of data are joined by LF.

    Args:
        limit: bytes that one event may hold.
    """

    def __init__(self, *, limit: int = MAX_EVENT) -> None:
        self._limit = limit
        self._rest: list[bytes] = []
        self._data: list[bytes] = []
        self._held = 0
        self._after_cr = False
        self._begun = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Give the data of every event that these bytes complete.

        Raises:
            ValueError: if an event is larger than the limit.
        """
        if self._after_cr and chunk:
            # The line was complete at its CR; an LF that follows belongs to that end.
            chunk, self._after_cr = chunk.removeprefix(b"\n"), False
        self._hold(len(chunk))
        if b"\n" not in chunk and b"\r" not in chunk:
            if chunk:
                self._rest.append(chunk)
            return []
        return self._lines(b"".join([*self._rest, chunk]))

    def end(self) -> list[bytes]:
        """Give the data of an event that the end of the stream left open; it may be cut."""
        left = self._lines(b"".join([*self._rest, b"\n"])) if self._rest else []
        last = self._line(b"")
        return left if last is None else [*left, last]

    def _hold(self, size: int) -> None:
        self._held += size
        if self._held > self._limit:
            raise ValueError(f"an event of more than {self._limit:,} bytes")

    def _lines(self, whole: bytes) -> list[bytes]:
        lines = whole.splitlines(keepends=True)
        complete = whole.endswith((b"\n", b"\r"))
        self._after_cr = whole.endswith(b"\r")
        self._rest = [] if complete else [lines.pop()]
        found = [data for line in lines if (data := self._line(line.rstrip(b"\r\n"))) is not None]
        self._held = sum(map(len, self._rest)) + sum(map(len, self._data))
        return found

    def _line(self, line: bytes) -> bytes | None:
        if not self._begun:
            self._begun, line = True, line.removeprefix(_BOM)
        if not line:
            found, self._data = self._data, []
            return b"\n".join(found) if found else None
        field, _, value = line.partition(b":")
        if field in _TAKEN:
            self._data.append(value.removeprefix(b" "))
        return None
