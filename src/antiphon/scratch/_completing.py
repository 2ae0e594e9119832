"""Asking a model with a scratchpad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ..errors import Misuse
from ..models import Model
from ..tools import Tool, Toolbox, ToolPolicy
from ._answering import Answering
from ._messages import ScratchReply, reply_of
from ._scratchpad import Scratchpad
from ._sending import ask, request_of

AtLimit = Literal["stop", "answer"]
"""What becomes of the last call of the model; see `ScratchLimits`."""


class CapsModelCalls(Protocol):
    """What says how many calls of the model there may be: `ScratchLimits`, or a Chat's `Limits`."""

    @property
    def model_calls(self) -> int | None:
        """Most calls, or None for any number."""
        ...

    @property
    def at_limit(self) -> AtLimit:
        """What becomes of the last call; see `ScratchLimits`."""
        ...


def _cap(limits: CapsModelCalls) -> int | None:
    for name in ("tokens", "seconds", "tool_calls", "cost"):
        if getattr(limits, name, None) is not None:
            raise Misuse(f"complete does not limit {name}", "give ScratchLimits(model_calls=…)")
    most, at_limit = getattr(limits, "model_calls", 0), getattr(limits, "at_limit", None)
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise Misuse(f"model_calls={most!r} is no number of calls", "give 1 or more, or None")
    if at_limit not in ("stop", "answer"):
        raise Misuse(f"at_limit={at_limit!r} is not known", "use 'stop' or 'answer'")
    return most


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchLimits:
    """When `complete` must come to its end.

    Attributes:
        model_calls: most calls of the model, or None for any number.
        at_limit: `stop` runs the tools of the last reply and appends their results, so that the next `complete` goes
            on from there; `answer` asks the last time without tools, so that it ends in words.

    Raises:
        Misuse: for a limit that is not positive, or an unknown `at_limit`.
    """

    model_calls: int | None = 8
    at_limit: AtLimit = "stop"

    def __post_init__(self) -> None:
        _cap(self)


_DEFAULT = ScratchLimits()


async def complete(
    model: Model,
    pad: Scratchpad,
    *,
    tools: Sequence[Tool | Callable[..., Any]] = (),
    limits: CapsModelCalls = _DEFAULT,
    policy: ToolPolicy | None = None,
    deps: object = None,
) -> ScratchReply:
    """Ask a model with what a scratchpad holds, append its reply, and see to its calls.

    Every reply is appended before anything else is done. The policy then decides on each call: one that may run is
    run, one that is denied is answered so, one that must wait stays in `pad.pending`, and so does one to an unknown
    tool. By default no call runs. While every call has its result, the model is asked again. A call that raised, or
    whose arguments did not fit, has its error for a result.

    Args:
        model: who is asked.
        pad: what is shown, and where replies and results are appended.
        tools: functions and Tools that are offered.
        limits: most calls of the model, 8 by default. A Chat's `Limits` will do, if it limits nothing else.
        policy: instead of the scratchpad's own.
        deps: handed to tools that ask for a `ToolContext`.

    Returns:
        The last reply. If it has `calls`, either some are in `pad.pending` or the limit was reached.

    Raises:
        Misuse: before the model is asked, if the history cannot be sent: it names calls without a result and results
            without a call; or if a tool or a limit will not do.
        ModelError: as the model raised it. The input stays in the scratchpad: complete again without appending it.
    """
    most = _cap(limits)
    box = Toolbox(tools)
    answering = Answering(pad, box, pad.policy if policy is None else policy, deps)
    asked = 0
    while True:
        asked += 1
        last = most is not None and asked >= most
        offered = () if last and limits.at_limit == "answer" else tuple(tool.spec for tool in box.offered())
        reply = reply_of(await ask(model, request_of(pad.messages, offered)))
        pad.append(reply.message)
        if not reply.calls or not await answering.answer(reply) or last:
            return reply
