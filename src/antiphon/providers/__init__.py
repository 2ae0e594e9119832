"""Providers: the models that Antiphon can ask. Each vendor has a package of its own, imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .echo import EchoModel as EchoModel
    from .local import LocalModel as LocalModel

_PUBLIC = {"EchoModel": ".echo", "LocalModel": ".local"}

__all__ = ["EchoModel", "LocalModel"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_PUBLIC[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
