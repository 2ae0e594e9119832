"""Keeping a scratchpad within limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, cast

from .._messages import Message
from .._usage import Usage
from ..context._cutting import cost_of, dropped
from ..context._tokens import TokenCounter, estimate_tokens
from ..errors import Misuse
from ._content import listed
from ._messages import adopted

M = TypeVar("M", bound=Message)

Strategy = Callable[[list[Any]], Sequence[Any]]
"""Gives the messages that take the place of those it is given, a list of its own."""
Measure = Literal["estimated", "reported"]
"""What counts as a token: an estimate of what is there, or what providers reported."""


def reported_tokens(messages: Sequence[Message]) -> int:
    """Tokens by what providers reported: the output of every reply, and the input of the latest.

    Not a size: what came after the latest reply is not in it, replies without usage and messages made by hand add
    nothing, and earlier output counts twice, once by itself and once in the latest input.
    """
    found = [usage for message in messages if (usage := _usage(message)) is not None]
    return sum(usage.output for usage in found) + (found[-1].input if found else 0)


def _usage(message: Message) -> Usage | None:
    usage = getattr(getattr(message, "reply", None), "usage", None)
    return usage if isinstance(usage, Usage) else None


class Compactor:
    """Makes a list of messages shorter when it is over a limit. A scratchpad asks it after each append.

    Trimming leaves out the oldest exchanges whole, and then the oldest rounds of the newest one; calls and results
    are never parted. It ends, without an error, when only system messages, the newest input and the last round are
    left, and before a call that still waits for its result.

    Attributes:
        max_messages: messages, system ones included; 0 is off.
        max_tokens: tokens; 0 is off. A limit is passed by what is more than it.
        strategy: `trim`, or None to leave the messages as they are, or a function of them: it is called once an
            append and only over a limit, and its result is taken as it is, whatever it is over then. Calls, results
            and inputs that a function loses are its own affair; `complete` refuses to send what no model takes.
        measure: `estimated` counts all that is there; `reported` is `reported_tokens`, which falls only as replies
            go, so that trimming goes far.
        counter: counts a text; None is the estimate for a model that is not known.

    Setting an attribute shortens nothing: the next append does.

    Raises:
        Misuse: when it is made or set, for a limit that is no whole number or negative, and an unknown strategy or
            measure.
    """

    max_messages: int
    max_tokens: int
    strategy: Literal["trim"] | Strategy | None
    measure: Measure
    counter: TokenCounter | None

    def __init__(
        self,
        max_messages: int = 0,
        max_tokens: int = 250_000,
        *,
        strategy: Literal["trim"] | Strategy | None = "trim",
        measure: Measure = "estimated",
        counter: TokenCounter | None = None,
    ) -> None:
        self.max_messages, self.max_tokens = max_messages, max_tokens
        self.strategy, self.measure, self.counter = strategy, measure, counter

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("max_messages", "max_tokens"):
            # None or a broken figure would be no limit at all to a comparison; only 0 says so.
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise Misuse(f"{name}={value!r} is no limit", "give a whole number, or 0 for none")
        elif name == "strategy" and not (value is None or value == "trim" or callable(value)):
            raise Misuse(f"strategy={value!r} is not known", "use 'trim', None or a function of the messages")
        elif name == "measure" and value not in ("estimated", "reported"):
            raise Misuse(f"measure={value!r} is not known", "use 'estimated' or 'reported'")
        elif name == "counter" and not (value is None or callable(value)):
            raise Misuse(f"counter is a {type(value).__name__}", "give a function of a text")
        super().__setattr__(name, value)

    def tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of messages, by this compactor's measure."""
        if self.measure == "reported":
            return reported_tokens(messages)
        return cost_of(messages, self.counter or estimate_tokens)

    def fits(self, messages: Sequence[Message]) -> bool:
        """Whether messages are within every limit."""
        if self.max_messages and len(messages) > self.max_messages:
            return False
        return not self.max_tokens or self.tokens(messages) <= self.max_tokens

    def compact(self, messages: list[M]) -> list[M]:
        """Give the list itself within the limits, and over one a new, shorter one.

        Raises:
            Misuse: if a strategy gives no list of messages.
            Exception: whatever a strategy raises.
        """
        if self.strategy is None or self.fits(messages):
            return messages
        if callable(self.strategy):
            given = listed(self.strategy(list(messages)), "the strategy's result")
            return cast("list[M]", [adopted(each) for each in given])
        return dropped(messages, self.fits, keep_open=True)
