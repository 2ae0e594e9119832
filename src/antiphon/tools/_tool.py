"""Tools: functions with what a model must be told of them, and what the turn loop must know."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from importlib import import_module
from typing import Any, TypedDict, Unpack, overload

from .._jsonable import Jsonable, check
from .._tool_spec import ToolSpec
from ..errors import Misuse

Approval = bool | Callable[..., bool]
"""Whether a call waits for a person: always, never, or what a function of the arguments (one mapping of JSON values)
says."""

# What the widest provider takes (https://ai.google.dev/api/caching#FunctionDeclaration has dots and colons, Anthropic
# 128 characters, OpenAI a digit in front); providers that take less are sent a name made of it.
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,127}")


class ToolOptions(TypedDict, total=False):
    """The options of `tool`, which are those of `Tool`."""

    name: str | None
    description: str
    read_only: bool
    needs_approval: Approval
    idempotent: bool
    sequential: bool
    timeout: float | None
    max_result_tokens: int | None
    card: bool


@dataclass(frozen=True, eq=False)
class Tool:
    """A function that a model may ask to be run.

    It is called as its function is: `tool(1, 2)` runs it at once, unchecked.

    Attributes:
        run: the function; async or not. A sync one runs in a thread of its own.
        name: what the model calls it.
        description: what the model is told of it; empty takes the docstring where the parameters are read too.
        parameters: JSON Schema of an object. Given by hand it is what arguments are checked against, and they reach
            the function as JSON values, by name; None reads it from the function's signature and docstring.
        read_only: it changes nothing.
        needs_approval: whether a call waits for a person; see `Approval`.
        idempotent: it may be run again with the same `ToolContext.key`: after a crash, nobody is asked.
        sequential: it runs while no other does.
        timeout: seconds it may take, or None.
        max_result_tokens: how much of a result a model is shown, or None for all.
        card: its results are shown to people beside the reply.

    Raises:
        Misuse: if no provider takes the name, an option is out of range, or the function or its schema will not do.
    """

    run: Callable[..., Any]
    _: KW_ONLY
    name: str
    description: str = ""
    parameters: Mapping[str, Jsonable] | None = None
    read_only: bool = False
    needs_approval: Approval = False
    idempotent: bool = False
    sequential: bool = False
    timeout: float | None = None
    max_result_tokens: int | None = 4000
    card: bool = False
    context: str | None = field(default=None, init=False)
    """The parameter that receives the ToolContext, or None."""
    hints: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, init=False)
    """The types that each parameter's value is converted to, tried in turn; empty with a schema given by hand."""
    untold: frozenset[str] = field(default=frozenset(), init=False)
    """The function's parameters that a schema given by hand leaves out: no model may give them."""

    patterns: bool = field(default=True, init=False)
    """Whether texts are held to the schema's patterns here; not those of others, who check them themselves."""

    def __post_init__(self) -> None:
        _check(self)
        # As functools.wraps does, so that help() and inspect.signature() show the function.
        reading = _reading()
        name = reading.function_name(self.run)
        self._set(__wrapped__=self.run, __name__=name, __doc__=getattr(self.run, "__doc__", None))
        if self.parameters is not None:
            _check_schema(self.name, self.parameters)
            untold = reading.parameters_beside(self.run, self.parameters)
            self._set(context=reading.context_parameter(self.run), untold=untold)
            return
        signature, schema = reading.read_signature(self.run), import_module("._schema", __package__)
        self._set(
            description=self.description or signature.description,
            parameters=schema.parameters_schema(signature, name=name),
            context=signature.context,
            hints={each.name: schema.alternatives(each.hint) for each in signature.parameters},
        )

    def _set(self, **found: Any) -> None:
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def spec(self) -> ToolSpec:
        """What a model is told; the same object each time, which keeps what it costs."""
        known: ToolSpec | None = self.__dict__.get("_spec")
        if known is None:
            known = ToolSpec(self.name, self.description, self.schema)
            self._set(_spec=known)
        return known

    def noted(self, note: str) -> ToolSpec:
        """The same with a note for the system text; one object for one note."""
        known: ToolSpec | None = self.__dict__.get("_noted")
        if known is None or known.note != note:
            known = ToolSpec(self.name, self.description, self.schema, note)
            self._set(_noted=known)
        return known

    @property
    def schema(self) -> Mapping[str, Jsonable]:
        """The JSON Schema of the arguments."""
        return self.parameters or {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.run(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function: `@tool`, or `@tool(read_only=True, timeout=5)` with the options of `Tool`.

    Raises:
        Misuse: see `Tool`.
    """
    if function is None:
        return lambda given: _made(given, options)
    return _made(function, options)


def tools_of(given: Sequence[Tool | Callable[..., Any]]) -> tuple[Tool, ...]:
    """Give tools, in order; a function becomes one with the defaults.

    Raises:
        Misuse: if one is neither, or two have the same name; see also `Tool`.
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        raise Misuse(f"tools is a {type(given).__name__}", "give a list of functions and Tools")
    found: dict[str, Tool] = {}
    for each in given:
        made = each if isinstance(each, Tool) else tool(each)
        if made.name in found:
            raise Misuse(f"two tools are named {made.name!r}", "give one another name: tool(name=…)")
        found[made.name] = made
    return tuple(found.values())


def without_patterns(tool: Tool) -> Tool:
    """Leave the patterns of a tool's schema to whoever wrote it, and give the tool."""
    tool._set(patterns=False)
    return tool


def _reading() -> Any:
    """What reads functions: a process that has no tools never loads it."""
    return import_module("._signature", __package__)


def _made(function: Callable[..., Any], options: ToolOptions) -> Tool:
    if not callable(function):
        raise Misuse(f"a {type(function).__name__} stands where a tool belongs", "give a function or a Tool")
    if isinstance(function, Tool):
        raise Misuse(f"{function!r} is a tool already", "give the options to the one decorator")
    name = options.get("name")
    rest: Any = {key: value for key, value in options.items() if key != "name"}
    return Tool(function, name=_reading().function_name(function) if name is None else name, **rest)


def _check(tool: Tool) -> None:
    if not _NAME.fullmatch(str(tool.name)):
        rule = "use 1 to 128 letters, digits, '_', '-', '.' and ':', such as order_status"
        raise Misuse(f"no provider takes the tool name {tool.name!r}", rule)
    if not callable(tool.run):
        raise Misuse(f"tool {tool.name!r} has a {type(tool.run).__name__} to run", "give a function")
    if inspect.iscoroutinefunction(tool.needs_approval):
        raise Misuse(
            f"needs_approval of tool {tool.name!r} is async",
            "give a function that says it at once, or decide in ToolPolicy(evaluate=…)",
        )
    for option, least in (("timeout", 0.0), ("max_result_tokens", 0)):
        number = getattr(tool, option)
        if number is not None and (isinstance(number, bool) or not number > least):
            raise Misuse(f"{option}={number!r} of tool {tool.name!r} is not more than 0", "use None for no limit")


def _check_schema(name: str, parameters: Mapping[str, Jsonable]) -> None:
    check(parameters, f"parameters of {name}")
    if dict(parameters).get("type") != "object":
        raise Misuse(f"the parameters of tool {name!r} are no schema of an object", 'give {"type": "object", …}')
