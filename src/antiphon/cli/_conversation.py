"""A conversation in the terminal: what a line that was typed does, and what the running turn shows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..chat import Chat, LiveTurn, ModelReplied, Session, TurnOptions
from ..errors import AntiphonError, TurnCanceled, TurnOver, WindowTooSmall
from ._deciding import Deciding, system_user
from ._endings import Refused, sentence
from ._going_on import opened
from ._lines import Asks
from ._live_reply import as_text, result_in
from ._place import Place
from ._screen import Screen
from ._summarising import Summarising
from ._tool_choice import NO_TOOLS, Offer
from ._transcript_text import write_said
from ._waiting_calls import must_be_offered

_LEFT = "the conversation was left"
_STAYS = "left waiting: /pending asks again, saying something else puts it aside"


class Conversation:
    """Sends what is typed, and shows what comes.

    Args:
        chat: where the session is.
        place: the same, as the options say it.
        screen: where everything is written.
        session_id: begun when something is first said, if it is not there.
        options: what every turn is asked with.
        offer: the tools that are offered.

    Attributes:
        ask_anew: called when a person is asked something else while a line is waited for.
    """

    def __init__(
        self,
        chat: Chat,
        place: Place,
        *,
        screen: Screen,
        session_id: str,
        options: TurnOptions,
        offer: Offer = NO_TOOLS,
    ) -> None:
        self.screen = screen
        self.offer = offer
        self.ask_anew: Callable[[], None] = lambda: None
        self._chat, self._place = chat, place
        self._session_id, self._options = session_id, options
        self._session: Session | None = None
        self._live: LiveTurn | None = None
        self._deciding: Deciding | None = None
        self._summarising = Summarising(screen)
        self._following: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self._live is not None

    @property
    def asks(self) -> Asks | None:
        """What a person is asked now, or None."""
        return None if self._deciding is None else self._deciding.asks

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
        self._must_be_free()
        session = await self.begin()
        await self.offer.refresh(self._chat)
        self._follow(session.send(text, **self._options))

    def _must_be_free(self) -> None:
        if self._summarising.running:
            raise Refused("earlier turns are being summarised; wait for it, or stop it with Ctrl-C")

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
        self._must_be_free()
        self._follow(self.session.retry(**self._options))

    # --- turns that wait ------------------------------------------------------------------------------------------

    async def decide(self) -> None:
        """Ask about the calls that wait.

        Raises:
            Refused: if none does, or a turn runs.
        """
        if self._live is not None:
            raise Refused("a turn is running; it asks when it must")
        session = self.session
        self._deciding = Deciding(session, self.screen, find=self.offer.find, by=system_user())
        if await self._deciding.ask() == "decided":
            self._deciding = None
            raise Refused("no call waits for a decision")
        self.ask_anew()

    async def answer(self, line: str) -> None:
        """Take the answer to what is asked; once everything is decided, the turn goes on.

        Raises:
            AntiphonError: if the decision could not be kept, or the turn cannot go on.
        """
        ended = None if self._deciding is None else await self._deciding.take(line)
        if ended is None:
            return
        self._deciding = None
        if ended == "left":
            self.screen.sentence(_STAYS, style="dim")
        else:
            await self.resume()

    def leave_open(self) -> bool:
        """Go back to what may be answered, and from there leave the calls waiting; whether something was asked."""
        if self._deciding is None:
            return False
        if not self._deciding.back():
            self._deciding = None
            self.screen.sentence(_STAYS, style="dim")
        self.ask_anew()
        return True

    async def resume(self) -> None:
        """Go on with the last turn.

        Raises:
            Refused: if a tool that it needs is not offered.
            AntiphonError: if it is over, or runs.
        """
        self._must_be_free()
        session = self.session
        await self.offer.refresh(self._chat)
        must_be_offered(session, self.offer.find)
        self._follow(session.resume(**self._options))

    # --- what runs ------------------------------------------------------------------------------------------------

    def compact(self, focus: str | None) -> None:
        """Begin to summarise the turns so far.

        Raises:
            Refused: if a turn runs, or this does already.
        """
        if self._live is not None:
            raise Refused("a turn is running; wait for it, or stop it with Ctrl-C")
        self._must_be_free()
        self._following = self._summarising.begin(self.session, focus=focus)

    def stop(self) -> bool:
        """Cancel the running turn, or leave what is asked; whether there was either."""
        if self._live is None:
            return self._summarising.stop() or self.leave_open()
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
        self._summarising.stop()
        await self.idle()

    def _follow(self, turn: LiveTurn) -> None:
        self._live, self._deciding = turn, None
        self._following = asyncio.create_task(self._followed(turn))

    async def _followed(self, turn: LiveTurn) -> None:
        tell = as_text(self.screen, beside=self.screen, result=lambda call: result_in(self.session, call))
        waits = False
        try:
            async for event in turn:
                tell(event)
                if isinstance(event, ModelReplied) and not event.message.calls:
                    self.screen.line()  # Another reply of this turn follows.
            reply = await turn.result()
            waits = reply.finish_reason == "waiting"
            if not waits and reply.finish_reason != "stop":
                self.screen.sentence(f"the reply ended early: {reply.finish_reason}", style="yellow")
        except Exception as error:  # isolates: whatever answers this turn
            self.screen.sentence(_said_of(error), style="yellow")
        finally:
            self._live = None
        self.screen.line()
        try:
            if waits:
                await self.decide()
        except (AntiphonError, Refused) as error:
            self.screen.sentence(sentence(error), style="yellow")


def _said_of(error: BaseException) -> str:
    if isinstance(error, TurnCanceled):
        return f"stopped: {error.reason}; what had come is kept, /retry asks again"
    if isinstance(error, WindowTooSmall):
        return f"{error}; /clear lets the model start anew"
    return sentence(error) if isinstance(error, AntiphonError) else f"{sentence(error)}; /retry asks again"
