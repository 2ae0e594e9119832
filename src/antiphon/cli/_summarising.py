"""A summary that a person asked for, written beside the conversation."""

from __future__ import annotations

import asyncio

from ..chat import Session
from ._endings import sentence
from ._screen import Screen


class Summarising:
    """Summarises the turns so far; at most one summary is on its way.

    Args:
        screen: where the summary is shown.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether a summary is on its way."""
        return self._task is not None

    def begin(self, session: Session, *, focus: str | None) -> asyncio.Task[None]:
        """Begin; the task ends when the summary is shown, or what became of it."""
        self._task = asyncio.create_task(self._summarised(session, focus))
        return self._task

    def stop(self) -> bool:
        """Stop it; whether there was one."""
        return self._task is not None and self._task.cancel()

    async def _summarised(self, session: Session, focus: str | None) -> None:
        self._screen.sentence("earlier turns are being summarised", style="dim")
        try:
            summary = await session.compact(focus=focus)
            covered = "1 turn is" if summary.turns == 1 else f"{summary.turns} turns are"
            self._screen.sentence(f"{covered} shown to the model as this from now on; all is kept", style="dim")
            self._screen.line(summary.text)
        except asyncio.CancelledError:
            self._screen.sentence("stopped; nothing is changed", style="yellow")
        except Exception as error:  # isolates: the model that summarises
            self._screen.sentence(sentence(error), style="yellow")
        finally:
            self._task = None
        self._screen.line()
