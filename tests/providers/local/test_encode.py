"""Requests in the engine's form."""

import copy
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon._messages import File, Image, Message, Part, Reasoning, Text, ToolCall, ToolResult
from antiphon.errors import InvalidRequest
from antiphon.models import ModelRequest, ToolSpec
from antiphon.providers.local import encode


def messages(*said: Message, system: str = "") -> Any:
    """The encoded messages as (role, content) pairs."""
    return [(each["role"], each["content"]) for each in encode(ModelRequest(said, system))["messages"]]


def test_roles_and_text_go_over() -> None:
    """System text comes first, then what was said, each under its role."""
    found = messages(Message.of("user", "Hi"), Message.of("assistant", "Hello"), system="Be kind.")
    assert found == [("system", "Be kind."), ("user", "Hi"), ("assistant", "Hello")]


def test_neighbours_of_one_role_are_joined() -> None:
    """Templates insist on turns, so that neighbours of one role become paragraphs of one message."""
    found = messages(Message.of("system", "More."), Message.of("user", "a"), Message.of("user", "b"), system="Be.")
    assert found == [("system", "Be.\n\nMore."), ("user", "a\n\nb")]


def test_calls_and_results_become_text() -> None:
    """Tool calls stand in the assistant's text, results in the user's."""
    call = ToolCall.of("c1", "look_up", arguments={"city": "Oslo"})
    result = ToolResult.of("c1", "look_up", output={"sky": "clear"})
    failed = ToolResult.of("c2", "look_up", output="no such city", is_error=True)
    found = messages(Message.of("assistant", [Text("I look."), call]), Message.of("tool", [result, failed]))
    assert found == [
        ("assistant", 'I look.\n[called look_up with {"city":"Oslo"}]\n'),
        ("user", '[look_up gave: {"sky":"clear"}]\n[look_up failed: no such city]\n'),
    ]


def test_reasoning_and_empty_replies_are_left_out() -> None:
    """Reasoning is not shown, and a reply without words is no message; an empty input still is one."""
    found = messages(Message.of("assistant", [Reasoning("hm")]), Message.of("user", ""))
    assert found == [("user", "")]


@pytest.mark.parametrize(
    ("part", "named"),
    [
        (Image("image/png", data="AAAA"), "an image (image/png)"),
        (File("application/pdf", data="AAAA", name="bill.pdf"), "the file 'bill.pdf'"),
        (File("text/csv", url="https://example.org/a.csv"), "a file (text/csv)"),
    ],
)
def test_media_are_refused_by_place(part: Part, named: str) -> None:
    """An image or a file is refused, named by where it stands."""
    shown = [Message.of("user", "Hi"), Message.of("user", [Text("Look"), part])]
    with pytest.raises(InvalidRequest) as raised:
        encode(ModelRequest(shown), model="local:x")
    expected = (
        f"model 'local:x' says the request is invalid: messages[1].parts[1] is {named}, and this model reads only text"
    )
    assert str(raised.value) == expected


def test_options_go_from_general_to_particular() -> None:
    """The request's options override the model's, which override the sampling defaults."""
    body = encode(ModelRequest([], options={"seed": 2}), options={"seed": 1, "temperature": 1.5})
    assert (body["seed"], body["temperature"], body["top_p"]) == (2, 1.5, 0.9)


def test_no_option_changes_how_the_reply_is_read() -> None:
    """Streaming and the messages stay ours, whatever the options say."""
    body = encode(ModelRequest([], options={"stream": False, "messages": [1], "max_tokens": 7}))
    assert (body["stream"], body["messages"], body["max_tokens"]) == (True, [], 512)


@pytest.mark.parametrize(("asked", "sent"), [(None, 99), (5, 5)])
def test_the_limit_of_the_request_wins(asked: int | None, sent: int) -> None:
    """The model's own limit holds where the request has none."""
    assert encode(ModelRequest([], max_output_tokens=asked), max_output_tokens=99)["max_tokens"] == sent


def test_a_schema_is_enforced_and_tools_are_not_offered() -> None:
    """An output schema becomes a response format; tools have no place in the body."""
    schema = {"type": "object"}
    body = encode(ModelRequest([], tools=[ToolSpec("look_up", "", {})], output_schema=schema))
    assert body["response_format"] == {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
    assert "tools" not in body


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), st.text())), st.text())
def test_any_text_can_be_sent(said: list[tuple[Any, str]], system: str) -> None:
    """Whatever people write, lone surrogates among it, the body is JSON in UTF-8, and the request is unchanged."""
    request = ModelRequest([Message.of(role, text) for role, text in said], system + "\ud800")
    before = copy.deepcopy(request)
    body = encode(request)
    json.dumps(body, ensure_ascii=False).encode("utf-8")
    roles = [message["role"] for message in body["messages"]]
    assert all(first != second for first, second in pairwise(roles))
    assert request == before
