"""Server-sent events, whatever cuts them."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.providers._sse import SseDecoder

STREAM = (
    '\ufeff: hello\r\nevent: x\r\ndata: {"a": "é🎉"}\r\n\r\n'
    "data:one\ndata: two\n\nid: 7\rdata:  three\r\rdata: [DONE]\n\n"
)
FOUND = ['{"a": "é🎉"}', "one\ntwo", " three", "[DONE]"]


def read(*chunks: bytes) -> list[str]:
    """The data of the events in these chunks."""
    decoder = SseDecoder()
    found = [data for chunk in chunks for data in decoder.feed(chunk)]
    return [data.decode() for data in [*found, *decoder.end()]]


def cut(whole: bytes, places: list[int]) -> list[bytes]:
    """Bytes, cut at these places."""
    ends = sorted(place % (len(whole) + 1) for place in places)
    return [whole[start:end] for start, end in zip([0, *ends], [*ends, len(whole)], strict=True)]


def test_every_form_is_read() -> None:
    """A byte order mark, comments, every line end, several lines of data, one space after the colon."""
    assert read(STREAM.encode()) == FOUND


@given(st.lists(st.integers(0, 500), max_size=40))
def test_cuts_change_nothing(places: list[int]) -> None:
    """However the bytes are cut, between the bytes of a character and inside CRLF too, the events are the same."""
    assert read(*cut(STREAM.encode(), places)) == FOUND


def test_single_bytes_change_nothing() -> None:
    """One byte at a time gives the same events."""
    assert read(*(bytes([byte]) for byte in STREAM.encode())) == FOUND


def test_an_event_comes_with_its_line_end() -> None:
    """An event is given with the byte that ends it, be it a lone CR, and not with the one after."""
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\r") == [b"a"]
    assert decoder.feed(b"\ndata: b\n\n") == [b"b"]


def test_a_last_event_needs_no_blank_line() -> None:
    """What stands at the end without a blank line is given by the end."""
    assert read(b"data: a\n\ndata: b") == ["a", "b"]


@pytest.mark.parametrize("chunk", [b"data: " + b"x" * 200, b"data: xxxxxxxxxx\n" * 20, b": " + b"x" * 200])
def test_an_event_without_end_is_refused(chunk: bytes) -> None:
    """No event is held beyond the limit, in one line or in many."""
    with pytest.raises(ValueError, match="more than 100 bytes"):
        SseDecoder(limit=100).feed(chunk)


def test_many_small_events_are_no_large_one() -> None:
    """The limit is of one event, not of the stream."""
    decoder = SseDecoder(limit=100)
    assert len([data for _ in range(50) for data in decoder.feed(b"data: xxxxxxxxxx\n\n")]) == 50


LINES = st.sampled_from(["data: a", "data:b", ": c", "", "", "event: e", "data", "id: 1", "data: é漢🎉"])


@given(st.lists(LINES, max_size=30), st.sampled_from(["\n", "\r\n"]), st.lists(st.integers(0, 500), max_size=9))
def test_httpx2_reads_the_same(lines: list[str], end: str, places: list[int]) -> None:
    """Where httpx2's own reader takes a stream, it finds the same data."""
    whole = "".join(line + end for line in [*lines, "", ""]).encode()

    async def theirs() -> list[str]:
        async def content() -> AsyncIterator[bytes]:
            for chunk in cut(whole, places):
                yield chunk

        request = httpx2.Request("GET", "http://x")
        headers = {"content-type": "text/event-stream"}
        response = httpx2.Response(200, headers=headers, content=content(), request=request)
        return [event.data async for event in httpx2.EventSource(response)]

    # An event without a line of data is none to the standard; httpx2 gives it, empty.
    assert [data for data in read(*cut(whole, places)) if data] == [data for data in asyncio.run(theirs()) if data]
