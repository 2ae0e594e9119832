"""Lines that are edited while a reply streams above them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import IO

from prompt_toolkit import PromptSession
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth

from ._above_prompt import AbovePrompt, signed
from ._lines import LEAVING, Talk
from ._shown_text import visible
from ._transcript_text import write_said

WHILE_RUNNING = "Enter says more to this turn, Ctrl-C stops it"


class SteadyInput(Vt100Input):
    """Stays as it is while something is written above the prompt: a key that is pressed just then is not lost."""

    def cooked_mode(self) -> AbstractContextManager[None]:
        """Change nothing."""
        return contextlib.nullcontext()


def terminal_input() -> Input:
    """Give prompt_toolkit's way to the keyboard."""
    found = create_input()
    return SteadyInput(sys.stdin) if isinstance(found, Vt100Input) else found


class EditedLines:
    """Reads lines with editing, a history and pasted line breaks.

    Args:
        stream: the terminal.
        history: what the arrow keys and Ctrl-R offer, oldest first.
    """

    blocks = False

    def __init__(self, stream: IO[str], history: Sequence[str]) -> None:
        self.screen = AbovePrompt(stream)
        self._input = terminal_input()
        self._talk: Talk | None = None
        # What cannot be shown as it is would have to be changed to be edited.
        offered = InMemoryHistory([text for text in history if visible(text) == text])
        self._prompt: PromptSession[str] = PromptSession(
            message=self._message,
            placeholder=self._placeholder,
            history=offered,
            key_bindings=self._keys(),
            prompt_continuation=lambda *_: [signed(self.screen, ". ")],
            color_depth=None if self.screen.has_colours else ColorDepth.DEPTH_1_BIT,
            input=self._input,
            output=self.screen.output,
            erase_when_done=True,
            search_ignore_case=True,
            reserve_space_for_menu=0,
        )

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Keep the terminal from acting on keys itself, between two lines too: Ctrl-D would end what comes next."""
        with self._input.raw_mode():
            yield

    async def finish(self) -> None:
        """Wait until everything is written."""
        await self.screen.flushed()

    async def read(self, talk: Talk) -> str | None:
        """Give the next line. One that is not said to a running turn is written as the conversation's next."""
        self._talk = talk
        await self.screen.flushed()
        try:
            text = await self._prompt.prompt_async(handle_sigint=False)
        except EOFError:
            return None
        if text.strip() and (not talk.running or text.startswith("/")):
            write_said(self.screen, text, sign="> ")
        return text

    def interrupt(self, talk: Talk) -> None:
        """Cancel the running turn, else forget what was typed, else say how to leave."""
        buffer = self._prompt.default_buffer
        if talk.stop():
            return
        if buffer.text:
            buffer.reset()
        else:
            self.screen.sentence(LEAVING)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("c-c", filter=has_focus(DEFAULT_BUFFER))  # while one searches, it ends the search
        def stop(_: KeyPressEvent) -> None:
            if self._talk is not None:
                self.interrupt(self._talk)

        @keys.add("escape", "enter")
        def break_line(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        return keys

    def _message(self) -> StyleAndTextTuples:
        if self._talk is None or not self._talk.running:
            return [signed(self.screen, "> ")]
        return [("", self.screen.unfinished or "…"), ("", "\n"), signed(self.screen, "+ ")]

    def _placeholder(self) -> StyleAndTextTuples:
        # Without colours it would look as if someone had typed it.
        shown = self.screen.has_colours and self._talk is not None and self._talk.running
        return [("ansibrightblack", WHILE_RUNNING)] if shown else []
