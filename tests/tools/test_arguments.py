"""Arguments as models write them: read, repaired where they have one meaning, checked, converted."""

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from antiphon import ToolCall
from antiphon.tools import InvalidArguments, Prepared, Tool, ToolContext, prepared, tool
from antiphon.tools._json_text import Unreadable, _Reader, read_json_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@tool
def book(city: str, nights: int = 1, late: bool = False, tags: Sequence[str] = (), note: str | None = None) -> None:
    """Book a room."""


@tool
def search(query: str) -> None:
    """Search."""


def written(text: str, used: Tool = book) -> Prepared:
    """Arguments of a call as a model wrote them."""
    return prepared(used, ToolCall("c1", used.name, raw=text))


ONE_MEANING: list[tuple[str, dict[str, Any]]] = [
    ('```json\n{"city": "Rome"}\n```', {"city": "Rome"}),
    ('Here you are: {"city": "Rome"}. Good night!', {"city": "Rome"}),
    ('{"city": "Rome", "nights": 2,}', {"city": "Rome", "nights": 2}),
    ("{'city': 'Rome', 'late': True, 'note': None}", {"city": "Rome", "late": True, "note": None}),
    ('{"city": "Rome", "tags": ["a", "b"', {"city": "Rome", "tags": ("a", "b")}),
    ('{"city": "line\nbreak"}', {"city": "line\nbreak"}),
    (json.dumps(json.dumps({"city": "Rome"})), {"city": "Rome"}),
    ('{"city": "Rome", "nights": "3"}', {"city": "Rome", "nights": 3}),
    ('{"city": "Rome", "nights": 3.0}', {"city": "Rome", "nights": 3}),
    ('{"city": "Rome", "late": "true"}', {"city": "Rome", "late": True}),
    ('{"city": 117}', {"city": "117"}),
    ('{"city": "Rome", "tags": "[\\"a\\"]"}', {"city": "Rome", "tags": ("a",)}),
    ('{"city": "Rome", "nights": null, "late": null}', {"city": "Rome"}),
]


@pytest.mark.parametrize(("text", "arguments"), ONE_MEANING)
def test_what_has_one_meaning_is_repaired(text: str, arguments: dict[str, Any]) -> None:
    """Arguments that can mean one thing only are read as that, and marked as repaired."""
    found = written(text)
    assert {name: tuple(v) if isinstance(v, list) else v for name, v in found.arguments.items()} == arguments
    assert found.repaired
    assert json.loads(bytes(found.arguments_json)) == found.decoded


@pytest.mark.parametrize(
    "text",
    [
        '{"city": "Ro',
        '{"city": ',
        '{"city": "Rome", ',
        '{"city": "Rome", "nights": 1',
        '{"city": "Rome", "late": tru',
        '{"city": "the "Grand" hotel"}',
        "{'city': 'it's late'}",
        '{"city": "Rome"} {"city": "Oslo"}',
        "{'city': 'Rome', 'city': 'Oslo',}",
        '["x", {"city": "Rome"}',
        "{'city': '```\n{\"city\": \"Oslo\"}\n```' x}",
        '{"city": "Rome", "nights": "two"}',
        '{"city": "Rome", "nights": 2.5}',
        '{"city": "Rome", "late": 1}',
        '{"city": "Rome", "nights": NaN}',
        '"Rome"',
        "Rome",
        "[" * 5_000,
    ],
)
def test_what_may_mean_more_is_never_run(text: str) -> None:
    """Arguments that are cut off, or could mean several things, are an error that says what to do
    (MoonshotAI/kimi-cli#2165, bojieli/ai-agent-book#192)."""
    with pytest.raises(InvalidArguments, match=r"nothing was run.*call again"):
        written(text)


@given(JSON)
def test_valid_json_is_read_as_it_is(value: Any) -> None:
    """Repair never changes valid JSON, and reads it as JSON does where it is met inside a fence."""
    text = json.dumps(value)
    assert read_json_text(text) == (value, False)
    assert read_json_text(f"```json\n{text}\n```")[0] == value
    if isinstance(value, dict | list | str):
        assert _Reader(text).whole() == value


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_arguments_that_fit_are_not_touched(value: dict[str, Any]) -> None:
    """What fits the parameters reaches the function as it was written."""

    @tool
    def keep(given: dict[str, object]) -> None:
        """Keep."""

    found = prepared(keep, ToolCall.of("c1", "keep", arguments={"given": value}))
    assert found.arguments == {"given": value}
    assert not found.repaired


@given(st.text(max_size=60) | st.lists(st.sampled_from(list("{}[]\"':,\\ntrue1 ")), max_size=30).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever stands there, it is read or refused with a sentence."""
    with contextlib.suppress(Unreadable):
        json.dumps(read_json_text(text))


@pytest.mark.parametrize("text", ["", "  ", "null", "None", "{}"])
def test_nothing_means_no_arguments(text: str) -> None:
    """A model that wrote nothing calls without arguments."""

    @tool
    def now(zone: str = "UTC") -> None:
        """Tell the time."""

    assert written(text, now).arguments == {}


def test_a_single_value_is_the_one_parameters() -> None:
    """A value alone is the argument of a function with one parameter, the context not counted."""

    @tool
    def wait(ctx: ToolContext[None], seconds: int) -> None:
        """Wait."""

    assert written('"weather"', search).arguments == {"query": "weather"}
    assert written("3", wait).arguments == {"seconds": 3}
    with pytest.raises(InvalidArguments, match="give one JSON object with 'seconds'"):
        written('"soon"', wait)


def test_truncated_arguments_never_run() -> None:
    """A call of a reply that ended at its limit is refused, even where its arguments look whole."""
    with pytest.raises(InvalidArguments, match="cut off"):
        prepared(search, ToolCall.of("c1", "search", arguments={"query": "x"}), truncated=True)


def test_every_wrong_parameter_is_named() -> None:
    """One error tells of every parameter that is wrong, missing or not there, and repeats no value."""
    call = ToolCall.of("c1", "book", arguments={"nights": "secret", "late": [], "tags": ["a", None], "citty": "Rome"})
    with pytest.raises(InvalidArguments) as caught:
        prepared(book, call)
    assert caught.value.faults == (
        "'city' is missing",
        "'nights' must be a whole number, not text",
        "'late' must be true or false, not a list",
        "'tags[1]' must be text, not null",
        "there is no 'citty', did you mean 'city'?",
    )
    assert "secret" not in str(caught.value)


class Trip(BaseModel):
    """A trip."""

    day: date
    seats: int

    @field_validator("seats")
    @classmethod
    def some(cls, seats: int) -> int:
        """At least one."""
        if seats < 1:
            raise ValueError("nobody travels")
        return seats


@dataclass
class Route:
    """A route."""

    start: str


def test_arguments_have_their_parameters_types() -> None:
    """Dates, dataclasses and pydantic models reach the function as such, in lists and unions too."""

    @tool
    def plan(day: date, routes: list[Route], trip: Trip | Route) -> None:
        """Plan."""

    trip = {"day": "2026-05-01", "seats": "2"}
    call = ToolCall.of("c1", "plan", arguments={"day": "2026-05-01", "routes": [{"start": "Rome"}], "trip": trip})
    found = prepared(plan, call).arguments
    day = date(2026, 5, 1)
    assert found == {"day": day, "routes": [Route("Rome")], "trip": Trip(day=day, seats=2)}


def test_a_types_own_checks_are_told() -> None:
    """What only the type itself can check is told to the model by place, without the value."""

    @tool
    def go(trip: Trip, day: date) -> None:
        """Go."""

    trip = {"day": "2026-05-01", "seats": -7}
    with pytest.raises(InvalidArguments) as caught:
        prepared(go, ToolCall.of("c1", "go", arguments={"trip": trip, "day": "tomorrow"}))
    assert caught.value.faults == ("'trip.seats': Value error, nobody travels", "'day': invalid RFC3339 encoded date")


def test_a_schema_given_by_hand_is_held() -> None:
    """With a schema given by hand, arguments are checked and repaired by it, and stay JSON."""
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}, "to": {"enum": ["a", "b"]}, "at": {"$ref": "#/$defs/P"}},
        "required": ["n"],
        "$defs": {"P": {"type": "object", "required": ["x"], "properties": {"x": {"type": ["number", "null"]}}}},
    }
    made = Tool(lambda **given: given, name="move", parameters=schema)
    found = prepared(made, ToolCall.of("c1", "move", arguments={"n": "2", "at": {"x": "1.5"}, "more": []}))
    assert found.arguments == {"n": 2, "at": {"x": 1.5}, "more": []}
    with pytest.raises(InvalidArguments) as caught:
        prepared(made, ToolCall.of("c1", "move", arguments={"n": 0, "to": "c", "at": {}}))
    assert caught.value.faults == ("'n' must be at least 1", "'to' must be one of 'a', 'b'", "'at.x' is missing")


@pytest.mark.parametrize(
    ("more", "refused"),
    [({}, True), ({"additionalProperties": True}, False), ({"anyOf": [{"required": ["words"]}]}, False)],
    ids=["listed", "open", "composed"],
)
def test_what_a_schema_given_by_hand_leaves_out_is_not_a_models_to_give(more: Any, refused: bool) -> None:
    """A parameter that the schema does not list stays the function's own, unless the schema says that there is more."""

    def search(words: str, *, as_admin: bool = False) -> bool:
        return as_admin

    schema = {"type": "object", "properties": {"words": {"type": "string"}}, **more}
    made = Tool(search, name="search", parameters=schema)
    call = ToolCall.of("c1", "search", arguments={"words": "x", "as_admin": True})
    if not refused:
        assert prepared(made, call).arguments == {"words": "x", "as_admin": True}
        return
    with pytest.raises(InvalidArguments) as caught:
        prepared(made, call)
    assert caught.value.faults == ("there is no 'as_admin'",)


@pytest.mark.parametrize("keyword", ["anyOf", "allOf"])
def test_a_schema_that_branches_without_end_is_given_up(keyword: str) -> None:
    """Forty definitions that each lead twice to the next would be checked for ever; a long list is checked whole."""
    next_of = {f"D{n}": {keyword: [{"$ref": f"#/$defs/D{n + 1}"}] * 2} for n in range(40)}
    properties = {"deep": {"$ref": "#/$defs/D0"}, "long": {"type": "array", "items": {"type": "integer"}}}
    schema: Any = {"type": "object", "properties": properties, "$defs": {**next_of, "D40": {"type": "integer"}}}
    made = Tool(lambda **given: given, name="dig", parameters=schema)
    with pytest.raises(InvalidArguments, match="nested too deeply"):
        prepared(made, ToolCall.of("c1", "dig", arguments={"deep": "x"}))
    long = prepared(made, ToolCall.of("c1", "dig", arguments={"long": [str(n) for n in range(50_000)]}))
    assert long.decoded == {"long": list(range(50_000))}


def test_what_is_kept_is_not_the_functions() -> None:
    """A function that changes its arguments does not change what is kept of the call."""
    made = Tool(lambda rows: rows.clear(), name="clear", parameters={"type": "object"})
    found = prepared(made, ToolCall.of("c1", "clear", arguments={"rows": [1]}))
    made(**found.arguments)
    assert found.decoded == {"rows": [1]}
