"""What is written to a terminal, a file or a pipe. Whatever text goes through here is made visible."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import IO, Any, NamedTuple

from ._shown_text import one_line, visible

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Ink(NamedTuple):
    """Text in a style: bold, dim, red, green, yellow or cyan. Without colours only the text is written."""

    text: str
    style: str


Words = str | Ink


def text_of(words: Words) -> str:
    """Give words without their style."""
    return words.text if isinstance(words, Ink) else words


def again(words: Words, text: str) -> Words:
    """Give another text in the same style."""
    return Ink(text, words.style) if isinstance(words, Ink) else text


class Screen:
    """One stream to write to.

    Attributes:
        is_terminal: whether a person looks at it now.
        has_colours: whether styles are written: on a terminal, unless NO_COLOR is set or the terminal is dumb.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.is_terminal = stream.isatty()
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self.has_colours = self.is_terminal and not plain
        self._in_line = False

    @property
    def width(self) -> int | None:
        """Cells in a line; None where no terminal sets a limit."""
        return shutil.get_terminal_size().columns if self.is_terminal else None

    def line(self, *words: Words) -> None:
        """Write words, joined, and end the line."""
        self._write("".join(map(self._inked, words)) + "\n")
        self._in_line = False

    def piece(self, text: str, *, style: str | None = None) -> None:
        """Write the next piece of a text at once."""
        if text:
            self._write(self._inked(text if style is None else Ink(text, style)))
            self._in_line = not text.endswith("\n")

    def end_line(self) -> None:
        """End the line, if pieces left it open."""
        if self._in_line:
            self.line()

    def json(self, value: Any) -> None:
        """Write a value as JSON in ASCII: on a terminal indented, else on one line."""
        self._write(json.dumps(value, indent=2 if self.is_terminal else None) + "\n")

    def json_line(self, value: Any) -> None:
        """Write a value as JSON in ASCII on one line."""
        self._write(json.dumps(value) + "\n")

    def sentence(self, text: str, *, style: str | None = None) -> None:
        """Write a sentence as one line."""
        said = one_line(text)
        self.line(said if style is None else Ink(said, style))

    def _inked(self, words: Words) -> str:
        if isinstance(words, str):
            return visible(words)
        text = visible(words.text)
        return f"\x1b[{_CODES[words.style]}m{text}\x1b[0m" if self.has_colours and text else text

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def output() -> Screen:
    """The screen for what was asked for: standard output."""
    return Screen(_writable(sys.stdout))


def errors() -> Screen:
    """The screen for what is said beside it: standard error."""
    return Screen(_writable(sys.stderr))


def _writable(stream: Any) -> IO[str]:
    if stream is None:  # It was closed by whoever started us.
        return open(os.devnull, "w", encoding="utf-8")
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")  # A terminal that is not UTF-8 gets numbers, not an error.
    found: IO[str] = stream
    return found


def leave_output() -> None:
    """Give up standard output, so that what its buffer still holds does not fail again when the process ends."""
    with open(os.devnull, "wb") as nowhere:
        try:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        except (OSError, ValueError, AttributeError):
            return  # It is no file, or closed: then nothing is written at the end.
