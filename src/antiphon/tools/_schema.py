"""The JSON Schema of a function's parameters. The same function always gives the same bytes."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import PurePath
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from .._jsonable import Jsonable, check, encode
from ..errors import Misuse, NotStorable
from ._kinds import is_pydantic
from ._signature import Parameter, Signature

Schema = dict[str, Jsonable]

_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_LEFT_OUT = ("$defs", "$ref", "title", "discriminator")
"""`title` repeats a name and costs tokens; `discriminator` points into definitions that are not kept."""


def parameters_schema(signature: Signature, *, name: str) -> Schema:
    """Give the JSON Schema of an object that holds the parameters.

    Definitions are written out where they are used; only a type that holds itself stays in `$defs`.

    Args:
        signature: the parameters.
        name: the function, for errors.

    Raises:
        Misuse: if no schema describes a parameter's type.
    """
    writer = _Writer()
    properties = {each.name: _property(each, writer, name=name) for each in signature.parameters}
    found: Schema = {
        "type": "object",
        "properties": properties,
        "required": [each.name for each in signature.parameters if each.required],
        "additionalProperties": False,
    }
    return found | {"$defs": writer.kept} if writer.kept else found


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The types to try in turn: the members of a union that msgspec does not take as one, else the type alone."""
    if get_origin(hint) not in (Union, UnionType):
        return (hint,)
    try:
        _components(hint)
    except TypeError:
        return get_args(hint)
    return (hint,)


def _property(parameter: Parameter, writer: _Writer, *, name: str) -> Schema:
    try:
        written = [writer.written(*_components(each)) for each in alternatives(parameter.hint)]
    except (TypeError, NotImplementedError) as error:
        why = str(error).splitlines()[-1]
        raise Misuse(
            f"no JSON Schema describes parameter {parameter.name!r} of function {name!r}: {why}",
            "annotate it with a type that JSON can hold, or make a Tool with parameters=",
        ) from None
    found: Schema = written[0] if len(written) == 1 else {"anyOf": written}
    if parameter.description:
        found = {"description": parameter.description} | found | {"description": parameter.description}
    return found | _default(parameter)


def _default(parameter: Parameter) -> Schema:
    """The default as JSON; one that JSON cannot hold is the function's own matter."""
    if parameter.required:
        return {}
    try:
        found = msgspec.to_builtins(parameter.default)
        check(found, parameter.name)
    except (TypeError, ValueError, NotStorable):
        return {}
    return {"default": found}


def _components(hint: Any) -> tuple[Schema, dict[str, Schema]]:
    schemas, definitions = msgspec.json.schema_components([hint], schema_hook=_foreign)
    return dict(next(iter(schemas))), definitions


def _foreign(kind: Any) -> Schema:
    """The schema of a type that msgspec does not know."""
    if kind is object:
        return {"title": "anything"}  # An empty one would pass for none; titles are left out.
    if is_pydantic(kind):
        return dict(kind.model_json_schema())
    if isinstance(kind, type) and issubclass(kind, PurePath):
        return {"type": "string", "format": "path"}
    # How a hook tells msgspec that it does not know a type either; `_property` makes a Misuse of it.
    raise NotImplementedError


class _Writer:
    """Writes definitions out where they are used.

    Attributes:
        kept: the definitions that hold themselves, under names of their own.
    """

    def __init__(self) -> None:
        self.kept: dict[str, Schema] = {}
        self._names: dict[tuple[str, bytes], str] = {}

    def written(self, schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
        """A schema without references, but for those to `kept`."""
        found: Schema = self._walk(schema, definitions)
        return found

    def _walk(self, node: Any, scope: Mapping[str, Schema]) -> Any:
        if not isinstance(node, dict):
            return node
        scope = node.get("$defs", scope)
        found: Schema = {}
        for key, value in node.items():
            if key not in _LEFT_OUT:
                found[key] = self._value(key, value, scope=scope)
        if "enum" in found and "type" not in found:
            found |= _kind_of_all(found["enum"])
        return {**self._referred(node["$ref"], scope), **found} if "$ref" in node else found

    def _value(self, key: str, value: Any, *, scope: Mapping[str, Schema]) -> Any:
        if key in _MAPS:
            return {name: self._walk(each, scope) for name, each in value.items()}
        if key in _LISTS:
            return [self._walk(each, scope) for each in value]
        return self._walk(value, scope) if key in _SINGLE else value

    def _referred(self, reference: str, scope: Mapping[str, Schema]) -> Schema:
        name = definition_name(reference)
        reached = _reached(scope[name], scope)
        if name not in reached:
            written: Schema = self._walk(scope[name], scope)
            return written
        # One type met in two parameters is kept once, two types of one name are kept under two.
        key = (name, encode({each: scope[each] for each in sorted(reached)}))
        if key not in self._names:
            self._names[key] = kept = next(each for each in _numbered(name) if each not in self.kept)
            self.kept[kept] = {}
            self.kept[kept] = self._walk(scope[name], scope)
        return {"$ref": f"#/$defs/{self._names[key]}"}


def _kind_of_all(values: list[Any]) -> Schema:
    """The type of an enumeration's values, which some providers ask for, where they have one."""
    for kind, name in ((str, "string"), (int, "integer")):
        if all(type(value) is kind for value in values):
            return {"type": name}
    return {}


def definition_name(reference: str) -> str:
    """The name that a reference such as `#/$defs/Node` ends in."""
    return reference.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~")


def _numbered(name: str) -> list[str]:
    return [name, *(f"{name}_{number}" for number in range(2, 100))]


def _reached(schema: Schema, scope: Mapping[str, Schema]) -> set[str]:
    """The names of all definitions that a schema refers to, by any way round."""
    found: set[str] = set()
    pending = [schema]
    while pending:
        names = set(_references(pending.pop())) - found
        found |= names
        pending += [scope[name] for name in names if name in scope]
    return found


def _references(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [definition_name(node["$ref"])] if isinstance(node.get("$ref"), str) else []
        return functools.reduce(list.__add__, map(_references, node.values()), own)
    return functools.reduce(list.__add__, map(_references, node), []) if isinstance(node, list) else []
