"""What readers of a turn are told: everything, in order, once, however late and however many they are."""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import (
    Canceled,
    Chat,
    Compacted,
    Compacting,
    Completed,
    ContextBuilt,
    Event,
    Failed,
    Image,
    Message,
    ModelReplied,
    PendingCall,
    ReasoningDelta,
    Reply,
    Retrying,
    StateChanged,
    Steered,
    Text,
    TextDelta,
    ToolCall,
    ToolCalled,
    ToolProgress,
    ToolResult,
    ToolReturned,
    Trace,
    Turn,
    TurnAccepted,
    Usage,
    Waiting,
    journal,
)
from antiphon.chat import _events
from antiphon.chat._log import EventLog
from antiphon.models import ModelRequest, ReasoningPiece, Replied, TextPiece
from antiphon.testing import ScriptedModel
from tests.chat.fakes import gated, passing

pytestmark = pytest.mark.anyio

BEGUN = journal.heading("s", "2026-01-01T00:00:00.000Z")
TURN = Turn(
    [
        journal.TurnAccepted(**BEGUN, turn_id="t", input="hi"),
        journal.TurnCompleted(**BEGUN, turn_id="t", output="hello", usage=Usage(3, 2), model="m"),
    ],
    "completed",
)
REPLY = Reply.of(TURN)
EVENTS: list[Event] = [
    TurnAccepted(),
    ContextBuilt(trace=Trace("t", 1, "m", ())),
    TextDelta("a"),
    ReasoningDelta("b"),
    ModelReplied(message=Message("assistant", (Text("x"), ToolCall.of("1", "f", arguments={"a": 1})))),
    Steered(input="more"),
    Retrying(attempt=1, delay=0.5, reason="busy"),
    Compacted(summary="They spoke of the harbour."),
    Compacting(),
    StateChanged(key="k", value={"a": [1]}),
    Completed(reply=REPLY),
    Failed(error="no", partial="half"),
    Canceled(reason=None),
    ToolCalled(call_id="1", name="f", arguments={"a": 1}),
    ToolProgress(call_id="1", name="f", note="half way", fraction=0.5),
    ToolReturned(call_id="1", name="f", is_error=False),
    Waiting(pending=(PendingCall("1", "t", "f", {"a": [1]}, "ask: 'f'"),), reply=REPLY),
]


async def all_of(events: AsyncIterator[Event]) -> list[Event]:
    """Every event to the last."""
    return [event async for event in events]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_every_event_is_json(event: Event) -> None:
    """to_dict gives JSON with type, seq, turn_id and the event's own fields."""
    found = event.to_dict()
    assert json.loads(json.dumps(found)) == found
    assert (found["type"], found["seq"], found["turn_id"]) == (event.type, 0, "")


def test_every_event_class_is_among_them() -> None:
    """No class of event is left out of the test above, and no two have one type."""
    classes = {cls for _, cls in inspect.getmembers(_events, inspect.isclass) if issubclass(cls, Event)} - {Event}
    assert classes == {type(event) for event in EVENTS}
    assert len({cls.type for cls in classes}) == len(classes)


def test_an_input_of_parts_is_json_that_names_its_parts() -> None:
    """Steering of any parts is told as the content of an OpenAI-style message."""
    parts = (Text("look"), Image("image/png", url="https://x.test/a.png"), ToolResult.of("1", "f", output=[1]))
    found = Steered(input=parts).to_dict()
    assert json.loads(json.dumps(found["input"])) == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
    ]


def test_events_cannot_be_changed() -> None:
    """Events are frozen values."""
    with pytest.raises(AttributeError):
        EVENTS[2].text = "other"  # type: ignore[attr-defined]


async def test_a_plain_turn_in_events() -> None:
    """Accepted, shown, text, completed: numbered without a gap, each with the turn's id, and one end, last."""
    session = await Chat(ScriptedModel("hello")).create_session()
    turn = session.send("hi")
    events = [event async for event in turn]
    assert [event.type for event in events if not isinstance(event, TextDelta)] == [
        "turn.accepted",
        "turn.shown",
        "turn.completed",
    ]
    assert {event.turn_id for event in events} == {turn.id}
    last = events[-1]
    assert isinstance(last, Completed)
    assert last.reply == await turn.result()
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "hello"


async def test_two_readers_and_a_late_one() -> None:
    """Readers at any pace get the same text and the same events, a late one everything from the first."""
    gate, _, session = await gated()
    turn = session.send("hi")
    early = [asyncio.create_task(all_of(turn.events())) for _ in range(2)]
    await gate.begun.wait()
    gate.open()
    await turn.result()
    first, second = await asyncio.gather(*early)
    late = await all_of(turn.events())
    assert first == second == late
    assert [text async for text in turn.text_stream] == ["answered"]


async def test_nobody_has_to_read() -> None:
    """A turn whose events nobody reads, or reads and leaves, goes on to its end."""
    gate, _, session = await gated()
    turn = session.send("hi")
    async for _ in turn:
        break
    gate.open()
    assert (await turn.result()).text == "answered"


async def test_unread_deltas_come_joined() -> None:
    """Text that a reader has not had comes as one piece; what lies between two kinds of text parts them."""
    pieces = [TextPiece("a"), TextPiece("b"), ReasoningPiece("r"), ReasoningPiece("s"), TextPiece("c")]
    model = ScriptedModel([[*pieces, Replied(Message.of("assistant", "abc"))]])
    turn = (await Chat(model).create_session()).send("hi")
    await turn.result()
    deltas = [event async for event in turn if isinstance(event, TextDelta | ReasoningDelta)]
    assert [(type(event), event.text) for event in deltas] == [
        (TextDelta, "ab"),
        (ReasoningDelta, "rs"),
        (TextDelta, "c"),
    ]


async def test_deltas_of_two_calls_are_never_joined() -> None:
    """A late reader gets each call's text apart (A10)."""
    asked = Message("assistant", (Text("looking"), ToolCall("1", "f")))
    turn = (await Chat(ScriptedModel([asked, "found"])).create_session()).send("hi")
    await turn.result()
    assert [event.text async for event in turn if isinstance(event, TextDelta)] == ["looking", "found"]
    types = [event.type async for event in turn]
    assert types == [
        *("turn.accepted", "turn.shown", "text.delta", "model.replied", "tool.returned"),
        *("turn.shown", "text.delta", "turn.completed"),
    ]


async def test_a_reply_without_pieces_is_told_as_text() -> None:
    """A model that only gives its whole reply is told as one piece of text."""
    turn = (await Chat(ScriptedModel([[Replied(Message.of("assistant", "whole"))]])).create_session()).send("hi")
    await turn.result()
    assert [text async for text in turn.text_stream] == ["whole"]


async def test_a_slow_reader_holds_nobody_up() -> None:
    """The model is asked for its next piece whether or not the last was read."""
    asked: list[str] = []

    async def pieces(request: ModelRequest) -> AsyncIterator[str]:
        for text in "abc":
            asked.append(text)
            yield text

    turn = (await Chat(responder=pieces).create_session()).send("hi")  # type: ignore[arg-type]
    async for event in turn:
        if event.type == "turn.accepted":
            await passing(50)
            assert asked == ["a", "b", "c"]
    assert (await turn.result()).text == "abc"


STREAM = st.lists(
    st.one_of(
        st.builds(TextDelta, st.text(max_size=3)),
        st.builds(ReasoningDelta, st.text(max_size=3)),
        st.sampled_from([ModelReplied(message=Message("assistant")), Retrying(attempt=1, delay=0)]),
    ),
    max_size=12,
)


@given(STREAM, st.lists(st.integers(0, 14), max_size=4))
def test_after_any_position_nothing_is_cut_or_repeated(stream: list[Event], pauses: list[int]) -> None:
    """A reader that stops anywhere and goes on behind the last seq it had gets every text once, in order."""

    async def scenario() -> None:
        log = EventLog("t")
        got, after = list[Event](), 0
        for event in [*stream, Canceled(reason=None)]:
            log.emit(event)
            if pauses and len(log._events) >= pauses[0]:
                pauses.pop(0)
                while after < len(log._events):
                    got.append(await anext(log.read(after=after)))
                    after = got[-1].seq
        got += [event async for event in log.read(after=after)]
        assert texts(got) == texts([*stream, Canceled(reason=None)])
        for seq in [0, *(event.seq for event in got)]:
            rest = [event async for event in log.read(after=seq)]
            assert texts(rest) == texts([event for event in got if event.seq > seq])

    asyncio.run(scenario())


def texts(events: list[Event]) -> list[tuple[str, str]]:
    """Kind and text of runs of events, joined as a reader joins them."""
    found: list[tuple[str, str]] = []
    for event in events:
        text = event.text if isinstance(event, TextDelta | ReasoningDelta) else ""
        if found and found[-1][0] == event.type and isinstance(event, TextDelta | ReasoningDelta):
            found[-1] = (event.type, found[-1][1] + text)
        else:
            found.append((event.type, text))
    return found


async def test_after_the_end_there_is_nothing() -> None:
    """Reading behind the last event, or beyond it, ends at once when the turn is over."""
    turn = (await Chat(ScriptedModel("x")).create_session()).send("hi")
    await turn.result()
    last = [event async for event in turn][-1]
    assert await all_of(turn.events(after=last.seq)) == []
    assert await all_of(turn.events(after=1_000)) == []
