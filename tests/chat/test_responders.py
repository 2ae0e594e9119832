"""Responders: a function in the place of a model, in every form it may have."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from antiphon import Chat, Message, Reasoning, Reply, Text, TextDelta, ToolCall, TurnRequest, Usage
from antiphon.errors import Misuse
from antiphon.models import Replied
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure

pytestmark = pytest.mark.anyio


async def test_what_a_responder_is_given() -> None:
    """The messages end with the input; beside them stand ids, instructions, deps, metadata and the trace (P01)."""
    requests: list[TurnRequest] = []

    async def responder(request: TurnRequest) -> str:
        requests.append(request)
        return "hello"

    session = await Chat(responder=responder, instructions="Be kind.").create_session("s")
    turn = session.send("hi", deps=(deps := object()), metadata={"n": 1})
    await turn.result()
    (request,) = requests
    assert (request.session_id, request.turn_id, request.input) == ("s", turn.id, "hi")
    assert (request.instructions, request.deps, request.metadata) == ("Be kind.", deps, {"n": 1})
    assert request.messages == (Message.of("user", "hi"),)
    assert request.trace.model == "responder"
    assert session.turns()[0].metadata["responder"] == {"kind": "function", "name": "responder"}


async def pieces(request: TurnRequest) -> AsyncIterator[str]:
    """Text in pieces."""
    for text in ("hel", "", "lo"):
        yield text


async def text(request: TurnRequest) -> str:
    """Text."""
    return "hello"


async def message(request: TurnRequest) -> Message:
    """A message."""
    return Message.of("assistant", "hello")


async def replied(request: TurnRequest) -> Replied:
    """A model's reply."""
    return Replied(Message.of("assistant", "hello"), Usage(1, 2), "length", "m-1")


def at_once(request: TurnRequest) -> str:
    """Text, without waiting for anything."""
    return "hello"


@pytest.mark.parametrize("responder", [pieces, text, message, replied, at_once], ids=lambda f: f.__name__)
async def test_every_form_of_answer(responder: Any) -> None:
    """Text, pieces of text, a Message and a model's reply become the turn's reply and its text events."""
    session = await Chat(responder=responder).create_session()
    turn = session.send("hi")
    reply = await turn.result()
    assert (reply.text, reply.message) == ("hello", Message.of("assistant", "hello"))
    assert "".join([event.text async for event in turn if isinstance(event, TextDelta)]) == "hello"
    if responder is replied:
        assert (reply.usage, reply.finish_reason, reply.model) == (Usage(1, 2), "length", "m-1")


async def test_a_reply_is_passed_on() -> None:
    """A responder may ask another session and return its Reply: usage, model and finish come along."""
    inner = await Chat(
        ScriptedModel(Replied(Message.of("assistant", "hello"), Usage(3, 4), "length", "m"))
    ).create_session()

    async def responder(request: TurnRequest) -> Reply:
        return await inner.ask("the same")

    reply = await (await Chat(responder=responder).create_session()).ask("hi")
    assert (reply.text, reply.usage, reply.finish_reason, reply.model) == ("hello", Usage(3, 4), "length", "m")


async def test_a_responders_calls_are_answered() -> None:
    """A responder that asks for tools that nobody offers gets an error for each, and is asked again."""
    results = []

    async def responder(request: TurnRequest) -> Message | str:
        results.append([result.text for each in request.messages for result in each.results])
        return "so" if results[-1] else Message("assistant", (Reasoning("hm"), ToolCall("c", "lookup")))

    session = await Chat(responder=responder).create_session()
    assert (await session.ask("hi")).text == "so"
    ((told,),) = [each for each in results if each]
    assert told.startswith("UnknownTool: no tool 'lookup' is offered, nothing was run")


async def nothing(request: TurnRequest) -> None:
    """None."""


async def numbers(request: TurnRequest) -> AsyncIterator[Any]:
    """A piece that is no text."""
    yield "a"
    yield 5


async def users(request: TurnRequest) -> Message:
    """A message of the wrong role."""
    return Message.of("user", "hm")


def generator(request: TurnRequest) -> Any:
    """A plain generator."""
    yield "a"


@pytest.mark.parametrize("responder", [nothing, numbers, users, generator], ids=lambda f: f.__name__)
async def test_nonsense_fails_the_turn(responder: Any) -> None:
    """An answer of no known form fails the turn, naming the function and what it gave; later turns work."""
    session = await Chat(responder=responder).create_session()
    error = await failure(session.ask("hi"))
    assert isinstance(error, Misuse)
    assert repr(responder.__name__) in str(error)
    assert [turn.status for turn in session.turns()] == ["failed"]
    assert session.turns()[0].partial == ("a" if responder is numbers else None)
    assert (await session.ask("hi", model=ScriptedModel("fine"))).text == "fine"


async def test_an_empty_answer_is_a_reply() -> None:
    """No pieces at all, and empty text, end the turn in an empty reply."""

    async def silent(request: TurnRequest) -> AsyncIterator[str]:
        for piece in list[str]():
            yield piece

    for responder in (silent, lambda request: ""):
        session = await Chat(responder=responder).create_session()  # type: ignore[arg-type]
        assert (await session.ask("hi")).text == ""
        assert [(turn.status, turn.output) for turn in session.turns()] == [("completed", "")]


async def test_what_a_responder_raises_is_raised() -> None:
    """result() raises the responder's own error; text that was given before is the partial."""
    own = ConnectionError("no backend")

    async def responder(request: TurnRequest) -> AsyncIterator[str]:
        yield "half"
        raise own

    session = await Chat(responder=responder).create_session()
    assert await failure(session.ask("hi")) is own
    assert [(turn.error, turn.partial) for turn in session.turns()] == [("ConnectionError: no backend", "half")]


async def test_a_generator_is_closed_when_the_turn_is_canceled() -> None:
    """Canceling a turn ends the responder's generator before the cancel returns."""
    closed = asyncio.Event()

    async def responder(request: TurnRequest) -> AsyncIterator[str]:
        try:
            yield "half"
            await asyncio.Event().wait()
        finally:
            closed.set()

    session = await Chat(responder=responder).create_session()
    turn = session.send("hi")
    async for event in turn:
        if isinstance(event, TextDelta):
            break
    await turn.cancel()
    assert closed.is_set()
    assert session.turns()[0].partial == "half"


def test_a_chat_takes_one_of_the_two() -> None:
    """Model and responder together, or a responder that cannot be called, are refused at construction."""
    with pytest.raises(Misuse, match="both a model and a responder; give one of the two"):
        Chat("echo:", responder=text)
    with pytest.raises(Misuse, match="responder is a int"):
        Chat(responder=5)  # type: ignore[arg-type]
    with pytest.raises(Misuse, match="keep_texts='some' is not known"):
        Chat("echo:", keep_texts="some")  # type: ignore[arg-type]


async def test_a_chat_without_either_reads_and_records() -> None:
    """Without model and responder sessions can be read and recorded; a send says what is missing, at once."""
    session = await Chat().create_session()
    await session.record(input="hi", output="hello")
    with pytest.raises(Misuse, match="this Chat has neither a model nor a responder"):
        session.send("more")
    assert (await session.ask("more", model=ScriptedModel("ok"))).text == "ok"


async def test_parts_of_a_reply_are_kept() -> None:
    """A reply with reasoning is kept as message, and its text is only what was said."""
    parts = (Reasoning("hm", signature="sig"), Text("hello"))

    async def responder(request: TurnRequest) -> Message:
        return Message("assistant", parts)

    reply = await (await Chat(responder=responder).create_session()).ask("hi")
    assert (reply.text, reply.message.parts) == ("hello", parts)
