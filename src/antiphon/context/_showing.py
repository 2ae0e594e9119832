"""From a context to what each call of a turn is shown: asked once a turn, and again only when a call would not fit."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .._messages import Message
from ..errors import WindowTooSmall
from ._assembly import Call, Shown, assemble
from ._view import Built, ContextFunction, View


class TurnShowing:
    """What the calls of one turn are shown.

    What the turn says since its first call stands behind what the context gave for that call, so that each call
    begins as the one before; only where this would not fit, the context is asked anew, and given what was said.
    """

    def __init__(self, build: ContextFunction, view: View) -> None:
        self._build = build
        self._view = view
        self._built: Built = ()
        self._asked = False
        self._covered = 0

    async def shown(self, own: Sequence[Message], *, call: Call) -> Shown:
        """Give what one call is shown.

        Args:
            own: the turn's messages: the input first, then whatever was said since.
            call: which call this is for.

        Raises:
            WindowTooSmall: if it does not fit, even asked anew.
            Exception: what the context raises.
        """
        if not self._asked:
            self._built = await self._ask(self._view)
            self._asked = True
        try:
            shown = self._assembled(own, call=call)
            if fits(shown) or len(own) == 1:
                return shown
        except WindowTooSmall:
            if len(own) == 1:
                raise
        # Sources were asked for the turn's first call; what they gave then is in the view's cache.
        self._built = await self._ask(replace(self._view, rounds=tuple(own[1:])))
        self._covered = len(own) - 1
        return self._assembled(own, call=call)

    async def _ask(self, view: View) -> Built:
        built: Any = self._build(view)
        found: Built = await built if inspect.isawaitable(built) else built
        return found

    def _assembled(self, own: Sequence[Message], *, call: Call) -> Shown:
        return assemble(self._built, own, instructions=self._view.instructions, call=call, covered=self._covered)


def fits(shown: Shown) -> bool:
    """Whether a call stays out of its margin."""
    return not shown.trace.window or shown.trace.headroom >= 0
