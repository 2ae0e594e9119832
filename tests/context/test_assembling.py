"""From what a context gives to what is sent: the input is added, and every piece has its line."""

from typing import Any

import pytest

from antiphon import Assembled, Budget, FullContext, Layer, Message, Shown, Text, View
from antiphon.context._assembly import Call, assemble, digest, read_built
from antiphon.context._budget import UNBOUNDED
from antiphon.context._counting import PER_MESSAGE
from antiphon.errors import Misuse, NotStorable, WindowTooSmall
from antiphon.transcript import Transcript
from tests.journal.sample import SESSION
from tests.transcript.test_dialogue import transcript_of as transcript_with
from tests.transcript.test_dialogue import turn, with_tools

INPUT = Message.of("user", "and now?")
BEFORE = [Message.of("user", "hi"), Message.of("assistant", "hello")]


def count(text: str) -> int:
    """One token a character."""
    return len(text)


def room(window: int, reserve: int = 0, margin: int = 0) -> Budget:
    """A budget that counts characters."""
    return Budget(window, reserve, margin, counter=count, counter_name="characters")


def shown(built: Any, *said: Message, instructions: str = "", budget: Budget | None = None) -> Shown:
    """What a call is shown in a turn in which `said` was said since the input."""
    call = Call(turn_id="t1", number=1, model="m", budget=budget or room(10_000))
    return assemble(built, [INPUT, *said], instructions=instructions, call=call)


def lines(found: Shown) -> dict[str, int]:
    """The trace as tokens by layer id."""
    return {layer.id: layer.tokens for layer in found.trace.layers}


def test_input_is_added_behind_what_a_context_gives() -> None:
    """What a context gives stands before the newest input, and what the turn said since behind it."""
    since = [Message.of("assistant", "one moment"), Message.of("user", "shorter")]
    assert shown(BEFORE, *since).messages == (*BEFORE, INPUT, *since)


def test_input_is_there_when_a_context_gives_nothing() -> None:
    """A context that gives nothing leaves the input."""
    assert shown([]).messages == (INPUT,)


def test_every_piece_has_its_line() -> None:
    """Instructions, history, input, what was said since and the framing each have one line."""
    found = shown(BEFORE, Message.of("assistant", "wait"), instructions="Be brief.")
    assert lines(found) == {"instructions": 9, "history": 7, "input": 8, "turn": 4, "overhead": 5 * PER_MESSAGE}
    assert found.trace.total == 9 + 7 + 8 + 4 + 5 * PER_MESSAGE
    assert found.system == "Be brief."


def test_system_text_stands_behind_the_instructions() -> None:
    """A context's system text follows the instructions, and system messages of a history follow that."""
    built = Assembled([Message.of("system", "Old rule."), *BEFORE], system="Facts.")
    found = shown(built, instructions="Be brief.")
    assert found.system == "Be brief.\n\nFacts.\n\nOld rule."
    assert found.messages == (*BEFORE, INPUT)
    assert lines(found)["context"] == len("Facts.\n\nOld rule.")


def test_block_stands_behind_the_inputs_own_parts() -> None:
    """A block goes into the newest user message behind the input's own parts; what is journaled stays as it is."""
    found = shown(Assembled(BEFORE, with_input="<docs>"))
    assert found.messages[2] == Message.of("user", [Text("and now?"), Text("\n\n<docs>")])
    assert lines(found) == {"history": 7, "block": 8, "input": 8, "overhead": 3 * PER_MESSAGE}
    assert Message.of("user", "and now?") == INPUT


def test_layers_of_a_context_are_taken_as_they_are() -> None:
    """A context that gives its own lines has exactly those in the trace, beside the driver's own."""
    faq = Layer("docs:faq", "F", placement="system").kept(1)
    given = [faq, Layer("docs:b", "B").dropped("no room", original_tokens=4)]
    found = shown(Assembled(BEFORE, system="F", layers=given, warnings=["search was late"]))
    assert (found.trace.layers[0], found.trace.layers[2]) == tuple(given)
    assert list(lines(found)) == ["docs:faq", "history", "docs:b", "input", "overhead"]
    assert found.trace.warnings == ("search was late",)


def test_what_a_context_does_not_claim_is_counted_all_the_same() -> None:
    """Text that a context sends beyond what its own lines say of it has a line of the driver's."""
    given = [Layer("docs", "", placement="system").kept(2), Layer("block", "").kept(4)]
    found = shown(Assembled(BEFORE, system="Facts.", with_input="<docs>", layers=given))
    assert lines(found) | {"overhead": 0} == {
        "docs": 2,
        "block": 4,
        "context": 4,
        "history": 7,
        "block#2": 4,
        "input": 8,
        "overhead": 0,
    }


def test_layers_never_share_an_id() -> None:
    """The second layer of an id gets `#2`, also where the first is a line of the driver's own."""
    given = [Layer("docs", "").dropped("late"), Layer("docs", "").dropped("late"), Layer("input", "").dropped("late")]
    found = shown(Assembled(BEFORE, layers=given))
    assert [layer.id for layer in found.trace.layers] == ["history", "docs", "docs#2", "input", "input#2", "overhead"]


def test_trace_says_what_the_call_had() -> None:
    """The trace carries the turn, the call, the model, the budget and who counted."""
    trace = shown([], budget=room(500, reserve=100, margin=40)).trace
    assert (trace.turn_id, trace.call, trace.model, trace.counter) == ("t1", 1, "m", "characters")
    assert (trace.window, trace.reserve, trace.margin, trace.headroom) == (500, 100, 40, 348)


def test_plain_messages_are_read() -> None:
    """A context may give plain dicts."""
    found = shown([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}])
    assert found.messages == (*BEFORE, INPUT)


@pytest.mark.parametrize("built", ["hi", b"hi", {"role": "user"}, 5, None, {1}])
def test_anything_else_is_misuse(built: Any) -> None:
    """What is neither an Assembled nor a sequence of messages is refused by its type."""
    with pytest.raises(Misuse) as caught:
        read_built(built)
    kind = type(built).__name__
    assert str(caught.value) == f"the context gave a {kind}; give an Assembled, or the messages before the input"


def test_unreadable_messages_are_refused() -> None:
    """A message that cannot be read is refused, and not left out in silence."""
    with pytest.raises(NotStorable):
        read_built([*BEFORE, 5])


SENT = 8 + PER_MESSAGE


@pytest.mark.parametrize(
    ("window", "warnings"),
    [(SENT + 30, ()), (SENT + 29, ("1 tokens stand in the margin of the estimate",)), (SENT + 20, None)],
)
def test_margin_is_used_with_a_warning(window: int, warnings: tuple[str, ...] | None) -> None:
    """What fits only without the margin is sent with a warning that says by how much."""
    expected = ("10 tokens stand in the margin of the estimate",) if warnings is None else warnings
    assert shown([], budget=room(window, reserve=20, margin=10)).trace.warnings == expected


def test_what_does_not_fit_is_never_sent() -> None:
    """What is larger than the window less the reserve is an error that lists the sizes."""
    with pytest.raises(WindowTooSmall) as caught:
        shown(BEFORE, instructions="Be brief.", budget=room(59, reserve=20))
    assert (caught.value.window, caught.value.needed) == (59, 24 + 4 * PER_MESSAGE + 20)
    assert caught.value.sizes == {"instructions": 9, "history": 7, "input": 8, "overhead": 16, "reply": 20}
    assert shown(BEFORE, instructions="Be brief.", budget=room(60, reserve=20)).trace.headroom == 0


def test_unbounded_budget_refuses_nothing() -> None:
    """Where nothing bounds the call here, anything is passed on."""
    found = shown([Message.of("user", "x" * 100_000)], budget=UNBOUNDED)
    assert (found.trace.window, found.trace.headroom) == (0, 0)


def test_warning_of_the_budget_is_in_the_trace() -> None:
    """A guessed window is said in every trace."""
    guessed = Budget(8_192, 1_024, 716, warning="the window is a guess")
    assert shown([], budget=guessed).trace.warnings == ("the window is a guess",)


def test_digest_names_any_text() -> None:
    """A digest is twelve hexadecimal digits, the same for the same text, lone surrogates included."""
    assert digest("Be brief.") == digest("Be brief.") != digest("Be brief")
    assert len(digest("\ud800")) == 12


def view_of(transcript: Transcript) -> View:
    """What a context may look at."""
    return View(session_id=SESSION, scope=None, turns=transcript.turns(), input="and now?", query="and now?")


def roles(built: Assembled) -> list[str]:
    """Who speaks in what a context gave."""
    return [message.role for message in built.before_input if isinstance(message, Message)]


def test_full_context_is_the_completed_dialogue() -> None:
    """The full context gives every completed turn, whole, and neither the input nor any text of its own."""
    transcript = transcript_with(*turn("a"), *with_tools("b"), *turn("c", None))
    built = FullContext().build(view_of(transcript))
    assert roles(built) == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert (built.system, built.with_input, [line.text for line in built.layers]) == ("", "", [""])
    without = FullContext(steps="none").build(view_of(transcript))
    assert roles(without) == ["user", "assistant"] * 2


def test_full_context_refuses_unknown_steps() -> None:
    """A word for steps that is not known is refused when the context is made."""
    with pytest.raises(Misuse, match="steps='some' is not known"):
        FullContext(steps="some")


@pytest.mark.parametrize("name", ["turns", "input", "session_id"])
def test_view_cannot_be_changed(name: str) -> None:
    """A context cannot change what it looks at."""
    with pytest.raises(AttributeError):
        setattr(view_of(transcript_with(*turn("a"))), name, ())
