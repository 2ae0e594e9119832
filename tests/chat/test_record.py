"""Recorded turns: finished elsewhere, kept here, asked of nobody."""

from typing import Any

import pytest

from antiphon import Chat, Message, Store, Text, ToolCall, ToolResult
from antiphon.errors import AppendFailed, IllegalEntry, Misuse, NotStorable, SessionBusy
from antiphon.testing import ScriptedModel
from tests.chat.fakes import Act, ListStore, failure, gated, types_of

pytestmark = pytest.mark.anyio

CALL = Message("assistant", (Text("looking"), ToolCall.of("c", "f", arguments={"a": 1})))
RESULT = Message("tool", (ToolResult.of("c", "f", output={"found": [1]}),))
HI, HELLO = Message.of("user", "hi"), Message.of("assistant", "hello")


async def test_input_and_output(store: Store) -> None:
    """Input and output make a completed turn, in one append, that later contexts show."""
    model = ScriptedModel("next")
    session = await Chat(model, store=store).create_session("s")
    turn = await session.record(input="hi", output="hello", metadata={"from": "elsewhere"})
    assert (turn.status, turn.input, turn.output) == ("completed", "hi", "hello")
    assert turn.metadata == {"from": "elsewhere", "responder": {"kind": "recorded"}}
    assert model.requests == []
    await session.ask("more")
    assert [message.text for message in model.requests[0].messages] == ["hi", "hello", "more"]


async def test_messages_with_tool_steps() -> None:
    """A whole turn's messages are kept with calls and results, and read back as they were."""
    store = ListStore()
    session = await Chat("echo:", store=store).create_session("s")
    turn = await session.record([HI, CALL, RESULT, HELLO])
    assert list(turn.messages) == [HI, CALL, RESULT, HELLO]
    assert store.appends == [["turn.accepted", "model.replied", "tool.returned", "turn.completed"]]
    reopened = await Chat("echo:", store=store).open_session("s")
    assert reopened.turns() == session.turns()


async def test_a_reply_of_parts_is_kept() -> None:
    """A reply that is more than one text is kept as message."""
    session = await Chat("echo:").create_session()
    parts = Message("assistant", (Text("a"), Text("b")))
    assert (await session.record([HI, parts])).reply == parts
    assert (await session.record(input="hi", output="")).output == ""


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [HI],
        [HELLO, HI],
        [HI, HI],
        [HI, CALL],
        [HI, CALL, HELLO],
        [HI, RESULT, HELLO],
        [HI, CALL, RESULT, RESULT, HELLO],
        [HI, CALL, HI, HELLO],
        [HI, Message.of("system", "x"), HELLO],
    ],
    ids=[
        *("empty", "no-reply", "backwards", "no-assistant", "ends-in-calls", "unanswered", "uncalled", "twice"),
        *("user-between", "system"),
    ],
)
async def test_what_is_no_finished_turn(messages: list[Message]) -> None:
    """Messages that are not one finished turn are the caller's mistake, said as such, and nothing is written."""
    session = await Chat("echo:").create_session("s")
    error = await failure(session.record(messages))
    assert isinstance(error, Misuse)
    assert not isinstance(error, IllegalEntry), "that would blame the library"
    assert await types_of(session) == ["session.created"]
    assert (await session.record(input="a", output="b")).status == "completed"


@pytest.mark.parametrize(
    "given",
    [{}, {"input": "a"}, {"output": "b"}, {"messages": [HI, HELLO], "input": "a", "output": "b"}],
    ids=["nothing", "no-output", "no-input", "both"],
)
async def test_one_form_or_the_other(given: dict[str, Any]) -> None:
    """record takes messages, or an input with its output."""
    session = await Chat("echo:").create_session("s")
    with pytest.raises(Misuse, match="record takes a turn's messages, or its input and output"):
        await session.record(**given)


async def test_what_cannot_be_kept_writes_nothing() -> None:
    """Metadata that are no JSON, and a store that refuses, leave no turn behind."""
    store = ListStore()
    session = await Chat("echo:", store=store).create_session("s")
    assert isinstance(await failure(session.record(input="a", output="b", metadata={"x": {1}})), NotStorable)
    store.script = [Act(AppendFailed("s", "full"), writes=False)]
    assert isinstance(await failure(session.record(input="a", output="b")), AppendFailed)
    assert session.turns() == ()
    assert store.types() == ["session.created"]


async def test_nothing_is_recorded_while_a_turn_runs() -> None:
    """A recorded turn would stand in the middle of the running one."""
    gate, _, session = await gated()
    turn = session.send("hi")
    error = await failure(session.record(input="a", output="b"))
    assert isinstance(error, SessionBusy)
    assert error.turn_id == turn.id
    gate.open()
    await turn.result()
