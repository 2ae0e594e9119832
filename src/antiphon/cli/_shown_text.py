"""Text from models, people and files, made safe to show: it can be read, and it cannot act on the terminal.

Every character stands for itself alone, so that a text shown in pieces, however it is split, looks as it would in
one.
"""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t"
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
"""C0, DEL and C1; every escape sequence begins with one of them."""
_TURNING = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""Characters that turn the order of what follows, so that a text reads as another one."""
_SURROGATES = range(0xD800, 0xE000)
"""Halves of characters; alone they cannot be written."""


def _named(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


_VISIBLE = {code: _named(code) for code in (*_CONTROLS, *_TURNING, *_SURROGATES) if chr(code) not in _KEPT}


def visible(text: str) -> str:
    """Write every character that could act, or could not be written, as its number: ESC as `\\x1b`.

    Line feeds and tabs stay.
    """
    return text.translate(_VISIBLE)


def one_line(text: str) -> str:
    """Give the same on one line, every run of white space as one space."""
    return visible(" ".join(text.split()))


def cells(text: str) -> int:
    """Give how many cells of a terminal a line takes: wide characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def _cells_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, room: int) -> str:
    """Cut a line to a number of cells, the last of them `…` where something is left out."""
    if cells(text) <= room:
        return text
    taken, left = "", room - 1
    for character in text:
        left -= _cells_of(character)
        if left < 0:
            break
        taken += character
    return f"{taken}…" if room > 0 else ""


def wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines of at most so many cells, at spaces where there are any; tabs become spaces."""
    lines: list[str] = []
    for line in text.split("\n"):
        rest = line.expandtabs()
        while cells(rest) > width:
            at = _break(rest, width)
            lines.append(rest[:at].rstrip(" "))
            rest = rest[at:].removeprefix(" ")
        lines.append(rest)
    return lines


def _break(line: str, width: int) -> int:
    left, at, words = width, 0, False
    for position, character in enumerate(line):
        if character == " " and words:
            at = position
        words = words or character != " "
        left -= _cells_of(character)
        if left < 0:
            return at or max(position, 1)
    return len(line)
