"""Contexts: strategies that decide what a model is shown, and what they are built from."""

from ._assembly import Shown
from ._budget import Budget
from ._full import FullContext
from ._summarizing import Summary, summary_prompt
from ._summary import SummaryContext
from ._tokens import TokenCounter, estimate_tokens
from ._view import Asks, Assembled, Context, ContextFunction, Derived, View

__all__ = [
    "Asks",
    "Assembled",
    "Budget",
    "Context",
    "ContextFunction",
    "Derived",
    "FullContext",
    "Shown",
    "Summary",
    "SummaryContext",
    "TokenCounter",
    "View",
    "estimate_tokens",
    "summary_prompt",
]
