"""Canceled and failed turns: from where, with what partial, and what later contexts see of them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from antiphon import (
    Canceled,
    Chat,
    Completed,
    Failed,
    Message,
    Session,
    Store,
    TextDelta,
    ToolCall,
    TurnRequest,
    Usage,
    View,
)
from antiphon.errors import (
    MalformedReply,
    ModelError,
    Overloaded,
    TurnCanceled,
    TurnInterrupted,
    Unreachable,
)
from antiphon.models import ModelEvent, ModelRequest, ReasoningPiece, Replied, Retry, TextPiece
from antiphon.testing import ScriptedModel
from tests.chat.fakes import Act, ListStore, failure, gated, passing, said, types_of

pytestmark = pytest.mark.anyio


class Hanging:
    """A model that gives some events and then waits for ever; it notes that it was closed."""

    name = "hanging"

    def __init__(self, *events: ModelEvent) -> None:
        self.events = events
        self.said_all = asyncio.Event()
        self.closed = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Give the events, and hang."""
        try:
            for event in self.events:
                yield event
            self.said_all.set()
            await asyncio.Event().wait()
        finally:
            self.closed = True


async def hanging(*events: ModelEvent) -> tuple[Hanging, Session]:
    """A session with a model that hangs behind these events."""
    model = Hanging(*events)
    return model, await Chat(model).create_session("s")


async def test_canceling_keeps_what_was_said() -> None:
    """A cancel closes the model's stream; what it had said is the turn's partial, and no later context (F116)."""
    model, session = await hanging(TextPiece("half "), TextPiece("a reply"))
    turn = session.send("hi")
    await model.said_all.wait()
    await turn.cancel("enough")
    assert model.closed
    error = await failure(turn.result())
    assert isinstance(error, TurnCanceled)
    assert (error.reason, error.turn_id) == ("enough", turn.id)
    (kept,) = session.turns()
    assert (kept.status, kept.partial, kept.error) == ("canceled", "half a reply", "enough")
    assert [message.text for message in kept.messages] == ["hi", "half a reply"]
    assert session.messages() == []
    await session.ask("next", model=ScriptedModel(lambda request: str(len(request.messages))))
    assert said(session) == [("user", "next"), ("assistant", "1")]


async def test_reasoning_alone_is_no_partial() -> None:
    """A turn canceled while the model only reasons has no partial (F117)."""
    model, session = await hanging(ReasoningPiece("hm"))
    turn = session.send("hi")
    await model.said_all.wait()
    await turn.cancel()
    assert [turn.partial for turn in session.turns()] == [None]


async def test_a_retry_of_the_model_makes_its_text_void() -> None:
    """Text before a Retry is neither in the partial of a turn that then fails, nor in its reply (F119)."""
    pieces = [TextPiece("one "), TextPiece("two "), Retry(1, 0.0, "broke")]
    full = Message.of("assistant", "whole")
    model = ScriptedModel([[*pieces, TextPiece("whole"), Replied(full)], [*pieces, Overloaded("m")]])
    session = await Chat(model).create_session()
    turn = session.send("a")
    assert (await turn.result()).text == "whole"
    text = ""
    async for event in turn:
        text = text + event.text if isinstance(event, TextDelta) else "" if event.type == "model.retrying" else text
    assert text == "whole"
    await failure(session.ask("b"))
    assert [turn.partial for turn in session.turns()] == [None, None]


@pytest.mark.parametrize("steps", range(12))
@pytest.mark.parametrize("slow", [False, True], ids=["plain", "slow-context"])
async def test_a_cancel_at_any_step(steps: int, slow: bool) -> None:
    """Cancel after any number of the loop's steps: the call returns, and journal and result agree."""

    async def context(view: View) -> list[Message]:
        await passing(3 if slow else 0)
        return []

    store = ListStore()
    session = await Chat(ScriptedModel("hello"), store=store, context=context).create_session("s")
    turn = session.send("hi")
    await passing(steps)
    await asyncio.wait_for(turn.cancel("enough"), 5)
    kept = session.turns()
    status = kept[0].status if kept else "unwritten"
    if status == "completed":
        assert (await turn.result()).text == "hello"
    else:
        assert status in ("canceled", "unwritten")
        error = await failure(turn.result())
        assert isinstance(error, TurnCanceled)
        assert error.reason == "enough"
    last = [event async for event in turn][-1]
    assert isinstance(last, Completed if status == "completed" else Canceled)
    assert (await Chat("echo:", store=store).open_session("s")).turns() == kept


async def test_a_cancel_before_the_first_step() -> None:
    """A turn canceled in the same breath as it was sent writes nothing and settles."""
    gate, _, session = await gated()
    turn = session.send("hi")
    await turn.cancel("no")  # not in a task of its own: that would give the turn a step
    assert isinstance(await failure(turn.accepted()), TurnCanceled)
    assert [event.type async for event in turn] == ["turn.canceled"]
    assert (await types_of(session), gate.requests) == (["session.created"], [])


async def test_a_cancel_while_the_input_is_written() -> None:
    """Canceled while its input is being committed, a turn is accepted and canceled, and nothing is asked."""
    store = ListStore()
    gate, _, session = await gated(store)
    store.script = [Act(gate=(held := asyncio.Event()))]
    turn = session.send("hi")
    await store.reached.wait()
    canceling = asyncio.create_task(turn.cancel("enough"))
    await passing(5)
    held.set()
    await canceling
    assert store.types() == ["session.created", "turn.accepted", "turn.canceled"]
    assert gate.requests == []
    assert [turn.error for turn in session.turns()] == ["enough"]


async def test_a_cancel_while_the_outcome_is_written_is_too_late() -> None:
    """Once the outcome is on its way, a cancel returns when that is committed and changes nothing (A07)."""
    store = ListStore()
    session = await Chat(ScriptedModel("hello"), store=store).create_session("s")
    store.script = [Act(), Act(gate=(held := asyncio.Event()))]
    turn = session.send("hi")
    await store.reached.wait()
    canceling = asyncio.create_task(turn.cancel("late"))
    await passing(5)
    assert not canceling.done()
    held.set()
    await canceling
    assert (await turn.result()).text == "hello"
    await turn.cancel("later still")
    assert [turn.status for turn in session.turns()] == ["completed"]


async def test_a_cancel_while_calls_are_answered() -> None:
    """Canceled between a reply with calls and the next call, the turn has no unanswered call and no partial (F013)."""
    store = ListStore()
    asked = Message("assistant", (ToolCall("c", "lookup"),))
    model = ScriptedModel([asked, "never", "fine"])
    session = await Chat(model, store=store).create_session("s")
    store.script = [Act(), Act(gate=(held := asyncio.Event()))]
    turn = session.send("hi")
    await store.reached.wait()
    canceling = asyncio.create_task(turn.cancel())
    await passing(5)
    held.set()
    await canceling
    assert store.types()[-3:] == ["model.replied", "tool.returned", "turn.canceled"]
    assert len(model.requests) == 1
    await session.ask("next", model=ScriptedModel("fine"))
    assert said(session) == [("user", "next"), ("assistant", "fine")]


async def test_several_cancels_are_one() -> None:
    """The first cancel's reason counts, and every canceler waits for the commit."""
    gate, _, session = await gated()
    turn = session.send("hi")
    await gate.begun.wait()
    await asyncio.gather(turn.cancel("first"), turn.cancel("second"), turn.cancel())
    assert [(turn.status, turn.error) for turn in session.turns()] == [("canceled", "first")]
    assert gate.canceled == 1


async def test_a_turn_can_cancel_itself() -> None:
    """A responder that cancels its own turn ends it, without waiting for itself."""

    async def responder(request: TurnRequest) -> str:
        live = session.live_turn
        assert live is not None
        await live.cancel("from within")
        return "never"

    session = await Chat(responder=responder).create_session()
    error = await asyncio.wait_for(failure(session.ask("hi")), 5)
    assert isinstance(error, TurnCanceled)
    assert error.reason == "from within"


async def test_canceling_ask_cancels_the_turn() -> None:
    """Canceling the task that asks cancels the turn, and ends only when that is committed."""
    gate, _, session = await gated()
    task = asyncio.create_task(session.ask("hi"))
    await gate.begun.wait()
    task.cancel()
    assert isinstance(await failure(task), asyncio.CancelledError)
    assert (await types_of(session))[-1] == "turn.canceled"
    assert (session.turns()[0].error, session.live_turn) == ("the caller was canceled", None)


async def test_canceling_ask_twice_still_waits() -> None:
    """A second cancel does not leave before the first one's outcome is committed."""
    store = ListStore()
    gate, _, session = await gated(store)
    task = asyncio.create_task(session.ask("hi"))
    await gate.begun.wait()
    store.script = [Act(gate=(held := asyncio.Event()))]
    for _ in range(3):
        task.cancel()
        await passing(5)
    assert not task.done()
    held.set()
    assert isinstance(await failure(task), asyncio.CancelledError)
    assert store.types()[-1] == "turn.canceled"


async def test_a_cancel_before_the_outcome_is_queued_wins() -> None:
    """A cancel that comes when the reply is whole but its outcome still waits cancels; all of it is partial (A07)."""
    store = ListStore()
    gate, _, session = await gated(store)
    turn = session.send("hi")
    await gate.begun.wait()
    store.script = [Act(gate=(held := asyncio.Event()))]
    steering = asyncio.create_task(turn.steer("more"))
    await store.reached.wait()
    gate.open()
    await passing(10)
    canceling = asyncio.create_task(turn.cancel("enough"))
    await passing(5)
    held.set()
    await asyncio.gather(steering, canceling)
    assert [(turn.status, turn.partial, turn.steering) for turn in session.turns()] == [
        ("canceled", "answered", ("more",))
    ]


@pytest.mark.parametrize("answer", ["hello", Message("assistant", (ToolCall("c", "f"),))], ids=["text", "calls"])
async def test_a_responder_that_will_not_be_canceled(answer: str | Message) -> None:
    """A responder that swallows its cancel and answers is canceled all the same, and its answer is not kept."""
    begun = asyncio.Event()

    async def stubborn(request: TurnRequest) -> str | Message:
        begun.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return answer

    session = await Chat(responder=stubborn).create_session("s")
    turn = session.send("hi")
    await begun.wait()
    await turn.cancel("enough")
    assert (await types_of(session))[1:] == ["turn.accepted", "turn.shown", "turn.canceled"]


async def test_a_timeout_around_ask_is_a_timeout() -> None:
    """asyncio.timeout around ask raises TimeoutError, and the turn is canceled by then."""
    _, _, session = await gated()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await session.ask("hi")
    assert [turn.status for turn in session.turns()] == ["canceled"]


async def test_canceling_result_leaves_the_turn() -> None:
    """Canceling a wait for the result, or for acceptance, leaves the turn running."""
    gate, _, session = await gated()
    turn = session.send("hi")
    waits = [asyncio.create_task(turn.result()), asyncio.create_task(turn.accepted())]
    await passing(1)
    for wait in waits:
        wait.cancel()
    await asyncio.wait(waits)
    gate.open()
    assert (await turn.result()).text == "answered"


async def test_leaving_the_block_cancels_the_turn() -> None:
    """Leaving `async with session.send(…)`, by an error too, cancels the turn and waits for the commit."""
    gate, _, session = await gated()

    async def left_by_an_error() -> None:
        async with session.send("hi"):
            await gate.begun.wait()
            raise ZeroDivisionError

    assert isinstance(await failure(left_by_an_error()), ZeroDivisionError)
    assert (await types_of(session))[-1] == "turn.canceled"


async def test_leaving_the_block_of_an_ended_turn_changes_nothing() -> None:
    """A turn that ended inside its block stays as it is."""
    session = await Chat(ScriptedModel("hello")).create_session()
    async with session.send("hi") as turn:
        assert (await turn.result()).text == "hello"
    assert [turn.status for turn in session.turns()] == ["completed"]


async def test_the_error_is_the_models_own(store: Store) -> None:
    """result() raises the error that ended the turn itself, with the turn's id; the journal keeps kind and text."""
    own = Unreachable("m", "connection refused")
    session = await Chat(ScriptedModel([[TextPiece("half"), own]]), store=store).create_session()
    turn = session.send("hi")
    assert await failure(turn.result()) is own
    assert own.turn_id == turn.id
    (kept,) = session.turns()
    assert (kept.status, kept.partial) == ("failed", "half")
    assert kept.error == f"Unreachable: {own}"
    last = [event async for event in turn][-1]
    assert isinstance(last, Failed)
    assert (last.error, last.phase, last.partial) == (str(own), "send", "half")


async def test_a_stream_without_a_reply_is_malformed() -> None:
    """A stream that ends without a reply fails the turn, with what it said as partial."""
    session = await Chat(ScriptedModel([[TextPiece("half")]])).create_session()
    assert isinstance(await failure(session.ask("hi")), MalformedReply)
    assert [turn.partial for turn in session.turns()] == ["half"]


@pytest.mark.parametrize(
    "reply",
    [
        Replied(Message.of("user", "hm")),
        Replied(Message("assistant", (ToolCall("1", "f"), ToolCall("1", "g")))),
        Replied(Message("assistant", (ToolCall("", "f"),))),
        Replied(Message("assistant", ("text",))),  # type: ignore[arg-type]
        Replied(Message.of("assistant", "ok"), Usage("many")),  # type: ignore[arg-type]
        Replied(Message.of("assistant", "ok"), model=5),  # type: ignore[arg-type]
    ],
    ids=["role", "same-ids", "no-id", "no-part", "no-usage", "no-model"],
)
async def test_a_reply_that_no_journal_keeps_is_malformed(reply: Replied) -> None:
    """A reply that breaks the promises of a model fails its turn, and the session goes on and can be read."""
    store = ListStore()
    session = await Chat(ScriptedModel([reply, "fine"]), store=store).create_session("s")
    assert isinstance(await failure(session.ask("hi")), MalformedReply)
    assert (await session.ask("hi")).text == "fine"
    reopened = await Chat("echo:", store=store).open_session("s")
    assert [turn.status for turn in reopened.turns()] == ["failed", "completed"]


@pytest.mark.parametrize("raised", [SystemExit, KeyboardInterrupt, BaseException], ids=lambda cls: cls.__name__)
def test_the_end_of_the_process_leaves_nobody_waiting(raised: type[BaseException]) -> None:
    """What ends a process from inside a turn ends it; the chat closes, and the turn reads as interrupted."""
    found = []

    async def responder(request: TurnRequest) -> str:
        raise raised

    async def scenario() -> None:
        async with Chat(responder=responder) as chat:
            session = await chat.create_session()
            turn = session.send("hi")
            try:
                found.append(await failure(turn.result()))
            finally:
                found.append(await asyncio.wait_for(failure(turn.result()), 5))

    ended: BaseException | None = None
    try:
        asyncio.run(asyncio.wait_for(scenario(), 10))
    except (SystemExit, KeyboardInterrupt) as error:
        ended = error
    assert type(ended) is (type(None) if raised is BaseException else raised)
    assert isinstance(found[-1], TurnInterrupted)


async def test_an_error_of_a_model_is_kept_without_its_secrets() -> None:
    """Of an error the journal and the log keep its class and its sentence, nothing else that it carries (F181)."""

    class Telling(ModelError):
        headers = {"authorization": "Bearer sk-secret"}  # noqa: RUF012 - an error as vendors make them

    store = ListStore()
    session = await Chat(ScriptedModel(Telling("m", "status 500")), store=store).create_session("s")
    turn = session.send("hi")
    await failure(turn.result())
    events = [event.to_dict() async for event in turn]
    assert "sk-secret" not in f"{store.lines}{events}{session.turns()}{turn!r}{session!r}"
