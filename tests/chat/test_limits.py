"""Limits: a turn that has reached one ends in words, and says so."""

import asyncio

import pytest

from antiphon import Chat, Limits, Message, TextDelta, ToolCall, Usage
from antiphon.errors import Misuse, TurnCanceled
from antiphon.models import ModelRequest, Replied, TextPiece
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure, types_of

pytestmark = pytest.mark.anyio


def calling(request: ModelRequest) -> Message:
    """A model that never stops asking for tools."""
    return Message("assistant", (ToolCall("c", "f"),))


async def test_a_model_that_never_stops_is_stopped() -> None:
    """After model_calls calls the turn ends with finish_reason limit; every call has its result."""
    model = ScriptedModel(calling)
    session = await Chat(model, limits=Limits(model_calls=3)).create_session()
    reply = await session.ask("hi")
    assert (reply.finish_reason, reply.text, len(reply.traces)) == ("limit", "", 3)
    assert len(model.requests) == 3
    types = await types_of(session)
    assert types.count("tool.returned") == types.count("model.replied") == 3
    assert (await session.ask("next", model=ScriptedModel("fine"))).text == "fine"


async def test_one_turn_may_have_other_limits() -> None:
    """Limits given with a turn replace the Chat's, and the default is 25 calls (P26)."""
    model = ScriptedModel(calling)
    session = await Chat(model).create_session()
    await session.ask("hi")
    assert len(model.requests) == 25
    await session.ask("hi", limits=Limits(model_calls=1))
    assert len(model.requests) == 26


async def test_tokens_are_counted_over_all_calls() -> None:
    """Usage of all calls is summed, for the limit and for the reply."""
    replies = [Replied(calling(ModelRequest(())), Usage(5, 1), "calls") for _ in range(4)]
    session = await Chat(ScriptedModel(replies)).create_session()
    reply = await session.ask("hi", limits=Limits(tokens=12, at_limit="stop"))
    assert (reply.usage, reply.finish_reason) == (Usage(10, 2), "limit")


async def test_time_runs_out() -> None:
    """A turn that runs out of seconds is canceled with what it had said, and the reason says which limit."""

    async def slow(request: ModelRequest) -> str:
        await asyncio.Event().wait()
        return "never"

    async with asyncio.timeout(5):
        session = await Chat(ScriptedModel(slow)).create_session()
        error = await failure(session.ask("hi", limits=Limits(seconds=0.02)))
    assert isinstance(error, TurnCanceled)
    assert error.reason == "the time limit of 0.02 s is reached"
    assert [turn.status for turn in session.turns()] == ["canceled"]


async def test_time_runs_out_behind_some_text() -> None:
    """The partial of a turn that ran out of time is what its reader had."""
    pieces = [TextPiece("a"), TextPiece("b"), TextPiece("c"), Replied(Message.of("assistant", "abc"))]
    session = await Chat(ScriptedModel([pieces], delay=0.2)).create_session()
    turn = session.send("hi", limits=Limits(seconds=0.5))
    await failure(turn.result())
    text = "".join([event.text async for event in turn if isinstance(event, TextDelta)])
    assert (session.turns()[0].partial or "") == text != "abc"


async def test_time_that_is_left_over_changes_nothing() -> None:
    """A turn that ends in time leaves no timer that could meet a later one."""
    session = await Chat(ScriptedModel(["one", "two"], delay=0.01), limits=Limits(seconds=0.5)).create_session()
    assert [(await session.ask("hi")).text for _ in range(2)] == ["one", "two"]


@pytest.mark.parametrize(
    "limits", [{"model_calls": 0}, {"tokens": -1}, {"seconds": 0}, {"at_limit": "explode"}], ids=str
)
def test_limits_that_leave_no_room(limits: dict[str, int]) -> None:
    """A limit that no turn could meet is refused at once, by name."""
    with pytest.raises(Misuse, match=next(iter(limits))):
        Limits(**limits)  # type: ignore[arg-type]
