"""Free JSON: refused by path where it is none, kept as bytes, decoded anew on each access."""

import enum
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import pytest

from antiphon._jsonable import MAX_DEPTH, NULL, encode, freeze, loads, thaw, thaw_object
from antiphon.errors import CorruptJournal, NotStorable

ADVICE = "; give text, finite numbers, booleans, None, lists, and dicts with text keys"


def nested(levels: int) -> Any:
    """Lists in lists."""
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def ascii_start(value: object) -> str:
    """A test's id that any terminal can show."""
    return ascii(value)[:20]


def in_itself() -> Any:
    """A list and a dict that hold each other."""
    outer: dict[str, Any] = {}
    outer["again"] = [outer]
    return outer


class Colour(enum.StrEnum):
    """A kind of text."""

    RED = "red"


class Level(enum.IntEnum):
    """A kind of number."""

    HIGH = 3


class Score(float):
    """A kind of number that an array library might hand out."""


class Word(str):
    """A kind of text that says something else of itself."""

    def __str__(self) -> str:
        return "another"


class Place(NamedTuple):
    """A kind of tuple."""

    x: int
    y: int


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        (math.nan, "metadata", "nan"),
        ({"a": [1, math.inf]}, "metadata.a[1]", "inf"),
        ({"a": {"b": -math.inf}}, "metadata.a.b", "-inf"),
        ({"a": {1: 2}}, "metadata.a", "the key 1, a int"),
        ({None: 2}, "metadata", "the key None, a NoneType"),
        ({"a": [{"b": {3}}]}, "metadata.a[0].b", "a set"),
        ([b"x"], "metadata[0]", "a bytes"),
        ((1, bytearray()), "metadata[1]", "a bytearray"),
        ({"a": object}, "metadata.a", "a type"),
        ({"a": iter(())}, "metadata.a", "a tuple_iterator"),
        (1j, "metadata", "a complex"),
        (nested(MAX_DEPTH + 2), "metadata", "a value nested deeper than 200 levels"),
        (in_itself(), "metadata", "a value nested deeper than 200 levels"),
        (10**5_000, "metadata", "a whole number of thousands of digits"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_what_json_cannot_hold_is_refused(value: Any, path: str, found: str) -> None:
    """What JSON cannot hold unchanged is refused, with the path at which it stands."""
    with pytest.raises(NotStorable) as caught:
        freeze(value, "metadata")
    assert (caught.value.path, caught.value.found) == (path, found)
    assert str(caught.value) == f"{path} holds {found}, which a journal cannot keep{ADVICE}"


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1,
        2**53 + 1,
        2**64,
        -(10**40),
        0.1,
        -0.0,
        5e-324,
        1.7976931348623157e308,
        "",
        "a\0b\\u0000\u2028\u2029\x85\x0b\x0c\r\n",
        "\ud83d",
        {"\udc00": ["\ud800\ud800"]},
        "😀",
        {"": {"": []}},
        nested(MAX_DEPTH),
    ],
    ids=ascii_start,
)
def test_json_comes_back_equal(value: Any) -> None:
    """Every JSON value, lone surrogates and large integers among them, comes back equal and of the same type."""
    back = thaw(freeze(value, "value"))
    assert back == value
    assert repr(back) == repr(value)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (Score(0.5), 0.5),
        ([Score(0.5), "\ud800"], [0.5, "\ud800"]),
        (Word("own"), "own"),
        ({Word("own"): Word("x")}, {"own": "x"}),
        (Place(1, 2), [1, 2]),
        ((1, (2,)), [1, [2]]),
        (MappingProxyType({"a": MappingProxyType({"b": 1})}), {"a": {"b": 1}}),
        (msgspec.Raw(b'{"a":1}'), {"a": 1}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_kinds_of_json_values_are_kept_plainly(value: Any, plain: Any) -> None:
    """A caller's own kinds of text, number, list and mapping are kept as what they are kinds of."""
    assert thaw(freeze(value, "value")) == plain


@pytest.mark.parametrize("value", [Score("nan"), {"a": Score("inf")}])
def test_kinds_of_numbers_are_finite(value: Any) -> None:
    """A number that is not finite is refused whatever its class."""
    with pytest.raises(NotStorable):
        freeze(value, "value")


def test_bytes_are_compact_and_keep_order() -> None:
    """Keys stay in the order in which they were given, and nothing stands between tokens."""
    assert bytes(freeze({"b": [1, 2.5], "a": "é"}, "value")) == '{"b":[1,2.5],"a":"é"}'.encode()


def test_lone_surrogates_go_out_as_escapes() -> None:
    """What is kept is always UTF-8: a lone surrogate is written as its escape."""
    assert encode({"a": "\ud800é"}) == b'{"a":"\\ud800\\u00e9"}'


def test_thawed_values_are_copies() -> None:
    """Changing what was handed in, or what was handed out, changes nothing that is kept."""
    given: dict[str, Any] = {"tags": ["a"], "deep": {"x": 1}}
    kept = freeze(given, "metadata")
    given["tags"].append("b")
    thaw(kept)["deep"]["x"] = 2
    assert thaw(kept) == {"tags": ["a"], "deep": {"x": 1}}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"1e999", "the number 1e999 is beyond double range"),
        (b'{"a":[-1e400]}', "the number -1e400 is beyond double range"),
        (b"[NaN]", "the number NaN is beyond double range"),
        (b"-Infinity", "the number -Infinity is beyond double range"),
        (b"1" * 5_000, "a whole number of 5,000 digits cannot be read"),
        (b"[" * 100_000 + b"]" * 100_000, "a value is nested too deeply"),
    ],
    ids=["1e999", "-1e400", "nan", "infinity", "digits", "depth"],
)
def test_what_no_writer_wrote_is_corrupt_on_access(data: bytes, why: str) -> None:
    """Kept bytes that no JSON value of ours can have made are reported when they are looked at, as corruption."""
    with pytest.raises(CorruptJournal) as caught:
        thaw(msgspec.Raw(data))
    assert caught.value.why == why


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"\xef\xbb\xbf1", "[1]".encode("utf-16"), b"'a'", b"1 2"])
def test_only_json_in_utf8_is_read(data: bytes) -> None:
    """The fallback reader takes UTF-8 alone: no byte order mark, and no guess at UTF-16."""
    with pytest.raises(ValueError, match=r"\w"):
        loads(data)


@pytest.mark.parametrize(("data", "found"), [(b"null", {}), (b"{}", {}), (b'{"a":null}', {"a": None})])
def test_an_object_or_nothing(data: bytes, found: Mapping[str, Any]) -> None:
    """Where an object belongs, null is an empty one."""
    assert thaw_object(msgspec.Raw(data)) == found


@pytest.mark.parametrize(("data", "kind"), [(b"[]", "list"), (b"0", "int"), (b'""', "str"), (b"false", "bool")])
def test_no_other_value_passes_for_an_object(data: bytes, kind: str) -> None:
    """Where an object belongs, any other value is corruption."""
    with pytest.raises(CorruptJournal, match=f"a {kind} stands where an object belongs"):
        thaw_object(msgspec.Raw(data))


def test_null_is_the_json_null() -> None:
    """The default of free fields is what None is kept as."""
    assert freeze(None, "value") == NULL
