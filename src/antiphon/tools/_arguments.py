"""From what a model wrote to what a function is called with: repaired where it has one meaning, checked, converted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import msgspec

from .._jsonable import Jsonable, freeze, thaw_object
from .._messages import ToolCall
from .._tool_errors import InvalidArguments
from ..errors import CorruptJournal, NotStorable
from ._json_text import Unreadable, read_json_text
from ._kinds import is_pydantic
from ._schema_faults import Fitting
from ._tool import Tool

_LAYERS = 3
"""How often an object may have been written as a text inside a text."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that is fit to run.

    Attributes:
        call: as the model made it.
        arguments: what the function is called with, in its parameters' types; the context is not among them.
        arguments_json: the same as JSON, repaired: what a person approves and a policy decides on.
        repaired: whether the model wrote something else.
    """

    call: ToolCall
    arguments: dict[str, Any]
    arguments_json: msgspec.Raw
    repaired: bool

    @property
    def decoded(self) -> dict[str, Jsonable]:
        """The arguments as JSON values, decoded anew on each access."""
        return thaw_object(self.arguments_json)


def prepared(tool: Tool, call: ToolCall, *, truncated: bool = False) -> Prepared:
    """Make a call's arguments fit to run.

    Args:
        tool: what is called.
        call: what the model asked.
        truncated: the reply ended at its limit of tokens, so that this call may be cut off; it is never run.

    Raises:
        InvalidArguments: if they cannot be read, or do not fit; it names every wrong parameter.
    """
    if truncated:
        cut = "the reply was cut off at its limit of tokens, and the arguments with it: write less in one call"
        raise InvalidArguments(tool.name, [cut])
    try:
        found, repaired = _object(tool, call)
        fitting = _fitting(tool, call)
        fitted = fitting.fitted(found, tool.schema)
        faults = fitting.faults(fitted, tool.schema)
        faults += [f"there is no {name!r}" for name in sorted(tool.untold.intersection(fitted))]
        if faults:
            raise InvalidArguments(tool.name, faults)
        kept = freeze(fitted, f"arguments of {tool.name}")
    except RecursionError:
        raise InvalidArguments(tool.name, ["they, or the schema for them, are nested too deeply"]) from None
    except (NotStorable, CorruptJournal) as error:
        raise InvalidArguments(tool.name, [str(error)]) from None
    # Decoded anew: what a function does to its arguments must not reach what is kept.
    arguments = _converted(tool, thaw_object(kept))
    return Prepared(call, arguments, kept, repaired or fitted is not found)


def _fitting(tool: Tool, call: ToolCall) -> Fitting:
    size = len(bytes(call.arguments_json) if call.raw is None else call.raw)
    return Fitting(tool.schema, patterns=tool.patterns, size=size)


def _object(tool: Tool, call: ToolCall) -> tuple[dict[str, Jsonable], bool]:
    """The arguments as an object, and whether that is not what the model wrote."""
    if call.raw is None:
        return call.arguments, False
    if call.raw.strip() in ("", "null", "None"):
        return {}, True
    try:
        found, repaired = read_json_text(call.raw)
    except Unreadable as error:
        raise InvalidArguments(tool.name, [f"{error}: give one JSON object"]) from None
    unwrapped = _unwrapped(found)
    if isinstance(unwrapped, dict):
        return unwrapped, repaired or unwrapped is not found
    return _sole(tool, found, fitting=_fitting(tool, call)), True


def _unwrapped(found: Jsonable) -> Jsonable:
    """The object that is written as a text inside a text, or what was given."""
    inner = found
    for _ in range(_LAYERS):
        if not isinstance(inner, str):
            break
        try:
            inner, _ = read_json_text(inner)
        except Unreadable:
            return found
    return inner if isinstance(inner, dict) else found


def _sole(tool: Tool, found: Jsonable, *, fitting: Fitting) -> dict[str, Jsonable]:
    """A value for the one parameter that there is.

    Raises:
        InvalidArguments: if there are more, or it does not fit.
    """
    names = list(tool.schema.get("properties") or {})
    given: dict[str, Jsonable] = dict.fromkeys(names, found)
    if len(names) != 1 or fitting.faults(fitting.fitted(given, tool.schema), tool.schema):
        kind = "a list" if isinstance(found, list) else "a single value"
        listed = ", ".join(map(repr, names)) or "no parameters"
        raise InvalidArguments(tool.name, [f"they are {kind}: give one JSON object with {listed}"])
    return given


def _converted(tool: Tool, values: dict[str, Jsonable]) -> dict[str, Any]:
    found, faults = {}, []
    for name, value in values.items():
        try:
            found[name] = _as_one_of(tool.hints[name], value) if name in tool.hints else value
        except Exception as error:  # isolates: the parameter's type, whose checks are the caller's
            faults += _told(error, name)
    if faults:
        raise InvalidArguments(tool.name, faults)
    return found


def _as_one_of(hints: Sequence[Any], value: Jsonable) -> Any:
    for hint in hints[:-1]:
        try:
            return _as(hint, value)
        except msgspec.ValidationError:
            continue
    return _as(hints[-1], value)


def _as(hint: Any, value: Jsonable) -> Any:
    return msgspec.convert(value, hint, dec_hook=_foreign)


def _foreign(kind: type, value: Any) -> Any:
    """A value of a type that msgspec does not know."""
    if kind is object:
        return value
    if is_pydantic(kind):
        return kind.model_validate(value)  # type: ignore[attr-defined]
    if issubclass(kind, PurePath):
        return kind(value)
    # How a hook tells msgspec that it does not know a type either (msgspec's documentation, "Extending").
    raise NotImplementedError(f"no JSON becomes a {kind.__name__}")


def _told(error: Exception, name: str) -> list[str]:
    """What is wrong with a parameter, for a model; pydantic's list of errors, which quotes values, without them."""
    listed = getattr(error.__cause__ or error, "errors", None)
    if callable(listed):
        return [
            f"{'.'.join([name, *map(str, each.get('loc', ()))])!r}: {each.get('msg', 'does not fit')}"
            for each in listed()
        ]
    place, said = name, str(error) or type(error).__name__
    if " - at `$" in said:
        said, _, path = said.rpartition(" - at `$")
        place = name + path.rstrip("`")
    return [f"{place!r}: {said[:1].lower()}{said[1:]}"]
