"""A running turn, as its caller holds it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

from .._messages import Input
from ..errors import AntiphonError, Misuse
from ._events import Event, TextDelta
from ._reply import Reply
from ._run import Run


class LiveTurn:
    """A turn that was sent. It runs on its own: nobody has to read it for it to go on.

    Iterating gives every event from the first, however late the iteration starts and however many there are; leaving
    an iteration changes nothing. `async with session.send(…) as turn:` cancels the turn if the block is left before
    it has ended.
    """

    def __init__(self, run: Run, accepted: asyncio.Future[None]) -> None:
        self._run = run
        self._accepted = accepted

    @property
    def id(self) -> str:
        """The turn."""
        return self._run.turn_id

    async def accepted(self) -> Self:
        """Wait until the input is committed.

        Raises:
            SessionBusy: if another process runs a turn of this session; nothing was written.
            StoreError: if the input could not be committed; nothing has acted on it.
        """
        await asyncio.shield(self._accepted)
        return self

    async def result(self) -> Reply:
        """Wait for the reply. Cancelling this wait leaves the turn running.

        Raises:
            TurnCanceled: with the reason, if the turn was canceled.
            TurnOver: if this was sent to steer a turn that took nothing more.
            AntiphonError: whatever else ended the turn, with its `turn_id`.
            Exception: what a context or a responder of the caller's own raised.
        """
        await self.accepted()
        return await asyncio.shield(self._run.result)

    async def steer(self, input: Input, /) -> None:
        """Say more while the turn runs; it is committed when this returns, and shown to the turn's next model call.

        Raises:
            TurnOver: if the turn takes nothing more; nothing was written.
            StoreError: if it could not be committed.
        """
        await self.accepted()
        await self._run.steer(input)

    async def cancel(self, reason: str | None = None) -> None:
        """Cancel the turn and wait until that is committed; a turn that has ended stays as it is.

        Code that ignores its cancellation is waited for: Python has no way to end it.

        Raises:
            Misuse: if the reason is no text.
        """
        if reason is not None and not isinstance(reason, str):
            raise Misuse(f"the reason is a {type(reason).__name__}", "give text, or nothing")
        await self._run.cancel(reason)

    def events(self, *, after: int = 0) -> AsyncIterator[Event]:
        """The turn's events behind the one with `seq` `after`, to the last.

        A turn that a repeated key gave back, after its run or after a restart, has two: `TurnAccepted`, and its end,
        which comes whatever `after` is: so a client that reconnects to a turn it knew half of learns how it ended.
        """
        return self._run.log.read(after=after)

    def __aiter__(self) -> AsyncIterator[Event]:
        return self.events()

    @property
    def text_stream(self) -> AsyncIterator[str]:
        """The text of the reply as it comes; what a retry makes void is not taken back, so watch events for that."""
        return self._texts()

    async def _texts(self) -> AsyncIterator[str]:
        async for event in self.events():
            if isinstance(event, TextDelta):
                yield event.text

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._run.cancel("its block was left")

    def __repr__(self) -> str:
        return f"LiveTurn({self.id!r}, {'over' if self._run.over else 'running'})"


async def result_or_cancel(turn: LiveTurn) -> Reply:
    """Wait for the reply; a canceled wait cancels the turn and waits until that is committed."""
    try:
        return await turn.result()
    except asyncio.CancelledError:
        await _through(turn.cancel("the caller was canceled"))
        raise


async def _through(work: object) -> None:
    task = asyncio.ensure_future(work)  # type: ignore[call-overload]
    while not task.done():
        try:
            await asyncio.shield(task)
        except (asyncio.CancelledError, AntiphonError):
            continue
