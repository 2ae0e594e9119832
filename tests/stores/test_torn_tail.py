"""What the bytes of a journal file mean."""

import pytest

from antiphon.journal import Line
from antiphon.stores._torn_tail import end_in, kept, lines_in
from antiphon.testing._store_hooks import line, lines

ONE = line(1, comment="one ä")
TWO = line(2, comment="two 漢")


def test_complete_lines_are_read() -> None:
    """Lines that end in LF are entries; what stands behind the last LF is left alone."""
    found = lines_in(ONE.data + b"\n" + TWO.data + b"\n" + b'{"id')
    assert (found.lines, found.used, found.why) == ([ONE, TWO], len(ONE.data) + len(TWO.data) + 2, None)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (b"", "blank"),
        (b"  \r", "blank"),
        (b"[]", "not an entry"),
        (b"null", "not an entry"),
        (b"42", "not an entry"),
        (b'{"version":1}', "not an entry"),
        (b'{"id":"a"', "not JSON"),
        (b'{"id":1,"type":"x"}', "not an entry"),
        (ONE.data + TWO.data, "not JSON"),
    ],
)
def test_a_damaged_line_ends_the_good_ones(damage: bytes, why: str) -> None:
    """A line that ends in LF and is no entry is named, and the lines before it are given."""
    found = lines_in(ONE.data + b"\n" + damage + b"\n" + TWO.data + b"\n")
    assert (found.lines, found.used) == ([ONE], len(ONE.data) + 1)
    assert found.why is not None and why in found.why


@pytest.mark.parametrize("break_", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_lf_separates(break_: str) -> None:
    """Other line breaks are text (huggingface/tau#354); control characters are escaped by JSON itself."""
    odd = line(3, comment=f"a{break_}b")
    assert lines_in(odd.data + b"\n").lines == [odd]


def test_a_carriage_return_goes_to_the_reader() -> None:
    """A line that an editor ended in CR LF is an entry: JSON allows the CR behind it."""
    assert lines_in(ONE.data + b"\r\n").lines == [Line(ONE.id, ONE.type, ONE.data + b"\r")]


def test_every_cut_of_an_entry_is_a_fragment() -> None:
    """Cut anywhere, within a character of several bytes too, an entry is a fragment; whole it is kept."""
    assert [cut for cut in range(len(TWO.data)) if kept(TWO.data[:cut]) is not None] == []
    assert kept(TWO.data) == TWO


def test_lone_surrogates_are_entries() -> None:
    """A line that only the slow reader takes is as good as any, also as the last one without newline."""
    odd = line(4, comment="\ud800")
    assert lines_in(odd.data + b"\n" + ONE.data + b"\n").lines == [odd, ONE]
    assert kept(odd.data) == odd


def test_the_end_is_found() -> None:
    """The last entry, where it starts, where good bytes stop, and what stands behind them."""
    whole = ONE.data + b"\n" + TWO.data
    start = len(ONE.data) + 1
    assert end_in(whole + b"\n", whole=True) == ("entry-2", start, len(whole) + 1, False, False, None)
    assert end_in(whole, whole=True) == ("entry-2", start, len(whole), False, True, None)
    assert end_in(whole[:-1], whole=True) == ("entry-1", 0, start, True, False, None)
    for nothing in (b"", b"\x00" * 10, ONE.data[:-1]):
        assert end_in(nothing, whole=True) == (None, 0, 0, bool(nothing), False, None)


def test_the_end_may_need_more() -> None:
    """A block in which the last entry does not start is too short; one in which it does is not."""
    content = b"".join(each.data + b"\n" for each in lines(1, 2, 3))
    last = len(line(3).data) + 1
    assert end_in(content[-last:], whole=False) is None
    found = end_in(content[-last - 1 :], whole=False)
    assert found is not None and (found.id, found.start) == ("entry-3", 1)
    assert end_in(content[-5:-1], whole=False) is None
