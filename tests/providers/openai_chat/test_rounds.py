"""Calls and results stand together again, and what cannot go is marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon._messages import File, Image, Message, Part, Text, ToolCall, ToolResult
from antiphon.providers.openai_chat import repaired
from tests.providers.openai_chat.histories import MESSAGES

HI = Message.of("user", "Hi")


def asks(*ids: str) -> Message:
    """A message that calls a tool under these ids."""
    return Message("assistant", tuple(ToolCall.of(id, "look_up", arguments={}) for id in ids))


def gave(*ids: str) -> Message:
    """A message with results for these ids."""
    return Message("tool", tuple(ToolResult.of(id, "look_up", output=f"of {id}") for id in ids))


def outputs(message: Message) -> list[object]:
    """What the results of a message say."""
    return [result.output for result in message.results]


def test_what_is_in_order_stays() -> None:
    """A history in order comes back as it is, without a warning."""
    messages = [Message.of("system", "Be brief."), HI, asks("a", "b"), gave("a", "b"), Message.of("assistant", "Done.")]
    assert repaired(messages) == (messages, [])


def test_results_stand_behind_their_calls_in_order() -> None:
    """Results in other messages, in another order, and behind steering stand together again, without a warning."""
    found = repaired([HI, asks("a", "b"), gave("b"), Message.of("user", "Faster!"), gave("a")])
    assert found.warnings == []
    assert [message.role for message in found.messages] == ["user", "assistant", "tool", "user"]
    assert outputs(found.messages[2]) == ["of a", "of b"]


def test_a_call_without_a_result_gets_a_marked_one() -> None:
    """An unanswered call gets a stand-in that says so, is an error, and is reported."""
    found = repaired([HI, asks("a", "b"), gave("a"), Message.of("assistant", "Sorry."), gave("b")])
    stand_in = found.messages[2].results[1]
    assert (stand_in.output, stand_in.is_error) == ("[no result: this call was not finished]", True)
    assert found.warnings == [
        "messages[1]: call 'b' of 'look_up' had no result and got a stand-in",
        "messages[4]: the result of 'b' answers no open call and was left out",
    ]


def test_orphans_and_second_results_are_left_out() -> None:
    """A result that answers no call, and one for a call that is answered, are left out and reported."""
    found = repaired([gave("x"), HI, asks("a"), gave("a"), gave("a")])
    assert [message.role for message in found.messages] == ["user", "assistant", "tool"]
    assert [warning[:11] for warning in found.warnings] == ["messages[0]", "messages[4]"]


def test_calls_with_one_id_keep_their_results() -> None:
    """Two calls of one message under one id get their results in order."""
    first, second = (ToolResult.of("a", "look_up", output=text) for text in ("one", "two"))
    found = repaired([HI, asks("a", "a"), Message("tool", (first, second))])
    assert (outputs(found.messages[2]), found.warnings) == (["one", "two"], [])


def test_results_in_a_users_message_count() -> None:
    """A result may stand in a user message, beside words that stay there."""
    found = repaired([HI, asks("a"), Message("user", (*gave("a").parts, Text("Go on.")))])
    assert [message.role for message in found.messages] == ["user", "assistant", "tool", "user"]
    assert (found.messages[3].text, found.warnings) == ("Go on.", [])


def test_pictures_of_results_follow_the_round() -> None:
    """A picture in a tool message follows in a user message that says whose it is."""
    seen = Image("image/png", data="aW1n")
    found = repaired([HI, asks("a", "b"), Message("tool", (*gave("a").parts, seen)), gave("b")])
    assert [message.role for message in found.messages] == ["user", "assistant", "tool", "user"]
    assert found.messages[3].parts == (Text("[look_up gave:]"), seen)


@pytest.mark.parametrize(
    ("role", "part", "left"),
    [
        ("user", Image("image/bmp", data="aW1n"), "[an image was left out: image/bmp is no picture that models see]"),
        (
            "user",
            Image("image/png", file_id="f"),
            "[an image was left out: chat completions take no image by a file id]",
        ),
        ("user", File("a/b", blob="sha256:0", name="x.b"), "[the file 'x.b' was left out: it is kept elsewhere]"),
        ("user", File("a/b", url="http://x"), "[a file was left out: chat completions take no file by its address]"),
        ("assistant", Image("image/png", data="aW1n"), "[an image was left out: a assistant message holds only text]"),
    ],
)
def test_what_cannot_go_is_marked(role: str, part: Part, left: str) -> None:
    """What chat completions do not carry becomes a line that says so, and is reported."""
    found = repaired([Message(role, (part,))])  # type: ignore[arg-type]
    assert found.messages[0].text == left.replace("a assistant", "an assistant")
    assert len(found.warnings) == 1


@given(st.lists(MESSAGES, max_size=8))
def test_what_was_repaired_needs_no_repair(messages: list[Message]) -> None:
    """Repairing changes nothing that was given, and nothing of what it gave itself."""
    before = list(messages)
    once = repaired(messages)
    assert messages == before
    assert repaired(once.messages) == (once.messages, [])
