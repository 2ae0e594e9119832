"""Limits of a scratchpad: what is over one is made shorter, on append, and never so that the input vanishes."""

from collections.abc import Sequence
from typing import Any

import pytest

from antiphon import Message, Replied, Usage
from antiphon.errors import Misuse, NotStorable
from antiphon.scratch import Compactor, ScratchMessage, Scratchpad, reported_tokens
from tests.scratch.conversations import call, calling, replied, result, words


def told(pad: Scratchpad) -> list[str]:
    """The words of each message; a call and a result stand as their ids."""
    return [message.text or "".join(each.id for each in message.calls) or "=" for message in pad]


def test_the_defaults() -> None:
    """No limit of messages, 250,000 tokens, trimmed, estimated."""
    compactor = Compactor()
    assert (compactor.max_messages, compactor.max_tokens) == (0, 250_000)
    assert (compactor.strategy, compactor.measure) == ("trim", "estimated")


def test_trim_drops_the_oldest_exchange_and_keeps_system_text() -> None:
    """Over the count, the oldest input goes with its answer; system messages stay, wherever they are."""
    pad = Scratchpad(Compactor(max_messages=4)).system("s")
    pad.user("u1").assistant("a1").system("s2")
    assert told(pad) == ["s", "u1", "a1", "s2"]
    assert told(pad.user("u2")) == ["s", "s2", "u2"]


def test_a_limit_is_passed_by_more_than_it() -> None:
    """What is exactly at a limit is left as it is."""
    pad = Scratchpad(Compactor(max_messages=3)).user("u1").assistant("a1").user("u2")
    assert told(pad) == ["u1", "a1", "u2"]
    assert told(pad.assistant("a2")) == ["u2", "a2"]


def test_a_limit_of_tokens_is_passed_by_more_than_it() -> None:
    """Three messages of a word cost 15 tokens, what frames them included; one token less is too little."""
    messages = [Message.of("user", "word")] * 3
    assert Compactor(max_tokens=15, counter=words).compact(messages) is messages
    assert len(Compactor(max_tokens=14, counter=words).compact(messages)) == 2


def test_zero_is_off() -> None:
    """With both limits at 0 nothing is ever left out."""
    pad = Scratchpad(Compactor(0, 0))
    for number in range(100):
        pad.user("word " * 10_000 + str(number))
    assert len(pad) == 100


@pytest.mark.parametrize("limit", [None, -1, True, 2.5, float("nan"), "many"])
def test_a_limit_is_never_off_by_accident(limit: Any) -> None:
    """Only 0 switches a limit off: anything else that is no limit is refused, when it is set later too."""
    compactor = Compactor()
    with pytest.raises(Misuse, match="is no limit; give a whole number, or 0 for none"):
        compactor.max_tokens = limit
    assert compactor.max_tokens == 250_000
    with pytest.raises(Misuse, match="max_messages"):
        Compactor(limit)


@pytest.mark.parametrize("wrong", [{"strategy": "callback"}, {"measure": "exact"}, {"counter": 4}])
def test_what_is_not_known_is_refused(wrong: Any) -> None:
    """An unknown strategy, measure or counter is Misuse, not a limit that never holds."""
    with pytest.raises(Misuse, match=next(iter(wrong))):
        Compactor(**wrong)


def test_system_messages_alone_over_the_limit_stay() -> None:
    """System messages count, are never left out, and being over a limit for good is no error."""
    pad = Scratchpad(Compactor(max_messages=1)).system("a").system("b").user("u")
    assert told(pad) == ["a", "b", "u"]


def test_the_newest_input_stays() -> None:
    """An input that alone is over the limit is not left out, nor is the reply to it."""
    pad = Scratchpad(Compactor(max_tokens=10, counter=words)).user("old").assistant("older")
    pad.user("word " * 50)
    assert [message.role for message in pad] == ["user"]
    pad.assistant("word " * 50)
    assert [message.role for message in pad] == ["user", "assistant"]


def test_input_counts_before_it_is_answered() -> None:
    """By the default measure a long input is counted as soon as it is appended, whatever was reported before."""
    pad = Scratchpad(Compactor(max_tokens=100, counter=words)).user("u1").assistant(replied("a1", 1, 1))
    assert told(pad.user("word " * 95))[0] != "u1"


def test_calls_and_results_go_together() -> None:
    """A call is never parted from its results: they go in one step, or stay."""
    pad = Scratchpad(Compactor(max_messages=5)).user("u1").append(calling(call("c1"), call("c2")))
    pad.append(result("c1")).append(result("c2")).assistant("a1")
    assert told(pad) == ["u1", "c1c2", "=", "=", "a1"]
    assert told(pad.user("u2")) == ["u2"]


def test_old_rounds_of_the_newest_exchange_go_before_its_input() -> None:
    """In a long loop of tools the oldest rounds go; the input that it answers, and the last round, stay."""
    pad = Scratchpad(Compactor(max_messages=5)).user("u")
    for id in ("c1", "c2", "c3"):
        pad.append(calling(call(id))).append(result(id))
    assert told(pad) == ["u", "c2", "=", "c3", "="]


def test_compaction_while_results_are_appended_waits_for_the_others() -> None:
    """A call whose result is still to come keeps its exchange, even when newer messages are over the limit."""
    pad = Scratchpad(Compactor(max_messages=2)).user("u1").append(calling(call("c1"), call("c2"))).tool("c1", 1)
    pad.user("u2")
    assert told(pad) == ["u1", "c1c2", "=", "u2"]
    assert told(pad.tool("c2", 2)) == ["u1", "c1c2", "=", "u2", "="]
    assert told(pad.user("u3")) == ["u3"]


def test_within_the_limits_the_list_is_the_same() -> None:
    """Nothing is made anew where nothing is too long."""
    messages = [Message.of("user", "u")]
    assert Compactor(max_messages=1).compact(messages) is messages


def test_trimming_leaves_the_given_list_alone() -> None:
    """A compaction gives another list."""
    messages = [Message.of("user", "u1"), Message.of("user", "u2")]
    assert Compactor(max_messages=1).compact(messages) == messages[1:]
    assert len(messages) == 2


@pytest.mark.parametrize(("most", "tokens"), [(4, 3), (2, 10_000), (2, 3)])
def test_trimming_goes_on_until_both_limits_hold(most: int, tokens: int) -> None:
    """Whichever limit is passed, in the end both hold."""
    compactor = Compactor(most, tokens, counter=lambda text: 1 if text else 0)
    compactor.max_tokens = tokens + 4 * 2
    pad = Scratchpad(compactor)
    for number in range(6):
        pad.user(f"u{number}").assistant(f"a{number}")
    assert told(pad) == ["u5", "a5"]


def test_changing_a_limit_compacts_nothing() -> None:
    """A new limit holds from the next append on."""
    compactor = Compactor()
    pad = Scratchpad(compactor).user("u1").user("u2")
    compactor.max_messages = 1
    assert told(pad) == ["u1", "u2"]
    assert told(pad.user("u3")) == ["u3"]


def test_a_function_is_asked_once_and_taken_at_its_word() -> None:
    """A strategy is called once an append, only over a limit, and its result is not measured again."""
    asked: list[int] = []

    def notes(messages: list[ScratchMessage]) -> Sequence[Message]:
        asked.append(len(messages))
        return [Message.of("system", "notes"), *messages, *messages[-1:]]

    pad = Scratchpad(Compactor(max_messages=2, strategy=notes)).user("u1").user("u2")
    assert asked == []
    assert told(pad.user("u3")) == ["notes", "u1", "u2", "u3", "u3"]
    assert asked == [3]


def test_a_function_may_give_plain_dicts_and_change_its_list() -> None:
    """What a strategy is given is its own list; what it gives may be plain objects."""

    def last(messages: list[Any]) -> list[Any]:
        del messages[:-1]
        return [{"role": "system", "content": "notes"}, *messages]

    pad = Scratchpad(Compactor(max_messages=1, strategy=last)).user("u1").user("u2")
    assert told(pad) == ["notes", "u2"]


@pytest.mark.parametrize("given", [None, "text", [7]])
def test_a_function_that_gives_no_messages_loses_none(given: Any) -> None:
    """A result that is no list of messages is refused, and the scratchpad keeps what it had."""

    def gone(messages: list[Any]) -> Any:
        messages.clear()
        return given

    pad = Scratchpad(Compactor(max_messages=1, strategy=gone)).user("u1")
    with pytest.raises(NotStorable):
        pad.user("u2")
    assert told(pad) == ["u1", "u2"]


def test_without_a_strategy_messages_are_left_alone() -> None:
    """None leaves everything as it is, over every limit."""
    pad = Scratchpad(Compactor(max_messages=1, strategy=None)).user("u1").user("u2")
    assert told(pad) == ["u1", "u2"]


def test_reported_tokens_add_outputs_and_the_latest_input() -> None:
    """The figure is the output of all replies and the input of the latest: 5 + 8 + 20."""
    pad = Scratchpad().user("u").assistant(replied("a", 10, 5)).user("u").assistant(replied("b", 20, 8)).user("u")
    assert reported_tokens(pad.messages) == 33


def test_messages_by_hand_add_nothing_to_what_was_reported() -> None:
    """A message by hand, or a reply without usage, neither counts nor hides the latest report."""
    pad = Scratchpad().user("u").assistant(replied("a", 10, 5)).assistant("by hand")
    pad.assistant(Replied(Message.of("assistant", "silent")))
    assert reported_tokens(pad.messages) == 15
    assert reported_tokens([Message.of("assistant", "plain")]) == 0


def test_a_silent_provider_is_not_a_reply_of_zero() -> None:
    """Usage of zero was reported, and counts as such; no usage is none."""
    pad = Scratchpad().assistant(replied("a", 10, 5)).assistant(Replied(Message.of("assistant", "b"), Usage()))
    assert reported_tokens(pad.messages) == 5


def test_trimming_by_reports_never_empties_the_pad() -> None:
    """Where the figure does not fall by leaving out old messages, the newest exchange stays all the same."""
    pad = Scratchpad(Compactor(max_tokens=25, measure="reported")).user("u1").assistant(replied("a1", 10, 5))
    assert told(pad.user("u2")) == ["u1", "a1", "u2"]
    assert told(pad.assistant(replied("a2", 20, 10))) == ["u2", "a2"]


def test_new_input_is_not_measured_by_reports() -> None:
    """By reports an input costs nothing until it is answered."""
    pad = Scratchpad(Compactor(max_tokens=25, measure="reported")).user("u1").assistant(replied("a1", 10, 5))
    assert len(pad.user("word " * 10_000)) == 3
