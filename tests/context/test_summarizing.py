"""Summaries by themselves: the boundary, what a summarizer reads, how its input is cut, and what is kept."""

import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import Image, Message, Reasoning, Text, ToolCall, ToolResult
from antiphon.context import Summary, SummaryContext, estimate_tokens, summary_prompt
from antiphon.context._summarizing import MARKER, boundary, listed, marked, pieces, shortened
from antiphon.errors import Misuse

BY_THE_TABLE = {
    **dict.fromkeys((0, 1, 19, 20), 0),
    **dict.fromkeys((21, 22, 31, 32), 12),
    **dict.fromkeys((33, 44), 24),
    **dict.fromkeys((45, 50, 56), 36),
    57: 48,
}


@pytest.mark.parametrize(("answered", "covered"), BY_THE_TABLE.items())
def test_boundary_by_the_table(answered: int, covered: int) -> None:
    """With 8 and 20 the boundary stands at 0 until turn 20 and then moves by 12 (J-093)."""
    assert boundary(answered, keep_recent=8, compact_after=20) == covered


@given(st.integers(0, 400), st.integers(0, 30), st.integers(1, 30))
def test_boundary_keeps_its_numbers(answered: int, keep_recent: int, step: int) -> None:
    """Turns that stay verbatim are between the two numbers, and the boundary never walks back (J-092, J-093)."""
    compact_after = keep_recent + step
    at = boundary(answered, keep_recent=keep_recent, compact_after=compact_after)
    assert at % step == 0
    assert answered - at <= compact_after
    assert at == 0 if answered <= compact_after else answered - at > keep_recent
    assert boundary(answered + 1, keep_recent=keep_recent, compact_after=compact_after) in (at, at + step)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"keep_recent": 20}, "keep_recent=20 and compact_after=20"),
        ({"keep_recent": -1}, "keep_recent=-1"),
        ({"keep_recent": 0, "compact_after": 0}, "less than compact_after"),
        ({"on_failure": "ignore"}, "use 'fail', 'trim' or 'full'"),
    ],
)
def test_numbers_that_make_no_step_are_refused(options: dict[str, Any], sentence: str) -> None:
    """A boundary that could not move, and an unknown way to fail, are refused at construction (J-094)."""
    with pytest.raises(Misuse, match=sentence):
        SummaryContext(**options)


def test_the_prompt_holds_calls_and_results_as_text() -> None:
    """A summarizer reads who said what, calls and results as words, media by kind, and no reasoning."""
    said = [
        Message("user", (Text("Where is 17?"), Image("image/png", data="aGk="))),
        Message("assistant", (Reasoning("hm"), ToolCall.of("c", "find", arguments={"order": 17}))),
        Message("tool", (ToolResult.of("c", "find", output={"at": "Oslo"}),)),
        Message("assistant", (Reasoning("only thoughts"),)),
        Message.of("assistant", "In Oslo."),
    ]
    assert summary_prompt(said).split("\n\n") == [
        "User: Where is 17?\n[image]",
        'Assistant: [calls find with {"order":17}]',
        'Tool: [find gave {"at":"Oslo"}]',
        "Assistant: In Oslo.",
    ]


paragraphs = st.lists(st.text(st.characters(codec="utf-8"), max_size=400) | st.just("word " * 300), max_size=12)


@given(paragraphs, st.integers(40, 400))
def test_every_piece_fits(found: list[str], limit: int) -> None:
    """However a text is cut, every piece is within the limit, by counting (F016, F017)."""
    text = "\n\n".join(found)
    cut = pieces(text, limit=limit, counter=estimate_tokens)
    assert all(estimate_tokens(piece) <= limit for piece in cut)
    if all(estimate_tokens(paragraph) <= limit for paragraph in text.split("\n\n")):
        assert "\n\n".join(cut) == text


def test_pieces_are_few_and_cut_at_blank_lines() -> None:
    """A text that fits stays whole; one of twice the limit makes little more than two pieces, none cut inside."""
    said = [f"User: this is line {n} of a conversation about ports." for n in range(400)]
    text, cost = "\n\n".join(said), estimate_tokens("\n\n".join(said))
    assert pieces(text, limit=cost + 400, counter=estimate_tokens) == [text]
    cut = pieces(text, limit=cost // 2, counter=estimate_tokens)
    assert len(cut) in (2, 3)
    assert [line for piece in cut for line in piece.split("\n\n")] == said


def test_cutting_counts_each_paragraph_about_once() -> None:
    """A long conversation is cut in one pass: what is counted grows with the text, not with its square."""
    counted = 0

    def counter(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return len(text) // 4

    text = "\n\n".join(["words that were said"] * 5_000)
    pieces(text, limit=10_000, counter=counter)
    assert counted < 4 * len(text)


@given(st.text(max_size=2_000), st.integers(30, 100))
def test_a_shortened_text_keeps_start_and_end(text: str, limit: int) -> None:
    """What is too long keeps its two ends around a mark that says how much is missing."""
    short = shortened(text, limit=limit, counter=len)
    assert short == text if len(text) <= limit else len(short) <= max(limit, 45)
    if short != text:
        assert "characters left out" in short


SUMMARY = Summary("they met", "t1", "t9", turns=9, model="m", at="2026-01-01T00:00:00.000Z")


def test_a_summary_is_read_back() -> None:
    """A kept summary says what it covers, who wrote it and when (F040), and is read back as it was."""
    assert Summary.from_bytes(SUMMARY.to_bytes()) == SUMMARY
    assert json.loads(SUMMARY.to_bytes()) == asdict(SUMMARY)
    odd = replace(SUMMARY, text="half a pair: \ud83d")
    assert Summary.from_bytes(odd.to_bytes()) == odd


@pytest.mark.parametrize("kept", [None, b"", b"{", b"[]", b"null", b"5", b'{"text":"x"}', b'{"what":1}', b"\xff\xfe"])
def test_a_damaged_summary_is_absent(kept: bytes | None) -> None:
    """What cannot be read as a summary, or as their list, is written again and is no error."""
    assert Summary.from_bytes(kept) is None
    assert listed(kept) == []


@pytest.mark.parametrize("damage", [b'"text":5', b'"text":null', b'"text":["x"]'])
def test_a_summary_of_another_kind_is_absent(damage: bytes) -> None:
    """A kept summary whose text is none is damaged, too."""
    assert Summary.from_bytes(SUMMARY.to_bytes().replace(b'"text":"they met"', damage)) is None


def test_a_summary_is_marked() -> None:
    """It stands in the user's place, marked as nobody's words, and asks for nothing (J-091, F039)."""
    message = marked("they met")
    assert (message.role, message.text) == ("user", "Summary of the earlier conversation:\nthey met")
    assert MARKER == "Summary of the earlier conversation:"
    assert "?" not in message.text
