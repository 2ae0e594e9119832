"""A scratchpad: messages appended by hand, kept as they were given, and sent as text."""

import copy
import json
import pickle
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel

from antiphon import Image, Message, Replied, Text, Usage
from antiphon.errors import Misuse, NotStorable
from antiphon.scratch import Compactor, Scratchpad
from antiphon.tools import ToolPolicy
from tests.scratch.conversations import ANSWER, USER, call, calling, replied, result


@dataclass
class Point:
    """Something of the caller's own."""

    x: int
    day: date


class City(TypedDict):
    """A dict with a shape."""

    city: str


class Colour(Enum):
    """A name for a value."""

    RED = "red"


class Order(BaseModel):
    """Something that pydantic checks."""

    id: int


def test_helpers_append_and_give_the_pad() -> None:
    """Each role has a helper that appends and gives the scratchpad itself, for chains."""
    pad = Scratchpad()
    assert pad.system("s").user("u").assistant("a").tool("c1", 1) is pad
    assert [message.role for message in pad] == ["system", "user", "assistant", "tool"]
    assert (len(pad), pad[1].text, [each.role for each in pad[2:]]) == (4, "u", ["assistant", "tool"])


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("text", "text"),
        (7, "7"),
        (None, "null"),
        (True, "true"),
        ([1, "two"], '[1,"two"]'),
        ((1, (2,)), "[1,[2]]"),
        ({"a": {"b": None}}, '{"a":{"b":null}}'),
        (Point(1, date(2026, 3, 1)), '{"x":1,"day":"2026-03-01"}'),
        ([Order(id=7)], '[{"id":7}]'),
        (City(city="Oslo"), '{"city":"Oslo"}'),
        (Colour.RED, '"red"'),
    ],
)
def test_any_value_is_kept_and_sent_as_text(given: Any, sent: str) -> None:
    """What a helper is given is kept as it is; a text goes out as it is, anything else as JSON text."""
    pad = Scratchpad().system(given).user(given)
    assert [message.text for message in pad] == [sent, sent]
    assert pad[0].content is given and pad[1].content is given


@pytest.mark.parametrize("given", [object(), {1, 2}, float("nan"), {3: "three"}, b"bytes"])
def test_what_json_has_nothing_for_is_refused(given: Any) -> None:
    """A value that JSON cannot hold is refused by its place, and nothing is appended."""
    pad = Scratchpad()
    with pytest.raises(NotStorable, match=r"user\.a holds"):
        pad.user({"a": given})
    assert len(pad) == 0


@pytest.mark.parametrize("given", [USER, call(), result().parts[0]])
def test_what_is_said_is_no_message(given: Any) -> None:
    """A whole message, a call or a result is no content: as JSON text it would only look like one."""
    with pytest.raises(NotStorable, match=r"append a whole message with pad\.append"):
        Scratchpad().user(given)


def test_a_value_that_holds_itself_is_refused() -> None:
    """A list within itself ends in an error, not in a loop."""
    endless: list[Any] = []
    endless += [endless, endless]
    with pytest.raises(NotStorable, match="nested deeper"):
        Scratchpad().user(endless)


def test_parts_are_sent_as_parts() -> None:
    """Pictures and texts in a list stay parts of the message."""
    picture = Image("image/png", url="https://example.org/a.png")
    pad = Scratchpad().user([Text("look"), picture]).user(picture)
    assert [message.parts for message in pad] == [(Text("look"), picture), (picture,)]


def test_a_result_keeps_its_value_and_finds_its_name() -> None:
    """A result is the value itself, and has the name of the call that it answers."""
    pad = Scratchpad().user("u").assistant("", calls=[call("c1", "add")]).tool("c1", Point(1, date(2026, 3, 1)))
    assert pad[-1].results[0].output == {"x": 1, "day": "2026-03-01"}
    assert pad[-1].results[0].name == "add"
    assert pad[-1].content == Point(1, date(2026, 3, 1))


def test_an_assistant_says_text() -> None:
    """An assistant's message is text, a message or a reply; anything else is Misuse."""
    given: Any = {"not": "text"}
    with pytest.raises(Misuse, match="a dict holds no message"):
        Scratchpad().assistant(given)


def test_a_reply_is_kept_whole() -> None:
    """A message keeps the reply that it came from: usage, finish, model, raw object, and calls with their status."""
    raw = {"id": "x"}
    message = Message("assistant", (Text("I add."), call("c1", a=1)))
    pad = Scratchpad().assistant(Replied(message, Usage(10, 5), "calls", "gpt-x", raw))
    kept = pad[0].reply
    assert kept is not None and kept.message is pad[0] and kept.raw is raw
    assert (kept.usage, kept.finish_reason, kept.model, str(kept)) == (Usage(10, 5), "calls", "gpt-x", "I add.")
    assert [(each.id, each.name, each.arguments, each.status) for each in kept.calls] == [
        ("c1", "add", {"a": 1}, "pending")
    ]


@dataclass
class Several:
    """A reply with choices, as a caller's own client may give."""

    message: Message
    choices: list[Message]


def test_one_of_several_choices_is_taken() -> None:
    """The chosen message is appended, and the choice and all the choices are kept."""
    other = Message.of("assistant", "Four.")
    pad = Scratchpad().assistant(Several(ANSWER, [ANSWER, other]), choice=1)
    reply = pad[0].reply
    assert reply is not None and reply.choices == (ANSWER, other)
    assert (pad[0].text, pad[0].choice) == ("Four.", 1)


@pytest.mark.parametrize("choice", [-1, 2, True])
def test_a_choice_that_is_not_there_is_misuse(choice: int) -> None:
    """A choice out of range gives no empty message, which no provider takes, but an error."""
    pad = Scratchpad()
    with pytest.raises(Misuse, match="of a reply with 2"):
        pad.assistant(Several(ANSWER, [ANSWER, ANSWER]), choice)
    assert len(pad) == 0


def test_a_message_by_hand_has_no_usage() -> None:
    """A text stands for a reply that reported nothing."""
    reply = Scratchpad().assistant("Three.")[0].reply
    assert reply is not None and (reply.text, reply.usage, reply.finish_reason) == ("Three.", None, "stop")


def test_clear_keeps_compactor_and_policy() -> None:
    """Clearing leaves out the messages and nothing else."""
    compactor, policy = Compactor(max_messages=3), ToolPolicy(allow=["add"])
    pad = Scratchpad(compactor, policy).user("u")
    pad.clear()
    assert (len(pad), pad.compactor, pad.policy) == (0, compactor, policy)


def test_a_pad_has_no_compactor_and_runs_nothing_by_default() -> None:
    """A scratchpad that a caller makes is never compacted, and its policy lets every call wait."""
    pad = Scratchpad()
    assert pad.compactor is None
    assert pad.policy.decide("anything").action == "ask"


def test_the_list_may_be_edited() -> None:
    """Messages are a plain list: what is done to it compacts nothing, and the next append compacts it all."""
    pad = Scratchpad(Compactor(max_messages=2))
    extra: Any = [Message.of("user", str(number)) for number in range(5)]
    pad.messages.extend(extra)
    assert len(pad) == 5
    assert [message.text for message in pad.user("last")] == ["4", "last"]


def test_a_copy_is_its_own_list() -> None:
    """A copy shares messages, compactor and policy; what is appended to one is not in the other."""
    pad = Scratchpad(Compactor()).user("u")
    other = pad.copy().user("more")
    assert (len(pad), len(other), other[0] is pad[0]) == (1, 2, True)
    assert other.compactor is pad.compactor and other.id != pad.id


def test_json_is_openai_style() -> None:
    """Each message is an object with role and content, calls and the id that a result answers."""
    pad = Scratchpad().system("s").user({"a": 1}).assistant("I add.", calls=[call("c1", a=1)]).tool("c1", 3)
    asked = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
    assert pad.assistant("Three.").to_json() == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": '{"a":1}'},
        {
            "role": "assistant",
            "content": "I add.",
            "tool_calls": [asked],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {"role": "assistant", "content": "Three."},
    ]


def test_calls_without_words_have_no_content() -> None:
    """An assistant's object with calls and no words leaves content out."""
    assert "content" not in Scratchpad().assistant("", calls=[call()]).to_json()[0]


def test_json_comes_back() -> None:
    """Reading what was written gives the same objects; a result has its tool's name again."""
    pad = Scratchpad().system("s").user("u").assistant("", calls=[call("c1")]).tool("c1", "3").assistant("Three.")
    again = Scratchpad.from_json(json.loads(json.dumps(pad.to_json())))
    assert again.to_json() == pad.to_json()
    assert again.messages == pad.messages


def test_several_results_in_one_message_become_objects_each() -> None:
    """One object stands for one result."""
    parts = (*result("c1").parts, *result("c2").parts)
    pad = Scratchpad(messages=[USER, calling(call("c1"), call("c2")), Message("tool", parts)])
    assert [each.get("tool_call_id") for each in pad.to_json()] == [None, None, "c1", "c2"]


def test_messages_equal_those_of_the_same_content() -> None:
    """A scratchpad's message equals any message of the same role and parts, both ways round, and hashes alike."""
    ours = Scratchpad().user("How much?")[0]
    assert ours == USER and USER == ours and hash(ours) == hash(USER)  # noqa: SIM300 - both ways round
    assert ours != ANSWER


def test_copies_of_messages_keep_their_replies() -> None:
    """A message that is copied or pickled still has its reply."""
    pad = Scratchpad().assistant(replied("Three.", 10, 5))
    for other in (copy.copy(pad[0]), copy.deepcopy(pad)[0], pickle.loads(pickle.dumps(pad[0]))):
        assert other.reply is not None and other.reply.usage == Usage(10, 5)


def test_pending_is_what_has_no_result() -> None:
    """Calls wait until their result is there, the same id in a later reply too."""
    pad = Scratchpad().user("u").assistant("", calls=[call("0"), call("1")]).tool("1", 1)
    assert [each.id for each in pad.pending] == ["0"]
    pad.tool("0", 1).assistant("", calls=[call("0")])
    assert [(each.id, each.status) for each in pad.pending] == [("0", "pending")]
    assert pad.pending[0] is pad.pending[0]


def test_a_result_answers_the_latest_open_call_of_its_id() -> None:
    """Where a model gives the same id in every reply, an earlier call that was left open stays the one that waits."""
    pad = Scratchpad().assistant("", calls=[call("0")]).assistant("", calls=[call("0")]).tool("0", 1)
    reply = pad[0].reply
    assert reply is not None and pad.pending == [reply.calls[0]]


def test_a_plain_message_in_the_list_has_calls_that_wait() -> None:
    """A message that was put into the list by hand is read like any other."""
    pad = Scratchpad()
    extra: Any = calling(call("c9"))
    pad.messages.append(extra)
    assert [each.id for each in pad.pending] == ["c9"]
