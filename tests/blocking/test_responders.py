"""Responders and contexts that are plain functions."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from antiphon import Message, TurnRequest, View
from antiphon.blocking import Chat
from antiphon.errors import TurnCanceled
from tests.blocking.fakes import SECONDS, Gate, echo, session_of


def test_a_function() -> None:
    """A function answers, with text or a message, in a thread of its own, under its own name."""
    threads = []

    def answer(request: TurnRequest) -> Message:
        threads.append(threading.current_thread().name)
        return Message.of("assistant", "from a function")

    with Chat(responder=answer) as chat:
        reply = session_of(chat).ask("hello")
    assert (reply.text, reply.trace.model, threads) == ("from a function", "answer", ["antiphon-responder"])


def test_a_generator() -> None:
    """A generator streams: its pieces are the events' as they come."""
    opened = threading.Event()

    def answer(request: TurnRequest) -> Iterator[str]:
        yield "one "
        assert opened.wait(SECONDS)
        yield "two"

    with Chat(responder=answer) as chat:
        turn = session_of(chat).send("count")
        texts = turn.text_stream
        assert next(texts) == "one "
        opened.set()
        assert (next(texts), turn.result().text) == ("two", "one two")


def test_a_function_may_call_its_chat() -> None:
    """A responder that is not async may ask in another session of the same Chat."""

    def answer(request: TurnRequest) -> str:
        if request.session_id == "other":
            return "asked"
        return chat.open_session("other", create=True).ask("x").text + " there"

    with Chat(responder=answer) as chat:
        assert session_of(chat).ask("hello").text == "asked there"


@pytest.mark.parametrize("streams", [False, True])
def test_its_error_ends_the_turn(streams: bool) -> None:
    """What a function raises ends its turn as an async one's error would."""

    def fails(request: TurnRequest) -> str:
        raise LookupError("no such order")

    def breaks(request: TurnRequest) -> Iterator[str]:
        yield "half"
        raise LookupError("no such order")

    with Chat(responder=breaks if streams else fails) as chat:
        session = session_of(chat)
        with pytest.raises(LookupError, match="no such order"):
            session.ask("hello")
        assert session.turns()[-1].partial == ("half" if streams else None)


def test_a_canceled_turn_does_not_wait_for_its_function() -> None:
    """A turn is canceled while its function waits; what the function gives then goes nowhere."""
    gate = Gate()
    with Chat(responder=gate) as chat:
        session = session_of(chat)
        turn = session.send("hello")
        assert gate.begun.wait(SECONDS)
        turn.cancel("enough")
        with pytest.raises(TurnCanceled):
            turn.result()
        gate.opened.set()
        assert session.ask("again").text == "answered again"


@pytest.mark.parametrize(
    "responder", [lambda request: echo(request), partial(echo), echo], ids=["lambda", "partial", "async"]
)
def test_what_gives_an_awaitable(responder: Any) -> None:
    """A function that only gives an awaitable is awaited."""
    with Chat(responder=responder) as chat:
        assert session_of(chat).ask("hello").text == "hello"


def test_a_context_that_is_a_function() -> None:
    """A context may be a plain function, or an object with a plain `build`."""

    def context(view: View) -> Sequence[Mapping[str, str]]:
        return [{"role": "user", "content": "before"}]

    class Context:
        def build(self, view: View) -> Sequence[Mapping[str, str]]:
            return context(view)

    async def answer(request: TurnRequest) -> str:
        return "|".join(message.text for message in request.messages)

    for given in (context, Context()):
        with Chat(responder=answer, context=given) as chat:
            assert session_of(chat).ask("now").text == "before|now"
