"""What a server says, in all the ways that servers say it, as events."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon._messages import Message, Reasoning, Text, ToolCall
from antiphon._usage import Usage
from antiphon.errors import InvalidRequest, MalformedReply, ModelError, Overloaded, RateLimited
from antiphon.models import ModelEvent, ReasoningPiece, Replied, TextPiece
from antiphon.providers.openai_chat import Decoder
from antiphon.providers.openai_chat._decode import usage_of
from antiphon.providers.openai_chat._reading import Reading
from tests.providers.openai_chat.server import DONE, USAGE, Answer, calling, chunk, event, streamed, whole

ARGUMENTS = '{"city": "Tromsø 🎉"}'


def read(*chunks: bytes) -> list[ModelEvent]:
    """The events of an answer that came in these chunks."""
    reading = Reading(Decoder("m"), model="m")
    return [each for chunk in chunks for each in reading.feed(chunk)] + reading.end()


def reply_of(answer: Answer | list[bytes]) -> Replied:
    """The reply of an answer."""
    found = read(*(answer if isinstance(answer, list) else answer.pieces))[-1]
    assert isinstance(found, Replied)
    return found


def deltas(*pieces: Mapping[str, Any], finish: str = "tool_calls") -> list[bytes]:
    """A stream of pieces of calls."""
    return [*(chunk({"tool_calls": [piece]}) for piece in pieces), chunk({}, finish=finish), DONE]


def piece(arguments: str | None = "", **fields: Any) -> dict[str, Any]:
    """A piece of a call; a name stands in its function."""
    function = {"arguments": arguments} | ({"name": fields.pop("name")} if "name" in fields else {})
    return {**fields, "function": function}


def calls_of(*pieces: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """Id, name and arguments of the calls that pieces make."""
    return [(call.id, call.name, call.arguments) for call in reply_of(deltas(*pieces)).message.calls]


def test_text_comes_in_pieces() -> None:
    """Text pieces, and at the end one reply with the same text, usage and the model that answered."""
    found = read(*streamed("It is ", "fine. 🎉").pieces)
    assert found[:-1] == [TextPiece("It is "), TextPiece("fine. 🎉")]
    assert found[-1] == Replied(
        Message.of("assistant", "It is fine. 🎉"),
        Usage(input=30, output=12, cached=16),
        "stop",
        model="gpt-test-2026",
        raw=json.loads(streamed().pieces[-2][6:]),
    )


def test_whole_answers_are_read() -> None:
    """A server that does not stream gives the same reply, its calls among them, whatever ids they have."""
    found = read(*whole({"content": "Hello."}).pieces)
    assert found[0] == TextPiece("Hello.") and isinstance(found[1], Replied)
    asked = [{"id": "", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}] * 2
    reply = reply_of(whole({"content": None, "tool_calls": asked}, finish="tool_calls"))
    assert [call.name for call in reply.message.calls] == ["look_up"] * 2


ANSWERS = [
    streamed("It is ", "fine. 🎉", "日本"),
    calling(("call_1", "look_up", ARGUMENTS), ("call_2", "look_up", '{"city": "Rome"}')),
    whole({"content": "Grüße. 🎉"}),
    Answer(pieces=[b"\xef\xbb\xbf: hi\r\n\r\n", *(p.replace(b"\n", b"\r\n") for p in streamed("é", "è").pieces)]),
]


@given(st.sampled_from(ANSWERS), st.lists(st.integers(0, 5_000), max_size=60))
def test_cuts_change_nothing(answer: Answer, places: list[int]) -> None:
    """However the bytes of an answer are cut, the events are the same."""
    body = b"".join(answer.pieces)
    ends = sorted(place % len(body) for place in places)
    chunks = [body[start:end] for start, end in zip([0, *ends], [*ends, len(body)], strict=True)]
    assert read(*chunks) == read(body)


@pytest.mark.parametrize("answer", ANSWERS)
def test_single_bytes_change_nothing(answer: Answer) -> None:
    """One byte at a time gives the same events, and no broken character."""
    body = b"".join(answer.pieces)
    assert read(*(bytes([byte]) for byte in body)) == read(body)


def test_halves_of_a_character_become_one() -> None:
    """A character whose halves come as escapes in two pieces is whole, and one that stays half is replaced."""
    halves = [
        b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % half for half in (b"a\\ud83c", b"\\udf89")
    ]
    assert reply_of([*halves, *streamed().pieces]).message.text == "a🎉"
    found = read(halves[0], *streamed().pieces)
    assert [each.text for each in found if isinstance(each, TextPiece)] == ["a", "\ufffd"]
    assert isinstance(found[-1], Replied) and found[-1].message.text == "a\ufffd"


PARTS = [ARGUMENTS[:9], ARGUMENTS[9:]]
OSLO, ROME = ("a", "look_up", json.loads(ARGUMENTS)), ("b", "look_up", {"city": "Rome"})
ROMAN = '{"city": "Rome"}'


@pytest.mark.parametrize(
    "pieces",
    [
        # by index, the id on the first piece alone
        [
            piece(index=0, id="a", name="look_up"),
            piece(PARTS[0], index=0),
            piece(PARTS[1], index=0),
            piece(ROMAN, index=1, id="b", name="look_up"),
        ],
        # interleaved
        [
            piece(index=0, id="a", name="look_up"),
            piece(ROMAN[:4], index=1, id="b", name="look_up"),
            piece(PARTS[0], index=0),
            piece(ROMAN[4:], index=1),
            piece(PARTS[1], index=0),
        ],
        # the same index for both
        [
            piece(PARTS[0], index=0, id="a", name="look_up"),
            piece(PARTS[1], index=0),
            piece(ROMAN[:4], index=0, id="b", name="look_up"),
            piece(ROMAN[4:], index=0),
        ],
        # the same index, interleaved by id
        [
            piece(PARTS[0], index=0, id="a", name="look_up"),
            piece(ROMAN[:4], index=0, id="b", name="look_up"),
            piece(PARTS[1], index=0, id="a"),
            piece(ROMAN[4:], index=0, id="b"),
        ],
        # no index
        [
            piece(PARTS[0], id="a", name="look_up"),
            piece(PARTS[1]),
            piece(ROMAN[:4], id="b", name="look_up"),
            piece(ROMAN[4:]),
        ],
        # id and name on each piece
        [
            piece(PARTS[0], index=0, id="a", name="look_up"),
            piece(PARTS[1], index=0, id="a", name="look_up"),
            piece(ROMAN, index=1, id="b", name="look_up"),
        ],
        # the id comes late
        [
            piece(None, index=0, name="look_up"),
            piece(ARGUMENTS, index=0, id="a"),
            piece(ROMAN, index=1, id="b", name="look_up"),
        ],
        # the name comes in pieces
        [
            piece(None, index=0, id="a", name="look"),
            piece(None, index=0, name="_up"),
            piece(ARGUMENTS, index=0),
            piece(ROMAN, index=1, id="b", name="look_up"),
        ],
    ],
)
def test_calls_are_put_together(pieces: list[Mapping[str, Any]]) -> None:
    """However a server numbers the pieces of two calls, they are two, with the right arguments."""
    assert calls_of(*pieces) == [OSLO, ROME]


@pytest.mark.parametrize("index", [{}, {"index": 0}])
def test_whole_calls_without_ids_are_several(index: dict[str, int]) -> None:
    """Whole calls without ids, of one tool, are as many as they are, each with an id of its own, always the same."""
    found = calls_of(*(piece(text, name="look_up", **index) for text in (ROMAN, ROMAN, ARGUMENTS)))
    assert [arguments for _, _, arguments in found] == [ROME[2], ROME[2], OSLO[2]]
    assert len({id for id, _, _ in found}) == 3 and all(id.startswith("call_") for id, _, _ in found)
    assert found == calls_of(*(piece(text, name="look_up", **index) for text in (ROMAN, ROMAN, ARGUMENTS)))


def test_one_id_for_two_calls_becomes_two() -> None:
    """Two calls that a server gives one id are two, and their ids are."""
    found = calls_of(piece(ROMAN, index=0, id="a", name="look_up"), piece(ROMAN, index=1, id="a", name="look_up"))
    assert found[0] == ("a", *ROME[1:]) and found[1][1:] == ROME[1:] and found[1][0] != "a"


@pytest.mark.parametrize(
    ("text", "arguments", "raw"),
    [
        ("", {}, None),
        (" ", {}, None),
        ("null", {}, None),
        ('"{\\"city\\": \\"Rome\\"}"', {"city": "Rome"}, None),
        ('{"cut": ', {}, '{"cut": '),
        ("[1]", {}, "[1]"),
        ('{"x": NaN}', {}, '{"x": NaN}'),
        ('"""', {}, '"""'),
        ("[" * 5_000, {}, "[" * 5_000),
        ('{"x": ' * 300 + "1" + "}" * 300, {}, '{"x": ' * 300 + "1" + "}" * 300),
    ],
)
def test_arguments_that_are_no_object_are_kept_raw(text: str, arguments: Any, raw: str | None) -> None:
    """What a model wrote in the place of an object is kept for people to see, and the call has empty arguments."""
    (call,) = reply_of(deltas(piece(text, index=0, id="a", name="f"))).message.calls
    assert (call.arguments, call.raw) == (arguments, raw)


def test_arguments_that_are_an_object_are_read() -> None:
    """Arguments in the place of a text are taken as they are."""
    assert calls_of({"index": 0, "id": "b", "function": {"name": "look_up", "arguments": {"city": "Rome"}}}) == [ROME]


def test_names_go_back_to_what_they_were() -> None:
    """A tool that went under another name comes back under its own; the older form of a call is one too."""
    decoder = Decoder("m", names={"mcp_git_1": "mcp.git"})
    decoder.feed(
        json.loads(chunk({"function_call": {"name": "mcp_git_1", "arguments": "{}"}}, finish="function_call")[6:])
    )
    (reply,) = decoder.end()
    assert isinstance(reply, Replied) and reply.message.calls[0].name == "mcp.git" and reply.finish == "calls"


@pytest.mark.parametrize(
    ("reason", "delta", "finish"),
    [
        ("stop", {"content": "Hi"}, "stop"),
        ("length", {"content": "Hi"}, "length"),
        ("length", {"tool_calls": [piece('{"cut', index=0, id="a", name="f")]}, "length"),
        ("content_filter", {"content": "Hi"}, "refusal"),
        ("stop", {"refusal": "I cannot."}, "refusal"),
        ("stop", {"tool_calls": [piece("{}", index=0, id="a", name="f")]}, "calls"),
        ("tool_calls", {"content": "Hi"}, "stop"),
        ("eos", {"content": "Hi"}, "stop"),
    ],
)
def test_why_it_stopped(reason: str, delta: Mapping[str, Any], finish: str) -> None:
    """Every reason to stop has its name here; calls count, whatever the reason says."""
    assert reply_of([chunk(delta), chunk({}, finish=reason), DONE]).finish == finish


def test_a_refusal_is_text() -> None:
    """What a model says in declining is the reply's text."""
    assert read(chunk({"refusal": "I cannot."}, finish="stop"))[0] == TextPiece("I cannot.")


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "Hm.", "content": "Hi"},
        {"reasoning": "Hm.", "content": "Hi"},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                {"type": "text", "text": "Hi"},
            ]
        },
    ],
)
def test_reasoning_is_told(delta: Mapping[str, Any]) -> None:
    """Visible reasoning, under any of its names, is told apart from the text."""
    found = read(chunk(delta, finish="stop"))
    assert found[:2] == [ReasoningPiece("Hm."), TextPiece("Hi")]
    assert isinstance(found[2], Replied)
    assert found[2].message.parts == (Reasoning("Hm.", provider="openai_chat", model="gpt-test-2026"), Text("Hi"))


REASONED = {"completion_tokens_details": {"reasoning_tokens": 5}}
TOO_MUCH = {
    "prompt_tokens": 9,
    "completion_tokens": 1,
    "prompt_tokens_details": {"cached_tokens": 12, "cache_write_tokens": 3},
}


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (USAGE, Usage(input=30, output=12, cached=16)),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 7},
            Usage(input=9, output=1, cached=7),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 15, **REASONED},
            Usage(input=9, output=6, reasoning=5),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 8, "total_tokens": 17, **REASONED},
            Usage(input=9, output=8, reasoning=5),
        ),
        (
            TOO_MUCH,
            Usage(input=9, output=1, cached=9),
        ),
        ({"prompt_tokens": None, "completion_tokens": "x", "prompt_tokens_details": None}, Usage()),
    ],
)
def test_usage_has_one_form(told: Mapping[str, Any], usage: Usage) -> None:
    """What was cached is a part of the input, reasoning one of the output, and no part is larger than its whole."""
    assert usage_of(told) == usage


@pytest.mark.parametrize(
    ("pieces", "error", "found"),
    [
        ([chunk({"content": "Hi"})], MalformedReply, "the stream ended before the model said why it stopped"),
        ([chunk({"content": "Hi"}), DONE], MalformedReply, "the stream ended before the model said why it stopped"),
        ([chunk({"content": "Hi"}), b'data: {"choi'], MalformedReply, "the stream ended before"),
        ([], MalformedReply, "the answer is empty"),
        ([b"  \n"], MalformedReply, "the answer is empty"),
        ([b"data: hello\n\n"], MalformedReply, "what came is not JSON"),
        (
            [b"<html><title> Log  in </title>"],
            MalformedReply,
            "a web page titled 'Log in' instead of a chat completion",
        ),
        ([b'{"hello": 1}'], MalformedReply, "a chunk with the keys ['hello']"),
        ([event({"choices": [7]})], MalformedReply, "a chunk with the keys ['choices']"),
        ([event({"choices": [{"delta": {"tool_calls": ["x"]}}]})], MalformedReply, "a chunk with the keys"),
        ([event({"error": {"message": "boom", "type": "server_error"}})], Overloaded, "boom"),
        ([b'error: {"code": 500, "message": "boom", "type": "server_error"}\n\n'], Overloaded, "boom"),
        ([event({"object": "error", "message": "bad", "code": 400})], InvalidRequest, "bad"),
        ([event({"error": {"message": "slow", "code": "rate_limit_exceeded"}})], RateLimited, "slow"),
        ([b'[{"error": {"code": 429, "message": "slow"}}]'], RateLimited, "slow"),
        ([event({"error": "gone"})], Overloaded, "gone"),
        ([chunk({}, finish="error")], Overloaded, "it could not finish the reply (error)"),
    ],
)
def test_what_is_no_reply_is_an_error(pieces: list[bytes], error: type[ModelError], found: str) -> None:
    """Streams without an end, errors in streams, pages and nonsense are errors of ours that say what came."""
    with pytest.raises(error) as raised:
        read(*pieces)
    assert found in raised.value.found


def test_what_comes_after_the_end_is_nothing() -> None:
    """Behind `[DONE]` nothing is read; without it, and without a last blank line, the reply is whole as well."""
    assert reply_of([*streamed("Hi").pieces, event({"error": "late"})]).message.text == "Hi"
    assert reply_of([chunk({"content": "Hi"}), chunk({}, finish="stop").rstrip()]).message.text == "Hi"


def test_only_the_first_choice_is_read() -> None:
    """Where several choices were asked for, the others do not mix in."""
    other = event({"choices": [{"index": 1, "delta": {"content": "Yo"}, "finish_reason": None}]})
    assert reply_of([chunk({"content": "Hi"}), other, chunk({}, finish="stop")]).message.text == "Hi"


def test_replies_go_back_as_they_came() -> None:
    """A call that was read is the call that is kept."""
    reply = reply_of(calling(("call_1", "look_up", ARGUMENTS)))
    assert reply.message.parts == (ToolCall.of("call_1", "look_up", arguments=json.loads(ARGUMENTS)),)
