"""What tests of tool turns are driven with: replies that call tools, and short ways to what came of the calls."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from antiphon import Chat, Message, Session, Text, Tool, ToolCall, ToolContext, ToolResult, Turn, tool
from antiphon.testing import ScriptedModel
from tests.chat.fakes import ListStore

Call = tuple[str, str] | tuple[str, str, dict[str, Any]]


def calls(*made: Call | ToolCall, words: str = "") -> Message:
    """A reply that makes these calls: an id, a name, and arguments where there are any."""
    parts = (Text(words),) if words else ()
    found = [each if isinstance(each, ToolCall) else _call(*each) for each in made]
    return Message("assistant", (*parts, *found))


def _call(id: str, name: str, arguments: dict[str, Any] | None = None) -> ToolCall:
    return ToolCall.of(id, name, arguments=arguments or {})


@dataclass
class Ran:
    """Notes what tools did.

    Attributes:
        effects: name or argument of each run, in order.
        contexts: what each run was told of its call.
    """

    effects: list[str] = field(default_factory=list)
    contexts: list[ToolContext[Any]] = field(default_factory=list)

    def tool(self, name: str = "act", **options: Any) -> Tool:
        """A tool that notes its text and gives it back."""

        async def act(ctx: ToolContext[Any], text: str = "") -> str:
            self.effects.append(text or name)
            self.contexts.append(ctx)
            return f"{name} {text}".strip()

        return tool(name=name, **options)(act)


@dataclass
class Hanging:
    """A tool that says it has begun, and waits until it is let go.

    Attributes:
        ended: how each run ended: `let go` or `canceled`.
    """

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    ended: list[str] = field(default_factory=list)

    def tool(self, name: str = "hang", **options: Any) -> Tool:
        """The tool."""

        async def hang() -> str:
            self.begun.set()
            try:
                await self.opened.wait()
            except asyncio.CancelledError:
                self.ended.append("canceled")
                raise
            self.ended.append("let go")
            return "done"

        return tool(name=name, **options)(hang)


async def talking(
    replies: Any, tools: list[Any], *, store: Any = None, **options: Any
) -> tuple[ScriptedModel, ListStore, Session]:
    """A session `s` over a scripted model and a store that is a list."""
    model, kept = ScriptedModel(replies), ListStore() if store is None else store
    session = await Chat(model, store=kept, tools=tools, **options).create_session("s")
    return model, kept, session


async def reopened(store: Any, replies: Any, tools: list[Any], **options: Any) -> tuple[ScriptedModel, Session]:
    """The same session in a new Chat, as another process has it."""
    model = ScriptedModel(replies)
    return model, await Chat(model, store=store, tools=tools, **options).open_session("s")


def results(turn: Turn | Session) -> list[ToolResult]:
    """Every result of a turn, or of a session's last turn, in the order in which models are shown them."""
    own = turn.turns()[-1] if isinstance(turn, Session) else turn
    return [result for message in own.messages for result in message.results]


def outcomes(turn: Turn | Session) -> dict[str, bool]:
    """Whether each call of a turn gave an error, by id."""
    return {result.call_id: result.is_error for result in results(turn)}


def shown_calls(messages: Any) -> list[str]:
    """Calls and results as a model is shown them: `>id` a call, `<id` its result."""
    found = []
    for message in messages:
        found += [f">{call.id}" for call in message.calls] + [f"<{each.call_id}" for each in message.results]
    return found


async def begun(work: Callable[[], Any], event: asyncio.Event) -> Any:
    """Start something, and wait until a tool says that it runs."""
    started = work()
    await event.wait()
    return started
