"""Drives the command through a terminal of its own, as a person at a keyboard does."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cli.running import AS_INSTALLED, UNSET, Terminal

ROOT = Path(__file__).parents[2]
ENTER, CTRL_C, CTRL_D, UP = "\r", "\x03", "\x04", "\x1b[A"
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()][0-9A-B]|\x1b[=>78]|[\r\x07\x0f]")
_OWN_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"


class Talk:
    """A command in a terminal of 80 columns and 24 rows; leaving the block ends it.

    Args:
        terminal: whose it is.
        args: the words after `antiphon`.
        program: what is run in place of the installed command.
        env: besides the user's own.
    """

    def __init__(self, terminal: Terminal, *args: str, program: str = AS_INSTALLED, **env: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in UNSET}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _OWN_TERMINAL + program, *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=kept | {"TERM": "xterm-256color"} | terminal.env | env,
            cwd=ROOT,
            start_new_session=True,
        )
        os.close(slave)
        self._raw = b""
        self._seen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    @property
    def text(self) -> str:
        """Everything that was written, without what moves the cursor and colours."""
        return _CONTROL.sub("", self._raw.decode(errors="replace"))

    @property
    def colours(self) -> set[str]:
        """The colours that were asked for."""
        return set(re.findall(r"\x1b\[[0-9;]*\b(?:3[1-7]|9[0-7])m", self._raw.decode(errors="replace")))

    def type(self, *keys: str) -> None:
        """Press keys."""
        os.write(self._master, "".join(keys).encode())

    def wait(self, wanted: str, *, seconds: float = 20) -> None:
        """Read until some text is there, behind what was last waited for."""
        ends = time.monotonic() + seconds
        while (at := self.text.find(wanted, self._seen)) < 0:
            assert self._read(ends - time.monotonic()), f"no {wanted!r} in {self.text[self._seen :]!r}"
        self._seen = at + len(wanted)

    def ended(self) -> int:
        """Read to the end, and give the exit code."""
        while self._read(20):
            pass
        return self._process.wait(20)

    def send_signal(self, number: int) -> None:
        """Send a signal to the process."""
        self._process.send_signal(number)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(seconds, 0))
        try:
            more = os.read(self._master, 65_536) if ready else b""
        except OSError:  # Linux says so that the other end is closed
            more = b""
        self._raw += more
        return bool(more)
