"""What runs a turn's tools, loaded by the first reply that calls one: most turns call none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from ..models._events import Replied
from ._log import EventLog
from ._plan import TurnPlan
from ._recorder import Recorder

if TYPE_CHECKING:
    from ._calling import Calling


class LateCalling:
    """The tool calls of one turn, from its first on."""

    def __init__(self, plan: TurnPlan, recorder: Recorder, *, log: EventLog) -> None:
        self._plan = plan
        self._recorder = recorder
        self._log = log

    @cached_property
    def calling(self) -> Calling:
        """What decides on calls and runs them."""
        found: Calling = import_module("._calling", __package__).Calling(self._plan, self._recorder, log=self._log)
        return found

    async def as_hooked(self, reply: Replied, *, offered: Sequence[str]) -> Replied:
        """The reply with its calls as a hook would have them made."""
        return await self.calling.as_hooked(reply, offered=offered) if reply.message.calls else reply
