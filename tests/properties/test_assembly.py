"""Assembly and counting over random contents: sums hold, windows are kept, and adding never costs less."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon import Assembled, Budget, Message, Shown, estimate_tokens
from antiphon.context._assembly import Call, assemble
from antiphon.context._counting import PER_MESSAGE, count_messages
from antiphon.context._tokens import families
from antiphon.errors import WindowTooSmall
from tests.properties.strategies import NASTY, journals, messages, parts, texts
from tests.properties.test_replay import live

budgets = st.builds(Budget, st.integers(1, 20_000), st.integers(0, 500), st.integers(0, 500))
own = st.lists(messages, min_size=1, max_size=4)
built = st.tuples(st.lists(messages, max_size=6), texts, texts).map(lambda given: Assembled(*given))


def shown(given_by: Any, said: list[Message], instructions: str, budget: Budget) -> Shown:
    """What one call is shown."""
    call = Call(turn_id="t1", number=1, model="m", budget=budget)
    return assemble(given_by, said, instructions=instructions, call=call)


@given(built, own, texts, budgets)
def test_sums_hold_and_windows_are_kept(given_by: Assembled, said: list[Message], rule: str, budget: Budget) -> None:
    """What is sent sums to the total, and with the reserve it fits the window, or nothing is sent at all."""
    free = shown(given_by, said, rule, Budget(0, 0, 0)).trace
    if free.total + budget.reserve > budget.window:
        with pytest.raises(WindowTooSmall) as caught:
            shown(given_by, said, rule, budget)
        assert sum(caught.value.sizes.values()) == caught.value.needed == free.total + budget.reserve
        return
    trace = shown(given_by, said, rule, budget).trace
    assert trace.total == sum(layer.tokens for layer in trace.layers) == sum(list(trace.totals.values())[:-1])
    assert trace.total + budget.reserve <= budget.window
    assert all(layer.tokens == 0 for layer in trace.layers if layer.status in ("dropped", "failed"))
    assert len({layer.id for layer in trace.layers}) == len(trace.layers)


@given(built, own, texts)
def test_everything_sent_is_counted(given_by: Assembled, said: list[Message], rule: str) -> None:
    """The total is at least what the messages cost that are sent, with the framing of each (sitesurf#30)."""
    found = shown(given_by, said, rule, Budget(0, 0, 0))
    framing = PER_MESSAGE * len(found.messages)
    assert found.trace.total >= count_messages(found.messages, estimate_tokens) + framing


@given(built, own, texts)
def test_newest_input_is_always_there(given_by: Assembled, said: list[Message], rule: str) -> None:
    """The input stands behind all that a context gave, with its parts first, and before what was said since."""
    found = shown(given_by, said, rule, Budget(0, 0, 0))
    at = len(found.messages) - len(said)
    assert found.messages[at].role == said[0].role
    assert found.messages[at].parts[: len(said[0].parts)] == said[0].parts
    assert list(found.messages[at + 1 :]) == said[1:]
    assert all(message.role != "system" for message in found.messages[:at])


@given(journals(), texts, budgets)
def test_same_inputs_give_the_same_call(entries: list[Any], rule: str, budget: Budget) -> None:
    """Two processes that read the same journal show a model the same, trace and bytes alike."""

    def once() -> Any:
        turns = live(entries).turns()
        before = [message for turn in turns for message in turn.messages]
        try:
            found = shown(before, [Message.of("user", "and now?")], rule, budget)
        except WindowTooSmall as error:
            return str(error)
        return found.system, found.messages, bytes(found.trace.to_json())

    assert once() == once()


scripts = st.text() | texts | st.lists(st.sampled_from([*NASTY, "Wort", "camelCase", "12", "   ", "\n\n"])).map("".join)


@given(scripts, scripts)
@example("abcdef", "G")
@example("e", "\u0301")
@example("\ud83d", "\ude00")
def test_adding_text_never_costs_less(text: str, more: str) -> None:
    """A longer text never costs less, before or behind, and costs at most a little more than its halves."""
    for family in (None, *families()):
        whole = estimate_tokens(text + more, family=family)
        first, second = estimate_tokens(text, family=family), estimate_tokens(more, family=family)
        assert whole >= max(first, second)
        assert whole <= first + second + 3


@given(st.lists(parts, max_size=4), parts)
def test_adding_a_part_never_costs_less(some: list[Any], more: Any) -> None:
    """A message with one part more never costs less."""
    assert count_messages([Message("user", (*some, more))], estimate_tokens) >= count_messages(
        [Message("user", tuple(some))], estimate_tokens
    )


@pytest.mark.parametrize("script", ["漢", "な", "한", "привет ", "hello ", "😀", "नमस्ते", "12 ", "{}", "\n"])
def test_estimate_grows_with_the_text(script: str) -> None:
    """Ten times the text costs about ten times as much, in every script (headroomlabs-ai/headroom#1093)."""
    once, often = estimate_tokens(script * 100), estimate_tokens(script * 1_000)
    assert 8 * once <= often <= 12 * once or script == "\n"
