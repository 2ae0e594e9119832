"""The promises of the model seam, as tests that anyone can run on a model of their own."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, cast

from .._messages import Image, Message, ToolCall, ToolResult
from ..errors import Misuse, ModelError
from ..models import HasWindow, Model, ModelEvent, ModelRequest, Replied, Retry, TextPiece, ToolSpec

LOOK_UP = ToolSpec(
    "look_up",
    "Looks up the weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


class _ModelHooks:
    patience: float = 60.0
    never_fails: bool = False

    def make_model(self) -> Model:
        """Give a model that answers `request` and `long_request` in words. Must be defined."""
        raise Misuse(f"{type(self).__name__} has no make_model", "define it: it gives the model to be tested")

    def make_failing_model(self) -> Model:
        """Give a model whose every call fails. Must be defined, unless the model `never_fails`."""
        raise Misuse(
            f"{type(self).__name__} has no make_failing_model", "define it, or set never_fails = True if there is none"
        )

    def make_calling_model(self) -> Model | None:
        """Give a model that answers `calling_request` with tool calls, or None if it never calls tools."""
        return None

    def request(self) -> ModelRequest:
        """Give a small request that is answered in words."""
        said = [Message.of("user", "Hi!"), Message.of("assistant", "Hello."), Message.of("user", "How are you?")]
        return ModelRequest(said, "You are a friendly assistant.", max_output_tokens=40)

    def long_request(self) -> ModelRequest:
        """Give a request whose answer takes a while, so that it can be broken off."""
        said = [Message.of("user", "Tell me a long story about a ship and its crew.")]
        return ModelRequest(said, max_output_tokens=400)

    def calling_request(self) -> ModelRequest:
        """Give a request that offers a tool."""
        said = [Message.of("user", "What is the weather in Oslo and in Rome?")]
        return ModelRequest(said, tools=[LOOK_UP], max_output_tokens=200)

    async def still_works(self, model: Model) -> bool:  # noqa: ARG002 - for those who extend it
        """Tell whether work goes on behind a model whose stream was closed.

        As it stands it looks for tasks left in the event loop; extend it where the work is elsewhere, in a
        connection, a thread or a process.
        """
        await asyncio.sleep(0)
        return len(asyncio.all_tasks()) > 1

    async def finish(self, model: Model) -> None:
        """Let go of a model after its test: calls `aclose` if it has one."""
        close = getattr(model, "aclose", None)
        if close is not None:
            await close()

    def _check(self, make: Callable[[], Model], check: Callable[[Model], Awaitable[None]]) -> None:
        async def run() -> None:
            async with asyncio.timeout(self.patience):
                model = make()
                try:
                    await check(model)
                finally:
                    await self.finish(model)

        asyncio.run(run())


class ModelContract(_ModelHooks):
    """The promises M1 to M8 of `Model`, one test or more for each. Subclass it, and pytest runs them.

        class TestMyModel(ModelContract):
            def make_model(self) -> Model:
                return MyModel(...)

            def make_failing_model(self) -> Model:
                return MyModel(base_url="http://127.0.0.1:9")

    Needs pytest and nothing else: each test runs its own event loop, with a model made anew and given to `finish`
    afterwards. A hook that is missing makes its tests fail; no test passes because there was nothing to look at.

    Attributes:
        patience: seconds that one test may take.
        never_fails: set it for a model that has no way to fail; it is then asked odd things instead, and must answer.
    """

    def test_m0_the_model_has_the_shape_of_one(self) -> None:
        """A model has a name, a stream that can be closed, and a window that is a size if it tells one."""

        async def check(model: Model) -> None:
            assert isinstance(model, Model), f"{type(model).__name__} lacks `name` or `stream`"
            name: Any = model.name
            assert isinstance(name, str) and name, f"its name is {name!r}"
            await _stream(model, self.request()).aclose()
            if isinstance(model, HasWindow):
                window: Any = model.window
                assert isinstance(window, int) and window >= 0, f"its window is {window!r}"

        self._check(self.make_model, check)

    def test_m1_exactly_one_reply_comes_last(self) -> None:
        """A stream that does not raise gives exactly one `Replied`, as its last event."""

        async def check(model: Model) -> None:
            _replied(await _all(model, self.request()))

        self._check(self.make_model, check)

    def test_m1_nothing_comes_after_the_reply(self) -> None:
        """Asked for more after its reply, a stream ends, each time."""

        async def check(model: Model) -> None:
            async with aclosing(_stream(model, self.request())) as stream:
                async for event in stream:
                    if isinstance(event, Replied):
                        break
                else:
                    raise AssertionError("the stream ended without a reply")
                assert await anext(stream, None) is None, "an event came after the reply"
                assert await anext(stream, None) is None, "an event came after the end"

        self._check(self.make_model, check)

    def test_m1_holds_for_two_calls_at_once(self) -> None:
        """Two streams read at the same time each give their own reply."""

        async def check(model: Model) -> None:
            both = await asyncio.gather(_all(model, self.request()), _all(model, self.request()))
            for events in both:
                assert _replied(events).message.text == _joined(events)

        self._check(self.make_model, check)

    def test_m2_the_pieces_are_the_text(self) -> None:
        """The text pieces after the last `Retry`, joined, equal the reply's text; there is at least one."""

        async def check(model: Model) -> None:
            events = await _all(model, self.request())
            assert any(isinstance(event, TextPiece) for event in events), "no text piece came"
            assert _joined(events) == _replied(events).message.text
            assert _joined(events), "the reply holds no words; override `request` if the model needs another one"

        self._check(self.make_model, check)

    def test_m3_every_call_has_its_own_id(self) -> None:
        """Every tool call has a name and an id, unique in the reply; a model that never calls tools makes none."""
        never = self.make_calling_model() is None

        async def check(model: Model) -> None:
            reply = _replied(await _all(model, self.calling_request()))
            calls = reply.message.calls
            if never:
                assert not calls, "it calls tools: define make_calling_model"
                return
            assert calls, "no tool was called; override `calling_request` if the model needs another one"
            _check_calls(calls)

        self._check(lambda: self.make_calling_model() or self.make_model(), check)

    def test_m4_usage_is_reported_once_and_adds_up(self) -> None:
        """Usage stands in the reply alone; no figure is negative, and no part is larger than its whole."""

        async def check(model: Model) -> None:
            events = await _all(model, self.request())
            told = [event for event in events if getattr(event, "usage", None) is not None]
            assert len(told) <= 1, f"usage came {len(told)} times"
            usage = _replied(events).usage
            if usage is not None:
                assert min(usage.input, usage.output, usage.cached, usage.cache_written, usage.reasoning) >= 0
                assert usage.cached + usage.cache_written <= usage.input
                assert usage.reasoning <= usage.output

        self._check(self.make_model, check)

    def test_m5_failure_is_a_model_error(self) -> None:
        """A call that fails raises a `ModelError`, and gives no reply before it; who never fails answers anything."""
        if self.never_fails:
            self._check(self.make_model, _answers_anything)
            return

        async def check(model: Model) -> None:
            failed = await _failure(model, self.request())
            assert failed is not None, "the failing model did not fail"
            assert isinstance(failed, ModelError), f"it raised {type(failed).__name__}: {failed}"

        self._check(self.make_failing_model, check)

    def test_m6_closing_the_stream_ends_the_work(self) -> None:
        """A stream closed after its first event gives no more, and nothing works on behind it."""

        async def check(model: Model) -> None:
            stream = _stream(model, self.long_request())
            await _first(stream)
            await stream.aclose()
            assert await anext(stream, None) is None, "an event came after closing"
            assert not await self.still_works(model), "work goes on after closing"

        self._check(self.make_model, check)

    def test_m6_cancelling_the_reader_ends_the_work(self) -> None:
        """A task cancelled while it reads ends as cancelled, and nothing works on behind it."""

        async def check(model: Model) -> None:
            reader = asyncio.create_task(_cancelled_while_reading(model, self.long_request()))
            await asyncio.wait([reader])
            assert reader.cancelled(), "the reader was not cancelled"
            assert not await self.still_works(model), "work goes on after cancelling"

        self._check(self.make_model, check)

    def test_m6_the_next_call_is_answered(self) -> None:
        """After a stream was closed early, the same model answers the next request."""

        async def check(model: Model) -> None:
            stream = _stream(model, self.long_request())
            await _first(stream)
            await stream.aclose()
            events = await _all(model, self.request())
            assert _replied(events).message.text == _joined(events)

        self._check(self.make_model, check)

    def test_m7_the_request_is_not_changed(self) -> None:
        """Neither the request nor anything in it is changed."""

        async def check(model: Model) -> None:
            request = self.calling_request()
            before = copy.deepcopy(request)
            await _all(model, request)
            assert request == before

        self._check(self.make_model, check)

    def test_m8_nothing_happens_before_the_first_event(self) -> None:
        """Making a stream does no work and raises nothing, even where the call would fail."""

        async def check(model: Model) -> None:
            stream = _stream(model, self.long_request())
            await asyncio.sleep(0.05)
            assert not await self.still_works(model), "work began before the first event was asked for"
            await stream.aclose()

        self._check(self.make_model, check)
        if not self.never_fails:
            self._check(self.make_failing_model, check)


def _stream(model: Model, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    stream: AsyncIterator[ModelEvent] = model.stream(request)
    assert hasattr(stream, "aclose"), "`stream` is not an async generator function: what it gives cannot be closed"
    return cast("AsyncGenerator[ModelEvent, None]", stream)


async def _all(model: Model, request: ModelRequest) -> list[ModelEvent]:
    async with aclosing(_stream(model, request)) as stream:
        return [event async for event in stream]


async def _first(stream: AsyncGenerator[ModelEvent, None]) -> None:
    event = await anext(stream, None)
    assert event is not None, "no event came"
    assert not isinstance(event, Replied), "the reply came at once; override `long_request` so that it takes a while"


async def _cancelled_while_reading(model: Model, request: ModelRequest) -> None:
    reader = asyncio.current_task()
    async with aclosing(_stream(model, request)) as stream:
        await _first(stream)
        if reader is not None:
            # Arrives at the next point that waits: inside the model, if it waits at all.
            reader.cancel()
        async for _ in stream:
            await asyncio.sleep(0)
    await asyncio.sleep(0)


async def _answers_anything(model: Model) -> None:
    picture = Message.of("user", [Image("image/png", data="AAAA")])
    result = Message.of("tool", [ToolResult.of("c1", "look_up", output={"sky": "clear"})])
    for messages in ([], [Message.of("user", "")], [picture], [result], [Message.of("user", "\ud800 a \x00")]):
        _replied(await _all(model, ModelRequest(messages)))


async def _failure(model: Model, request: ModelRequest) -> Exception | None:
    try:
        async with aclosing(_stream(model, request)) as stream:
            async for event in stream:
                assert not isinstance(event, Replied), "the failing model gave a reply"
    except AssertionError:
        raise
    except Exception as failed:  # isolates: the model is a stranger's, and what it raises is what is looked at
        return failed
    return None


def _replied(events: Sequence[ModelEvent]) -> Replied:
    replies = [event for event in events if isinstance(event, Replied)]
    assert len(replies) == 1, f"{len(replies)} replies came in {len(events)} events"
    assert events[-1] is replies[0], "the reply was not the last event"
    assert replies[0].message.role == "assistant", f"the reply's role is {replies[0].message.role!r}"
    return replies[0]


def _joined(events: Sequence[ModelEvent]) -> str:
    text = ""
    for event in events:
        if isinstance(event, Retry):
            text = ""
        elif isinstance(event, TextPiece):
            text += event.text
    return text


def _check_calls(calls: Sequence[ToolCall]) -> None:
    ids = [call.id for call in calls]
    assert all(ids), f"a call has no id: {ids}"
    assert len(set(ids)) == len(ids), f"calls share an id: {ids}"
    assert all(call.name for call in calls), "a call has no name"
