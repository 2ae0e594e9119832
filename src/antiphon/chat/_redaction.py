"""Redaction: a function of the caller's runs over every text of an entry before it is written.

Ids, types, names of tools, media and numbers stay as they are; everything that a person, a model or a tool said
goes through it, inside free JSON too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from .._jsonable import Jsonable, encode, thaw
from .._messages import Message, Reasoning, Text, ToolCall, ToolResult
from ..journal._entries import Failure, KnownEntry

Redact = Callable[[str], str]
"""Gives a text as it may be kept."""

E = TypeVar("E", bound=KnownEntry)

_TEXTS = frozenset({"output", "partial", "reason", "comment", "preferred", "title", "text", "raw", "focus"})
"""Fields that hold what someone said."""


def redacted(entry: E, redact: Redact) -> E:
    """The entry as it may be written."""
    changed = {
        name: _value(name, getattr(entry, name), redact=redact)
        for name in entry.__struct_fields__
        if getattr(entry, name) is not None
    }
    return msgspec.structs.replace(entry, **changed)


def _value(name: str, value: Any, *, redact: Redact) -> Any:
    match value:
        case msgspec.Raw():
            return msgspec.Raw(encode(_json(thaw(value), redact)))
        case str():
            return redact(value) if name in _TEXTS or name == "input" else value
        case tuple() if name == "input":
            return tuple(_part(part, redact) for part in value)
        case Message():
            return Message(value.role, tuple(_part(part, redact) for part in value.parts))
        case Failure():
            return Failure(value.kind, redact(value.text))
        case _:
            return redact(value) if name == "error" and isinstance(value, str) else value


def _part(part: Any, redact: Redact) -> Any:
    if not isinstance(part, Text | Reasoning | ToolCall | ToolResult):
        return part
    return redacted(part, redact)  # type: ignore[type-var]


def _json(value: Jsonable, redact: Redact) -> Jsonable:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_json(item, redact) for item in value]
    if isinstance(value, dict):
        return {key: _json(item, redact) for key, item in value.items()}
    return value
