"""How the demo tells its story: acts, dialogue, and claims that are checked while one looks."""

from __future__ import annotations

import textwrap

from ..chat import LiveTurn, Reply, TextDelta
from ._screen import Ink, Screen
from ._shown_text import cells, visible

_INDENT = 9
_WIDEST = 88


class Paragraph:
    """A text that comes in pieces, set between margins, under a name."""

    def __init__(self, screen: Screen, name: str, *, width: int, style: str | None = None) -> None:
        self._screen, self._width, self._style = screen, width, style
        screen.piece(f"  {name:<{_INDENT - 2}}", style="cyan")
        self._column = _INDENT
        self._word = ""

    def add(self, piece: str) -> None:
        """Take the next piece; whole words are written at once."""
        *whole, self._word = (self._word + piece).replace("\n", " ").split(" ")
        for word in whole:
            self._write(word, self._style)

    def end(self, mark: str = "") -> None:
        """Write what is left, and a mark behind it if there is one, and end the line."""
        self._write(self._word, self._style)
        for word in mark.split():
            self._write(word, "yellow")
        self._screen.end_line()

    def _write(self, word: str, style: str | None) -> None:
        size = cells(visible(word))
        if not size:
            return
        if self._column > _INDENT and self._column + 1 + size > self._width:
            self._screen.piece("\n" + " " * _INDENT)
            self._column = _INDENT
        gap = " " if self._column > _INDENT else ""
        self._screen.piece(gap + word, style=style)
        self._column += len(gap) + size


class Telling:
    """Tells the demo on a screen.

    Attributes:
        broken: the claims that did not hold.
        held: how many did.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._width = min(screen.width or _WIDEST, _WIDEST)
        self.broken: list[str] = []
        self.held = 0

    def act(self, number: int, title: str) -> None:
        """Begin an act."""
        self._screen.line()
        self._screen.line(Ink(f"{number}  {title}", "bold"))

    def gap(self) -> None:
        """Leave a line empty."""
        self._screen.line()

    def line(self, text: str, *, style: str = "dim") -> None:
        """Say something beside the dialogue."""
        for each in textwrap.wrap(text, self._width - 2):
            self._screen.line("  ", Ink(each, style))

    def command(self, text: str) -> None:
        """Show a command to be copied: never broken into lines."""
        self._screen.line("  $ ", Ink(text, "bold"))

    def table(self, text: str) -> None:
        """Show a table; a line that is too long goes on below."""
        for line in text.split("\n"):
            for each in textwrap.wrap(line, self._width, subsequent_indent="    ", drop_whitespace=False):
                self._screen.line(each.rstrip())

    def said(self, name: str, text: str = "", *, style: str | None = None) -> Paragraph:
        """Begin to show what someone says; the caller ends it."""
        paragraph = Paragraph(self._screen, name, width=self._width, style=style)
        paragraph.add(text)
        return paragraph

    async def turn(self, question: str, turn: LiveTurn) -> Reply:
        """Show a whole turn while it runs.

        Raises:
            AntiphonError: whatever ended it.
        """
        self.said("you", question, style="bold").end()
        paragraph = self.said("model")
        try:
            async for event in turn:
                if isinstance(event, TextDelta):
                    paragraph.add(event.text)
            reply = await turn.result()
            paragraph.add("…" if reply.finish_reason == "length" else "")
        finally:
            paragraph.end()
        return reply

    def claim(self, text: str, holds: bool) -> None:
        """State what was checked, and whether it holds."""
        mark = Ink("✓ ", "green") if holds else Ink("✗ ", "red")
        lines = textwrap.wrap(text if holds else f"NOT SO: {text}", self._width - 4)
        self._screen.line("  ", mark, lines[0])
        for each in lines[1:]:
            self._screen.line("    ", each)
        self.held += holds
        self.broken += [] if holds else [text]
