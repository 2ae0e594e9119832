"""What is shown can be read, and cannot act on a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.cli._shown_text import cells, cut, one_line, visible, wrapped

ACTING = [
    *(chr(code) for code in [*range(0x20), *range(0x7F, 0xA0)] if chr(code) not in "\n\t"),
    *(chr(code) for code in [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]),
    "\ud800",
    "\udfff",
]
TEXT = st.text(st.one_of(st.sampled_from(ACTING), st.characters(codec="utf-8"), st.sampled_from("ab \n\t")))


@given(TEXT)
def test_nothing_that_acts_is_left(text: str) -> None:
    """No control character but line feed and tab, no bidirectional override and no lone surrogate is shown."""
    shown = visible(text)
    assert not set(shown) & set(ACTING)
    assert not any(unicodedata.category(each) in ("Cc", "Cs") for each in shown if each not in "\n\t")
    shown.encode()


@given(TEXT, st.integers(min_value=0))
def test_where_a_text_is_split_does_not_matter(text: str, place: int) -> None:
    """A text shown in two pieces, split anywhere, looks as it does in one."""
    split = place % (len(text) + 1)
    assert visible(text[:split]) + visible(text[split:]) == visible(text)


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs"))))
def test_what_does_not_act_stays(text: str) -> None:
    """Text without such characters is shown as it is, whatever its language."""
    assert visible(text) == text


def test_an_escape_sequence_is_spelled_out() -> None:
    """ESC, BEL, the C1 form of CSI and an override are shown as their numbers."""
    assert visible("\x1b]52;c;aGk=\x07\x9b2J\u202eabc\ud800") == "\\x1b]52;c;aGk=\\x07\\x9b2J\\u202eabc\\ud800"


@given(TEXT)
def test_one_line_is_one_line(text: str) -> None:
    """A text made into one line holds no line break and no tab."""
    assert len(one_line(text).splitlines()) <= 1
    assert "\t" not in one_line(text)


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))), st.integers(0, 40))
def test_a_cut_line_fits(text: str, room: int) -> None:
    """A line cut to a number of cells takes no more, and one that fits is not cut."""
    assert cells(cut(text, room)) <= room
    if cells(text) <= room:
        assert cut(text, room) == text


def test_wide_and_combining_characters_are_measured() -> None:
    """Wide characters take two cells, combining ones none."""
    assert [cells(each) for each in ("abc", "日本", "e\u0301", "")] == [3, 4, 1, 0]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("one two", ["one two"]),
        ("one two three four", ["one two", "three four"]),
        ("abcdefghijklmnop", ["abcdefghij", "klmnop"]),
        ("ab abcdefghijklmnop", ["ab", "abcdefghij", "klmnop"]),
        ("    abcdefghijk", ["    abcdef", "ghijk"]),
        ("日本語日本語", ["日本語日本", "語"]),
        ("a\n\nb\n", ["a", "", "b", ""]),
        ("a\tb", ["a       b"]),
    ],
)
def test_lines_are_broken_between_words(text: str, lines: list[str]) -> None:
    """A text is broken into lines of ten cells, between words where there are any; its own breaks stay."""
    assert wrapped(text, 10) == lines


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_lines_break_alike_however_text_comes(size: int) -> None:
    """A text that comes in pieces is broken as it would be in one."""
    text = "The keeper lit the lamp, and wrote one line.\n  Then the keeper slept.\n"
    found, unfinished = [], ""
    for start in range(0, len(text), size):
        *whole, unfinished = wrapped(unfinished + text[start : start + size], 12)
        found += whole
    assert [*found, unfinished] == wrapped(text, 12)
