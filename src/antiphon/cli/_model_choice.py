"""Which model answers. Nothing is chosen because a key lies about: a key is no consent to spend."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

from ..errors import UnknownModel
from ..providers.local import find_model
from ._endings import Refused

EMBEDDED = "smollm2"
"""The small model that runs in this process."""


def chosen_model(given: str | None, *, before: str | None, environ: Mapping[str, str]) -> str:
    """Decide which model answers.

    Args:
        given: what `--model` says; it decides alone.
        before: the model that the session was last asked with.
        environ: then `ANTIPHON_MODEL`, and then the embedded model if it is here.

    Raises:
        Refused: if none of these names one.
    """
    chosen = given or before or environ.get("ANTIPHON_MODEL")
    if chosen:
        return chosen
    if not embedded_model_is_here():
        raise Refused(
            "no model is chosen: get a small one with `antiphon models pull smollm2`"
            " (it runs here and needs pip install 'antiphon[local]'), name one with -m or in ANTIPHON_MODEL,"
            " or try -m echo:"
        )
    return f"local:{EMBEDDED}"


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
