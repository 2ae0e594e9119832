"""How much of a request stands at the start of the one before, so that a provider may have kept it."""

from __future__ import annotations

from collections.abc import Sequence

from .._messages import Message
from ._assembly import Shown
from ._counting import PER_MESSAGE, count_part, count_parts, count_tool
from ._tokens import TokenCounter


def shared_tokens(before: Shown, now: Shown, *, counter: TokenCounter) -> int:
    """Tokens at the start of a request that are the same in the one before.

    A request begins with its tools, then comes the system text, then the messages; behind the first difference
    nothing counts. A tool and a system text count wholly or not at all, a message by its leading parts.

    Args:
        before: what the call before was shown.
        now: what this one is.
        counter: who counts; messages and tools keep the figures of the last one.
    """
    same = _leading(before.tools, now.tools)
    tokens = sum(count_tool(tool, counter) for tool in now.tools[:same])
    if not same == len(before.tools) == len(now.tools) or before.system != now.system:
        return tokens
    if now.system:
        tokens += PER_MESSAGE + counter(now.system)
    same = _leading(before.messages, now.messages)
    tokens += sum(PER_MESSAGE + count_parts(message, counter) for message in now.messages[:same])
    if same < min(len(before.messages), len(now.messages)):
        tokens += _shared_start(before.messages[same], now.messages[same], counter=counter)
    return tokens


def _leading(before: Sequence[object], now: Sequence[object]) -> int:
    """How many stand at the start of both."""
    for place, (one, other) in enumerate(zip(before, now, strict=False)):
        if one is not other and one != other:
            return place
    return min(len(before), len(now))


def _shared_start(before: Message, now: Message, *, counter: TokenCounter) -> int:
    if before.role != now.role or not (same := _leading(before.parts, now.parts)):
        return 0
    return PER_MESSAGE + sum(count_part(part, counter) for part in now.parts[:same])
