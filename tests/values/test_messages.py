"""Messages and parts: what each role holds, and the plain objects they are read from and written as."""

import copy
import pickle
from typing import Any

import pytest

from antiphon import File, Image, Message, Reasoning, Text, ToolCall, ToolResult
from antiphon._messages import MAX_MEDIA, Part, input_text, one_result_each, read_message, stored_input
from antiphon.errors import NotStorable

ADVICE = "; give text, finite numbers, booleans, None, lists, and dicts with text keys"
CALL = ToolCall.of("c1", "weather", arguments={"city": "Köln"})
CALL_JSON = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Köln"}'}}
PICTURE = Image("image/png", data="aGk=")
PICTURE_JSON = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}

OBJECTS: list[tuple[Message, dict[str, Any]]] = [
    (Message.of("system", "Be brief."), {"role": "system", "content": "Be brief."}),
    (Message.of("user", "hi"), {"role": "user", "content": "hi"}),
    (Message.of("user", ""), {"role": "user", "content": ""}),
    (
        Message.of("user", [Text("see"), PICTURE]),
        {"role": "user", "content": [{"type": "text", "text": "see"}, PICTURE_JSON]},
    ),
    (
        Message.of("user", [Image("image/*", url="https://example.org/a.png")]),
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]},
    ),
    (
        Message.of("user", [File("application/pdf", data="aGk=", name="a.pdf")]),
        {
            "role": "user",
            "content": [
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}}
            ],
        },
    ),
    (
        Message.of("user", [File("application/octet-stream", file_id="f-1")]),
        {"role": "user", "content": [{"type": "file", "file": {"file_id": "f-1"}}]},
    ),
    (Message.of("assistant", "yes"), {"role": "assistant", "content": "yes"}),
    (Message.of("assistant", [CALL]), {"role": "assistant", "tool_calls": [CALL_JSON]}),
    (
        Message.of("assistant", [Text("let me look"), CALL]),
        {"role": "assistant", "content": "let me look", "tool_calls": [CALL_JSON]},
    ),
    (
        Message.of("assistant", [ToolCall("c2", "weather", raw='{"city": ')]),
        {
            "role": "assistant",
            "tool_calls": [{"id": "c2", "type": "function", "function": {"name": "weather", "arguments": '{"city": '}}],
        },
    ),
    (
        Message.of("tool", [ToolResult.of("c1", "", output="12 °C")]),
        {"role": "tool", "tool_call_id": "c1", "content": "12 °C"},
    ),
]


@pytest.mark.parametrize(("message", "plain"), OBJECTS, ids=lambda each: getattr(each, "role", ""))
def test_message_is_written_as_a_plain_object(message: Message, plain: dict[str, Any]) -> None:
    """`to_json` gives the OpenAI-style object of each role."""
    assert message.to_json() == plain


@pytest.mark.parametrize(("message", "plain"), OBJECTS, ids=lambda each: getattr(each, "role", ""))
def test_plain_object_is_read_as_the_message(message: Message, plain: dict[str, Any]) -> None:
    """What `to_json` gave is read back as the same message."""
    assert read_message(plain) == message


def test_results_are_written_as_a_model_reads_them() -> None:
    """A result that is text goes out as it is, anything else as JSON text."""
    texts = [ToolResult.of("c", "t", output=value).text for value in ("a b", {"a": [1, None]}, None, 2.5, "\ud800")]
    assert texts == ["a b", '{"a":[1,null]}', "null", "2.5", "\ud800"]


def test_reasoning_is_not_written() -> None:
    """Reasoning returns to its own model alone, and never into a plain object."""
    message = Message.of("assistant", [Reasoning("hm", signature="s"), Text("yes")])
    assert message.to_json() == {"role": "assistant", "content": "yes"}


def test_results_are_split_one_a_message() -> None:
    """A message with several results is split, so that each has its object; any other stays whole."""
    first, second = ToolResult.of("c1", "t", output=1), ToolResult.of("c2", "t", output=2)
    assert one_result_each(Message("tool", (first, second))) == [Message("tool", (first,)), Message("tool", (second,))]
    assert one_result_each(Message("tool", (first,))) == [Message("tool", (first,))]


@pytest.mark.parametrize(
    "written",
    ['{"city": ', "[1]", "null", '"x"', '{"a": NaN}', '{"a": 1e999}', "[" * 10_000, '"\ud800"', "not json"],
    ids=lambda text: text[:12].encode("ascii", "replace").decode(),
)
def test_broken_arguments_are_kept_raw(written: str) -> None:
    """Arguments that are no JSON object are kept as the model wrote them, and read as none."""
    plain = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": written}}]}
    [call] = read_message(plain).calls
    assert (call.arguments, call.raw) == ({}, written)


@pytest.mark.parametrize("given", [{"a": 1}, '{"a":1}', ' {"a" : 1}\n'])
def test_arguments_are_read_as_text_or_object(given: object) -> None:
    """Arguments may come as JSON text or as the object itself."""
    plain = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": given}}]}
    [call] = read_message(plain).calls
    assert (call.arguments, call.raw) == ({"a": 1}, None)


@pytest.mark.parametrize("given", [None, "", {}])
def test_missing_arguments_are_none(given: object) -> None:
    """A call without arguments has an empty object."""
    plain = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "name": "t", "arguments": given}]}
    assert read_message(plain) == Message("assistant", (ToolCall("c", "t"),))


@pytest.mark.parametrize(
    ("given", "path", "found"),
    [
        ("hi", "message", "a str, neither a Message nor a dict with a role and content"),
        (
            {"content": "hi"},
            "message",
            "a dict with the keys ['content'], neither a Message nor a dict with a role and content",
        ),
        (
            {"role": "owner"},
            "message",
            "a dict with the keys ['role'], neither a Message nor a dict with a role and content",
        ),
        ({"role": "user", "content": 5}, "content", "a int, neither text nor a list of parts"),
        ({"role": "user", "content": ["hi"]}, "content[0]", "a str, a part that cannot be read"),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "video"}]},
            "content[1]",
            "a dict with the keys ['type'], a part that cannot be read",
        ),
        ({"role": "assistant", "tool_calls": ["x"]}, "tool_calls[0]", "a str, a call that cannot be read"),
        (
            {"role": "assistant", "tool_calls": [{"function": "x"}]},
            "tool_calls[0]",
            "a dict with the keys ['function'], a call that cannot be read",
        ),
        ({"role": "tool", "name": "t", "content": {1}}, "output of t", "a set"),
    ],
)
def test_unreadable_objects_are_refused(given: object, path: str, found: str) -> None:
    """What is no message is refused with the path and the shape of what was found, never with its text."""
    with pytest.raises(NotStorable) as caught:
        read_message(given)
    assert str(caught.value) == f"{path} holds {found}, which a journal cannot keep{ADVICE}"


def test_messages_and_parts_pass_through() -> None:
    """A Message is taken as it is, and parts of ours may stand among plain ones."""
    message = Message.of("user", "hi")
    assert read_message(message) is message
    assert read_message({"role": "user", "content": [PICTURE, {"text": "x"}]}).parts == (PICTURE, Text("x"))


@pytest.mark.parametrize("given", ["", "hi", "\ud800"])
def test_text_input_stays_text(given: str) -> None:
    """Text is kept as text."""
    assert stored_input(given) == given


def test_input_parts_become_a_tuple() -> None:
    """A list of parts is kept as a tuple, so that it cannot be changed afterwards."""
    given: list[Part] = [Text("see"), PICTURE, Image("image/png", blob="sha256:ab")]
    kept = stored_input(given)
    given.clear()
    assert kept == (Text("see"), PICTURE, Image("image/png", blob="sha256:ab"))
    assert input_text(kept) == "see"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (5, "input holds a int"),
        (
            b"hi",
            "input holds a bytes",
        ),
        (
            {"text": "hi"},
            "input holds a dict",
        ),
        ([Text("a"), "b"], "input[1] holds a str, not a part of a message"),
        ([{"type": "text", "text": "a"}], "input[0] holds a dict, not a part of a message"),
        (
            [Image("image/png")],
            "input[0] holds media held in 0 ways instead of one of data, url, file_id, blob",
        ),
        (
            [File("text/plain", data="aGk=", url="https://example.org")],
            "input[0] holds media held in 2 ways instead of one of data, url, file_id, blob",
        ),
        (
            [Image("image/png", data="a" * (MAX_MEDIA + 1))],
            "input[0] holds 10,485,761 bytes of base64, more than 10,485,760",
        ),
    ],
    ids=["number", "bytes", "dict", "text among parts", "plain part", "no way", "two ways", "too large"],
)
def test_input_is_refused(given: Any, sentence: str) -> None:
    """What no journal keeps as an input is refused before anything is written, in an exact sentence."""
    with pytest.raises(NotStorable) as caught:
        stored_input(given)
    advice = "; give text, or a list of parts such as Text and Image" if "[" not in sentence else ADVICE
    assert str(caught.value) == f"{sentence}, which a journal cannot keep{advice}"


def test_media_may_be_as_large_as_the_limit() -> None:
    """Ten mebibytes of base64 are kept."""
    part = Image("image/png", data="a" * MAX_MEDIA)
    assert stored_input([part]) == (part,)


def test_message_shows_its_parts_by_kind() -> None:
    """Text is joined, calls and results are listed in order."""
    other = ToolCall.of("c2", "t", arguments={})
    message = Message.of("assistant", [Text("a"), CALL, Reasoning("no"), Text("b"), other])
    assert (message.text, message.calls, str(message)) == ("ab", (CALL, other), "ab")
    result = ToolResult.of("c1", "t", output=[1])
    assert Message.of("tool", [result]).results == (result,)


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, {b"x"}])
def test_arguments_and_outputs_are_json(value: Any) -> None:
    """Arguments and outputs that are not JSON are refused by path."""
    with pytest.raises(NotStorable, match=r"arguments of t\.x"):
        ToolCall.of("c", "t", arguments={"x": value})
    with pytest.raises(NotStorable, match="output of t"):
        ToolResult.of("c", "t", output=value)


def test_parts_cannot_be_changed() -> None:
    """Neither a part's fields nor the JSON in it can be changed from outside."""
    with pytest.raises(AttributeError):
        CALL.name = "other"  # type: ignore[misc]
    CALL.arguments["city"] = "Bonn"
    assert CALL.arguments == {"city": "Köln"}


def test_messages_are_equal_by_content() -> None:
    """Two messages with equal parts are equal, also once copied, pickled or counted."""
    message = Message.of("assistant", [Text("let me look"), CALL])
    message.__dict__["_tokens"] = {len: 3}
    assert message == Message.of("assistant", [Text("let me look"), CALL])
    assert copy.copy(message) == message
    assert pickle.loads(pickle.dumps(Message.of("user", "hi"))) == Message.of("user", "hi")
