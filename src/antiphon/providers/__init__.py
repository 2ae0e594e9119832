"""Providers: the models that Antiphon can ask. Each vendor has a package of its own, imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .echo import EchoModel as EchoModel
    from .local import LocalModel as LocalModel
    from .openai_chat import OpenAIChatModel as OpenAIChatModel

_PUBLIC = {"EchoModel": ".echo", "LocalModel": ".local", "OpenAIChatModel": ".openai_chat"}

__all__ = ["EchoModel", "LocalModel", "OpenAIChatModel"]


if not TYPE_CHECKING:  # A type checker would take any name for one of ours.

    def __getattr__(name: str) -> Any:
        if name not in _PUBLIC:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(_PUBLIC[name], __name__), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
