"""Histories written for chat completions, as ours."""

from typing import Any

from hypothesis import given
from openai.types.chat import ChatCompletionMessage

from antiphon._messages import File, Image, Message, Reasoning, Text, ToolCall, ToolResult
from antiphon.models import ModelRequest
from antiphon.providers.openai_chat import decode_history, encode
from tests.providers.openai_chat.histories import REQUESTS

CALL = {"id": "a", "type": "function", "function": {"name": "look_up", "arguments": '{"city": "Oslo"}'}}


def test_a_whole_history() -> None:
    """Every role, a round of tools, pictures and files become ours, and nothing is lost."""
    png = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aW1n"}}
    pdf = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}
    found = decode_history(
        [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "See"}, png, pdf]},
            {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "clear"}]},
            {"role": "assistant", "content": "Clear."},
        ]
    )
    file = File("application/pdf", data="JVBERi0=", name="a.pdf")
    call = ToolCall.of("a", "look_up", arguments={"city": "Oslo"})
    assert found.messages == [
        Message.of("system", "Be brief."),
        Message("user", (Text("See"), Image("image/png", data="aW1n"), file)),
        Message("assistant", (Reasoning("Hm.", provider="openai_chat"), call)),
        Message("tool", (ToolResult.of("a", "look_up", output="clear"),)),
        Message.of("assistant", "Clear."),
    ]
    assert found.lost == ()


def test_the_older_form_is_read() -> None:
    """Functions, which had no ids, are calls and results under their name."""
    asked = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    found = decode_history([asked, {"role": "function", "name": "f", "content": "1"}])
    assert [(m.role, [c.id for c in m.calls], [r.call_id for r in m.results]) for m in found.messages] == [
        ("assistant", ["f"], []),
        ("tool", [], ["f"]),
    ]


def test_what_is_lost_is_named() -> None:
    """Everything that has no place is named, with where it stood; what is no message is one of these."""
    sound = {"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}}
    custom = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT"}}
    found = decode_history(
        [
            {"role": "user", "name": "ana", "content": [sound, {"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": None, "refusal": "I cannot.", "audio": {"id": "x"}},
            {"role": "assistant", "tool_calls": [custom]},
            {"role": "person"},
            "hello",
            {"role": "user", "content": 7},
        ]
    )
    assert found.lost == (
        "messages[0].name: there is no place for it",
        "messages[0].content[0]: a part of type 'input_audio' has no place",
        "messages[1].audio: there is no place for it",
        "messages[1].refusal: it was kept as plain text",
        "messages[2].tool_calls[0]: a custom tool's input, which is no object, was kept as raw text",
        "messages[3]: it is no message with a role",
        "messages[4]: it is no message with a role",
        "messages[5].content: it is neither text nor a list of parts",
    )
    assert [message.text for message in found.messages] == ["Hi", "I cannot.", "", ""]
    assert found.messages[2].calls[0].raw == "SELECT"


def test_objects_of_the_sdk_are_read() -> None:
    """What the SDK's reply holds, which apps append as it is, is read like a dict."""
    given_by_sdk = ChatCompletionMessage.model_validate({"role": "assistant", "content": "Hi", "tool_calls": [CALL]})
    found = decode_history([given_by_sdk])
    assert found.messages[0].text == "Hi" and found.messages[0].calls[0].name == "look_up"
    assert found.lost == ()


@given(REQUESTS)
def test_what_was_encoded_is_read_without_loss(request: ModelRequest) -> None:
    """What `encode` writes is read back without loss, and encoded again it is the same."""
    body: dict[str, Any] = encode(request, model="m")
    found = decode_history(body["messages"])
    assert found.lost == ()
    assert encode(ModelRequest(found.messages), model="m")["messages"] == body["messages"]
