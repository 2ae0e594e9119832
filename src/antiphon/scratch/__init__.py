"""Messages in hand, without a session: a scratchpad, what keeps it short, and asking a model with it."""

from ..context._cutting import safe_cut, trim
from ._compactor import Compactor, Measure, Strategy, reported_tokens
from ._completing import CapsModelCalls, ScratchLimits, complete
from ._messages import CallStatus, HasMessage, ScratchCall, ScratchMessage, ScratchReply
from ._router import Catalog, CatalogSource, Models, Router
from ._scratchpad import Scratchpad

__all__ = [
    "CallStatus",
    "CapsModelCalls",
    "Catalog",
    "CatalogSource",
    "Compactor",
    "HasMessage",
    "Measure",
    "Models",
    "Router",
    "ScratchCall",
    "ScratchLimits",
    "ScratchMessage",
    "ScratchReply",
    "Scratchpad",
    "Strategy",
    "complete",
    "reported_tokens",
    "safe_cut",
    "trim",
]
