"""Cutting messages: no result without its call, and the newest input is always there."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import Message
from antiphon.errors import Misuse
from antiphon.scratch import Compactor, Scratchpad, safe_cut, trim
from tests.scratch.conversations import call, calling, orphans, result, words

U1, U2 = Message.of("user", "one"), Message.of("user", "two")
A1 = Message.of("assistant", "yes")
BOTH = Message("assistant", (*calling(call("c9")).parts, *result("c9").parts))


@pytest.mark.parametrize(
    ("messages", "index", "place"),
    [
        ([], 3, 0),
        ([U1, A1, U2], -5, 0),
        ([U1, A1, U2], 1, 1),
        ([U1, A1, U2], 99, 2),
        ([U1, calling(call()), result(), A1, U2], 1, 1),
        ([U1, calling(call()), result(), A1, U2], 2, 3),
        ([U1, calling(call("a"), call("b")), result("a"), result("b"), U2], 3, 4),
        ([U1, BOTH, U2], 1, 1),
        ([U1, calling(call()), U2, result()], 2, 1),
        ([U1, calling(call()), result()], 2, 0),
        ([calling(call()), result()], 1, 0),
        ([U1, result("stray"), U2], 1, 2),
    ],
)
def test_safe_cut(messages: list[Message], index: int, place: int) -> None:
    """The cut slides later past results whose call would be lost, and back where the newest input would be."""
    assert safe_cut(messages, index) == place


def test_under_the_limit_trim_gives_a_copy() -> None:
    """What fits is left as it is, in a list of its own."""
    messages = [U1, A1, U2]
    assert trim(messages, 1_000) == messages
    assert trim(messages, 1_000) is not messages


def test_trim_leaves_out_whole_exchanges() -> None:
    """The oldest exchange goes as one, although leaving out a part of it would do."""
    messages = [U1, calling(call()), result(), A1, U2]
    assert trim(messages, 20, counter=words) == [U2]


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_trim_keeps_the_newest_input_over_the_limit(limit: int) -> None:
    """A limit that not even the newest input meets leaves that, system text and the last round."""
    system = Message.of("system", "be kind")
    messages = [system, U1, A1, U2, calling(call("a")), result("a"), calling(call("b")), result("b")]
    assert trim(messages, limit) == [system, U2, calling(call("b")), result("b")]


def test_trim_leaves_out_a_call_that_was_never_answered() -> None:
    """A history that somebody else broke is no worse for being trimmed: an old open call goes with its exchange."""
    assert trim([U1, calling(call()), U2], 0) == [U2]


@pytest.mark.parametrize("limit", [-1, None, 2.5, True])
def test_a_limit_is_a_number_of_tokens(limit: Any) -> None:
    """What is no limit is refused."""
    with pytest.raises(Misuse, match="no number of tokens"):
        trim([U1], limit)


steps = st.lists(
    st.sampled_from(["system", "user", "assistant", "one", "two", "answer", "answer", "answer"]), max_size=25
)


def told(step: str, pad: Scratchpad, *, ids: str, number: int) -> None:
    """Append what a step says; answers go to any open call, so that they may come late."""
    if step == "answer":
        for each in pad.pending[-1:]:
            pad.tool(each.id, "done")
    elif step in ("one", "two"):
        pad.assistant("", calls=[call(f"{ids}{each}") for each in range(1 + (step == "two"))])
    else:
        pad.append({"role": step, "content": f"{step} says word {number}"})


@given(steps, st.integers(0, 6), st.integers(0, 60), st.sampled_from(["", "n"]))
def test_a_compacted_pad_has_no_orphan(steps: list[str], most: int, tokens: int, own: str) -> None:
    """Whatever is appended in whatever order, compacting parts no call from its result, nor from one to come."""
    whole, pad = Scratchpad(), Scratchpad(Compactor(most, tokens, counter=words))
    for number, step in enumerate(steps):
        for each in (whole, pad):
            told(step, each, ids=own * number, number=number)
        assert orphans(pad.messages) == orphans(whole.messages)
        assert [m for m in pad if m.role == "system"] == [m for m in whole if m.role == "system"]
        inputs = [message for message in whole if message.role == "user"]
        assert not inputs or inputs[-1] in pad.messages


@given(steps, st.integers(0, 80), st.integers(-2, 30))
def test_cuts_of_any_history_make_no_orphan(steps: list[str], limit: int, index: int) -> None:
    """Neither a cut nor a trim has a result without its call, and each keeps the newest input."""
    pad = Scratchpad()
    for number, step in enumerate(steps):
        told(step, pad, ids=str(number), number=number)
    open_ids = {each.id for each in pad.pending}
    for left in (pad.messages[safe_cut(pad.messages, index) :], trim(pad.messages, limit, counter=words)):
        assert set(orphans(left)) <= open_ids
        newest = [message for message in pad if message.role == "user"][-1:]
        assert all(any(each is message for each in left) for message in newest)
