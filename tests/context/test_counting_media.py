"""What media costs, at the top of a message and inside a tool's result."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import File, Image, Message, Text, ToolCall, ToolResult, estimate_tokens
from antiphon._messages import read_message
from antiphon.context._counting import FILE_PAGE, IMAGE, LOW_DETAIL_IMAGE, count_part, count_parts
from antiphon.context._families import counter_for
from antiphon.context._media_cost import media_cost
from antiphon.errors import NotStorable
from antiphon.journal import ToolReturned, TurnAccepted, decode, encode
from antiphon.journal._entries import ModelReplied
from antiphon.models import ModelRequest
from antiphon.providers import openai_chat
from antiphon.transcript._turn import Turn

HUGE = "iVBORw0K" * 190_000
"""The base64 of a picture of about 1.1 MB."""
PICTURE = Image("image/png", data="aGk=")
REPORT = File("application/pdf", data="aGk=", name="report.pdf", pages=3)
HEAD: dict[str, Any] = {
    "version": 1,
    "id": "e1",
    "session_id": "ana-1",
    "at": "2026-03-01T09:00:00.000Z",
    "turn_id": "t1",
}

PRICES: list[tuple[str, int, int, int]] = [
    # OpenAI's own examples: a square of 1,024 is four tiles, 2,048 by 4,096 six.
    ("gpt-4o", 1_024, 1_024, 765),
    ("gpt-4o", 2_048, 4_096, 1_105),
    ("gpt-4o", 512, 512, 85 + 170),
    ("gpt-4o", 513, 100, 85 + 2 * 170),
    ("gpt-4", 8_000, 500, 85 + 4 * 170),
    # Anthropic's: a pixel is a 750th of a token, up to 1,600.
    ("claude-sonnet-4-5", 200, 200, 54),
    ("claude-sonnet-4-5", 1_000, 1_000, 1_334),
    ("claude-sonnet-4-5", 3_136, 1_000, 1_046),
    ("claude-sonnet-4-5", 4_000, 4_000, 1_600),
    ("claude-opus-4-8", 4_000, 4_000, 4_784),
    # Google's: 258 a tile of 768.
    ("gemini-2.5-pro", 300, 300, 258),
    ("gemini-2.5-pro", 769, 768, 2 * 258),
]


@pytest.mark.parametrize(("model", "width", "height", "tokens"), PRICES)
def test_pictures_cost_what_vendors_say(model: str, width: int, height: int, tokens: int) -> None:
    """A picture of known size costs what its vendor's published formula gives."""
    for picture in (
        Image("image/png", url="u", width=width, height=height),
        Image("image/png", None, "u", width=width, height=height, detail="high"),
    ):
        assert count_part(picture, counter_for(model)) == tokens


@pytest.mark.parametrize("model", ["gpt-4o", "claude-opus-4-8", "gemini-2.5-pro", "ollama:qwen3", "who knows"])
def test_pictures_of_unknown_size_cost_one_figure(model: str) -> None:
    """Without a size, or a vendor, a picture costs 1,105, in low detail 85; a page of a document costs 2,000."""
    counter = counter_for(model)
    assert count_part(PICTURE, counter) == count_part(Image("image/png", url="u", width=9), counter) == IMAGE == 1_105
    assert count_part(Image("image/png", url="u", detail="low"), counter) == LOW_DETAIL_IMAGE == 85
    assert count_part(REPORT, counter) == 3 * FILE_PAGE
    assert count_part(Image("image/png", url="u", width=512, height=512), estimate_tokens) == IMAGE


def test_low_detail_is_one_price_whatever_the_size() -> None:
    """OpenAI's low detail costs 85 for any size."""
    assert media_cost(Image("image/png", url="u", width=4_000, height=4_000, detail="low"), "o200k_base") == 85


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from(["o200k_base", "claude3", "claude4.8"]))
def test_any_size_has_a_bounded_price(width: int, height: int, family: str) -> None:
    """Where a vendor scales pictures down, no size costs nothing or more than a cap."""
    assert 0 < media_cost(Image("image/png", url="u", width=width, height=height), family) <= 4_784


@pytest.mark.parametrize("model", ["gpt-4o", "claude-opus-4-8", "who knows"])
@pytest.mark.parametrize("media", [Image("image/png", data=HUGE), PICTURE, REPORT], ids=["huge", "picture", "report"])
def test_media_costs_the_same_inside_a_result(model: str, media: Image | File) -> None:
    """A picture costs the same in a result as beside it, and never by its bytes.

    google-gemini/gemini-cli#17923, CherryHQ/cherry-studio#17106.
    """
    counter = counter_for(model)
    inside = ToolResult.of("c1", "look", output="a chart", media=[media])
    assert count_part(inside, counter) == counter("a chart") + count_part(media, counter)
    assert count_parts(Message("tool", (inside,)), counter) < 2_000 * 3 + 100


IMAGE_PART = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{HUGE}"}}
FILE_PART = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}}
TOOL: dict[str, Any] = {"role": "tool", "tool_call_id": "c1", "name": "look"}


def result_of(content: Any) -> ToolResult:
    """The result that a plain tool message with this content is read as."""
    (found,) = Message("tool", read(content).parts).results
    return found


def read(content: Any) -> Message:
    """A plain tool message, read."""
    return read_message(TOOL | {"content": content})


def test_pictures_in_plain_tool_messages_stay_pictures() -> None:
    """A tool message whose content is parts keeps its text as text and its data URLs as media, not as JSON text."""
    found = result_of([{"type": "text", "text": "a chart"}, IMAGE_PART, FILE_PART, PICTURE])
    assert found.output == "a chart"
    assert found.media[0] == Image("image/png", data=HUGE)
    assert found.media[1:] == (File("application/pdf", data="aGk=", name="a.pdf"), PICTURE)
    assert count_part(found, len) == len("a chart") + 3 * IMAGE - IMAGE + FILE_PAGE


@pytest.mark.parametrize(
    "content",
    [
        "plain",
        "",
        '[{"type":"image_url"}]',
        None,
        12,
        {"image_url": {}},
        [1, "x"],
        [{"type": "image_url"}],
        [{"type": "text", "text": "a"}],
    ],
)
def test_content_without_media_is_the_output(content: Any) -> None:
    """What holds no picture is the result's output as it is."""
    assert result_of(content) == ToolResult.of("c1", "look", output=content)


def test_what_is_neither_text_nor_media_stays_json() -> None:
    """Beside a picture, parts of other kinds stay in the output, as a list."""
    assert result_of([{"rows": 3}, IMAGE_PART]).output == [{"rows": 3}]


@pytest.mark.parametrize("text", ["a chart", ""])
def test_plain_objects_carry_media_both_ways(text: str) -> None:
    """A result with media survives the way to a plain object and back."""
    result = ToolResult.of("c1", "", output=text, media=[PICTURE, File("application/pdf", data="aGk=", name="a.pdf")])
    plain = json.loads(json.dumps(Message("tool", (result,)).to_json()))
    assert read_message(plain).results == (result,)


@pytest.mark.parametrize("media", [Image("image/png"), Image("image/png", data="a", url="u"), Text("a picture")])
def test_media_of_a_result_is_checked(media: Any) -> None:
    """Media that no journal keeps is refused, named by its place."""
    with pytest.raises(NotStorable, match=r"result of look\.media\[1\]"):
        ToolResult.of("c1", "look", output="", media=[PICTURE, media])


def returned(**fields: Any) -> ToolReturned:
    """A result's entry."""
    return ToolReturned(
        **HEAD, call_id="c1", name="look", output_json=ToolResult.of("c1", "look", output="ok").output_json, **fields
    )


def test_entries_without_media_are_as_ever() -> None:
    """A result without media is written byte for byte as before there was any."""
    head = '{"type":"tool.returned","version":1,"id":"e1","sessionId":"ana-1","at":"2026-03-01T09:00:00.000Z"'
    line = f'{head},"turnId":"t1","callId":"c1","name":"look","output":"ok"}}'.encode()
    assert encode(returned()).data == encode(returned(media=())).data == line
    assert decode(line) == returned()


def test_turns_read_media_back() -> None:
    """What a tool's entry holds beside its output stands in the turn's result, and survives the journal."""
    reply = Message("assistant", (ToolCall.of("c1", "look", arguments={}),))
    entries: list[Any] = [
        TurnAccepted(**HEAD, input="Hi"),
        ModelReplied(**HEAD, call=1, message=reply),
        returned(media=(PICTURE, REPORT)),
    ]
    read_back: list[Any] = [decode(encode(entry).data) for entry in entries]
    turn = Turn(read_back, "running")
    assert turn.messages[2].results[0].media == (PICTURE, REPORT)


def sent(*results: ToolResult, then: Message | None = None) -> list[Any]:
    """The messages that a round with these results becomes on OpenAI's wire."""
    calls = tuple(ToolCall.of(result.call_id, result.name, arguments={}) for result in results)
    said = [
        Message.of("user", "Look."),
        Message("assistant", calls),
        Message("tool", results),
        *([then] if then else ()),
    ]
    found: list[Any] = openai_chat.encode(ModelRequest(said), model="m")["messages"]
    return found


URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def test_openai_is_sent_media_behind_the_round() -> None:
    """Tool messages hold text, so a round's pictures follow all of its results in one user message, named by tool."""
    first = ToolResult.of("c1", "look", output="a chart", media=[PICTURE])
    second = ToolResult.of("c2", "scan", output="", media=[PICTURE])
    *_, one, two, behind = sent(first, second, then=Message.of("user", "So?"))
    assert (one["role"], one["content"], two["role"], two["content"]) == ("tool", "a chart", "tool", "(shown below)")
    named = [{"type": "text", "text": f"[{name} gave:]"} for name in ("look", "scan")]
    assert behind == {"role": "user", "content": [named[0], URL, named[1], URL, {"type": "text", "text": "So?"}]}


def test_openai_is_sent_a_mark_for_what_it_does_not_take() -> None:
    """Media of a result that the wire does not take becomes a marked line, as anywhere else."""
    *_, behind = sent(ToolResult.of("c1", "look", output="x", media=[Image("image/tiff", data="aGk=")]))
    assert "[an image was left out: image/tiff is no picture that models see]" in behind["content"]
