"""Lines that a person types into a conversation: the seam, and the way that works on any terminal."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from ._screen import Screen

LEAVING = "Ctrl-D or /quit leaves"


class Asks(NamedTuple):
    """What a person is asked, in place of what they want to say.

    Attributes:
        sign: stands before the answer.
        draft: the answer to begin with, to be edited.
        free: whether a line that begins with a slash is an answer, too.
    """

    sign: str
    draft: str = ""
    free: bool = False


class Typed(NamedTuple):
    """A line that a person typed.

    Attributes:
        text: the line, which may hold line breaks.
        asks: what it answers, or None.
    """

    text: str
    asks: Asks | None = None


class Talk(Protocol):
    """What reading a line must know of the conversation."""

    @property
    def asks(self) -> Asks | None:
        """What a person is asked now, or None."""
        ...

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        ...

    def stop(self) -> bool:
        """Cancel the running turn; whether there was one."""
        ...

    async def idle(self) -> None:
        """Wait until no turn runs."""
        ...


class Lines(Protocol):
    """Where lines come from, and the screen that goes with it.

    Attributes:
        screen: where everything else is written.
        blocks: whether a line is being waited for with the event loop standing still.
    """

    @property
    def screen(self) -> Screen:
        """Where everything else is written."""
        ...

    @property
    def blocks(self) -> bool:
        """Whether a line is being waited for with the event loop standing still."""
        ...

    def opened(self) -> AbstractContextManager[None]:
        """Make the terminal ready for lines, as long as the block lasts."""
        ...

    async def finish(self) -> None:
        """Wait until everything is written."""
        ...

    async def read(self, talk: Talk) -> Typed | None:
        """Give the next line; None is the end, of what is asked if something is."""
        ...

    def interrupt(self, talk: Talk) -> None:
        """Do what Ctrl-C does: cancel the running turn, else forget the line, else say how to leave."""
        ...

    def ask_anew(self) -> None:
        """Ask for the line again that is being waited for: what a person is asked is another thing now."""
        ...


class PlainLines:
    """Reads with what the terminal itself offers: nothing can be typed while a reply comes."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.blocks = False

    def opened(self) -> AbstractContextManager[None]:
        """Change nothing."""
        return contextlib.nullcontext()

    async def finish(self) -> None:
        """Everything is written at once."""

    async def read(self, talk: Talk) -> Typed | None:
        """Give the next line once no turn runs; None at the end of input."""
        await talk.idle()
        while True:
            try:
                asks = talk.asks
                return Typed(self._read(asks), asks)
            except EOFError:
                self.screen.line()
                return None
            except KeyboardInterrupt:
                self.screen.line()
                if not talk.stop():
                    self.screen.sentence(LEAVING)

    def _read(self, asks: Asks | None) -> str:
        if asks is not None and asks.draft:
            self.screen.line(asks.draft)
        self.blocks = True
        try:
            self.screen.piece("> " if asks is None else asks.sign)
            return input()  # Nothing else runs here that the standing loop could keep waiting.
        finally:
            self.blocks = False

    def interrupt(self, talk: Talk) -> None:
        """Cancel the running turn; without one, Ctrl-C reaches `input` itself."""
        talk.stop()

    def ask_anew(self) -> None:
        """Nothing is waited for while a turn runs."""
