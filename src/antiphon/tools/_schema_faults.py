"""What of a JSON value does not fit a JSON Schema, and the one way to make it fit. Pure.

Only the keywords that schemas of tools use are looked at; any other allows everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .._jsonable import Jsonable
from .._tool_errors import near_names
from ._json_text import Unreadable, read_json_text
from ._schema import definition_name

_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("text", lambda value: isinstance(value, str)),
    "integer": ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "number": ("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "null": ("null", lambda value: value is None),
    "array": ("a list", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
}
_BOUNDS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("minimum", "at least {}", lambda value, bound: value >= bound),
    ("maximum", "at most {}", lambda value, bound: value <= bound),
    ("exclusiveMinimum", "more than {}", lambda value, bound: value > bound),
    ("exclusiveMaximum", "less than {}", lambda value, bound: value < bound),
)
_SIZES: tuple[tuple[type, str, str, str], ...] = (
    (str, "minLength", "maxLength", "characters"),
    (list, "minItems", "maxItems", "items"),
    (dict, "minProperties", "maxProperties", "entries"),
)
_WHOLE = re.compile(r"[+-]?\d{1,40}")
_SHOWN = 10
_LEAST_STEPS, _STEPS_PER_BYTE = 20_000, 20
_REFERENCES = 20
"""References followed in a row. What one that leads nowhere asks for cannot be known: it asks for nothing."""


class Fitting:
    """Checks values against the parts of one schema.

    Args:
        schema: the whole, whose `$defs` references point into.
        patterns: whether texts are held to patterns. A bad one takes longer than anybody lives, and nothing ends it.
        size: bytes of what is checked. A schema may branch and branch again, so more than that explains is not done.
    """

    def __init__(self, schema: Mapping[str, Jsonable], *, patterns: bool = True, size: int = 0) -> None:
        self._patterns, self._left = patterns, _LEAST_STEPS + _STEPS_PER_BYTE * size
        self._definitions = schema.get("$defs") or {}

    def faults(self, value: Jsonable, schema: Any, *, at: str = "") -> list[str]:
        """What does not fit, in sentences that name the place; none of them holds a value.

        Args:
            value: what is checked.
            schema: what it must meet.
            at: where it stands, as in `order.items[2]`; empty for the arguments themselves.

        Raises:
            RecursionError: if that has no end in sight.
        """
        self._left -= 1
        if self._left < 0:
            raise RecursionError
        schema = self._looked_up(schema)
        if not isinstance(schema, dict):
            return [f"{_place(at)} is not allowed"] if schema is False else []
        if not _is_kind(value, schema):
            return [f"{_place(at)} must be {_asked(schema)}, not {_kind(value)}"]
        own = next(_unfit(value, schema, patterns=self._patterns), None)
        if own is not None:
            return [f"{_place(at)} must be {own}"]
        return [*self._unmet(value, schema, at=at), *self._inner_faults(value, schema, at=at)]

    def fitted(self, value: Jsonable, schema: Any) -> Jsonable:
        """The value itself where it fits or cannot be made to; else what it can only have meant."""
        schema = self._looked_up(schema)
        if not isinstance(schema, dict) or not self.faults(value, schema):
            return value
        options = _options(schema)
        if options:
            return self._one_of(value, options)
        if isinstance(value, dict):
            return self._fitted_entries(value, schema)
        if isinstance(value, list) and isinstance(schema.get("items"), dict):
            return [self.fitted(each, schema["items"]) for each in value]
        meant = _meant(value, schema.get("type"))
        if isinstance(meant, dict | list) and not isinstance(value, dict | list):
            meant = self.fitted(meant, schema)
        return value if self.faults(meant, schema) else meant

    def _looked_up(self, schema: Any) -> Any:
        for _ in range(_REFERENCES):
            if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
                return schema
            schema = self._definitions.get(definition_name(schema["$ref"]), {})
        return {}

    def _one_of(self, value: Jsonable, options: list[Any]) -> Jsonable:
        found: list[Jsonable] = []
        for option in options:
            meant = self.fitted(value, option)
            if not self.faults(meant, option) and meant not in found:
                found.append(meant)
        return found[0] if len(found) == 1 else value

    def _fitted_entries(self, value: dict[str, Jsonable], schema: dict[str, Any]) -> dict[str, Jsonable]:
        known, others = schema.get("properties") or {}, schema.get("additionalProperties", {})
        required = schema.get("required") or ()
        found = {}
        for name, each in value.items():
            own = known.get(name, others)
            if each is None and name in known and name not in required and self.faults(None, own):
                continue  # Null for what may be left out means that it is left out.
            found[name] = self.fitted(each, own)
        return found

    def _unmet(self, value: Jsonable, schema: dict[str, Any], *, at: str) -> Iterator[str]:
        for keyword in ("anyOf", "oneOf"):
            options = schema.get(keyword)
            if options and all(self.faults(value, option) for option in options):
                yield self._closest(value, options, at=at)
        for part in schema.get("allOf") or ():
            yield from self.faults(value, part, at=at)

    def _closest(self, value: Jsonable, options: list[Any], *, at: str) -> str:
        """One sentence for a value that meets none of several schemas."""
        looked_up = [self._looked_up(option) for option in options]
        same = [option for option in looked_up if _is_kind(value, option)]
        if len(same) == 1:
            return "; ".join(self.faults(value, same[0], at=at))
        asked = " or ".join(dict.fromkeys(filter(None, map(_asked, looked_up))))
        return f"{_place(at)} must be {asked or 'of one of the kinds in the schema'}, not {_kind(value)}"

    def _inner_faults(self, value: Jsonable, schema: dict[str, Any], *, at: str) -> Iterator[str]:
        if isinstance(value, dict):
            yield from self._entry_faults(value, schema, at=at)
        elif isinstance(value, list):
            first = schema.get("prefixItems") or []
            for number, each in enumerate(value):
                own = first[number] if number < len(first) else schema.get("items", {})
                yield from self.faults(each, own, at=f"{at}[{number}]")

    def _entry_faults(self, value: dict[str, Jsonable], schema: dict[str, Any], *, at: str) -> Iterator[str]:
        known, others = schema.get("properties") or {}, schema.get("additionalProperties", {})
        for name in schema.get("required") or ():
            if name not in value:
                yield f"{_place(_under(at, name))} is missing"
        for name, each in value.items():
            if name in known or others is not False:
                yield from self.faults(each, known.get(name, others), at=_under(at, name))
                continue
            near = near_names(name, list(known), most=1)
            hint = f", did you mean {near[0]!r}?" if near else f"; there are {', '.join(map(repr, known)) or 'none'}"
            yield f"there is no {_under(at, name)!r}{hint}"


def _options(schema: dict[str, Any]) -> list[Any]:
    """The schemas of which a value must meet one, where a schema is nothing but such a choice."""
    if isinstance(schema.get("type"), list):
        return [schema | {"type": each} for each in schema["type"]]
    return list(schema.get("anyOf") or schema.get("oneOf") or ())


def _is_kind(value: Jsonable, schema: Any) -> bool:
    kinds = _kinds(schema) if isinstance(schema, dict) else []
    return not kinds or any(_KINDS[each][1](value) for each in kinds)


def _unfit(value: Jsonable, schema: dict[str, Any], *, patterns: bool) -> Iterator[str]:
    """What a value of the right kind would have to be, where it is not."""
    if "const" in schema and not _same(value, schema["const"]):
        yield repr(schema["const"])
    if isinstance(schema.get("enum"), list) and not any(_same(value, each) for each in schema["enum"]):
        yield _asked({"enum": schema["enum"]})
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from (says.format(schema[key]) for key, says, ok in _BOUNDS if _breaks(value, schema.get(key), fits=ok))
        if isinstance(step := schema.get("multipleOf"), int) and step and value % step:
            yield f"a multiple of {step}"
    yield from _unfit_size(value, schema)
    if patterns and isinstance(value, str):
        yield from _unfit_text(value, schema.get("pattern"))


def _breaks(value: float, bound: Any, *, fits: Callable[[Any, Any], bool]) -> bool:
    return isinstance(bound, int | float) and not isinstance(bound, bool) and not fits(value, bound)


def _unfit_size(value: Jsonable, schema: dict[str, Any]) -> Iterator[str]:
    for kind, least, most, unit in _SIZES:
        if isinstance(value, kind) and isinstance(value, str | list | dict):
            if isinstance(schema.get(least), int) and len(value) < schema[least]:
                yield f"of at least {schema[least]} {unit}"
            if isinstance(schema.get(most), int) and len(value) > schema[most]:
                yield f"of at most {schema[most]} {unit}"


def _unfit_text(value: str, pattern: Any) -> Iterator[str]:
    if not isinstance(pattern, str):
        return
    try:
        fits = re.search(pattern, value) is not None
    except re.error:  # Another dialect's: whoever wrote it checks it.
        return
    if not fits:
        yield f"text that matches {pattern}"


def _asked(schema: Any) -> str:
    """What a schema asks for, in words."""
    if not isinstance(schema, dict):
        return ""
    if isinstance(schema.get("enum"), list):
        shown = ", ".join(map(repr, schema["enum"][:_SHOWN]))
        return f"one of {shown}{', …' if len(schema['enum']) > _SHOWN else ''}"
    if "const" in schema:
        return repr(schema["const"])
    return " or ".join(_KINDS[each][0] for each in _kinds(schema))


def _kinds(schema: dict[str, Any]) -> list[str]:
    kinds = schema.get("type")
    return [each for each in ([kinds] if isinstance(kinds, str) else kinds or ()) if each in _KINDS]


def _kind(value: Jsonable) -> str:
    if isinstance(value, float):
        return "a number with a fraction" if not value.is_integer() else "a number"
    return next(words for words, fits in _KINDS.values() if fits(value))


def _same(value: Jsonable, wanted: Jsonable) -> bool:
    """Equality as JSON has it: true is not 1."""
    return bool(value == wanted) and isinstance(value, bool) == isinstance(wanted, bool)


def _place(at: str) -> str:
    return repr(at) if at else "what was given"


def _under(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _meant(value: Jsonable, kind: object) -> Jsonable:
    """What a value of the wrong kind can only have meant; itself where that is not one thing."""
    if kind == "integer" and isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if kind == "string" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _read(value.strip(), kind) if isinstance(value, str) else value


def _read(text: str, kind: object) -> Jsonable:
    """A text that stands where another kind belongs; itself where it is no JSON of that kind."""
    if kind == "integer" and _WHOLE.fullmatch(text):
        return int(text)
    word = text.lower()
    if kind == "boolean" and word in ("true", "false"):
        return word == "true"
    if kind == "null" and word in ("null", "none"):
        return None
    if kind not in ("integer", "number", "array", "object"):
        return text
    try:
        found, _ = read_json_text(text)
    except Unreadable:
        return text
    whole = isinstance(found, float) and kind == "integer" and found.is_integer() and abs(found) < 2**53
    return int(found) if whole else found
