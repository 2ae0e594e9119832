"""How much of a request stands at the start of the one before."""

from collections.abc import Sequence

from antiphon import Message
from antiphon._messages import Text
from antiphon._tool_spec import ToolSpec
from antiphon.context._assembly import Call, Shown, assemble
from antiphon.context._budget import Budget
from antiphon.context._prefix import shared_tokens
from antiphon.context._view import Assembled

BUDGET = Budget(window=10_000, reserve=0, margin=0, counter=len)
SAID = [Message.of("user", "one"), Message.of("assistant", "two"), Message.of("user", "three")]
TOOLS = [ToolSpec(name, f"Tool {name}.", {"type": "object"}) for name in "abc"]


def shown(messages: Sequence[Message] = SAID, *, system: str = "Be kind.", tools: Sequence[ToolSpec] = TOOLS) -> Shown:
    """A request of these messages, the last of which is the input."""
    call = Call("t", 1, model="m", budget=BUDGET, tools=tools)
    return assemble(Assembled(messages[:-1]), [messages[-1]], instructions=system, call=call)


def same(before: Shown, now: Shown) -> int:
    """Tokens in common."""
    return shared_tokens(before, now, counter=len)


def test_equal_requests_share_everything() -> None:
    """Two equal requests share what the trace says was sent, framing included, though nothing is identical."""
    again = [Message.of(message.role, message.text) for message in SAID]
    assert same(shown(), shown(again)) == shown().trace.total


def test_a_request_that_goes_on_shares_the_one_before() -> None:
    """Where messages came behind, all of the one before is shared; where some are gone, what is left at the start."""
    longer = [*SAID, Message.of("assistant", "four"), Message.of("user", "five")]
    assert same(shown(), shown(longer)) == shown().trace.total
    assert same(shown(longer), shown()) == shown().trace.total


def test_behind_the_first_difference_nothing_counts() -> None:
    """A message that is another one ends what is shared, though all that follows is equal."""
    other = [Message.of("user", "eno"), *SAID[1:]]
    nothing = shown([Message.of("user", "x")])
    assert same(shown(), shown(other)) == nothing.trace.total - len("x") - 4


def test_the_first_different_message_counts_by_its_leading_parts() -> None:
    """Equal parts at the start of the first different message are shared; other roles share none."""
    block = Message("user", (Text("three"), Text("today is Monday")))
    other = Message("user", (Text("three"), Text("today is Tuesday")))
    start = shown().trace.total
    assert same(shown([*SAID[:2], block]), shown([*SAID[:2], other])) == start
    assert same(shown([*SAID[:2], block]), shown([*SAID[:2], Message("user", (Text("3"),))])) == start - 4 - len(
        "three"
    )
    assistant = [Message("assistant", (Text("one"), Text("!"))), *SAID[1:]]
    assert same(shown(), shown(assistant)) == same(shown(), shown([Message.of("user", "eno"), *SAID[1:]]))


def test_another_system_text_leaves_only_the_tools() -> None:
    """Tools stand in front of the system text, so they are shared whatever it says; messages behind it are not."""
    tools = shown().trace.totals["tools"]
    assert tools > 0
    assert same(shown(), shown(system="Be rude.")) == tools
    assert same(shown(), shown(system="")) == tools


def test_other_tools_share_only_the_leading_ones() -> None:
    """Where the offered tools differ, the equal ones at their start are all that is shared."""
    first = shown(tools=TOOLS[:1]).trace.totals["tools"]
    assert same(shown(), shown(tools=[TOOLS[0], TOOLS[2]])) == first
    assert same(shown(tools=TOOLS[:1]), shown()) == first
    assert same(shown(), shown(tools=TOOLS[1:])) == 0
