"""Rows and columns that adapt to the width of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ._screen import Ink, Screen, Words
from ._shown_text import cells, cut, one_line

GAP = "  "
NARROW = 24
"""Cells; where the last column would have fewer, it goes below its row."""


def write_table(
    screen: Screen, headings: Sequence[str], *, rows: Sequence[Sequence[Words]], whole: bool = False
) -> None:
    """Write rows in columns.

    On a terminal the last column is cut to what is left of the line, or goes below; with `whole` neither.
    """
    width = None if whole else screen.width
    for line in laid_out([[Ink(each, "dim") for each in headings], *rows], width=width):
        screen.line(*line)


def laid_out(rows: Sequence[Sequence[Words]], *, width: int | None) -> list[list[Words]]:
    """Give the lines of a table, as words in columns; `width` None cuts nothing."""
    clean = [[_again(each, one_line(_text(each))) for each in row] for row in rows]
    widths = [max(cells(_text(row[i])) for row in clean) for i in range(len(clean[0]) - 1)]
    room = None if width is None else width - sum(widths) - len(GAP) * len(widths)
    if width is None or room is None or room >= NARROW or not widths:
        return [_row(row, widths, room=room) for row in clean]
    lines: list[list[Words]] = []
    for row in clean:
        lines.append(_row([*row[:-1], ""], widths, room=None))
        if _text(row[-1]) and row is not clean[0]:
            lines.append(_row(["", row[-1]], [0], room=width - len(GAP)))
    return lines


def _row(row: Sequence[Words], widths: Sequence[int], *, room: int | None) -> list[Words]:
    found: list[Words] = []
    for words, wide in zip(row, widths, strict=False):
        found += [words, " " * (wide - cells(_text(words))), GAP]
    last = _text(row[-1])
    if not last:
        return _stripped(found)
    return [*found, _again(row[-1], last if room is None else cut(last, room))]


def _stripped(words: list[Words]) -> list[Words]:
    while words and not _text(words[-1]).strip():
        words.pop()
    return words


def _text(words: Words) -> str:
    return words.text if isinstance(words, Ink) else words


def _again(words: Words, text: str) -> Words:
    return Ink(text, words.style) if isinstance(words, Ink) else text
