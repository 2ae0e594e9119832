"""What a model says while it answers. A stream ends with exactly one `Replied`, or raises a `ModelError`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .._messages import Message
from .._usage import Usage

FinishReason = Literal["stop", "length", "refusal", "calls"]
"""Why a model stopped: it was done, it reached its limit, it declined, or it asks for tools."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of the reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """The next piece of the model's visible reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Retry:
    """The call is made again: every piece before this one is void."""

    attempt: int
    delay: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Replied:
    """The whole reply; always the last event.

    Attributes:
        message: the assistant's message, reasoning and tool calls included.
        usage: what the provider reported, or None.
        finish: why the model stopped.
        model: the model that answered, as the provider names it, or None.
        raw: the provider's own object, for inspection; never kept.
    """

    message: Message
    usage: Usage | None = None
    finish: FinishReason = "stop"
    model: str | None = None
    raw: Any = None


ModelEvent = TextPiece | ReasoningPiece | Retry | Replied
"""Anything that a model's stream gives."""
