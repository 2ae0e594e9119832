"""Contexts: strategies that decide what a model is shown, and what they are built from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from ._assembly import Shown
    from ._budget import Budget
    from ._cutting import safe_cut, trim
    from ._families import counter_for, exact_counter
    from ._full import FullContext
    from ._layered import LayeredContext
    from ._source import Source, SourceFunction, source
    from ._summarizing import Compacts, Summary, summary_prompt
    from ._summary import SummaryContext
    from ._tokens import TokenCounter, estimate_tokens
    from ._view import Asks, Assembled, Context, ContextFunction, Derived, View

_HOMES = {
    "Asks": "._view",
    "Assembled": "._view",
    "Budget": "._budget",
    "Compacts": "._summarizing",
    "Context": "._view",
    "ContextFunction": "._view",
    "Derived": "._view",
    "FullContext": "._full",
    "LayeredContext": "._layered",
    "Shown": "._assembly",
    "Source": "._source",
    "SourceFunction": "._source",
    "Summary": "._summarizing",
    "SummaryContext": "._summary",
    "TokenCounter": "._tokens",
    "View": "._view",
    "counter_for": "._families",
    "estimate_tokens": "._tokens",
    "exact_counter": "._families",
    "safe_cut": "._cutting",
    "source": "._source",
    "summary_prompt": "._summarizing",
    "trim": "._cutting",
}

__all__ = [
    "Asks",
    "Assembled",
    "Budget",
    "Compacts",
    "Context",
    "ContextFunction",
    "Derived",
    "FullContext",
    "LayeredContext",
    "Shown",
    "Source",
    "SourceFunction",
    "Summary",
    "SummaryContext",
    "TokenCounter",
    "View",
    "counter_for",
    "estimate_tokens",
    "exact_counter",
    "safe_cut",
    "source",
    "summary_prompt",
    "trim",
]

if not TYPE_CHECKING:  # A type checker would take any name for one of ours.
    __getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return list(__all__)
