"""Public names that are resolved when they are first used (PEP 562), so that a package loads only what is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__`: finds a name in its module, and keeps it in the package.

    Args:
        package: the package's `__name__`.
        homes: for each public name the module that holds it, relative as in `._view`.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
