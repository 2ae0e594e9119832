"""Messages and replies that these tests begin with."""

from collections.abc import Sequence
from typing import Any

from antiphon import Message, Replied, ToolCall, ToolResult, Usage

USER, ANSWER = Message.of("user", "How much?"), Message.of("assistant", "Three.")


def call(id: str = "c1", name: str = "add", **arguments: Any) -> ToolCall:
    """A call of a tool."""
    return ToolCall.of(id, name, arguments=arguments)


def calling(*calls: ToolCall) -> Message:
    """An assistant's message that asks for tools."""
    return Message("assistant", calls)


def result(id: str = "c1", output: Any = 3, name: str = "add") -> Message:
    """The result of a call."""
    return Message("tool", (ToolResult.of(id, name, output=output),))


def replied(text: str, prompt: int, output: int) -> Replied:
    """A reply whose usage was reported."""
    return Replied(Message.of("assistant", text), Usage(prompt, output))


def words(text: str) -> int:
    """Counts words, so that tests can say what a message costs."""
    return len(text.split())


def orphans(messages: Sequence[Message]) -> list[str]:
    """Ids of calls without a result and of results without a call, told from the messages alone."""
    waiting: list[str] = []
    strays: list[str] = []
    for message in messages:
        for each in message.results:
            (waiting.remove if each.call_id in waiting else strays.append)(each.call_id)
        waiting += [each.id for each in message.calls]
    return waiting + strays
