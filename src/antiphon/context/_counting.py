"""Counting: what messages, tools and media cost. Texts are the counter's to count; the rest is counted here."""

from __future__ import annotations

from collections.abc import Sequence

from .._jsonable import encode
from .._messages import File, Image, Message, Part, Reasoning, Text, ToolCall, ToolResult
from .._tool_spec import ToolSpec
from ._media_cost import FILE_PAGE, IMAGE, LOW_DETAIL_IMAGE, media_cost
from ._tokens import TokenCounter

__all__ = [
    "FILE_PAGE",
    "IMAGE",
    "LOW_DETAIL_IMAGE",
    "PER_CALL",
    "PER_MESSAGE",
    "PER_TOOL",
    "count_messages",
    "count_part",
    "count_parts",
    "count_tool",
    "count_tools",
]

PER_MESSAGE = 4
"""Tokens that a message costs beyond its text: chat templates frame each (a measured median)."""

PER_CALL = 8
"""Tokens that a tool call costs beyond its text (a measured median)."""

PER_TOOL = 8
"""Tokens that the offer of a tool costs beyond its text."""


def count_part(part: Part, counter: TokenCounter) -> int:
    """Tokens of one part, wherever it stands."""
    match part:
        case Text(text=text):
            return counter(text)
        case Reasoning(text=text):
            return counter(text)
        case ToolCall():
            written = bytes(part.arguments_json).decode() if part.raw is None else part.raw
            return PER_CALL + counter(part.name) + counter(written)
        case ToolResult():
            family = getattr(counter, "family", None)
            return counter(part.text) + sum(media_cost(each, family) for each in part.media)
        case Image() | File():
            return media_cost(part, getattr(counter, "family", None))


def count_parts(message: Message, counter: TokenCounter) -> int:
    """Tokens of a message's parts, without what frames it. The message keeps the figure of the last counter."""
    counted_by, count = message.__dict__.get("_tokens", (None, 0))
    if counted_by is not counter:
        count = sum(count_part(part, counter) for part in message.parts)
        message.__dict__["_tokens"] = (counter, count)
    return int(count)


def count_messages(messages: Sequence[Message], counter: TokenCounter) -> int:
    """Tokens of all the messages' parts, without what frames them."""
    return sum(count_parts(message, counter) for message in messages)


def count_tool(tool: ToolSpec, counter: TokenCounter) -> int:
    """Tokens of one offered tool. The tool keeps the figure of the last counter."""
    counted_by, count = tool.__dict__.get("_tokens", (None, 0))
    if counted_by is not counter:
        sent = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        count = PER_TOOL + counter(encode(sent).decode())
        tool.__dict__["_tokens"] = (counter, count)
    return int(count)


def count_tools(tools: Sequence[ToolSpec], counter: TokenCounter) -> int:
    """Tokens of all the offered tools."""
    return sum(count_tool(tool, counter) for tool in tools)
