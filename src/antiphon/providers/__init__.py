"""Providers: the models that Antiphon can ask. Each vendor has a package of its own, imported when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from .echo import EchoModel as EchoModel
    from .local import LocalModel as LocalModel
    from .openai_chat import OpenAIChatModel as OpenAIChatModel

_PUBLIC = {"EchoModel": ".echo", "LocalModel": ".local", "OpenAIChatModel": ".openai_chat"}

__all__ = ["EchoModel", "LocalModel", "OpenAIChatModel"]


if not TYPE_CHECKING:  # A type checker would take any name for one of ours.
    __getattr__ = lazily(__name__, _PUBLIC)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
