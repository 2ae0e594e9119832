"""When a call is made again, and when never."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import pytest

from antiphon._messages import Message
from antiphon.errors import BadCredentials, ModelError, Overloaded, RateLimited, Unreachable
from antiphon.models import ModelEvent, Replied, Retry, TextPiece
from antiphon.providers._retrying import retrying, seconds_before

REPLY = Replied(Message.of("assistant", "Hi"))
SOON = 0.001


class Attempts:
    """Gives scripted events and errors, one list an attempt."""

    def __init__(self, *script: Sequence[ModelEvent | Exception]) -> None:
        self.script = list(script)

    async def __call__(self) -> AsyncGenerator[ModelEvent, None]:
        for step in self.script.pop(0):
            if isinstance(step, Exception):
                raise step
            yield step


def events(attempts: Attempts, *, max_retries: int = 2) -> list[ModelEvent | ModelError]:
    """What comes, an error last."""

    async def read() -> list[ModelEvent | ModelError]:
        found: list[ModelEvent | ModelError] = []
        try:
            async with aclosing(retrying(attempts, max_retries=max_retries)) as stream:
                async for event in stream:
                    found.append(event)  # noqa: PERF401 - what came before the error counts
        except ModelError as error:
            found.append(error)
        return found

    return asyncio.run(read())


def overloaded() -> Overloaded:
    """An error that asks for a short wait."""
    return Overloaded("m", "busy", status=503, retry_after=SOON)


def test_a_failure_before_any_event_is_retried() -> None:
    """What failed at once is asked again, and each time is told first, with how long and why."""
    found = events(Attempts([overloaded()], [overloaded()], [TextPiece("Hi"), REPLY]))
    told = [Retry(1, SOON, "is overloaded (HTTP 503): busy"), Retry(2, SOON, "is overloaded (HTTP 503): busy")]
    assert found == [*told, TextPiece("Hi"), REPLY]


def test_the_last_failure_is_raised() -> None:
    """After the last retry its own error is raised."""
    last = overloaded()
    assert events(Attempts([overloaded()], [last]), max_retries=1)[1:] == [last]
    assert events(Attempts([last]), max_retries=0) == [last]


def test_a_broken_stream_is_not_retried() -> None:
    """What failed after an event is not asked again: its text would come twice."""
    broke = Unreachable("m", "the connection broke")
    assert events(Attempts([TextPiece("Hi"), broke])) == [TextPiece("Hi"), broke]


def test_what_will_not_help_is_not_retried() -> None:
    """A final error, one marked so, a server that is silent, and a wait of minutes are raised at once."""
    empty = RateLimited("m", "insufficient_quota")
    empty.retryable = False
    silent = Unreachable("m", "no byte came")
    silent.__cause__ = TimeoutError()
    for final in (BadCredentials("m"), empty, silent, RateLimited("m", retry_after=121)):
        assert events(Attempts([final])) == [final]


@pytest.mark.parametrize(
    ("number", "asked", "jitter", "seconds"),
    [(1, None, 0, 0.5), (2, None, 0, 1.0), (5, None, 0, 8.0), (50, None, 0, 8.0), (1, None, 1, 0.375), (1, 7, 1, 7)],
)
def test_waits_grow_up_to_eight_seconds(number: int, asked: float | None, jitter: float, seconds: float) -> None:
    """Waits double from half a second to eight, less up to a quarter; what the server asks for is kept to."""
    assert seconds_before(number, asked=asked, jitter=jitter) == seconds
