"""What a model call consumed, in one neutral form for every provider."""

from __future__ import annotations

import msgspec


class Usage(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Tokens of one model call, or the sum over several.

    `cached` and `cache_written` are parts of `input`; `reasoning` is a part of `output`. The context that a call
    filled is therefore `input + output`, never more: adding the cached part again would count it twice.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_written: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.cache_written + other.cache_written,
            self.reasoning + other.reasoning,
        )
