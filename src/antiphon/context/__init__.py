"""Contexts: strategies that decide what a model is shown, and what they are built from."""

from ._assembly import Shown
from ._budget import Budget
from ._full import FullContext
from ._tokens import TokenCounter, estimate_tokens
from ._view import Assembled, Context, ContextFunction, View

__all__ = [
    "Assembled",
    "Budget",
    "Context",
    "ContextFunction",
    "FullContext",
    "Shown",
    "TokenCounter",
    "View",
    "estimate_tokens",
]
