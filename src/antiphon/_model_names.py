"""From a name, as in `local:smollm2`, to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NamedTuple

from .errors import UnknownModel
from .models import Model


class _Scheme(NamedTuple):
    """A scheme: where its class is, how it is written, and whether something must follow the colon."""

    module: str
    class_name: str
    written: str
    takes_name: bool


_SCHEMES: Mapping[str, _Scheme] = {
    "echo": _Scheme("antiphon.providers.echo", "EchoModel", "echo:", takes_name=False),
    "local": _Scheme(
        "antiphon.providers.local", "LocalModel", "local:NAME or local:/path/to/file.gguf", takes_name=True
    ),
}


def model_from_name(text: str) -> Model:
    """Make the model that a name stands for. Its provider is imported now, not before.

    Args:
        text: `echo:`, `local:smollm2` or `local:/path/to/file.gguf`.

    Raises:
        UnknownModel: if the scheme is not known, a part is missing, or the provider knows no such model.
        MissingExtra: if the provider needs an optional part that is not installed.
    """
    word, colon, rest = text.partition(":")
    scheme = _SCHEMES.get(word)
    if not colon or scheme is None:
        what = f"{word + ':'!r} is no scheme" if colon else "it names no scheme"
        raise UnknownModel(text, f"{what}; written as {_known()}")
    if scheme.takes_name != bool(rest):
        what = "nothing may follow the colon" if rest else "the name after the colon is missing"
        raise UnknownModel(text, f"{what}; written as {scheme.written}")
    made: Callable[..., Model] = getattr(import_module(scheme.module), scheme.class_name)
    return made(rest) if scheme.takes_name else made()


def _known() -> str:
    return ", ".join(scheme.written for scheme in _SCHEMES.values())
