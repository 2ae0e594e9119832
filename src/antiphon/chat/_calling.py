"""The tool calls of one turn: what becomes of each is decided here, on the exact call, and then they are run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from .._jsonable import Jsonable, thaw
from .._messages import Message, ToolCall, ToolResult
from ..context._stubs import READ_RESULT, result_by_ref
from ..errors import InvalidArguments, ToolDenied, ToolError, UnknownTool
from ..journal._entries import ToolReturned
from ..models._events import Replied
from ..tools import PendingCall, Prepared, Tool, ToolContext, error_of, prepared, run_call, schedule
from ..tools._results import error_text
from ..transcript import Transcript
from . import _events as events
from ._effects import Judge, Judged, Open, OpenCall, RunCalls, Verdict
from ._hooks import filtered, with_arguments
from ._inside import inside
from ._log import EventLog
from ._open_calls import as_decided, open_calls, round_of
from ._plan import TurnPlan
from ._recorder import Recorder
from ._returned import returned_entry

STARTED = "it was started before and gave no result: it may have taken effect"
"""Why a person is asked about a call that a run which died has left behind."""

_BYTES_PER_TOKEN = 4


class Ready(msgspec.Struct, frozen=True):
    """A call that may run."""

    tool: Tool
    call: Prepared


class Calling:
    """The tool calls of one turn."""

    def __init__(self, plan: TurnPlan, recorder: Recorder, *, log: EventLog) -> None:
        self._plan = plan
        self._recorder = recorder
        self._log = log
        self._kept_back: dict[str, ToolError] = {}

    @property
    def _transcript(self) -> Transcript:
        return self._recorder.transcript

    def open(self) -> Open:
        """The calls of the last reply that have no result."""
        turn = self._transcript.turn(self._plan.turn_id, live=(self._plan.turn_id,))
        return Open(() if turn is None else open_calls(turn))

    async def as_hooked(self, reply: Replied, *, offered: Sequence[str]) -> Replied:
        """The reply with its calls as `on_tool_call` would have them made, before anything else looks at them."""
        self._kept_back = {}
        if self._plan.hooks.on_tool_call is None or reply.finish == "length" or not reply.message.calls:
            return reply
        parts = [
            await self._as_hooked(part, offered=offered) if isinstance(part, ToolCall) else part
            for part in reply.message.parts
        ]
        return replace(reply, message=Message(reply.message.role, tuple(parts)))

    async def _as_hooked(self, call: ToolCall, *, offered: Sequence[str]) -> ToolCall:
        hook = self._plan.hooks.on_tool_call
        try:
            tool = self._found(call.name, offered=offered)
        except UnknownTool:
            return call
        assert hook is not None  # else nobody asks
        try:
            return await with_arguments(hook, call, name=tool.name, arguments=_as_run(tool, call))
        except Exception as error:  # isolates: hook
            await self._plan.errors(error, "tool")
            said = f"the on_tool_call hook raised {error_text(error)}; nothing was run"
            self._kept_back[call.id] = ToolError(said)
            return call

    async def judged(self, effect: Judge, *, offered: Sequence[str]) -> Judged:
        """Decide what becomes of calls. `offered`: names of the tools that the model was offered."""
        verdicts = [await self._judged(each, truncated=effect.truncated, offered=offered) for each in effect.calls]
        return Judged(tuple(verdicts))

    async def _judged(self, open: OpenCall, *, truncated: bool, offered: Sequence[str]) -> Verdict:
        try:
            if open.phase == "called" and open.call.id in self._kept_back:
                raise self._kept_back[open.call.id]
            if open.phase == "denied":
                raise ToolDenied(open.call.name, _said_by(open))
            tool = self._found(open.call.name, offered=offered)
            ready = _prepared(tool, as_decided(open), truncated=truncated)
            return await self._allowed(open, Ready(tool, ready))
        except ToolError as error:
            if open.call.id not in self._kept_back:
                await self._plan.errors(error, "tool")
            return Verdict(open, "answer", result=error_of(open.call, error))

    def _found(self, name: str, *, offered: Sequence[str]) -> Tool:
        if name == READ_RESULT.name and name in offered and name not in self._plan.toolbox.names:
            return self._read_result()
        tool = self._plan.toolbox.find(name, unlocked=offered)
        if tool.name not in offered:
            raise UnknownTool(name, offered)
        return tool

    async def _allowed(self, open: OpenCall, ready: Ready) -> Verdict:
        tool = ready.tool
        pending = PendingCall(open.call.id, self._plan.turn_id, tool.name, ready.call.decoded)
        decision = await self._plan.policy.judge(pending, tool=tool)
        if decision.action == "deny":
            raise ToolDenied(tool.name, decision.rule)
        if open.phase == "allowed":
            return Verdict(open, "run", ready=ready)
        if open.phase == "started" and not tool.idempotent:
            return _asked(open, ready, reason=STARTED)
        # Started before, it was let run: by a person, who is not asked again, or by a policy that may be another now.
        if decision.action == "ask" and (open.phase != "started" or open.by is None):
            return _asked(open, ready, reason=decision.rule)
        return Verdict(open, "run", ready=ready)

    async def run(self, effect: RunCalls) -> None:
        """Run calls, and commit the result of each as it ends.

        Raises:
            StoreError: if a result could not be committed.
        """
        calls = [(each.ready.tool, each) for each in effect.verdicts]
        for batch in schedule(calls):
            ended = await asyncio.gather(*(self._run(each) for _, each in batch), return_exceptions=True)
            for error in ended:
                if isinstance(error, BaseException):
                    raise error

    async def _run(self, verdict: Verdict) -> None:
        ready: Ready = verdict.ready
        call = verdict.open.call
        began = time.monotonic()
        context = ToolContext(
            session_id=self._transcript.session_id,
            turn_id=self._plan.turn_id,
            call_id=call.id,
            deps=self._plan.deps,
            attempt=verdict.open.attempts + 1,
            round=self._round(),
            report=self._reporting(call),
        )
        with inside(self._transcript.session_id):
            result = await run_call(ready.tool, ready.call, context=context)
        ms = round((time.monotonic() - began) * 1_000)
        result = await self._filtered(result, name=ready.tool.name)
        result = msgspec.structs.replace(result, limit=_limit(ready.tool, result))
        entry: Any = returned_entry(self._recorder.entry, self._plan.turn_id, result=result, ms=ms)
        await self._recorder.write(entry)
        self.tell(entry)

    def _round(self) -> int:
        turn = self._transcript.turn(self._plan.turn_id, live=(self._plan.turn_id,))
        return 1 if turn is None else round_of(turn)

    async def _filtered(self, result: ToolResult, *, name: str) -> ToolResult:
        if result.is_error:
            await self._plan.errors(ToolError(f"{name}: {result.text}"), "tool")
        hook = self._plan.hooks.on_tool_result
        return result if hook is None else await filtered(hook, result, name=name, errors=self._plan.errors)

    def tell(self, entry: ToolReturned) -> None:
        """Tell the turn's readers of a result."""
        call_id, name, output = entry.call_id, entry.name, thaw(entry.output_json)
        self._log.emit(events.ToolReturned(call_id=call_id, name=name, is_error=entry.is_error, output=output))

    def _reporting(self, call: ToolCall) -> Callable[[str, float | None], None]:
        def report(note: str, fraction: float | None) -> None:
            self._log.emit(events.ToolProgress(call_id=call.id, name=call.name, note=note, fraction=fraction))

        return report

    def _read_result(self) -> Tool:
        def read(ref: str, *, start: int = 0, length: int = 8_000) -> str:
            turns = self._transcript.turns(live=(self._plan.turn_id,))
            found = result_by_ref(turns, ref)
            if found is None:
                return f"there is no result {ref!r}; use a reference that stands in the conversation"
            text = found.text
            first = max(0, int(start))
            part = text[first : first + max(1, int(length))]
            rest = len(text) - first - len(part)
            return part if rest <= 0 else f"{part}\n[{rest:,} characters follow; go on at start={first + len(part)}]"

        name, parameters = READ_RESULT.name, READ_RESULT.parameters
        options: Any = {"read_only": True, "idempotent": True, "max_result_tokens": None}
        return Tool(read, name=name, description=READ_RESULT.description, parameters=parameters, **options)


def _asked(open: OpenCall, ready: Ready, *, reason: str) -> Verdict:
    changed = ready.call.repaired or open.arguments is not None
    return Verdict(open, "ask", reason, ready.call.arguments_json if changed else None)


def _prepared(tool: Tool, call: ToolCall, *, truncated: bool) -> Prepared:
    try:
        return prepared(tool, call, truncated=truncated)
    except ToolError:
        raise
    except Exception as error:  # isolates: a schema that was written by hand, or comes from a server
        raise InvalidArguments(tool.name, [f"its schema cannot be read: {error_text(error)}"]) from error


def _as_run(tool: Tool, call: ToolCall) -> dict[str, Jsonable]:
    """The arguments that a call would be run with, or as the model wrote them where they do not fit."""
    try:
        return prepared(tool, call).decoded
    except ToolError:
        return call.arguments


def _said_by(open: OpenCall) -> str:
    return f"{open.by or 'a person'} refused it" + (f": {open.reason}" if open.reason else "")


def _limit(tool: Tool, result: ToolResult) -> int | None:
    """Bytes of a result that a model is shown, where that is not all of it."""
    if tool.max_result_tokens is None:
        return None
    limit = tool.max_result_tokens * _BYTES_PER_TOKEN
    return limit if len(result.text.encode("utf-8", "replace")) > limit else None
