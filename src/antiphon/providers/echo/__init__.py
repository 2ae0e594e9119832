"""`echo:`, a model without an engine: it says what it was shown."""

from ._model import EchoModel

__all__ = ["EchoModel"]
