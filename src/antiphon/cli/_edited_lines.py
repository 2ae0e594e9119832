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
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth

from ._above_prompt import AbovePrompt, signed
from ._lines import LEAVING, Asks, Talk, Typed
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
        self._draft, self._torn = "", False
        # What cannot be shown as it is would have to be changed to be edited.
        offered = InMemoryHistory([text for text in history if visible(text) == text])
        self._keyboard = self._keys()
        self._saying = self._prompt_session(offered)
        # What a person is asked has a line of its own: no answer is offered as something to say, or the reverse.
        self._answering = self._prompt_session(InMemoryHistory())
        self._prompt = self._saying

    def _prompt_session(self, history: History) -> PromptSession[str | None]:
        return PromptSession(
            message=self._message,
            placeholder=self._placeholder,
            history=history,
            key_bindings=self._keyboard,
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

    async def read(self, talk: Talk) -> Typed | None:
        """Give the next line. One that is not said to a running turn is written as the conversation's next."""
        self._talk = talk
        while True:
            await self.screen.flushed()
            asks = talk.asks
            try:
                text = await self._read(asks)
            except EOFError:
                self._torn = False
                return None
            if text is not None and not (asks is not None and self._torn):
                break
            self._mend(text)
        if asks is not None and not asks.draft:  # What was edited is shown again by whoever asked for it.
            write_said(self.screen, text, sign=asks.sign)
        elif asks is None and text.strip() and (not talk.running or text.startswith("/")):
            write_said(self.screen, text, sign="> ")
        return Typed(text, asks)

    async def _read(self, asks: Asks | None) -> str | None:
        if asks is not None:
            self._prompt = self._answering
            return await self._prompt.prompt_async(default=asks.draft, handle_sigint=False)
        draft, self._draft, self._prompt = self._draft, "", self._saying
        return await self._prompt.prompt_async(default=draft, handle_sigint=False)

    def _mend(self, text: str | None) -> None:
        """Put the rest of a line behind its beginning: who was typing has not answered what was asked meanwhile."""
        if text is None:
            return
        self._draft, self._torn = self._draft + text, False
        self.screen.sentence("not taken for an answer: you were typing when it was asked; answer now", style="yellow")

    def ask_anew(self) -> None:
        """Ask for the line again that is being waited for; what was typed of it comes back when it is asked for."""
        app = self._prompt.app
        if not app.is_running or app.is_done:
            return
        saying = self._prompt is self._saying
        if saying:
            self._draft = self._prompt.default_buffer.text
        self._torn = saying and bool(self._draft)
        app.exit(result=None)

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
        if self._talk is not None and (asks := self._talk.asks) is not None:
            return [signed(self.screen, asks.sign)]
        if self._talk is None or not self._talk.running:
            return [signed(self.screen, "> ")]
        return [("", self.screen.unfinished or "…"), ("", "\n"), signed(self.screen, "+ ")]

    def _placeholder(self) -> StyleAndTextTuples:
        # Without colours it would look as if someone had typed it.
        shown = self.screen.has_colours and self._talk is not None and self._talk.running
        return [("ansibrightblack", WHILE_RUNNING)] if shown else []
