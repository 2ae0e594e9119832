"""The model without an engine."""

import asyncio

from antiphon._messages import Message, ToolResult
from antiphon._usage import Usage
from antiphon.models import HasWindow, ModelEvent, ModelRequest, Replied, TextPiece, ToolSpec
from antiphon.providers import EchoModel


def ask(request: ModelRequest) -> list[ModelEvent]:
    """The events of one call."""

    async def read() -> list[ModelEvent]:
        return [event async for event in EchoModel().stream(request)]

    return asyncio.run(read())


def reply(request: ModelRequest) -> Replied:
    """The reply to one call."""
    last = ask(request)[-1]
    assert isinstance(last, Replied)
    return last


def test_it_says_what_it_was_shown() -> None:
    """The reply counts messages, characters and tools, and quotes the last message."""
    shown = [Message.of("user", "Hi"), Message.of("assistant", "Hello"), Message.of("user", "How are you?")]
    request = ModelRequest(shown, "Be kind.", tools=[ToolSpec("look_up", "", {})])
    expected = 'I was shown 3 messages, 27 characters, 1 tool; the last says: "How are you?"'
    assert reply(request).message.text == expected


def test_it_comes_in_a_few_pieces() -> None:
    """The text is streamed in several pieces, the same every time."""
    request = ModelRequest([Message.of("user", "Hi")])
    pieces = [event for event in ask(request) if isinstance(event, TextPiece)]
    assert 2 <= len(pieces) <= 6
    assert ask(request) == ask(request)


def test_a_long_message_is_quoted_in_part() -> None:
    """Of a long last message only the first 200 characters are quoted, on one line."""
    text = reply(ModelRequest([Message.of("user", "word\n" * 1_000)])).message.text
    assert text.startswith("I was shown 1 message, 5,000 characters; the last says:")
    assert len(text) < 280 and "\n" not in text and text.endswith('…"')


def test_nothing_shown_is_said_too() -> None:
    """A request without messages is answered."""
    assert reply(ModelRequest([])).message.text == "I was shown 0 messages, 0 characters."


def test_results_of_tools_count_as_words() -> None:
    """What a tool gave is quoted and counted."""
    request = ModelRequest([Message.of("tool", [ToolResult.of("c1", "look_up", output="rain")])])
    assert reply(request).message.text == 'I was shown 1 message, 4 characters; the last says: "rain"'


def test_usage_is_a_quarter_of_the_characters() -> None:
    """Usage is estimated at one token for four characters, rounded up."""
    found = reply(ModelRequest([Message.of("user", "12345678")], "1"))
    assert found.usage == Usage(input=3, output=-(-len(found.message.text) // 4))


def test_the_limit_is_kept() -> None:
    """A reply that is too long for its limit is cut, and says so."""
    found = reply(ModelRequest([Message.of("user", "Hi")], max_output_tokens=3))
    assert (found.message.text, found.finish, found.usage) == ("I was shown ", "length", Usage(input=1, output=3))


def test_it_tells_its_window() -> None:
    """The window is 8,192 tokens."""
    model = EchoModel()
    assert (isinstance(model, HasWindow), model.window) == (True, 8_192)
