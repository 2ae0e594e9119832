"""Requests as they go over the wire."""

import json
from typing import Any

import pytest
from hypothesis import given

from antiphon import TurnRequest
from antiphon._messages import File, Image, Message, Reasoning, Text, ToolCall, ToolResult
from antiphon._trace import Trace
from antiphon.context import Shown
from antiphon.models import ModelRequest, ToolSpec
from antiphon.providers.openai_chat import encode
from tests.providers.openai_chat.histories import PICTURE, REQUESTS
from tests.providers.openai_chat.rules import broken

LOOK_UP = ToolSpec("look_up", "Looks up a city.", {"type": "object", "properties": {"city": {"type": "string"}}})
HI = Message.of("user", "Hi")
TRACE = Trace("t", call=1, model="m", layers=(), window=0, reserve=0, margin=0, counter="none")


def sent(*messages: Message, **fields: Any) -> list[dict[str, Any]]:
    """The messages that go over the wire."""
    found: list[dict[str, Any]] = encode(ModelRequest(messages, **fields), model="m")["messages"]
    return found


def asks(id: str, name: str = "look_up", **fields: Any) -> Message:
    """A message with one call."""
    return Message("assistant", (ToolCall.of(id, name, **{"arguments": {}, **fields}),))


def gave(id: str, output: Any, *, is_error: bool = False) -> Message:
    """A message with one result."""
    return Message("tool", (ToolResult.of(id, "look_up", output=output, is_error=is_error),))


ASKED = {"name": "look_up", "arguments": '{"city":"Oslo"}'}
FUNCTION = {"name": "look_up", "parameters": LOOK_UP.parameters, "description": "Looks up a city."}
SCHEMA = {"type": "object", "properties": {}}
WHOLE = {
    "model": "gpt-5-mini",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "call_1", "type": "function", "function": ASKED}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": '{"sky":"clear"}'},
        {"role": "user", "content": "And?"},
    ],
    "tools": [{"type": "function", "function": FUNCTION}],
    "max_completion_tokens": 9,
    "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}},
    "stream": True,
    "stream_options": {"include_usage": True},
}


def test_a_whole_request() -> None:
    """System text, a round of tools with words beside it, tools, the limit and the schema: the whole body."""
    call = ToolCall.of("call_1", "look_up", arguments={"city": "Oslo"})
    said = Message("assistant", (Reasoning("Hm."), Text("I look."), call))
    request = ModelRequest(
        [HI, said, gave("call_1", {"sky": "clear"}), Message.of("user", "And?")],
        "Be brief.",
        [LOOK_UP],
        max_output_tokens=9,
        output_schema=SCHEMA,
    )
    assert encode(request, model="gpt-5-mini", stream=True) == WHOLE


def test_what_a_context_showed_is_encoded() -> None:
    """What a context showed, or a responder was given, goes into a client of one's own; nothing is streamed."""
    body = {"model": "m", "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}]}
    assert encode(Shown("S", [HI], TRACE), model="m") == body
    asked = TurnRequest("s", "t", messages=[HI], input="Hi", instructions="S", trace=TRACE)
    assert encode(asked, model="m") == body


def test_other_servers_have_another_limit() -> None:
    """OpenAI knows `max_completion_tokens`, the others `max_tokens`."""
    request = ModelRequest([HI], max_output_tokens=9)
    assert encode(request, model="m")["max_completion_tokens"] == 9
    assert encode(request, model="m", compatible=True)["max_tokens"] == 9


def test_options_win() -> None:
    """Options are sent as given; a request's come over the model's, and both over what is made here."""
    request = ModelRequest([HI], max_output_tokens=9, options={"seed": 2, "max_tokens": 5})
    body = encode(request, model="m", options={"seed": 1, "top_p": 0.5, "stream": False}, stream=True)
    del body["messages"]
    assert body == {"model": "m", "seed": 2, "max_tokens": 5, "top_p": 0.5, "stream": False}


def test_system_messages_are_lifted() -> None:
    """System text stands first and once, wherever it stood."""
    found = sent(HI, Message.of("system", "B"), system="A")
    assert found == [{"role": "system", "content": "A\n\nB"}, {"role": "user", "content": "Hi"}]


def test_blank_text_is_not_sent() -> None:
    """Text of nothing but spaces counts as empty: in a system text, a reply, a part, an input and a result."""
    assert sent(Message.of("user", " \n\u200b"), Message.of("assistant", "\t"), system=" ") == [
        {"role": "user", "content": "(empty)"}
    ]
    found = sent(Message("user", (Text(" "), Text("Hi"))), asks("a"), gave("a", ""), asks("b"), gave("b", " "))
    assert [message.get("content") for message in found] == ["Hi", None, "(no output)", None, "(no output)"]
    assert "content" not in found[1]


def test_a_reply_of_reasoning_alone_is_left_out() -> None:
    """A message with reasoning alone is not sent, and what stands around it is one message."""
    found = sent(HI, Message("assistant", (Reasoning("Hm."),)), Message.of("user", "Well?"))
    assert found == [{"role": "user", "content": "Hi\n\nWell?"}]


def test_neighbours_of_one_role_are_one_message() -> None:
    """Two messages of the model after each other are one, its calls among them."""
    found = sent(HI, Message.of("assistant", "One."), Message("assistant", (Text("Two."), *asks("a").parts)))
    assert [message["role"] for message in found] == ["user", "assistant", "tool"]
    assert found[1]["content"] == "One.\n\nTwo." and found[1]["tool_calls"]


def test_pictures_and_files_are_data_urls() -> None:
    """Media goes as a data URL, an address or a file's id, between the words as it stood."""
    parts = (
        Text("See"),
        Image("image/png", data=PICTURE, detail="low"),
        Image("image/*", url="https://example.com/a.png"),
        File("application/pdf", data="JVBERi0=", name="a.pdf"),
        File("application/pdf", file_id="file-1"),
    )
    assert sent(Message("user", parts))[0]["content"] == [
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]


@pytest.mark.parametrize("id", ["f.x:0", "a", "x" * 40, "functions.look_up:0"])
def test_ids_that_the_wire_takes_stay(id: str) -> None:
    """An id of 1 to 40 printable characters is sent as it is."""
    found = sent(HI, asks(id), gave(id, 1))
    assert (found[1]["tool_calls"][0]["id"], found[2]["tool_call_id"]) == (id, id)


@pytest.mark.parametrize("id", ["", "x" * 43, "x" * 65, "x" * 200, "a b", "é"])
def test_other_ids_are_mapped_alike(id: str) -> None:
    """Any other id becomes another, the same for call and result, in every turn, and for no other id."""
    found = sent(HI, asks(id), gave(id, 1), asks(id), gave(id, 1), asks(id + "y"), gave(id + "y", 1))
    ids = [message["tool_calls"][0]["id"] for message in found[1::2]]
    assert ids == [message["tool_call_id"] for message in found[2::2]]
    assert ids[0] == ids[1] != ids[2] and all(1 <= len(each) <= 40 for each in ids)


def test_one_id_twice_in_a_message_is_two() -> None:
    """Two calls under one id go under two, each with its own result."""
    results = tuple(ToolResult.of("a", "look_up", output=text) for text in ("one", "two"))
    found = sent(HI, Message("assistant", asks("a").parts * 2), Message("tool", results))
    first, second = (call["id"] for call in found[1]["tool_calls"])
    assert first == "a" != second
    assert [(m["tool_call_id"], m["content"]) for m in found[2:]] == [(first, "one"), (second, "two")]


def test_broken_arguments_are_an_empty_object() -> None:
    """What a model wrote that is no JSON object is not sent again; half a character inside an argument is replaced."""
    found = sent(HI, asks("a", raw='{"cut": '), gave("a", 1), asks("b", arguments={"x": "\ud800"}), gave("b", 1))
    assert found[1]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert json.loads(found[3]["tool_calls"][0]["function"]["arguments"]) == {"x": "\ufffd"}


def test_errors_read_as_such() -> None:
    """An error's text begins with the word, and is never empty."""
    found = sent(HI, asks("a"), gave("a", "no such city", is_error=True), asks("b"), gave("b", "", is_error=True))
    assert [found[2]["content"], found[4]["content"]] == ["Error: no such city", "Error: (no output)"]


def test_names_of_tools_are_made_to_fit() -> None:
    """A tool's name with other characters, or too long, is sent under another, with its calls; one name goes once."""
    tools = [ToolSpec("mcp.git.log", "", {}), LOOK_UP, LOOK_UP]
    body = encode(ModelRequest([HI, asks("a", "mcp.git.log"), gave("a", 1)], tools=tools), model="m")
    names = [tool["function"]["name"] for tool in body["tools"]]
    assert names == ["mcp_git_log_768289cd", "look_up"]
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == names[0]
    assert body["tools"][0]["function"] == {"name": names[0], "parameters": {"type": "object", "properties": {}}}


@given(REQUESTS)
def test_nothing_that_is_refused_is_built(request: ModelRequest) -> None:
    """Whatever a history holds, no rule of OpenAI's is broken by its body, none of other servers, and it is UTF-8."""
    for compatible in (False, True):
        body = encode(request, model="m", compatible=compatible, stream=True)
        json.dumps(body, ensure_ascii=False).encode()
        found = broken(body, compatible=compatible)
        assert found is None, found


@given(REQUESTS)
def test_the_same_request_gives_the_same_bytes(request: ModelRequest) -> None:
    """Encoding is a function of the request, and what was sent of a history stands at the head of what is sent next."""
    body = encode(request, model="m")
    assert json.dumps(body) == json.dumps(encode(request, model="m"))
    longer = ModelRequest([*request.messages, Message.of("assistant", "Yes."), HI], request.system)
    assert encode(longer, model="m")["messages"][: len(body["messages"])] == body["messages"]
