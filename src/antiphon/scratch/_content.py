"""What is said by hand, as parts of a message: any value that JSON can hold, and what has a plain form in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import msgspec

from .._jsonable import MAX_DEPTH, Jsonable, freeze
from .._messages import File, Image, Message, Part, Reasoning, Text, ToolCall, ToolResult, check_part
from ..errors import NotStorable

_SAID = (Text, Image, File)
_NOT_SAID = (ToolCall, ToolResult, Reasoning, Message)


def parts_of(given: object, path: str) -> tuple[Part, ...]:
    """The parts that a value is sent as: text as it is, parts as they are, anything else as JSON text.

    Raises:
        NotStorable: if JSON has nothing for it; `path` is what the error calls it.
    """
    if isinstance(given, str):
        return (Text(given),) if given else ()
    if isinstance(given, _SAID):
        return (check_part(given, path),)
    if isinstance(given, _NOT_SAID):
        raise NotStorable(path, f"a {type(given).__name__}", advice="append a whole message with pad.append")
    if isinstance(given, list | tuple) and given and all(isinstance(each, _SAID) for each in given):
        return tuple(check_part(each, f"{path}[{i}]") for i, each in enumerate(given))
    return (Text(bytes(freeze(_plain(given, path), path)).decode()),)


def _plain(value: Any, path: str, *, depth: int = 0) -> Jsonable:
    """The value with everything in it that JSON has a form for in that form; what is left is refused by `freeze`."""
    if depth > MAX_DEPTH:
        raise NotStorable(path, f"a value nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Enum):
        return _plain(value.value, path, depth=depth + 1)
    if isinstance(value, Mapping):
        return {key: _plain(each, f"{path}.{key}", depth=depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, f"{path}[{i}]", depth=depth + 1) for i, each in enumerate(value)]
    if is_dataclass(value) and not isinstance(value, type):
        own = {each.name: getattr(value, each.name) for each in fields(value)}
        return _plain(own, path, depth=depth + 1)
    if callable(dump := getattr(type(value), "model_dump", None)):
        return _plain(dump(value, mode="json"), path, depth=depth + 1)
    return value if isinstance(value, _AS_THEY_ARE) else _known(value)


_AS_THEY_ARE = (str, int, float, type(None), bytes, bytearray, memoryview, set, frozenset)
"""Kinds that JSON has, and kinds that it has not and msgspec would turn into another."""


def _known(value: Any) -> Jsonable:
    """What msgspec has a plain form for: its own structs, dates, UUIDs, decimals."""
    try:
        return msgspec.to_builtins(value)
    except (TypeError, ValueError, RecursionError):
        return value


def listed(given: object, what: str) -> Sequence[Any]:
    """A list or tuple, or an error that says what stands there.

    Raises:
        NotStorable: for anything else.
    """
    if not isinstance(given, list | tuple):
        raise NotStorable(what, f"a {type(given).__name__}", advice="give a list of messages")
    return given
