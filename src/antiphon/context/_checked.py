"""What a context is made with, looked at when it is made: a wrong number would else be written into traces."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

from ..errors import Misuse
from ._families import ExactCounter, FamilyCounter, counter_name
from ._tokens import TokenCounter, estimate_tokens


def check_numbers(numbers: Mapping[str, object]) -> None:
    """Refuse options that are no whole numbers from 0 on; None is none.

    Raises:
        Misuse: naming the first that is not.
    """
    for name, value in numbers.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise Misuse(f"{name}={value!r} is no whole number", "give one, or leave it out")
        if value < 0:
            raise Misuse(f"{name}={value} is less than 0", "give more, or leave it out")


def checked_shares(shares: object) -> dict[str, float]:
    """Give the shares by kind; None is none.

    Raises:
        Misuse: if one is no number from 0 on.
    """
    if shares is None:
        return {}
    if not isinstance(shares, Mapping):
        raise Misuse(f"shares is a {type(shares).__name__}", "give a dict from kinds of layers to numbers")
    for kind, share in shares.items():
        number = isinstance(share, int | float) and not isinstance(share, bool)
        if not number or not math.isfinite(share) or share < 0:
            raise Misuse(f"the share of {kind!r} is {share!r}", "give tokens, or a part up to 1 of what is usable")
    return dict(shares)


def checked_counter(counter: TokenCounter | None) -> TokenCounter | None:
    """Give a counter that is held to whole numbers.

    Raises:
        Misuse: if it cannot be called.
    """
    if counter is None or counter is estimate_tokens or isinstance(counter, FamilyCounter | ExactCounter):
        return counter
    if not callable(counter):
        raise Misuse(f"counter is a {type(counter).__name__}", "give a function of a text that gives its tokens")
    return _Held(counter)


class _Held:
    """A counter of the caller's own.

    Attributes:
        family: the counter's own, for what media costs; else None.
        name: how traces call it.
    """

    __slots__ = ("_count", "family", "name")

    def __init__(self, counter: TokenCounter) -> None:
        self._count = counter
        self.family = getattr(counter, "family", None)
        self.name = counter_name(counter)

    def __call__(self, text: str, /) -> int:
        """Count the tokens of a text.

        Raises:
            Misuse: if what comes of it is no whole number from 0 on.
        """
        given: Any = self._count(text)
        try:
            tokens = operator.index(given)
        except TypeError:
            tokens = -1
        if tokens < 0:
            raise Misuse(f"counter {self.name!r} gave {given!r} for a text", "give a whole number of tokens, 0 or more")
        return tokens
