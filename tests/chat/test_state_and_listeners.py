"""The state of a session, who is told of its changes, and who listens to its events."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from antiphon import Chat, FileStore, InMemoryStore, Message, Store, SummaryContext, ToolCall, ToolContext, View, tool
from antiphon.chat import (
    Canceled,
    Compacting,
    Completed,
    ContextBuilt,
    Event,
    Failed,
    StateChanged,
    TextDelta,
    ToolCalled,
    ToolProgress,
    ToolReturned,
    TurnAccepted,
    Waiting,
)
from antiphon.errors import AppendFailed, NotStorable, SessionClosed
from antiphon.testing import ScriptedModel
from tests.chat.fakes import Act, ListStore, failure, gated, passing, types_of

pytestmark = pytest.mark.anyio

VALUES: list[Any] = [None, True, 0, 1.5, "", "text", [], {}, {"a": [1, {"b": None}]}, "half a pair: \ud83d", 10**30]


@pytest.mark.parametrize("value", VALUES, ids=repr)
async def test_a_value_is_kept(store: Store, value: Any) -> None:
    """Any JSON is kept under its key, decoded anew on each access, and read back by another process."""
    session = await Chat("echo:", store=store).create_session("s")
    assert (session.state.get("k"), session.state.get("k", 5)) == (None, 5)
    await session.state.set("k", value)
    reopened = await Chat("echo:", store=store).open_session("s")
    assert (session.state.get("k", 5), reopened.state.get("k", 5)) == (value, value)
    if isinstance(value, dict | list):
        assert session.state.get("k") is not session.state.get("k")
    assert await types_of(session) == ["session.created", "state.changed"]


async def test_what_is_no_json_is_refused() -> None:
    """What JSON cannot hold is refused by its path; nothing is written and nobody is told."""
    session = await Chat("echo:").create_session("s")
    told: list[Any] = []
    session.state.subscribe("k", lambda new, old: told.append(new))
    for value in (float("nan"), {1: 2}, {"a": {1, 2}}, object()):
        assert "state 'k'" in str(await failure(session.state.set("k", value)))
        assert isinstance(await failure(session.state.set("k", value)), NotStorable)
    assert (told, await types_of(session)) == ([], ["session.created"])


async def test_subscribers_are_called_in_order() -> None:
    """Each is called with the new value and the old one, one after another, async ones waited for (P23, B-060)."""
    session = await Chat("echo:").create_session()
    told: list[tuple[str, Any, Any]] = []

    async def slowly(new: Any, old: Any) -> None:
        await asyncio.sleep(0.001)
        told.append(("slow", new, old))

    session.state.subscribe("k", slowly)
    session.state.subscribe("k", lambda new, old: told.append(("quick", new, old)))
    session.state.subscribe("other", lambda new, old: told.append(("other", new, old)))
    await session.state.set("k", [1])
    await session.state.set("k", 2)
    assert told == [("slow", [1], None), ("quick", [1], None), ("slow", 2, [1]), ("quick", 2, [1])]


async def test_subscribers_see_what_is_committed() -> None:
    """A subscriber is called once the change is in the journal; where that fails nobody is told and it is as before."""
    store = ListStore()
    session = await Chat("echo:", store=store).create_session("s")
    seen: list[Any] = []
    session.state.subscribe("k", lambda new, old: seen.append((store.types()[-1], session.state.get("k"))))
    await session.state.set("k", 1)
    store.script = [Act(AppendFailed("s", "full"), writes=False)]
    assert isinstance(await failure(session.state.set("k", 2)), AppendFailed)
    assert (seen, session.state.get("k")) == ([("state.changed", 1)], 1)


EQUAL = [(1, 1), ({"a": 1, "b": [2]}, {"b": [2], "a": 1}), ("é", "é"), (None, None), ([{}], [{}])]
DIFFERENT = [(1, True), (0, False), (1, 1.0), ([1, 2], [2, 1]), ("", None), ("1", 1), ("é", "e\u0301")]


@pytest.mark.parametrize(("first", "second", "changes"), [(*p, 1) for p in EQUAL] + [(*p, 2) for p in DIFFERENT])
async def test_an_equal_value_is_silent(first: Any, second: Any, changes: int) -> None:
    """A value that is the same JSON writes nothing and tells nobody, whatever the order of keys; 1 is not True."""
    session = await Chat("echo:").create_session()
    told: list[Any] = []
    session.state.subscribe("k", lambda new, old: told.append(new))
    for value in (first, second):
        await session.state.set("k", value)
    assert (len(told), (await types_of(session)).count("state.changed")) == (changes, changes)


async def test_an_equal_value_is_silent_under_redaction() -> None:
    """What is redacted to what is there already is no change."""
    session = await Chat("echo:", redact=lambda text: text.replace("secret", "[x]")).create_session()
    for value in ("my secret", "my secret", "my [x]"):
        await session.state.set("k", value)
    assert (await types_of(session)).count("state.changed") == 1


async def test_a_subscriber_that_raises_costs_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    """What a subscriber raises, sync or async, is logged; the others are told and `set` returns."""
    session = await Chat("echo:").create_session()
    told: list[Any] = []

    async def broken(new: Any, old: Any) -> None:
        raise ValueError("mine")

    session.state.subscribe("k", lambda new, old: 1 / 0)
    session.state.subscribe("k", broken)
    session.state.subscribe("k", lambda new, old: told.append(new))
    with caplog.at_level(logging.ERROR, "antiphon"):
        await session.state.set("k", 1)
    assert (told, len(caplog.records)) == ([1], 2)


async def test_a_subscription_ends() -> None:
    """The function that subscribing gave ends it, also while subscribers are being called, and twice is no error."""
    session = await Chat("echo:").create_session()
    told: list[Any] = []
    end = session.state.subscribe("k", lambda new, old: told.append(new))
    await session.state.set("k", 1)
    end()
    end()
    await session.state.set("k", 2)

    def only_once(new: Any, old: Any) -> None:
        told.append(new)
        end_it()

    end_it = session.state.subscribe("k", only_once)
    await session.state.set("k", 3)
    await session.state.set("k", 4)
    assert told == [1, 3]


async def test_a_subscriber_may_change_the_state() -> None:
    """A subscriber that sets another value, of another key or of its own, does not hang."""
    session = await Chat("echo:").create_session()

    async def count(new: Any, old: Any) -> None:
        await session.state.set("count", new)
        if new < 3:
            await session.state.set("k", new + 1)

    session.state.subscribe("k", count)
    async with asyncio.timeout(5):
        await session.state.set("k", 1)
    assert (session.state.get("k"), session.state.get("count")) == (3, 3)


async def test_changes_at_once_are_each_told() -> None:
    """Values that are set at the same time are told one by one, each with the one before it as the old one."""
    session = await Chat("echo:").create_session()
    told: list[tuple[Any, Any]] = []
    session.state.subscribe("k", lambda new, old: told.append((new, old)))
    await asyncio.gather(*(session.state.set("k", n) for n in (1, 2, 3)))
    assert told == [(1, None), (2, 1), (3, 2)]


async def test_state_of_two_processes(tmp_path: Path) -> None:
    """Another process's change is read on opening and when a write meets it; its own subscribers alone are told."""
    mine, theirs = [Chat("echo:", store=FileStore(tmp_path)) for _ in range(2)]
    session = await mine.create_session("s")
    other = await theirs.open_session("s")
    told: list[Any] = []
    session.state.subscribe("k", lambda new, old: told.append((new, old)))
    await other.state.set("k", "theirs")
    assert session.state.get("k") is None
    await session.state.set("other", 1)
    assert (session.state.get("k"), told) == ("theirs", [])
    await session.state.set("k", "theirs")
    await session.state.set("k", "mine")
    assert told == [("mine", "theirs")]
    assert (await theirs.open_session("s")).state.get("k") == "mine"


async def test_state_and_a_running_turn() -> None:
    """State may change while a turn runs, is there for the next context, and stays when the context is cleared."""
    states: list[Any] = []

    def context(view: View) -> list[Message]:
        states.append(dict(view.state))
        return []

    gate, chat, session = await gated()
    turn = session.send("hi")
    await gate.begun.wait()
    await session.state.set("k", 1)
    gate.open()
    await turn.result()
    await session.clear_context()
    await session.preview("x", context=context)
    assert states == [{"k": 1}]
    await chat.aclose()
    assert isinstance(await failure(session.ask("x")), SessionClosed)


async def test_listeners_hear_a_turn() -> None:
    """Listeners hear their class of events, in order, with seq and turn; `Event` stands for all."""
    session = await Chat(ScriptedModel(["one two", "three"])).create_session()
    heard: list[Event] = []
    texts: list[str] = []
    session.events.on(Event, heard.append)
    session.events.on(TextDelta, lambda event: texts.append(event.text))
    turn = session.send("hi")
    await turn.result()
    read = [event async for event in turn]
    assert "".join(texts) == "one two"
    assert [event.seq for event in heard] == list(range(1, len(heard) + 1))
    assert {event.turn_id for event in heard} == {turn.id}
    kinds = [type(event) for event in heard if not isinstance(event, TextDelta)]
    assert kinds == [type(event) for event in read if not isinstance(event, TextDelta)]
    assert kinds == [TurnAccepted, ContextBuilt, Completed]


async def test_once_and_off() -> None:
    """`once` hears one event and no more; `off` ends either, and one that never listened stays away."""
    session = await Chat(ScriptedModel(["a"] * 4)).create_session()
    heard: list[str] = []

    def on(event: Completed) -> None:
        heard.append("on")

    def once(event: Completed) -> None:
        heard.append("once")

    session.events.on(Completed, on)
    session.events.once(Completed, once)
    await session.ask("1")
    await session.ask("2")
    session.events.once(Completed, once)
    session.events.off(Completed, once)
    session.events.off(Completed, on)
    session.events.off(Failed, print)
    await session.ask("3")
    assert heard == ["on", "once", "on"]


async def test_a_listener_may_leave_while_it_is_called() -> None:
    """A listener that ends another one, or itself, while events are told, is obeyed at once."""
    session = await Chat("echo:").create_session()
    heard: list[str] = []

    def second(event: StateChanged) -> None:
        heard.append("second")

    def first(event: StateChanged) -> None:
        heard.append("first")
        session.events.off(StateChanged, second)
        session.events.off(StateChanged, first)

    session.events.on(StateChanged, first)
    session.events.on(StateChanged, second)
    await session.state.set("k", 1)
    await session.state.set("k", 2)
    assert heard == ["first"]


async def test_listeners_that_raise_cost_only_themselves(caplog: pytest.LogCaptureFixture) -> None:
    """What a listener raises, sync or async, is logged; the turn and the other listeners go on (P22)."""
    session = await Chat("echo:").create_session()
    heard: list[str] = []

    async def broken(event: Event) -> None:
        raise ValueError("mine")

    session.events.on(Event, lambda event: 1 / 0)
    session.events.on(Completed, broken)
    session.events.on(Completed, lambda event: heard.append(event.reply.text))
    with caplog.at_level(logging.ERROR, "antiphon"):
        reply = await session.ask("hi")
        await passing(3)
    assert heard == [reply.text]
    assert any("raised" in record.getMessage() for record in caplog.records)
    assert session.turns()[0].status == "completed"


async def test_async_listeners_run_beside_the_turn() -> None:
    """An async listener runs as its own task: one that never ends holds up neither the turn nor the Chat."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def slow(event: TurnAccepted) -> None:
        begun.set()
        await ended.wait()

    async with Chat("echo:") as chat:
        session = await chat.create_session()
        session.events.on(TurnAccepted, slow)
        assert (await session.ask("hi")).text
        assert begun.is_set()
    ended.set()
    await passing(3)


async def test_a_failure_that_nobody_hears_raises_nothing() -> None:
    """A failed turn is told to who listens, with its phase, and costs nothing where nobody does (P22)."""
    session = await Chat(ScriptedModel([ValueError("no"), ValueError("no")])).create_session()
    turn = session.send("unheard")
    await asyncio.wait({asyncio.ensure_future(turn.accepted())})
    assert isinstance(await failure(turn.result()), ValueError)
    heard: list[Failed] = []
    session.events.on(Failed, heard.append)
    await failure(session.ask("heard"))
    assert [(event.error, event.phase) for event in heard] == [("no", "send")]


async def test_listeners_hear_of_state_and_summaries() -> None:
    """State changes and summaries being written are events of the session, too."""
    context = SummaryContext(lambda messages: "they met", keep_recent=0, compact_after=1)
    session = await Chat("echo:", context=context).create_session()
    heard: list[Event] = []
    for kind in (StateChanged, Compacting, Canceled):
        session.events.on(kind, heard.append)
    await session.state.set("k", [1])
    for text in "abc":
        await session.ask(text)
    assert [type(event) for event in heard] == [StateChanged, Compacting]
    assert heard[0].to_dict() == {
        "type": "state.changed",
        "seq": 0,
        "turn_id": "",
        "key": "k",
        "value": [1],
        "old": None,
    }


async def test_a_change_of_state_tells_the_value_before() -> None:
    """The event has the old value beside the new one (B-056, B-061), and equal values tell nobody (B-063)."""
    session = await Chat("echo:").create_session()
    heard: list[Any] = []
    session.events.on(StateChanged, lambda event: heard.append((event.key, event.old, event.value)))
    for value in ([1], [1], 2):
        await session.state.set("k", value)
    assert heard == [("k", None, [1]), ("k", [1], 2)]


async def test_listeners_hear_of_tools() -> None:
    """A call that starts, what it says while it runs, its result, and a call that waits (P22, B-052, B-053)."""

    async def act(ctx: ToolContext[Any], n: int) -> list[int]:
        ctx.progress("half", fraction=0.5)
        return [n, n]

    called = [Message("assistant", (ToolCall.of("c", name, arguments={"n": 1}),)) for name in ("act", "ask")]
    tools = [tool(name="act")(act), tool(name="ask", needs_approval=True)(act)]
    session = await Chat(ScriptedModel(called), tools=tools).create_session()
    heard: list[Any] = []
    session.events.on(ToolCalled, lambda event: heard.append((event.name, event.arguments)))
    session.events.on(ToolProgress, lambda event: heard.append((event.note, event.fraction)))
    session.events.on(ToolReturned, lambda event: heard.append((event.name, event.output, event.is_error)))
    session.events.on(Waiting, lambda event: heard.append([call.name for call in event.pending]))
    await session.ask("hi")
    assert heard == [("act", {"n": 1}), ("half", 0.5), ("act", [1, 1], False), ["ask"]]


@pytest.mark.parametrize(("on_failure", "phases"), [("fail", ["compact"]), ("trim", [])])
async def test_a_failure_says_its_phase(on_failure: Any, phases: list[str]) -> None:
    """A turn that fails for want of a summary says so, read back too; one that goes on without has not failed."""
    summarizer = ScriptedModel([ValueError("no")] * 4)
    context = SummaryContext(summarizer, keep_recent=0, compact_after=1, on_failure=on_failure)
    store = InMemoryStore()
    session = await Chat("echo:", context=context, store=store).create_session("s")
    heard: list[str] = []
    session.events.on(Failed, lambda event: heard.append(event.phase))
    for text in "ab":
        await session.ask(text)
    await asyncio.gather(session.send("c", key="k").result(), return_exceptions=True)
    known = (await Chat("echo:", store=store).open_session("s")).send("c", key="k")
    last = [event async for event in known][-1]
    assert (heard, [last.phase] if isinstance(last, Failed) else []) == (phases, phases)


async def test_listeners_of_one_session_hear_no_other() -> None:
    """Sessions have their own listeners and their own state, in one Chat and in two."""
    store = InMemoryStore()
    chat = Chat("echo:", store=store)
    first, second = await chat.create_session("a"), await chat.create_session("b")
    heard: list[Event] = []
    first.events.on(Event, heard.append)
    await second.ask("hi")
    await second.state.set("k", 1)
    await (await Chat("echo:", store=store).open_session("a")).ask("hi")
    assert (heard, first.state.get("k")) == ([], None)
    assert (await chat.open_session("a")).events is first.events


async def test_a_kept_call_in_the_state_is_no_permission() -> None:
    """State is data: what stands in it under any name changes neither what is offered nor what runs."""
    call = Message("assistant", (ToolCall.of("c", "shell", arguments={}),))
    session = await Chat(ScriptedModel([call, "done"])).create_session()
    await session.state.set("tools", ["shell"])
    assert (await session.ask("hi")).text == "done"
    assert "nothing was run" in session.turns()[0].messages[2].results[0].text
