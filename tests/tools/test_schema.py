"""Schemas of functions: what a model is told of parameters, and which functions are refused."""

import enum
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import msgspec
import pytest
from pydantic import BaseModel, Field

from antiphon.errors import Misuse
from antiphon.tools import ToolContext, tool
from antiphon.tools._docstrings import described


class Unit(enum.Enum):
    """Units."""

    C = "celsius"
    F = "fahrenheit"


@dataclass
class Node:
    """A node of a tree."""

    value: int
    children: list["Node"] = field(default_factory=list)


class Place(TypedDict):
    """A place."""

    city: str


class Point(NamedTuple):
    """A point."""

    x: int
    y: int = 0


class Order(msgspec.Struct):
    """An order."""

    number: int


class Item(BaseModel):
    """An item."""

    title: str = Field(description="what it is")


class Cart(BaseModel):
    """A cart."""

    items: list[Item]


ITEM = {
    "type": "object",
    "description": "An item.",
    "properties": {"title": {"type": "string", "description": "what it is"}},
    "required": ["title"],
}
SCHEMAS: list[tuple[Any, dict[str, Any]]] = [
    (str, {"type": "string"}),
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Unit, {"type": "string", "enum": ["celsius", "fahrenheit"], "description": "Units."}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
    (Path, {"type": "string", "format": "path"}),
    (Any, {}),
    (object, {}),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    (Annotated[int, Field(ge=1, description="n")], {"type": "integer", "minimum": 1, "description": "n"}),
    (
        Annotated[int | None, Field(ge=1)],
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
    ),
    (Item, ITEM),
    (list[Item], {"type": "array", "items": ITEM}),
    (
        Place,
        {
            "type": "object",
            "description": "A place.",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    ),
    (
        Order,
        {
            "type": "object",
            "description": "An order.",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
        },
    ),
]


def with_parameter(hint: Any) -> Callable[..., Any]:
    """A function with one parameter of a type."""

    def run(x) -> None:  # type: ignore[no-untyped-def]
        pass

    run.__annotations__["x"] = hint
    return run


@pytest.mark.parametrize(("hint", "schema"), SCHEMAS, ids=lambda value: str(value)[:40])
def test_a_type_has_its_schema(hint: Any, schema: dict[str, Any]) -> None:
    """A parameter's schema follows from its type, with definitions written out."""
    found = tool(with_parameter(hint)).schema
    assert found == {"type": "object", "properties": {"x": schema}, "required": ["x"], "additionalProperties": False}


def test_defaults_make_parameters_optional() -> None:
    """What has a default is not required; JSON defaults are told, and None as one admits null."""

    def run(a: int, b: int = 2, c: str = None, d: Path = Path("x")) -> None:  # type: ignore[assignment]  # noqa: RUF013
        pass

    found = tool(run).schema
    assert found["required"] == ["a"]
    assert found["properties"]["b"] == {"type": "integer", "default": 2}
    assert found["properties"]["c"] == {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    assert "default" not in found["properties"]["d"]


def test_a_type_that_holds_itself_stays_a_definition() -> None:
    """A recursive type is kept once under `$defs`, whichever parameters use it."""

    def run(a: Node, b: list[Node]) -> None:
        pass

    found = tool(run).schema
    assert found["properties"]["a"] == {"$ref": "#/$defs/Node"}
    assert found["properties"]["b"]["items"] == {"$ref": "#/$defs/Node"}
    assert list(found["$defs"]) == ["Node"]
    assert found["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}


def test_a_union_of_models_is_a_choice() -> None:
    """A union that cannot be decoded as one type is told as a choice."""
    found = tool(with_parameter(Item | Cart | None)).schema["properties"]["x"]
    cart = {
        "type": "object",
        "description": "A cart.",
        "properties": {"items": {"type": "array", "items": ITEM}},
        "required": ["items"],
    }
    assert found == {"anyOf": [ITEM, cart, {"type": "null"}]}


def test_named_tuples_are_lists() -> None:
    """A NamedTuple is told as the list that it is."""
    found = tool(with_parameter(Point)).schema["properties"]["x"]
    assert found["prefixItems"][0] == {"type": "integer"}
    assert (found["minItems"], found["maxItems"]) == (1, 2)


def test_the_context_is_not_the_models() -> None:
    """A parameter annotated ToolContext is left out of the schema."""

    def run(city: str, ctx: ToolContext[dict[str, int]]) -> None:
        pass

    made = tool(run)
    assert list(made.schema["properties"]) == ["city"]
    assert made.context == "ctx"


def test_the_schema_is_the_same_bytes() -> None:
    """Making a tool twice gives the same schema, key by key."""
    assert json.dumps(tool(with_parameter(Cart | Node)).schema) == json.dumps(tool(with_parameter(Cart | Node)).schema)


def with_args(*words: str) -> None:
    """Takes any number."""


def with_kwargs(**named: str) -> None:
    """Takes any name."""


def by_position(word: str, /) -> None:
    """Takes one by position."""


def method(self, word: str) -> None:  # type: ignore[no-untyped-def]
    """Belongs to no object."""


def pieces() -> Any:
    """Generates."""
    yield 1


def unresolved(x: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821
    """Names what is not there."""


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (with_args, r"'with_args' takes '\*words'"),
        (with_kwargs, r"'with_kwargs' takes '\*\*named'"),
        (by_position, "parameter 'word' of function 'by_position' is positional-only"),
        (method, "'method' takes 'self'"),
        (pieces, "'pieces' is a generator"),
        (unresolved, "'Nowhere' of parameter 'x' of function 'unresolved'"),
        (with_parameter(complex), "parameter 'x' of function 'run'"),
    ],
)
def test_a_function_that_no_schema_describes_is_refused(function: Callable[..., Any], sentence: str) -> None:
    """What a model could not call is refused when the tool is made, naming function and parameter."""
    with pytest.raises(Misuse, match=sentence):
        tool(function)


GOOGLE = """Find orders.

Newest first.

Args:
    city (str, optional): where they
        were placed
    limit: at most so many

Returns:
    orders: found
"""
NUMPY = """Find orders.

Newest first.

Parameters
----------
city : str
    where they
    were placed
limit : int, optional
    at most so many

Returns
-------
orders
    found
"""
SPHINX = """Find orders.

Newest first.

:param str city: where they
    were placed
:param limit: at most so many
:type limit: int
:returns: found
"""


@pytest.mark.parametrize("doc", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_docstrings_of_three_styles(doc: str) -> None:
    """The three usual styles say the same: a text, and a line for each parameter."""
    assert described(doc) == (
        "Find orders.\n\nNewest first.",
        {"city": "where they were placed", "limit": "at most so many"},
    )


def test_annotations_win_over_docstrings() -> None:
    """What an annotation says of a parameter replaces what the docstring says."""

    def run(city: Annotated[str, "from here"], limit: int = 1) -> None:
        """Find.

        Args:
            city: from there
            limit: so many
        """

    found = tool(run)
    assert found.description == "Find."
    assert found.schema["properties"]["city"]["description"] == "from here"
    assert found.schema["properties"]["limit"]["description"] == "so many"
