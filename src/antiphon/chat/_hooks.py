"""Hooks: functions of the caller's own that see what is sent and received, and may change it."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import msgspec

from .._jsonable import Jsonable
from .._messages import Message, ToolCall, ToolResult, check_part
from ..errors import Misuse, ToolError
from ..journal._entries import Failure, TurnFailed
from ..tools._results import error_of, result_of
from ._sentences import sentence_of

Phase = Literal["send", "compact", "tool", "source"]
"""Where an error came up."""

Sent = Sequence[Message | Mapping[str, Any]]
Arguments = Mapping[str, Jsonable]

_logger = logging.getLogger("antiphon")

_PHASES: dict[str, Phase] = {
    "SummaryFailed": "compact",
    "ToolError": "tool",
    "UnknownTool": "tool",
    "InvalidArguments": "tool",
    "ToolDenied": "tool",
    "ToolTimeout": "tool",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Functions that are called while turns run, each sync or async, each optional.

    A sync one runs in the loop's thread. An async one that is slow holds its turn up and is canceled with it. No hook
    grants anything: calls are validated, judged by the policy and approved as the hooks leave them. Previews and
    what-ifs call no hook. A turn that is resumed calls the hooks for what it does from there on: a model call that is
    made again is a new one, and so is its reply; a call that is journaled keeps its arguments, and only what it then
    gives is new.

    Args:
        before_send: (messages) -> messages, before each model call: in each round, and again where a call is made
            shorter because its model found it too long. It gets what was built and fits, without the system text, and
            changes what is sent, not what is kept. Dicts with role and content are read too; a system message is
            added to the system text. Calls without results and results without calls are left out of what it gives;
            the newest input must be in it, as it was or changed in its place. What is sent is counted again, and the
            trace warns of the change. If it raises, the turn fails with its error.
        after_receive: (message) -> message, before the reply is journaled and its calls are looked at; None leaves it.
            What it gives is checked as a model's own. Whoever reads the running turn has had the text as it came, and
            a turn that ends while a reply still comes keeps what came as partial, unseen by the hook. If it raises,
            the turn fails with its error, and nothing of this reply is kept.
        on_compact: (messages, summary so far or None) -> text, before a summarizer is asked; a text stands in place
            of the summary, and nobody is asked. None and blank text leave it to the summarizer. If it raises, the
            summary has failed, and the context does what it does then.
        on_tool_call: (name, arguments) -> arguments, before they are validated and the policy is asked; None leaves
            them. It gets them as they would be run, repaired, or as the model wrote them where they do not fit. What
            it gives is journaled as the call's arguments: what a policy sees and a person approves is what runs.
            It is not asked about a call that cannot run, nor about arguments that a person gave. If it raises, the
            call is answered with an error and does not run.
        on_tool_result: (name, result) -> ToolResult or any JSON value, for each call that ran, errors too, before the
            result is journaled; None leaves it. A value stands for the output, without the media beside it. If it
            raises, the result is an error that names the error's class: what the tool gave is kept from everyone.
        on_error: (error, phase) of each error, once: `send` for what ends a turn; `compact` for a summary that
            failed; `tool` for a call that is answered with an error; `source` for a source of a context that gave
            nothing. A turn is told before its failure is committed; one that was not accepted is not told. If it
            raises, that is logged and costs nothing else.
        on_state_change: (key, old, new), once a change of a session's state is committed, before its subscribers. If
            it raises, that is logged and costs nothing else.

    Raises:
        Misuse: if one of them cannot be called.
    """

    before_send: Callable[[Sequence[Message]], Sent | Awaitable[Sent]] | None = None
    after_receive: Callable[[Message], Message | Awaitable[Message | None] | None] | None = None
    on_compact: Callable[[Sequence[Message], str | None], str | Awaitable[str | None] | None] | None = None
    on_tool_call: Callable[[str, dict[str, Jsonable]], Arguments | Awaitable[Arguments | None] | None] | None = None
    on_tool_result: Callable[[str, ToolResult], ToolResult | Jsonable | Awaitable[Jsonable]] | None = None
    on_error: Callable[[BaseException, Phase], object] | None = None
    on_state_change: Callable[[str, Jsonable, Jsonable], object] | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            given = getattr(self, each.name)
            if given is not None and not callable(given):
                raise Misuse(f"hook {each.name} is a {type(given).__name__}", "give a function, or None")


async def called(hook: Callable[..., Any], *given: object) -> Any:
    """What a hook gives, sync or async."""
    found = hook(*given)
    return await found if inspect.isawaitable(found) else found


async def heard(name: str, hook: Callable[..., Any] | None, *given: object) -> None:
    """Tell a hook that nothing waits for an answer of; what it raises is logged."""
    if hook is None:
        return
    try:
        await called(hook, *given)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        _logger.error("hook %s canceled itself", name)
    except Exception:  # isolates: hook
        _logger.exception("hook %s raised", name)


class Telling:
    """Tells `on_error` of the errors of one turn, each once."""

    def __init__(self, hook: Callable[..., Any] | None = None) -> None:
        self._hook = hook
        self._met: list[BaseException] = []
        self._told: list[BaseException] = []

    async def __call__(self, error: BaseException, phase: Phase) -> None:
        """Tell of an error, unless it was told before."""
        if self._hook is not None and all(each is not error for each in self._told):
            self._told.append(error)
            await heard("on_error", self._hook, error, phase)

    def meet(self, error: BaseException) -> None:
        """Take note of an error that may end the turn; the turn may also go on without what failed."""
        self._met.append(error)

    async def ended(self, entry: TurnFailed) -> None:
        """Tell of the error that ends the turn."""
        found = (error for error in self._met if entry.error == Failure(type(error).__name__, sentence_of(error)))
        error = next(found, None)
        if error is not None:
            await self(error, phase_of(type(error).__name__))


def phase_of(error: str) -> Phase:
    """Where an error that ended a turn came up, by its class's name."""
    return _PHASES.get(error, "send")


async def with_arguments(hook: Callable[..., Any], call: ToolCall, *, name: str, arguments: Arguments) -> ToolCall:
    """A call as `on_tool_call` would have it made.

    Raises:
        Misuse, NotStorable: if it gave no arguments that a call can have.
        Exception: what it raises.
    """
    as_it_was = ToolCall.of(call.id, call.name, arguments=arguments)
    given = await called(hook, name, as_it_was.arguments)
    if given is None:
        return call
    if not isinstance(given, Mapping):
        raise Misuse(f"on_tool_call gave a {type(given).__name__}", "give the arguments by name, or None")
    made = ToolCall.of(call.id, call.name, arguments=given)
    return call if made == as_it_was else made


async def filtered(hook: Callable[..., Any], result: ToolResult, *, name: str, errors: Telling) -> ToolResult:
    """A result as `on_tool_result` would have it; never the result itself where the hook fails."""
    call = ToolCall(result.call_id, result.name)
    try:
        given = await called(hook, name, result)
        return result if given is None else _read_result(call, given, is_error=result.is_error)
    except Exception as error:  # isolates: hook
        await errors(error, "tool")
        # Not in its own words: they may hold what was to be kept back.
        said = f"the on_tool_result hook raised {type(error).__name__}, so what the tool gave is withheld"
        return error_of(call, ToolError(said))


def _read_result(call: ToolCall, given: object, *, is_error: bool) -> ToolResult:
    made = result_of(call, given)
    if not isinstance(given, ToolResult):
        return msgspec.structs.replace(made, is_error=is_error)
    check_part(made, "result of on_tool_result")
    return ToolResult.of(made.call_id, made.name, output=made.output, is_error=made.is_error, media=made.media)
