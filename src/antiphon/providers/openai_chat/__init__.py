"""OpenAI's chat completions, spoken by OpenAI and by most servers that run models elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._lazy import lazily

if TYPE_CHECKING:
    from .._history import History as History
    from ._decode import Decoder as Decoder
    from ._decode_history import decode_history as decode_history
    from ._encode import encode as encode
    from ._model import OpenAIChatModel as OpenAIChatModel
    from ._model import model_at as model_at
    from ._model import ollama_model as ollama_model
    from ._rounds import Repaired as Repaired
    from ._rounds import repaired as repaired

_PUBLIC = {
    "Decoder": "._decode",
    "History": ".._history",
    "OpenAIChatModel": "._model",
    "Repaired": "._rounds",
    "decode_history": "._decode_history",
    "encode": "._encode",
    "model_at": "._model",
    "ollama_model": "._model",
    "repaired": "._rounds",
}

__all__ = [
    "Decoder",
    "History",
    "OpenAIChatModel",
    "Repaired",
    "decode_history",
    "encode",
    "model_at",
    "ollama_model",
    "repaired",
]


if not TYPE_CHECKING:  # A type checker would take any name for one of ours.
    __getattr__ = lazily(__name__, _PUBLIC)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
