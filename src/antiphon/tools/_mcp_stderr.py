"""What a server writes on its standard error: into the log, never onto the terminal."""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from typing import TextIO

_logger = logging.getLogger("antiphon")
_LINE = 4_000
"""Characters of one record: a server may write megabytes without an end of line."""
_LAST_WORDS = 300


class StderrLog:
    """A pipe whose far end is a program's standard error, read by a thread of its own.

    It logs at the level INFO, which is silent where nobody has asked for logs.

    Attributes:
        pipe: what the program is given.

    Args:
        server: the server, as the records call it.
    """

    def __init__(self, server: str) -> None:
        self._server = server
        self._last: deque[str] = deque(maxlen=1)
        reading, writing = os.pipe()
        self.pipe: TextIO = os.fdopen(writing, "w", encoding="utf-8")
        self._thread = threading.Thread(target=self._read, args=(reading,), name="antiphon-mcp-stderr", daemon=True)
        self._thread.start()

    def started(self) -> None:
        """The program has its end of the pipe: without ours, the end of the program is the end of its words."""
        self.pipe.close()

    def last_words(self, *, wait: float = 0.5) -> str:
        """The last line that was written, shortened.

        Args:
            wait: seconds for what is still in the pipe; the thread that calls is held up.
        """
        self._thread.join(wait)
        return self._last[0][:_LAST_WORDS] if self._last else ""

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            while line := lines.readline(_LINE):
                # What steers a terminal must not reach one through the log.
                if line := "".join(each if each.isprintable() else " " for each in line).strip():
                    self._last.append(line)
                    _logger.info("MCP server %r: %s", self._server, line)
