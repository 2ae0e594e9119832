"""A conversation in the terminal: what a line that was typed does, and what the running turn shows."""

from __future__ import annotations

import asyncio

from ..chat import Chat, LiveTurn, ModelReplied, Session, TurnOptions
from ..errors import AntiphonError, TurnCanceled, TurnOver, WindowTooSmall
from ._endings import Refused, sentence
from ._going_on import opened
from ._live_reply import as_text
from ._place import Place
from ._screen import Screen
from ._transcript_text import write_said

_LEFT = "the conversation was left"


class Conversation:
    """Sends what is typed, and shows what comes.

    Args:
        chat: where the session is.
        place: the same, as the options say it.
        screen: where everything is written.
        session_id: begun when something is first said, if it is not there.
        options: what every turn is asked with.
    """

    def __init__(self, chat: Chat, place: Place, *, screen: Screen, session_id: str, options: TurnOptions) -> None:
        self.screen = screen
        self._chat, self._place = chat, place
        self._session_id, self._options = session_id, options
        self._session: Session | None = None
        self._live: LiveTurn | None = None
        self._following: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self._live is not None

    @property
    def session(self) -> Session:
        """The session.

        Raises:
            Refused: if it was not begun yet.
        """
        if self._session is None or not self._session.turns():
            raise Refused("nothing has been said in this session yet")
        return self._session

    async def begin(self) -> Session:
        """Open the session, and begin it if it is not there."""
        if self._session is None:
            self._session = await opened(self._chat, self._place, session_id=self._session_id)
        return self._session

    async def say(self, text: str) -> None:
        """Send a message; while a turn runs, say it to that turn."""
        if self._live is not None:
            try:
                await self._live.steer(text)
                return
            except TurnOver:
                await self.idle()  # It came too late for that turn, and so is the next one.
                write_said(self.screen, text, sign="> ")
        session = await self.begin()
        self._follow(session.send(text, **self._options))

    async def steer(self, text: str) -> None:
        """Say more to the running turn.

        Raises:
            Refused: if none runs.
        """
        if self._live is None:
            raise Refused("no turn is running; say it without /steer")
        await self._live.steer(text)

    def retry(self) -> None:
        """Ask the last turn again.

        Raises:
            AntiphonError: if there is none, or it runs.
        """
        self._follow(self.session.retry(**self._options))

    def stop(self) -> bool:
        """Cancel the running turn; whether there was one."""
        if self._live is None:
            return False
        if self._stopping is None or self._stopping.done():
            self._stopping = asyncio.create_task(self._live.cancel("Ctrl-C"))
        return True

    async def idle(self) -> None:
        """Wait until no turn runs, and everything of it is shown."""
        if self._following is not None:
            await asyncio.wait({self._following})

    async def leave(self) -> None:
        """Cancel the running turn and wait until that is kept."""
        if self._live is not None:
            await self._live.cancel(_LEFT)
        await self.idle()

    def _follow(self, turn: LiveTurn) -> None:
        self._live = turn
        self._following = asyncio.create_task(self._followed(turn))

    async def _followed(self, turn: LiveTurn) -> None:
        tell = as_text(self.screen, beside=self.screen)
        try:
            async for event in turn:
                tell(event)
                if isinstance(event, ModelReplied):
                    self.screen.line()  # Another reply of this turn follows.
            reply = await turn.result()
            if reply.finish_reason != "stop":
                self.screen.sentence(f"the reply ended early: {reply.finish_reason}", style="yellow")
        except Exception as error:  # isolates: whatever answers this turn
            self.screen.sentence(_said_of(error), style="yellow")
        finally:
            self._live = None
        self.screen.line()


def _said_of(error: BaseException) -> str:
    if isinstance(error, TurnCanceled):
        return f"stopped: {error.reason}; what had come is kept, /retry asks again"
    if isinstance(error, WindowTooSmall):
        return f"{error}; /clear lets the model start anew"
    return sentence(error) if isinstance(error, AntiphonError) else f"{sentence(error)}; /retry asks again"
