"""From a name, as in `local:smollm2`, to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Literal, NamedTuple

from .errors import UnknownModel
from .models import Model


class _Scheme(NamedTuple):
    """A scheme: what makes its models, how it is written, and what that is given.

    Attributes:
        takes: `nothing` where nothing may follow the colon, `name` where what follows is given, `all` where the whole
            text is.
    """

    module: str
    maker: str
    written: str
    takes: Literal["nothing", "name", "all"] = "name"


_OPENAI_CHAT = "antiphon.providers.openai_chat"
_SCHEMES: Mapping[str, _Scheme] = {
    "echo": _Scheme("antiphon.providers.echo", "EchoModel", "echo:", "nothing"),
    "local": _Scheme("antiphon.providers.local", "LocalModel", "local:NAME or local:/path/to/file.gguf"),
    "openai": _Scheme(_OPENAI_CHAT, "OpenAIChatModel", "openai:NAME"),
    "ollama": _Scheme(_OPENAI_CHAT, "ollama_model", "ollama:NAME"),
    "http": _Scheme(_OPENAI_CHAT, "model_at", "http://HOST:PORT/v1#NAME", "all"),
    "https": _Scheme(_OPENAI_CHAT, "model_at", "https://HOST/v1#NAME", "all"),
}


def model_from_name(text: str) -> Model:
    """Make the model that a name stands for. Its provider is imported now, not before.

    Args:
        text: `echo:`, `local:smollm2`, `local:/path/to/file.gguf`, `openai:gpt-5-mini`, `ollama:llama3.2` or
            `http://127.0.0.1:8000/v1#qwen3`.

    Raises:
        UnknownModel: if the scheme is not known, a part is missing, or the provider knows no such model.
        BadCredentials: if the provider is to be asked with a key and there is none.
        Misuse: if an address is none.
        MissingExtra: if the provider needs an optional part that is not installed.
    """
    word, colon, rest = text.partition(":")
    scheme = _SCHEMES.get(word)
    if not colon or scheme is None:
        what = f"{word + ':'!r} is no scheme" if colon else "it names no scheme"
        raise UnknownModel(text, f"{what}; written as {_known()}")
    if (scheme.takes != "nothing") != bool(rest):
        what = "nothing may follow the colon" if rest else "the name after the colon is missing"
        raise UnknownModel(text, f"{what}; written as {scheme.written}")
    made: Callable[..., Model] = getattr(import_module(scheme.module), scheme.maker)
    given = {"nothing": [], "name": [rest], "all": [text]}
    return made(*given[scheme.takes])


def _known() -> str:
    return ", ".join(scheme.written for scheme in _SCHEMES.values())
