"""Tables of figures: numbers stand to the right."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ._screen import Ink, Screen, Words, again, text_of
from ._shown_text import cells
from ._table import laid_out

_FILLED = "\u2800"
"""A blank that is no white space: tables take white space away where a cell begins."""


def write_aligned(
    screen: Screen, headings: Sequence[str], *, rows: Sequence[Sequence[Words]], right: Collection[int]
) -> None:
    """Write rows in columns, those of `right` (counted from 0) to the right; the last column goes on below itself."""
    lines: list[Sequence[Words]] = [[Ink(each, "dim") for each in headings], *rows]
    widths = {n: max(cells(text_of(line[n])) for line in lines) for n in right}
    filled = [[_padded(each, widths.get(n, 0)) for n, each in enumerate(line)] for line in lines]
    for line in laid_out(filled, width=screen.width, wrap=True):
        words = [again(each, text_of(each).replace(_FILLED, " ")) for each in line]
        while words and not text_of(words[-1]).strip():
            words.pop()
        screen.line(*words)


def _padded(words: Words, width: int) -> Words:
    text = text_of(words)
    return again(words, _FILLED * (width - cells(text)) + text)
