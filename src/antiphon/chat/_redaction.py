"""Redaction: a function of the caller's runs over every text of an entry before it is written.

Ids, digests, types, names of tools and models, media and numbers stay as they are; everything that a person, a model
or a tool said goes through it, inside free JSON too, keys and values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from .._jsonable import NULL, Jsonable, encode, thaw
from .._messages import Message, Reasoning, Text, ToolCall, ToolResult
from .._trace import LayerRow
from ..journal._entries import Failure, KnownEntry, TurnCompleted

Redact = Callable[[str], str]
"""Gives a text as it may be kept."""

E = TypeVar("E", bound=KnownEntry)

_TEXTS = frozenset({"output", "partial", "reason", "comment", "preferred", "title", "text", "raw", "focus"})
"""Fields that hold what someone said."""

_REASON = LayerRow.__struct_fields__.index("reason")


def redacted(entry: E, redact: Redact) -> E:
    """The entry as it may be written."""
    changed = {
        name: _value(name, getattr(entry, name), redact=redact)
        for name in entry.__struct_fields__
        if getattr(entry, name) is not None
    }
    if isinstance(entry, TurnCompleted):
        changed["metadata_json"] = entry.metadata_json  # which model or function answered
    return msgspec.structs.replace(entry, **changed)


def _value(name: str, value: Any, *, redact: Redact) -> Any:
    match value:
        case msgspec.Raw():
            return value if value == NULL else msgspec.Raw(encode(_free(name, thaw(value), redact=redact)))
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


def _free(name: str, value: Jsonable, *, redact: Redact) -> Jsonable:
    match name:
        case "trace_json":
            rows = [
                [redact(item) if n == _REASON and item else item for n, item in enumerate(row)]
                for row in value["layers"]
            ]
            return value | {"layers": rows, "warnings": [redact(each) for each in value.get("warnings", ())]}
        case "texts_json":
            return {digest: redact(text) for digest, text in value.items()}
        case "options_json":
            return value | {key: redact(value[key]) for key in ("instructions",) if key in value}
        case _:
            return _json(value, redact)


def _json(value: Jsonable, redact: Redact) -> Jsonable:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_json(item, redact) for item in value]
    if isinstance(value, dict):
        found: dict[str, Jsonable] = {}
        for key, item in value.items():
            kept = redact(key)
            # Two keys may read the same now; neither value may be lost for it.
            found[kept if kept not in found else f"{kept} ({len(found) + 1})"] = _json(item, redact)
        return found
    return value
