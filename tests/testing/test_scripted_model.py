"""The scripted model gives what a test wrote down, in order, and keeps what it was asked."""

import asyncio
import time
from contextlib import aclosing

import pytest

from antiphon._messages import Message, ToolCall
from antiphon._usage import Usage
from antiphon.errors import AntiphonError, Misuse, RateLimited
from antiphon.models import HasWindow, ModelEvent, ModelRequest, Replied, Retry, TextPiece
from antiphon.testing import ScriptedModel

HELLO = ModelRequest([Message.of("user", "Hello")])


def ask(model: ScriptedModel, request: ModelRequest = HELLO) -> list[ModelEvent]:
    """The events of one call, up to its end."""

    async def read() -> list[ModelEvent]:
        async with aclosing(model.stream(request)) as stream:
            return [event async for event in stream]

    return asyncio.run(read())


def said(events: list[ModelEvent]) -> Message:
    """The reply's message."""
    assert isinstance(events[-1], Replied)
    return events[-1].message


def test_replies_come_in_order() -> None:
    """Each call is answered by the next reply."""
    model = ScriptedModel(["one", "two"])
    assert [said(ask(model)).text, said(ask(model)).text] == ["one", "two"]


def test_a_text_is_streamed_in_pieces() -> None:
    """A text comes in more than one piece, which join to it, and stops."""
    events = ask(ScriptedModel(["It is a fine day."]))
    pieces = [event.text for event in events if isinstance(event, TextPiece)]
    assert len(pieces) > 1 and "".join(pieces) == "It is a fine day."
    assert events[-1] == Replied(Message.of("assistant", "It is a fine day."))


def test_a_message_with_calls_asks_for_tools() -> None:
    """A message that holds tool calls is given whole, and its finish is `calls`."""
    message = Message.of("assistant", [ToolCall.of("c1", "look_up", arguments={"city": "Oslo"})])
    assert ask(ScriptedModel([message])) == [Replied(message, finish="calls")]


def test_a_replied_is_given_as_it_is() -> None:
    """A `Replied` keeps its usage, finish and model."""
    reply = Replied(Message.of("assistant", "Hi"), Usage(input=3, output=1), "length", model="other")
    assert ask(ScriptedModel([reply]))[-1] is reply


def test_an_error_is_raised() -> None:
    """An exception in place of a reply is raised itself."""
    error = RateLimited("scripted", retry_after=2)
    with pytest.raises(RateLimited) as raised:
        ask(ScriptedModel([error]))
    assert raised.value is error


def test_a_stream_breaks_where_the_script_says() -> None:
    """Events before a scripted error are given, and nothing after it."""
    model = ScriptedModel([[TextPiece("a"), Retry(1, 0.0), TextPiece("b"), RateLimited("scripted")]])
    seen: list[ModelEvent] = []

    async def read() -> None:
        async for event in model.stream(HELLO):
            seen.append(event)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(RateLimited):
        asyncio.run(read())
    assert seen == [TextPiece("a"), Retry(1, 0.0), TextPiece("b")]


def test_a_function_sees_the_request() -> None:
    """A function of the request gives the reply; alone, it answers every call."""
    model = ScriptedModel(lambda request: request.messages[-1].text.upper())
    assert [said(ask(model)).text for _ in range(3)] == ["HELLO"] * 3


def test_an_async_function_is_awaited() -> None:
    """A reply may be worked out by an async function."""

    async def later(request: ModelRequest) -> Message:
        await asyncio.sleep(0)
        return Message.of("assistant", request.messages[-1].text)

    assert said(ask(ScriptedModel([later]))).text == "Hello"


def test_requests_are_kept() -> None:
    """The model keeps each request, from the moment its first event is asked for and not before."""
    model = ScriptedModel(["one", "two"])
    unread = model.stream(HELLO)
    assert model.requests == []
    ask(model)
    assert model.requests == [HELLO] and unread is not None


def test_running_out_says_how_many_were_scripted() -> None:
    """A call more than there are replies says so in a sentence."""
    model = ScriptedModel(["one"], name="small")
    ask(model)
    sentence = "model 'small' was asked 2 times, but only 1 reply was scripted; script another reply"
    with pytest.raises(Misuse, match=sentence):
        ask(model)


@pytest.mark.parametrize("alone", ["one", Message.of("assistant", "one"), Replied(Message.of("assistant", "one"))])
def test_one_reply_needs_no_list(alone: str | Message | Replied) -> None:
    """A text, a message or a reply alone is a script of one, not one reply a character."""
    model = ScriptedModel(alone)
    assert said(ask(model)).text == "one"
    with pytest.raises(Misuse):
        ask(model)


@pytest.mark.parametrize("wrong", [17, None, [17], {"text": "one"}])
def test_what_is_no_reply_is_misuse(wrong: object) -> None:
    """Something that cannot be given is named, not passed on."""
    with pytest.raises(AntiphonError, match="was scripted as a reply"):
        ask(ScriptedModel([wrong]))


def test_the_window_is_told() -> None:
    """A window is announced; not known is 0, never unlimited."""
    assert isinstance(ScriptedModel([]), HasWindow)
    assert (ScriptedModel([], window=512).window, ScriptedModel([]).window) == (512, 0)


def test_the_delay_is_kept() -> None:
    """Each event waits for the delay."""
    started = time.monotonic()
    events = ask(ScriptedModel(["abcd"], delay=0.01))
    assert time.monotonic() - started >= 0.01 * len(events)
