"""Rows and columns that adapt to the width of a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ._screen import Ink, Screen, Words, again, text_of
from ._shown_text import cells, cut, one_line, wrapped

GAP = "  "
NARROW = 24
"""Cells; where the last column would have fewer, it goes below its row."""


Last = Literal["cut", "wrapped", "whole"]
"""What becomes of a last column that is wider than the terminal."""


def write_table(
    screen: Screen, headings: Sequence[str], *, rows: Sequence[Sequence[Words]], last: Last = "cut"
) -> None:
    """Write rows in columns. On a terminal the last column is fitted into what is left of the line."""
    width = None if last == "whole" else screen.width
    for line in laid_out([[Ink(each, "dim") for each in headings], *rows], width=width, wrap=last == "wrapped"):
        screen.line(*line)


def laid_out(rows: Sequence[Sequence[Words]], *, width: int | None, wrap: bool = False) -> list[list[Words]]:
    """Give the lines of a table, as words in columns.

    Args:
        rows: the headings first.
        width: cells of a line; None leaves the last column as it is.
        wrap: whether the last column goes on below instead of being cut.
    """
    clean = [[again(each, one_line(text_of(each))) for each in row] for row in rows]
    widths = [max(cells(text_of(row[i])) for row in clean) for i in range(len(clean[0]) - 1)]
    room = None if width is None else width - sum(widths) - len(GAP) * len(widths)
    if wrap and room is not None:
        return [line for row in clean for line in _wrapped(row, widths, room=max(room, NARROW))]
    if width is None or room is None or room >= NARROW or not widths:
        return [_row(row, widths, room=room) for row in clean]
    lines: list[list[Words]] = []
    for row in clean:
        lines.append(_row([*row[:-1], ""], widths, room=None))
        if text_of(row[-1]) and row is not clean[0]:
            lines.append(_row(["", row[-1]], [0], room=width - len(GAP)))
    return lines


def _wrapped(row: Sequence[Words], widths: Sequence[int], *, room: int) -> list[list[Words]]:
    first, *others = wrapped(text_of(row[-1]), room)
    below = " " * (sum(widths) + len(GAP) * len(widths))
    lines = [_row([*row[:-1], again(row[-1], first)], widths, room=None)]
    return [*lines, *([below, again(row[-1], each)] for each in others)]


def _row(row: Sequence[Words], widths: Sequence[int], *, room: int | None) -> list[Words]:
    found: list[Words] = []
    for words, wide in zip(row, widths, strict=False):
        found += [words, " " * (wide - cells(text_of(words))), GAP]
    last = text_of(row[-1])
    if not last:
        return _stripped(found)
    return [*found, again(row[-1], last if room is None else cut(last, room))]


def _stripped(words: list[Words]) -> list[Words]:
    while words and not text_of(words[-1]).strip():
        words.pop()
    return words
