"""Models that run in this process, from a GGUF file, through llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._lazy import lazily

if TYPE_CHECKING:
    from ._decode import Decoder as Decoder
    from ._encode import encode as encode
    from ._files import LocalFile as LocalFile
    from ._files import find_model as find_model
    from ._files import local_models as local_models
    from ._model import LocalModel as LocalModel
    from ._pull import pull as pull

_PUBLIC = {
    "Decoder": "._decode",
    "LocalFile": "._files",
    "LocalModel": "._model",
    "encode": "._encode",
    "find_model": "._files",
    "local_models": "._files",
    "pull": "._pull",
}

__all__ = ["Decoder", "LocalFile", "LocalModel", "encode", "find_model", "local_models", "pull"]


if not TYPE_CHECKING:  # A type checker would take any name for one of ours.
    __getattr__ = lazily(__name__, _PUBLIC)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
