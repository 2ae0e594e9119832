"""What the bytes of a journal file mean, above all its end. Pure: bytes in, lines out.

LF is the only separator. A crash can cut the last write anywhere, so what stands behind the last LF is one of three:

- nothing;
- a complete entry that only lacks its newline (an editor saved the file): it is kept;
- a fragment, anything else: that append was never acknowledged, and the next one replaces it.

A cut JSON object is never a complete one, so reading it tells the second from the third. Every line that ends in LF
must be an entry; a blank one is as wrong as any other.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ..errors import CorruptJournal
from ..journal._codec import Line, line_of


class _Head(msgspec.Struct, gc=False):
    id: str
    type: str


_new = tuple.__new__
_decode_head = msgspec.json.Decoder(_Head).decode


class Found(NamedTuple):
    """The complete lines at the front of a block.

    Attributes:
        lines: the entries, up to the first malformed line.
        used: bytes that these lines take, newlines included.
        why: what is wrong with the line behind them, or None.
    """

    lines: list[Line]
    used: int
    why: str | None


class End(NamedTuple):
    """The end of a journal; offsets count from the start of the block that was looked at.

    Attributes:
        id: the last entry's id, or None if there is no complete entry.
        start: where the last entry starts.
        stop: where the good bytes stop.
        fragment: whether a fragment stands behind them.
        lacks_newline: whether the last entry lacks its newline.
        why: what is wrong with the last line, or None.
    """

    id: str | None
    start: int
    stop: int
    fragment: bool = False
    lacks_newline: bool = False
    why: str | None = None


def lines_in(block: bytes) -> Found:
    """Read the complete lines of a block that starts where a line starts."""
    pieces = block.split(b"\n")
    rest = pieces.pop()
    try:
        # The loop that every opened session pays for; Line(…) itself would take a fifth longer.
        lines = [_new(Line, ((head := _decode_head(piece)).id, head.type, piece)) for piece in pieces]
    except (msgspec.DecodeError, RecursionError):
        return _lines_slowly(pieces)
    return Found(lines, len(block) - len(rest), None)


def _lines_slowly(pieces: list[bytes]) -> Found:
    lines: list[Line] = []
    used = 0
    for piece in pieces:
        line = _line_or_why(piece)
        if isinstance(line, str):
            return Found(lines, used, line)
        lines.append(line)
        used += len(piece) + 1
    return Found(lines, used, None)


def kept(rest: bytes) -> Line | None:
    """Give the entry that stands behind the last LF, or None if that is nothing or a fragment."""
    line = _line_or_why(rest) if rest else ""
    return None if isinstance(line, str) else line


def end_in(block: bytes, *, whole: bool) -> End | None:
    """Find the last entry in the last part of a file.

    Args:
        block: the file's last bytes.
        whole: whether these are all of them.

    Returns:
        None if the last entry starts before the block.
    """
    cut = block.rfind(b"\n") + 1
    if cut == 0 and not whole:
        return None
    last = kept(block[cut:])
    if last is not None:
        return End(last.id, cut, len(block), lacks_newline=True)
    if cut == 0:
        return End(None, 0, 0, fragment=bool(block))
    start = block.rfind(b"\n", 0, cut - 1) + 1
    if start == 0 and not whole:
        return None
    line = _line_or_why(block[start : cut - 1])
    if isinstance(line, str):
        return End(None, start, cut, why=line)
    return End(line.id, start, cut, fragment=cut < len(block))


def _line_or_why(piece: bytes) -> Line | str:
    if not piece.strip():
        return "a blank line, which no writer of ours leaves"
    try:
        return line_of(piece)
    except CorruptJournal as error:
        return error.why
