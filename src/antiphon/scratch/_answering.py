"""What becomes of the calls in a reply: looked up, decided on and run, each with one result or left to a person."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._ids import new_id
from .._messages import Message, ToolResult
from .._tool_errors import InvalidArguments, ToolDenied, UnknownTool
from ..tools import (
    PendingCall,
    Prepared,
    Tool,
    Toolbox,
    ToolContext,
    ToolPolicy,
    error_of,
    prepared,
    run_call,
    schedule,
)
from ._messages import ScratchCall, ScratchReply
from ._scratchpad import Scratchpad

_Run = tuple[Tool, tuple[int, Prepared]]


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers calls of one reply after another.

    Attributes:
        pad: where results are appended.
        box: the tools there are.
        policy: which calls run.
        deps: handed to tools as it is.
    """

    pad: Scratchpad
    box: Toolbox
    policy: ToolPolicy
    deps: object

    async def answer(self, reply: ScratchReply) -> bool:
        """Decide on every call, run those that may, append the results in the order of the calls.

        One bad call stops no other. What has ended when this is canceled is appended all the same.

        Returns:
            Whether every call has its result.
        """
        found: dict[int, ToolResult] = {}
        turn_id = new_id()  # Some models give the same call ids in every reply, and keys must not come again.
        try:
            runs: list[_Run] = []
            for i, call in enumerate(reply.calls):
                decided = await self._decide(call, turn_id, truncated=reply.finish_reason == "length")
                if isinstance(decided, ToolResult):
                    found[i] = decided
                elif decided is not None:
                    tool, fit = decided
                    runs.append((tool, (i, fit)))
            for batch in schedule(runs):
                await self._run(batch, reply, turn_id=turn_id, found=found)
        finally:
            for i in sorted(found):
                self.pad.append(Message("tool", (found[i],)))
        return len(found) == len(reply.calls)

    async def _decide(
        self, call: ScratchCall, turn_id: str, *, truncated: bool
    ) -> ToolResult | tuple[Tool, Prepared] | None:
        """A call's result where it is known already, what is to be run, or None if the call waits."""
        try:
            tool = self.box.find(call.name)
        except UnknownTool as error:
            call.settle("failed", str(error))
            return None
        try:
            fit = prepared(tool, call.call, truncated=truncated)
        except InvalidArguments as error:
            return self._unfit(call, tool, error=error)
        call.arguments = fit.decoded
        decision = await self.policy.judge(PendingCall(call.id, turn_id, tool.name, fit.decoded), tool=tool)
        if decision.action == "run":
            call.settle("pending", f"may run by {decision.rule}, and has not ended")
            return tool, fit
        return self._kept_back(call, tool, decision=decision)

    def _unfit(self, call: ScratchCall, tool: Tool, *, error: InvalidArguments) -> ToolResult | None:
        """Arguments that do not fit never run; the model is told so, unless a person or nobody may run the tool."""
        decision = self.policy.decide(tool.name, call.arguments, tool=tool)
        if decision.action != "run":
            return self._kept_back(call, tool, decision=decision, beside=f", and {error}")
        call.settle("failed", str(error))
        return error_of(call.call, error)

    def _kept_back(self, call: ScratchCall, tool: Tool, *, decision: Any, beside: str = "") -> ToolResult | None:
        if decision.action == "deny":
            call.settle("denied", f"denied by {decision.rule}")
            return error_of(call.call, ToolDenied(tool.name, decision.rule))
        call.settle("pending", f"waits by {decision.rule}{beside}")
        return None

    async def _run(
        self, batch: Sequence[_Run], reply: ScratchReply, *, turn_id: str, found: dict[int, ToolResult]
    ) -> None:
        async with asyncio.TaskGroup() as group:
            for tool, (i, fit) in batch:
                group.create_task(self._one(reply.calls[i], tool, fit=fit, turn_id=turn_id, found=(found, i)))

    async def _one(
        self, call: ScratchCall, tool: Tool, *, fit: Prepared, turn_id: str, found: tuple[dict[int, ToolResult], int]
    ) -> None:
        context = ToolContext(self.pad.id, turn_id, call.id, self.deps)
        try:
            result = await run_call(tool, fit, context=context)
        except asyncio.CancelledError:
            call.settle("pending", "was canceled while it ran and may have taken effect")
            raise
        call.settle("failed" if result.is_error else "allowed", result.text if result.is_error else "it ran")
        results, place = found
        results[place] = result
