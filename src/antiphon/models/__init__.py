"""Models: what is asked, what comes back, and the seam between."""

from .._tool_spec import ToolSpec
from ._events import FinishReason, ModelEvent, ReasoningPiece, Replied, Retry, TextPiece
from ._model import HasWindow, Model
from ._request import ModelRequest

__all__ = [
    "FinishReason",
    "HasWindow",
    "Model",
    "ModelEvent",
    "ModelRequest",
    "ReasoningPiece",
    "Replied",
    "Retry",
    "TextPiece",
    "ToolSpec",
]
