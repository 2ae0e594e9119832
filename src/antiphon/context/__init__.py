"""Contexts: strategies that decide what a model is shown, and what they are built from."""

from ._assembly import Shown
from ._budget import Budget
from ._full import FullContext
from ._layered import LayeredContext
from ._source import Source, SourceFunction, source
from ._summarizing import Compacts, Summary, summary_prompt
from ._summary import SummaryContext
from ._tokens import TokenCounter, estimate_tokens
from ._view import Asks, Assembled, Context, ContextFunction, Derived, View

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
    "estimate_tokens",
    "source",
    "summary_prompt",
]
