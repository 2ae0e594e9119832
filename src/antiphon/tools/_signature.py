"""A function's parameters as a tool has them: names, types, defaults and what is said of each."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, NamedTuple, Optional, Union, get_args, get_origin, get_type_hints

import msgspec

from ..errors import Misuse
from ._docstrings import described
from ._tool_context import ToolContext

_BOUNDS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")
_OPEN = {"additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"}
"""Keywords with which a schema says more of its properties than their list."""
_NO_DEFAULT = inspect.Parameter.empty


class Parameter(NamedTuple):
    """One parameter that a model fills.

    Attributes:
        name: its name.
        hint: its type, None among it where that is the default.
        required: whether it has no default.
        default: the default, where it has one.
        description: what its annotation says of it, else its function's docstring; may be empty.
    """

    name: str
    hint: Any
    required: bool
    default: object
    description: str


class Signature(NamedTuple):
    """What a function tells of itself.

    Attributes:
        description: its docstring, without the sections.
        parameters: those that a model fills, in order.
        context: the parameter that receives the ToolContext, or None.
    """

    description: str
    parameters: tuple[Parameter, ...]
    context: str | None


def function_name(function: Callable[..., Any]) -> str:
    """What a function is called, through partials and methods; an object goes by its class."""
    inner = _inner(function)
    return getattr(inner, "__name__", type(inner).__name__)


def read_signature(function: Callable[..., Any]) -> Signature:
    """Read what a tool must know of a function.

    Raises:
        Misuse: if a parameter cannot be given by its name, its annotation cannot be resolved, or it is a generator.
    """
    name, inner = function_name(function), _inner(function)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise Misuse(f"function {name!r} is a generator, and a call has one result", "return a list")
    said = described(_docstring(function))
    context, found = None, []
    for parameter in _parameters(function, name):
        hint = _resolved(function, parameter)
        if _is_context(hint):
            if context is not None:
                raise Misuse(f"function {name!r} takes two contexts, {context!r} and {parameter.name!r}", "keep one")
            context = parameter.name
        else:
            found.append(_read(parameter, hint, told=said.parameters.get(parameter.name, "")))
    return Signature(said.text, tuple(found), context)


def context_parameter(function: Callable[..., Any]) -> str | None:
    """The parameter annotated ToolContext, where a function can be read at all."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return next((each.name for each in parameters if _may_be_context(function, each)), None)


def parameters_beside(function: Callable[..., Any], schema: Mapping[str, Any]) -> frozenset[str]:
    """A function's parameters that a schema given by hand leaves out, where it lists what there is.

    One that has more to say of its properties than their list is taken to mean whatever it lets through.
    """
    listed = schema.get("properties")
    if not isinstance(listed, Mapping) or not _OPEN.isdisjoint(schema):
        return frozenset()
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return frozenset(each.name for each in parameters if each.kind in named).difference(listed)


def _may_be_context(function: Callable[..., Any], parameter: inspect.Parameter) -> bool:
    try:
        return _is_context(_resolved(function, parameter))
    except Misuse:  # With a schema given by hand nobody asks what the other annotations mean.
        return False


def _inner(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.unwrap(function)


def _docstring(function: Callable[..., Any]) -> str:
    inner = _inner(function)
    routine = inspect.isroutine(inner) or inspect.isclass(inner)
    return inspect.getdoc(inner if routine else type(inner).__call__) or ""


def _parameters(function: Callable[..., Any], name: str) -> Iterator[inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise Misuse(f"{name!r} has no signature that can be read", "make a Tool with parameters=") from None
    for at, each in enumerate(parameters):
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            advice = "name each parameter, or make a Tool with parameters="
            raise Misuse(f"function {name!r} takes {str(each).split(':')[0]!r}, which no schema describes", advice)
        if each.kind is each.POSITIONAL_ONLY:
            advice = "remove the slash: a model gives arguments by name"
            raise Misuse(f"parameter {each.name!r} of function {name!r} is positional-only", advice)
        if at == 0 and each.name in ("self", "cls") and each.annotation is _NO_DEFAULT:
            advice = f"make the tool of the bound method, as in tool(thing.{name})"
            raise Misuse(f"function {name!r} takes {each.name!r}: it is a method that belongs to no object", advice)
        yield each


def _resolved(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    if parameter.annotation is _NO_DEFAULT:
        return Any
    inner = _inner(function)
    owner = inner if hasattr(inner, "__code__") else getattr(inner, "__func__", type(inner).__call__)
    alone = SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    try:
        names = dict(_enclosed(owner))
        return get_type_hints(alone, getattr(owner, "__globals__", {}), names, include_extras=True)[parameter.name]
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        raise Misuse(
            f"the annotation {parameter.annotation!r} of parameter {parameter.name!r} of function"
            f" {function_name(function)!r} cannot be resolved: {error}",
            "import or define what it names at the top of the module",
        ) from None


def _enclosed(function: Any) -> Iterator[tuple[str, Any]]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
    for name, cell in zip(code.co_freevars if code else (), cells, strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # A name that is bound later than the function is made.
            continue


def _is_context(hint: Any) -> bool:
    bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return bare is ToolContext or get_origin(bare) is ToolContext


def _read(parameter: inspect.Parameter, hint: Any, *, told: str) -> Parameter:
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    spoken = next(filter(None, map(_spoken, extras)), "") or told
    bounded = _bounded(hint, extras)
    required = parameter.default is _NO_DEFAULT
    if parameter.default is None and bounded is not Any:
        bounded = Optional[bounded]  # noqa: UP045 - a runtime value
    return Parameter(parameter.name, bounded, required, None if required else parameter.default, spoken)


def _spoken(extra: object) -> str:
    """What an annotation says in words: text, or an object that others' libraries describe with."""
    for said in (extra, getattr(extra, "description", None), getattr(extra, "documentation", None)):
        if isinstance(said, str):
            return said
    return ""


def _bounded(hint: Any, extras: tuple[Any, ...]) -> Any:
    """The type with the bounds that annotated-types and pydantic's Field give it, as msgspec has them."""
    if not extras or any(isinstance(extra, msgspec.Meta) for extra in extras):
        return hint
    bare = get_args(hint)[0]
    given = [each for extra in extras for each in (extra, *(getattr(extra, "metadata", None) or ()))]
    bounds = {name: getattr(each, name) for each in given for name in _BOUNDS if _plain_bound(each, name)}
    if not bounds:
        return bare
    others = [each for each in get_args(bare) if each is not NoneType]
    if get_origin(bare) in (Union, UnionType) and len(others) == 1:
        return Optional[Annotated[others[0], msgspec.Meta(**bounds)]]  # noqa: UP045 - a runtime value
    return Annotated[bare, msgspec.Meta(**bounds)]


def _plain_bound(extra: object, name: str) -> bool:
    return isinstance(getattr(extra, name, None), int | float | str) and not isinstance(extra, str)
