"""A person decides on the calls of a turn that waits, one after another, line by line."""

from __future__ import annotations

import getpass
import json
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from .._jsonable import loads
from ..chat import Session
from ..errors import AntiphonError, ToolError
from ._call_text import exact
from ._endings import Refused
from ._lines import Asks
from ._screen import Screen
from ._waiting_calls import Find, WaitingCall, fitted, repaired, waiting_in, write_waiting

Ended = Literal["decided", "left"]
"""Every call is decided, or what is not is left waiting."""

_CHOICES = "y run it · n refuse it · e edit the arguments · a say yourself what it gave · q leave it waiting"
_SIGN = "y/n/e/a/q? "


def system_user() -> str:
    """Who decides, where nobody says otherwise: the user of this system.

    Raises:
        Refused: if the system names nobody.
    """
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        raise Refused("the system does not say who you are; say it with --by NAME") from None


class Deciding:
    """Asks about one call after another. Begin with `ask`, then hand every line to `take`.

    Args:
        session: where calls wait.
        screen: where they are shown.
        find: gives the tools that are offered, by name.
        by: who decides.

    Attributes:
        asks: what is asked now.
    """

    def __init__(self, session: Session, screen: Screen, *, find: Find, by: str) -> None:
        self._session, self._screen = session, screen
        self._find, self._by = find, by
        self._call: WaitingCall | None = None
        self._arguments: Any = None
        self._edited = False
        self.asks = Asks(_SIGN)
        self._take: Callable[[str], Awaitable[Ended | None]] = self._choice
        self._choices: dict[str, Callable[[], Awaitable[Ended | None]]] = {
            "y": self._run,
            "n": self._refuse,
            "e": self._edit,
            "a": self._by_hand,
            "q": self._leave,
        }

    async def ask(self) -> Ended | None:
        """Show the next call that waits; None if there is one."""
        waiting = waiting_in(self._session)
        if not waiting:
            return "decided"
        call = waiting[0]
        tool = self._find(call.pending.name)
        self._call, self._edited = call, False
        self._arguments = repaired(call.call, tool)
        self._show()
        if tool is None:
            self._screen.sentence(
                "its tool is not offered here, so it cannot be run: give the --tools or --mcp that it comes from",
                style="yellow",
            )
        return None

    def back(self) -> bool:
        """Forget what was begun of an answer; False if nothing was, so that the call is left waiting."""
        if self._take == self._choice:
            return False
        self._again()
        return True

    async def take(self, line: str) -> Ended | None:
        """Take a line that was typed; None while more is asked.

        Raises:
            AntiphonError: if the decision could not be kept; the call is shown again, if it still waits.
        """
        try:
            return await self._take(line)
        except AntiphonError:
            await self.ask()
            raise

    def _show(self) -> None:
        assert self._call is not None  # asked about
        as_is = self._arguments is None
        write_waiting(self._screen, self._call, arguments=None if as_is else exact(self._arguments))
        self._screen.sentence(_CHOICES, style="dim")
        self._again()

    def _again(self) -> None:
        self._take, self.asks = self._choice, Asks(_SIGN)

    # --- what may be answered -------------------------------------------------------------------------------------

    async def _choice(self, line: str) -> Ended | None:
        said, _, reason = line.strip().partition(" ")
        chosen = self._choices.get({"yes": "y", "no": "n"}.get(said.lower(), said.lower()))
        if chosen == self._refuse and reason.strip():
            return await self._refused(reason)
        if chosen is None or reason.strip():
            self._screen.sentence(_CHOICES, style="dim")
            return None
        return await chosen()

    async def _run(self) -> Ended | None:
        assert self._call is not None
        if self._find(self._call.pending.name) is None:
            self._screen.sentence("its tool is not offered here, so it cannot be run", style="yellow")
            return None
        # What was shown is what runs: where that is not what the model wrote, it is kept with the decision.
        call, shown = self._call.call, self._arguments
        same = shown is None or (call.raw is None and not self._edited and shown == call.arguments)
        await self._session.approve(call.id, by=self._by, arguments=None if same else shown)
        return await self.ask()

    async def _refuse(self) -> Ended | None:
        self._take, self.asks = self._refused, Asks("why (Enter for no reason)? ", free=True)
        return None

    async def _refused(self, line: str) -> Ended | None:
        assert self._call is not None
        await self._session.deny(self._call.pending.id, by=self._by, reason=line.strip() or None)
        return await self.ask()

    async def _by_hand(self) -> Ended | None:
        self._take, self.asks = self._given, Asks("what it gave: ", free=True)
        return None

    async def _given(self, line: str) -> Ended | None:
        assert self._call is not None
        if not line.strip():
            self._again()
            return None
        await self._session.answer(self._call.pending.id, line, by=self._by)
        return await self.ask()

    async def _leave(self) -> Ended | None:
        return "left"

    async def _edit(self) -> Ended | None:
        assert self._call is not None
        shown = self._call.call.raw if self._arguments is None else None
        self._ask_for_arguments(exact(self._arguments or {}) if shown is None else shown)
        return None

    def _ask_for_arguments(self, draft: str) -> None:
        self._take, self.asks = self._arguments_typed, Asks("arguments: ", draft, free=True)

    async def _arguments_typed(self, line: str) -> Ended | None:
        assert self._call is not None
        try:
            found = read_arguments(line)
            call = self._call.call.of(self._call.call.id, self._call.call.name, arguments=found)
            self._arguments = fitted(call, self._find(call.name))
        except (Refused, ToolError) as error:
            self._screen.sentence(str(error), style="yellow")
            self._ask_for_arguments(line)
            return None
        self._edited = True
        self._show()
        return None


def read_arguments(text: str) -> dict[str, Any]:
    """Read arguments that a person wrote.

    Raises:
        Refused: if they are no JSON object.
    """
    try:
        found = loads(text.encode())
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Refused(f"the arguments are not JSON: {error.msg[:1].lower()}{error.msg[1:]}, {place}") from None
    except (AntiphonError, ValueError, RecursionError) as error:
        raise Refused(f"the arguments are not JSON that can be kept: {error}") from None
    if not isinstance(found, dict):
        raise Refused('the arguments are no JSON object, as in {"order": "17"}')
    return found
