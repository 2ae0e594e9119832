"""Counting without a tokenizer: the features of the estimate, and what parts that are no text cost."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import File, Image, Message, Reasoning, Text, ToolCall, ToolResult, estimate_tokens
from antiphon._messages import Part
from antiphon.context._counting import (
    FILE_PAGE,
    IMAGE,
    LOW_DETAIL_IMAGE,
    PER_CALL,
    PER_TOOL,
    count_messages,
    count_part,
    count_parts,
    count_tool,
)
from antiphon.context._tokens import UNKNOWN, _features, families
from antiphon.models import ToolSpec

FEATURES = [*"aA0pxgchrijukzofe", "word", "longword", "camel", "drun", "srun", "nrun", "prun"]

COUNTED: list[tuple[str, dict[str, int]]] = [
    ("hello world", {"a": 10, "word": 2}),
    ("getUserName", {"a": 9, "A": 2, "word": 1, "longword": 5, "camel": 2}),
    ("ABC def", {"A": 3, "a": 3, "word": 2}),
    ("a1b22  c", {"a": 3, "0": 3, "word": 3, "drun": 2, "srun": 1}),
    ("x\n\n  y\r\nz", {"a": 3, "word": 3, "nrun": 2, "srun": 1}),
    ("(a)...", {"a": 1, "p": 5, "word": 1, "prun": 3 - 1}),
    ("\0\x1f\x7f", {"p": 3, "prun": 1}),
    ("\t \v\f", {"srun": 1}),
    ("é", {"x": 1}),
    ("λόγος", {"g": 5}),
    ("привет", {"c": 6}),
    ("שלום", {"h": 4}),
    ("سلام", {"r": 4}),
    ("नमस्ते", {"i": 6}),
    ("ไทย", {"i": 3}),
    ("€…", {"u": 2}),
    ("ひらがな", {"k": 4}),
    ("漢字", {"z": 2}),
    ("한국", {"o": 2}),
    ("ｆ", {"f": 1}),
    ("😀😀", {"e": 2}),
    ("\ud800", {"p": 1, "prun": 1}),
]


@pytest.mark.parametrize(("text", "features"), COUNTED, ids=[ascii(text) for text, _ in COUNTED])
def test_features_are_counted(text: str, features: dict[str, int]) -> None:
    """A text's features are the counts that one finds by hand, and all others are zero."""
    assert {name: count for name, count in _features(text).items() if count} == features


@pytest.mark.parametrize("family", families())
def test_every_family_has_every_feature(family: str) -> None:
    """Each family has a number of its own for each feature, none of them below zero."""
    assert set(families()[family]) == set(FEATURES) == set(_features(""))
    assert min(families()[family].values()) >= 0


@pytest.mark.parametrize(
    ("text", "family", "tokens"),
    [
        # 10 letters of 0.179 and two words of 0.226.
        ("hello world", "o200k_base", 2),
        # 300 letters of 0.179 and a run of 0.226.
        ("a" * 300, "o200k_base", 54),
        # 100 Han characters of 0.849.
        ("漢" * 100, "o200k_base", 85),
        # 70 kana of 0.707.
        ("な" * 70, "o200k_base", 49),
        # 50 Hangul of 0.724.
        ("한" * 50, "o200k_base", 36),
        # One emoji of 2.342.
        ("😀", "o200k_base", 2),
        # 12 digits of 0.164 in 3 runs of 1.619, and two runs of 0.607.
        ("1234\n5678\n9012", "o200k_base", 8),
    ],
)
def test_estimate_is_the_sum_of_features(text: str, family: str, tokens: int) -> None:
    """An estimate is each feature times the family's number for it, rounded once."""
    by_hand = sum(families()[family][name] * count for name, count in _features(text).items())
    assert estimate_tokens(text, family=family) == tokens == round(by_hand)


def test_unknown_family_costs_the_dearest() -> None:
    """Without a family a text costs what the dearest of three common ones would."""
    for text in ("hello world", "漢字", "getUserName(12, x)", "😀", "наприклад"):
        assert estimate_tokens(text) == max(estimate_tokens(text, family=family) for family in UNKNOWN)


@pytest.mark.parametrize("text", ["a", " ", "\n", "\ud800", "ｆ", ".", "\u0301", "0"])
def test_any_text_costs_something(text: str) -> None:
    """Only the empty text costs nothing."""
    assert estimate_tokens(text) >= 1
    assert estimate_tokens("") == 0


scripts = st.text(st.sampled_from("abcXYZ019 \t\n.,(){}éßλкשا नไქ€なカ漢字한ｆ😀\u0301\u200d\ud800\0"), max_size=60)


@given(scripts, scripts, st.sampled_from([None, *families()]))
def test_more_text_never_costs_less(first: str, second: str, family: str | None) -> None:
    """Text put before or behind never lowers an estimate, and two texts cost about what they cost joined.

    gi-dellav/zerostack#111.
    """
    whole = estimate_tokens(first + second, family=family)
    parts = [estimate_tokens(text, family=family) for text in (first, second)]
    assert whole >= max(parts)
    # Where they meet, a run may end, a long word begin, and each is rounded for itself.
    assert abs(whole - sum(parts)) <= 8


@given(
    st.lists(st.sampled_from(["a", "B", "0", " ", "\t", "\n", "\r", ".", "é", "漢", "aaaa", "Abcdefgh"])).map("".join)
)
def test_features_are_what_patterns_find(text: str) -> None:
    """Runs are counted as regular expressions would find them."""
    words = re.findall(r"[A-Za-z]+", text)
    patterns = {"camel": "[a-z](?=[A-Z])", "drun": "[0-9]+", "srun": "[ \t]{2,}", "nrun": "[\r\n]+", "prun": r"\.+"}
    expected = {name: len(re.findall(pattern, text)) for name, pattern in patterns.items()}
    expected |= {"word": len(words), "longword": sum(max(0, len(word) - 6) for word in words)}
    assert {name: count for name, count in _features(text).items() if name in expected} == expected


@pytest.mark.parametrize(("text", "least"), [("漢" * 100, 80), ("な" * 70, 40), ("한" * 50, 30), ("👩‍👩‍👧" * 20, 80)])
@pytest.mark.parametrize("family", families())
def test_no_script_is_nearly_free(text: str, least: int, family: str) -> None:
    """A hundred characters of a script that is no alphabet never cost a quarter of a token each.

    headroomlabs-ai/headroom#1093.
    """
    assert least // 2 <= estimate_tokens(text, family=family) <= 6 * least


def count(text: str) -> int:
    """A counter that can be checked by eye: one token a character."""
    return len(text)


PARTS: list[tuple[Part, int]] = [
    (Text("hello"), 5),
    (Text(""), 0),
    (Reasoning("hmm", signature="s" * 900), 3),
    (ToolCall.of("c1", "weather", arguments={"city": "Bonn"}), PER_CALL + 7 + 15),
    (ToolCall("c1", "weather"), PER_CALL + 7 + 2),
    (ToolCall("c1", "weather", raw='{"city": '), PER_CALL + 7 + 9),
    (ToolResult.of("c1", "weather", output="12 °C"), 5),
    (ToolResult.of("c1", "weather", output={"c": [1, None]}), 14),
    (Image("image/png", data="aGk="), IMAGE),
    (Image("image/png", data="a" * 1_500_000), IMAGE),
    (Image("image/png", url="https://example.org/a.png", detail="high"), IMAGE),
    (Image("image/png", data="a" * 1_500_000, detail="low"), LOW_DETAIL_IMAGE),
    (File("application/pdf", data="a" * 1_500_000), FILE_PAGE),
    (File("application/pdf", file_id="f", pages=12), 12 * FILE_PAGE),
]


@pytest.mark.parametrize(("part", "tokens"), PARTS, ids=lambda each: type(each).__name__)
def test_parts_cost_by_kind(part: Part, tokens: int) -> None:
    """Everything that is sent is counted, names and arguments too; media never by its bytes (openai/codex#12104)."""
    assert count_part(part, count) == tokens


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_images_cost_the_same_everywhere(role: Any) -> None:
    """An image costs the same in a message of any role and in any place among its parts (earendil-works/pi#1441)."""
    image = Image("image/png", data="aGk=")
    places: list[list[Part]] = [[image], [Text("see"), image], [image, Text("see")]]
    for parts in places:
        text = sum(len(part.text) for part in parts if isinstance(part, Text))
        assert count_parts(Message.of(role, parts), count) == IMAGE + text


def test_long_arguments_and_results_are_counted() -> None:
    """A history of calls with 50 kB of arguments and results costs at least as much as their text (sitesurf#30)."""
    big = "lorem ipsum " * 4_000
    call = ToolCall.of("c1", "search", arguments={"q": big})
    history = [Message.of("assistant", [call]), Message.of("tool", [ToolResult.of("c1", "search", output=big)])]
    assert count_messages(history, estimate_tokens) >= 2 * estimate_tokens(big)


def test_counts_are_kept_on_the_message() -> None:
    """A message is counted once by each counter; another counter counts for itself."""
    asked: list[str] = []

    def careful(text: str) -> int:
        asked.append(text)
        return len(text)

    message = Message.of("user", "hello")
    assert [count_parts(message, careful) for _ in range(3)] == [5, 5, 5]
    assert asked == ["hello"]
    assert count_parts(message, lambda text: 1) == 1
    assert message == Message.of("user", "hello")


def test_an_offered_tool_costs_what_is_sent() -> None:
    """A tool costs its name, description and schema as JSON, and what frames it; it is counted once a counter."""
    offered = ToolSpec("t", "d", {"a": [1]})
    assert count_tool(offered, count) == len('{"name":"t","description":"d","parameters":{"a":[1]}}') + PER_TOOL
    assert count_tool(offered, lambda text: 1) == 1 + PER_TOOL


@pytest.mark.parametrize("text", ["ሰላም ለዓለም", "ᏣᎳᎩ", "ᐃᓄᒃᑎᑐᑦ"], ids=["ethiopic", "cherokee", "inuktitut"])
def test_scripts_that_no_vocabulary_holds_cost_their_bytes(text: str) -> None:
    """A script that vocabularies have hardly a piece of counts a token a byte, in every family."""
    letters = text.replace(" ", "")
    for family in (None, *families()):
        assert estimate_tokens(letters, family=family) == len(letters.encode())
