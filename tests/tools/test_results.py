"""Whatever a tool gives or raises, its call has one result."""

import datetime
import enum
import json
import uuid
from collections import deque
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from antiphon import File, Image, Text, ToolCall, ToolResult
from antiphon.tools import error_of, result_of
from antiphon.tools._results import MAX_TEXT

CALL = ToolCall("c1", "look")
PNG = b"\x89PNG\r\n\x1a\n..."


class Colour(enum.Enum):
    """Colours."""

    RED = "red"


@dataclass
class Row:
    """A row."""

    id: uuid.UUID
    at: datetime.date


class Pair(NamedTuple):
    """A pair."""

    left: int
    right: Decimal


class Sale(msgspec.Struct):
    """A sale."""

    price: float


class Cart(BaseModel):
    """A cart."""

    sold: datetime.datetime


class Broken:
    """Fails whenever it is looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Odd(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no str")


DAY = datetime.date(2026, 5, 1)
NOON = datetime.datetime(2026, 5, 1, 12, tzinfo=datetime.UTC)
GIVEN: list[tuple[object, Any]] = [
    (None, None),
    ({"a": [1, True, None, "x"]}, {"a": [1, True, None, "x"]}),
    ({1: "a", None: "b"}, {"1": "a", "null": "b"}),
    (Row(uuid.UUID(int=1), DAY), {"id": "00000000-0000-0000-0000-000000000001", "at": "2026-05-01"}),
    (Pair(1, Decimal("2.50")), {"left": 1, "right": "2.50"}),
    ([Sale(1.5), Cart(sold=NOON)], [{"price": 1.5}, {"sold": "2026-05-01T12:00:00Z"}]),
    ({"b", "a"}, ["a", "b"]),
    (deque([Colour.RED]), ["red"]),
    ({"k": 1}.keys(), ["k"]),
    (PurePosixPath("a/b"), "a/b"),
    (Text("words"), "words"),
    (float("nan"), "nan"),
    ("\ud800", "\ud800"),
]


@pytest.mark.parametrize(("given_", "output"), GIVEN, ids=lambda value: type(value).__name__)
def test_what_json_has_words_for(given_: object, output: Any) -> None:
    """Values become what JSON has for them."""
    found = result_of(CALL, given_)
    assert (found.call_id, found.name, found.is_error, found.media) == ("c1", "look", False, ())
    assert found.output == output


def test_bytes_and_parts_become_media() -> None:
    """Pictures and documents stand beside the output, with a mark in their place; bytes are known by their first."""
    found = result_of(CALL, {"plot": PNG, "all": [Image("image/webp", url="https://x/y"), b"%PDF-1.7", b"\0"]})
    marks = ["[media 2: image/webp]", "[media 3: application/pdf]", "[media 4: application/octet-stream]"]
    assert found.output == {"plot": "[media 1: image/png]", "all": marks}
    assert [type(part) for part in found.media] == [Image, Image, File, File]


def test_media_that_no_journal_keeps_is_told() -> None:
    """Media over the limit of a part leaves a note, and the result stands."""
    found = result_of(CALL, [bytes(11_000_000), Image("image/png")])
    assert found.media == ()
    assert "11,000,000 bytes, too large" in found.output[0]
    assert "not kept" in found.output[1]


def test_what_json_has_nothing_for_is_told_by_its_repr() -> None:
    """A foreign object costs only its own place, and its repr says that it is one."""
    found = result_of(CALL, {"ok": 1, "odd": 1j, "broken": Broken(), "type": Row})
    assert found.output["ok"] == 1
    assert found.output["odd"] == "1j [the repr of a complex, which is not JSON]"
    assert found.output["broken"] == "[a Broken, which is not JSON and has no repr]"
    assert not found.is_error


def test_a_value_in_itself_is_told_by_its_repr() -> None:
    """A value without end is no failure."""
    endless: list[Any] = []
    endless.append(endless)
    assert result_of(CALL, endless).output == "[[...]] [the repr of a list, which is not JSON]"


def test_a_result_keeps_what_it_says() -> None:
    """A tool that gives a ToolResult says itself whether that is an error; the call's id and name are ours."""
    found = result_of(CALL, ToolResult.of("other", "else", output="no rows", is_error=True))
    assert found == ToolResult.of("c1", "look", output="no rows", is_error=True)


def test_huge_outputs_are_cut_with_a_mark() -> None:
    """Up to 20 MB an output is whole; what is beyond is cut, and the mark says how much."""
    whole = result_of(CALL, "x" * (MAX_TEXT - 2))
    assert len(whole.output) == MAX_TEXT - 2
    text = result_of(CALL, "é" * MAX_TEXT).output
    assert text.endswith(f"\n[cut here: {MAX_TEXT:,} bytes of {2 * MAX_TEXT:,} left out]")
    rows = result_of(CALL, ["x" * 1_000_000] * 21).output
    assert isinstance(rows, str)
    assert rows.startswith('["xxx')


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such city"), "ValueError: no such city"),
        (ValueError(), "ValueError: it says nothing more"),
        (KeyError("x"), "KeyError: 'x'"),
        (Odd(), "Odd: it says nothing more"),
        (
            ExceptionGroup("both", [ValueError("a"), TypeError()]),
            "ExceptionGroup: both (2 sub-exceptions): ValueError: a; TypeError: it says nothing more",
        ),
    ],
)
def test_errors_are_told_and_never_empty(error: BaseException, text: str) -> None:
    """An error's result has the call's id and name, the error's class and words, and is never empty
    (smallest-inc/smallest-python-sdk#118)."""
    assert error_of(CALL, error) == ToolResult.of("c1", "look", output=text, is_error=True)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.datetimes()
    | st.complex_numbers()
    | st.builds(Broken),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text() | st.integers() | st.binary(), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(ANYTHING)
def test_every_value_has_one_result(value: Any) -> None:
    """Whatever is given, there is a result that can be kept as JSON and read again."""
    found = result_of(CALL, value)
    assert isinstance(found, ToolResult)
    json.loads(bytes(found.output_json))
    assert not found.is_error
