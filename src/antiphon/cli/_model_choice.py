"""Which model answers. Nothing is chosen because a key lies about: a key is no consent to spend."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence

from .._model_names import model_from_name
from ..errors import UnknownModel
from ..providers.local import find_model
from ._configuration import Configuration
from ._endings import Refused
from ._local_servers import ollama_models

EMBEDDED = "smollm2"
"""The small model that runs in this process."""


def named_model(
    given: str | None, *, before: str | None, environ: Mapping[str, str], configured: Configuration
) -> str | None:
    """Give the model that someone named, or None if nobody did.

    Args:
        given: what `--model` says; it decides alone.
        before: the model that the session was last asked with.
        environ: then `ANTIPHON_MODEL`.
        configured: then the configuration.
    """
    if given is not None:
        return given
    chosen = before or environ.get("ANTIPHON_MODEL")
    return chosen or (None if configured.model is None else configured.model.value)


def chosen_model(named: str | None, *, choose: Callable[[Sequence[str]], str] = lambda found: found[0]) -> str:
    """Give the model that was named, else one that can be asked here at no cost.

    Args:
        named: see `named_model`.
        choose: picks one where several are here; by default the first.

    Raises:
        Refused: if none is named and none is here.
    """
    if named:
        return named
    found = models_here()
    if not found:
        raise Refused(
            "no model is chosen: get a small one with `antiphon models pull smollm2`"
            " (it runs here and needs pip install 'antiphon[local]'), name one with -m, in ANTIPHON_MODEL or in the"
            " configuration, or try -m echo:"
        )
    return found[0] if len(found) == 1 else choose(found)


def models_here() -> list[str]:
    """Give what can be asked here at no cost: what a local server holds, then the embedded model."""
    # Whoever says where Ollama is may mean another machine, which is not asked unless it is named.
    asked = scheme_is_known("ollama") and not os.environ.get("OLLAMA_HOST")
    served = [f"ollama:{name}" for name in ollama_models()] if asked else []
    return [*served, *([f"local:{EMBEDDED}"] if embedded_model_is_here() else [])]


def scheme_is_known(scheme: str) -> bool:
    """Whether models may be named `scheme:…`; nothing is imported to find out."""
    try:
        model_from_name(f"{scheme}:")
    except UnknownModel as error:
        return "is no scheme" not in str(error)
    return True


def embedded_model_is_here() -> bool:
    """Whether the embedded model's file and the engine that runs it are both here."""
    return engine_is_here() and _file_is_here()


def engine_is_here() -> bool:
    """Whether models can run in this process."""
    return importlib.util.find_spec("xllamacpp") is not None


def _file_is_here() -> bool:
    try:
        find_model(EMBEDDED)
    except UnknownModel:
        return False
    return True
