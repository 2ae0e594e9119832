"""Calls of tools and what they gave, as text: exact where a person decides, short where one only looks."""

from __future__ import annotations

import json
from typing import Any

from .._messages import ToolCall, ToolResult
from ._screen import Ink, Words
from ._shown_text import cut, one_line

SHORT = 200
"""Cells of arguments or of a result that are shown where one only looks."""


def exact(value: Any, *, indent: int | None = 2) -> str:
    """Write a value as JSON in which every character can be seen: what has no form of its own is a number.

    Nothing is left out, and reading it as JSON gives the value again.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    # Line breaks here are only those of the indentation: JSON writes its own as numbers.
    return "".join(each if each.isprintable() or each == "\n" else _numbered(each) for each in text)


def _numbered(character: str) -> str:
    return json.dumps(character)[1:-1] if ord(character) != 0x7F else "\\u007f"


def written(call: ToolCall) -> str:
    """A call's arguments on one line, as the model wrote them."""
    return exact(call.arguments, indent=None) if call.raw is None else one_line(call.raw)


def called(name: str, arguments: str, *, full: bool = False) -> list[Words]:
    """A line that says what is called; `arguments` as JSON."""
    return [Ink("@ ", "cyan"), f"{one_line(name)} {arguments if full else cut(arguments, SHORT)}"]


def returned(result: ToolResult, *, full: bool = False, named: bool = False) -> list[Words]:
    """A line that says what a call gave; `named` says of which tool."""
    sign = Ink("x ", "red") if result.is_error else Ink("= ", "cyan")
    name = f"{one_line(result.name)}: " if named else ""
    media = "".join(f" [{one_line(each.media_type)}]" for each in result.media)
    return [sign, f"{name}{result.text if full else cut(one_line(result.text), SHORT)}{media}"]
