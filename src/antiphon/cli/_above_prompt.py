"""A screen above a line that is being edited: whole lines scroll away above it, an unfinished one stands over it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import IO

from prompt_toolkit.application import get_app_or_none, in_terminal
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output

from ._screen import Ink, Screen, Words, again, text_of
from ._shown_text import cells, visible, wrapped

_NARROWEST = 20


class WholeFrames(Vt100_Output):
    """Writes what belongs together at once, so that nobody sees a prompt vanish and come back."""

    _held = False

    def flush(self) -> None:
        """Write what is there, unless more of it follows."""
        if not self._held:
            super().flush()

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Write nothing until the block ends, then all of it."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self.flush()


def terminal_output(stream: IO[str]) -> Output:
    """Give prompt_toolkit's way to a terminal."""
    if not isinstance(create_output(stdout=stream), Vt100_Output):  # type: ignore[arg-type]
        return create_output(stdout=stream)  # type: ignore[arg-type]  # a Windows console
    output = WholeFrames.from_pty(stream)  # type: ignore[arg-type]
    # Where the cursor is need not be asked: prompts begin below whole lines. Terminals that do not answer would show
    # a warning, and an answer that comes late would be shown as text.
    output.enable_cpr = False
    return output


class AbovePrompt(Screen):
    """Writes above the prompt that is active; where none is, simply writes.

    Attributes:
        output: the terminal.
        unfinished: the line that pieces have begun; the prompt shows it, for only it knows where that is.
    """

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(stream)
        self.output = terminal_output(stream)
        self.unfinished = ""
        self._waiting = ""
        self._writing: asyncio.Task[None] | None = None

    @property
    def _room(self) -> int:
        return max(self.width or 0, _NARROWEST)

    def piece(self, text: str, *, style: str | None = None) -> None:  # noqa: ARG002 - an unfinished line has none
        """Write the next piece of a text; lines are broken between words."""
        # A prompt is drawn below whole lines only, so that no terminal may be left to break them.
        *whole, self.unfinished = wrapped(self.unfinished + visible(text), self._room)
        if whole:
            self._wait("\n".join(whole) + "\n")
        elif (app := get_app_or_none()) is not None:
            app.invalidate()

    def line(self, *words: Words) -> None:
        """Write words, joined, and end the line; the last of them are broken between words where they are too long."""
        *before, last = words or ("",)
        used = sum(map(cells, map(text_of, before)))
        if used > self._room // 2:
            super().line(*words)
            return
        first, *others = wrapped(visible(text_of(last)), self._room - used)
        super().line(*before, again(last, first))
        for each in others:
            super().line(" " * used, again(last, each))

    def end_line(self) -> None:
        """End the line that pieces left open."""
        if self.unfinished:
            text, self.unfinished = self.unfinished, ""
            self._wait(text + "\n")

    async def flushed(self) -> None:
        """Wait until everything is written."""
        if self._writing is not None:
            await asyncio.wait({self._writing})

    def _write(self, text: str) -> None:
        self.end_line()
        self._wait(text)

    def _wait(self, text: str) -> None:
        self._waiting += text
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_above())

    async def _write_above(self) -> None:
        try:
            while self._waiting:
                with self.output.together() if isinstance(self.output, WholeFrames) else contextlib.nullcontext():
                    await self._write_once()
        finally:
            self._writing = None

    async def _write_once(self) -> None:
        async with in_terminal():
            text, self._waiting = self._waiting, ""
            self.output.write_raw(text)
            self.output.flush()


def signed(screen: Screen, sign: str) -> tuple[str, str]:
    """Give a sign in the colour of what people say, as prompts take it."""
    ink = Ink(sign, "cyan")
    return (f"ansi{ink.style}" if screen.has_colours else "", ink.text)
