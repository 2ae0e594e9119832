"""A session's calls as another context would have had them shown."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from antiphon import (
    Assembled,
    Chat,
    FullContext,
    InMemoryStore,
    LayeredContext,
    Message,
    Session,
    SummaryContext,
    ToolCall,
    View,
)
from antiphon._trace import Layer, Trace
from antiphon.chat._what_if import what_if, with_window
from antiphon.chat._what_if_result import placed
from antiphon.context import Budget
from antiphon.context._budget import budget_for
from antiphon.errors import Misuse
from antiphon.journal import ContextCompacted, encode, heading
from antiphon.models import ModelRequest
from antiphon.testing import ScriptedModel
from tests.chat.fakes import AT, ListStore, failure

pytestmark = pytest.mark.anyio


async def asked(inputs: Sequence[str], **options: Any) -> Session:
    """A session in which this was said, answered with `fine`."""
    session = await Chat(ScriptedModel(lambda request: "fine"), **options).create_session("s")
    for text in inputs:
        await session.ask(text)
    return session


class Watching:
    """A context that shows everything, and keeps what it was given to look at."""

    def __init__(self) -> None:
        self.views: list[View] = []

    def build(self, view: View) -> Assembled:
        """Show everything."""
        self.views.append(view)
        return FullContext().build(view)


async def with_tool_rounds() -> Session:
    """A session whose second turn has two calls of a tool, and three of the model."""

    def call(id: str) -> Message:
        return Message("assistant", (ToolCall.of(id, "look_up", arguments={"what": id}),))

    session = await Chat(ScriptedModel(["x", call("a"), call("b"), "y", "z"])).create_session()
    for text in ("one", "two", "three"):
        await session.ask(text)
    return session


async def test_the_same_context_gives_what_was_sent() -> None:
    """Under the context it was made with, every call of a session comes out as its trace says it was sent."""
    session = await with_tool_rounds()
    found = await what_if(session, FullContext())
    sent = [(trace.turn_id, trace.call, trace.total, trace.totals["history"]) for trace in session.traces()]
    assert [(call.turn_id, call.call, call.tokens, call.history) for call in found.calls] == sent
    assert [(call.turn, call.call) for call in found.calls] == [(1, 1), (2, 1), (2, 2), (2, 3), (3, 1)]


async def test_the_layered_context_gives_what_was_sent() -> None:
    """Where history is cut, within turns too, every call comes out as sent: size, beginning and what it shares."""

    def answer(request: ModelRequest) -> str | Message:
        if request.messages[-1].role == "user":
            return Message("assistant", (ToolCall.of("c", "look_up", arguments={"what": "x" * 500}),))
        return "fine " * 60

    context = LayeredContext(window=1_800, summarizer=_short)
    chat = Chat(ScriptedModel(answer), store=InMemoryStore(), context=context, instructions="Be brief.")
    session = await chat.create_session()
    for n in range(14):
        await session.ask(f"question {n} " + "word " * 30)
    found = await what_if(session, context)
    sent = [(trace.total, _since(trace), trace.shared or 0) for trace in session.traces()]
    assert [(call.tokens, call.boundary, call.shared) for call in found.calls] == sent
    assert found.moves > 2


def _since(trace: Trace) -> str | None:
    return next((layer.since for layer in trace.layers if layer.since), None)


async def test_calls_that_go_on_share_the_call_before() -> None:
    """A history that only grows is shared whole, within a turn and over turns; nothing moved."""
    found = await what_if(await with_tool_rounds(), FullContext())
    shared, sent = [call.shared for call in found.calls], [call.tokens for call in found.calls]
    assert shared == [0, *sent[:-1]]
    assert (found.total, found.sent, found.shared_tokens, found.moves) == (5, sum(sent), sum(shared), 0)


async def test_imported_turns_have_calls_too() -> None:
    """Turns without any trace count a call a reply, or one where there is none."""
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    said: list[dict[str, Any]] = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "found"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "three"},
    ]
    session = await Chat(store=InMemoryStore()).import_session(said)
    found = await what_if(session, FullContext(), window=1_000)
    assert [(each.turn, each.call) for each in found.calls] == [(1, 1), (1, 2), (2, 1)]
    broken_off = await Chat(store=InMemoryStore()).import_session(said[:3])
    assert (await what_if(broken_off, FullContext())).total == 1
    assert [each.window for each in found.calls] == [1_000] * 3
    assert found.calls[1].shared == found.calls[0].tokens


async def test_a_call_that_failed_is_a_call() -> None:
    """A call without a reply is built as well, and its turn stands in no later history."""
    session = await Chat(ScriptedModel(["x", ValueError("no"), "y"])).create_session()
    await session.ask("a")
    await failure(session.ask("b"))
    await session.ask("c")
    found = await what_if(session, FullContext())
    assert [call.tokens for call in found.calls] == [trace.total for trace in session.traces()]


async def test_what_was_said_too_late_for_a_call_that_failed() -> None:
    """What a person says while a call is answered stands in none, where no other call followed."""

    async def first(request: ModelRequest) -> Exception:
        await turn.steer("oyster " * 40)
        return ValueError("no")

    session = await Chat(ScriptedModel([first])).create_session()
    turn = session.send("a")
    await failure(turn.result())
    found = await what_if(session, FullContext())
    assert [call.tokens for call in found.calls] == [trace.total for trace in session.traces()]


async def test_a_call_that_does_not_fit_is_a_row() -> None:
    """What is too large is refused in its row, with the sentence, and the calls behind it go on."""
    session = await asked(["a", "word " * 300, "c"])
    found = await what_if(session, lambda view: [], window=200)
    assert [call.status for call in found.calls] == ["shown", "refused", "shown"]
    assert found.calls[1].error is not None
    assert "the window holds 200 tokens" in found.calls[1].error
    assert (found.calls[1].tokens, found.refused, found.calls[1].needed > 200) == (0, 1, True)


async def test_a_turn_sees_what_stood_before_it_then() -> None:
    """Each turn's view holds the turns before it, since the last clearing by then, its own input and state."""
    session = await asked(["a", "b"])
    await session.clear_context()
    await session.state.set("mood", "fine")
    for text in ("c", "d"):
        await session.ask(text)
    await session.state.set("mood", "tired")
    watching = Watching()
    await what_if(session, watching)
    seen = [(view.query, [turn.input for turn in view.turns], dict(view.state)) for view in watching.views]
    mood = {"mood": "fine"}
    assert seen == [("a", [], {}), ("b", ["a"], {}), ("c", [], mood), ("d", ["c"], mood)]
    assert len({id(view.cache) for view in watching.views}) == 1
    assert [view.turn_id for view in watching.views] == [turn.id for turn in session.turns()]


async def test_what_was_asked_for_by_then() -> None:
    """A view holds the metadata of the input, not of the reply, and what was asked to be summarised by then."""
    store = InMemoryStore()
    session = await asked(["a", "b", "c"], store=store)
    last = [line async for line in store.read("s")][-1]
    compacted = encode(ContextCompacted(**heading("s", AT), up_to=session.turns()[1].id))
    await store.append("s", [compacted], if_last=last.id)
    session = await Chat(ScriptedModel(["x"]), store=store).open_session("s")
    await session.ask("d", metadata={"page": 7})
    watching = Watching()
    await what_if(session, watching)
    assert [[(each.after, each.covers) for each in view.compactions] for view in watching.views] == [[]] * 3 + [
        [(3, 2)]
    ]
    assert [dict(view.metadata) for view in watching.views] == [{}] * 3 + [{"page": 7}]


async def test_another_window_keeps_the_counter() -> None:
    """Under another window the same counter counts under the same name, and the margin is what it needs there."""
    known = Budget(window=8_000, reserve=100, margin=0, counter=len, counter_name="characters")
    found = with_window(known, 1_000)
    assert (found.window, found.counter, found.counter_name) == (1_000, len, "characters")
    assert found.margin == budget_for(1_000, counter=len).margin


async def test_instructions_are_those_that_were_sent() -> None:
    """Each turn has the instructions of its time, none where it had none; an imported one has the Chat's."""
    session = await Chat(ScriptedModel(lambda request: "fine"), instructions="Be kind.").create_session()
    await session.ask("a")
    await session.ask("b", instructions="Be rude.")
    watching = Watching()
    await what_if(session, watching)
    assert [view.instructions for view in watching.views] == ["Be kind.", "Be rude."]
    other = await Chat("echo:", instructions=lambda view: f"On {view.query}.").import_session(session.messages())
    await what_if(other, watching)
    assert [view.instructions for view in watching.views[2:]] == ["On a.", "On b."]


async def test_a_read_session_needs_no_model() -> None:
    """Without a model to ask, the window is the last recorded one's, a named model's, or the one that is given."""
    store = InMemoryStore()
    await asked(["a"], store=store)
    session = await Chat(store=store).open_session("s")
    recorded = session.traces()[-1]
    found = await what_if(session, FullContext())
    assert (found.model, found.calls[0].window) == (recorded.model, recorded.window)
    assert (await what_if(session, FullContext(), model="echo:")).model == "echo:"
    assert (await what_if(session, FullContext(), window=77)).calls[0].window == 77
    for nothing in (0, -1):
        with pytest.raises(Misuse, match="holds nothing"):
            await what_if(session, FullContext(), window=nothing)


async def test_nobody_is_asked_and_nothing_is_written() -> None:
    """A summary that was kept is used, one that was not is missing; no model is asked and no line is written."""
    store = ListStore()
    session = await asked(["a", "b", "c", "d"], store=store)
    appends = len(store.appends)
    summarizer = ScriptedModel(["short"])
    found = await what_if(session, SummaryContext(summarizer, keep_recent=1, compact_after=2))
    assert (summarizer.requests, len(store.appends)) == ([], appends)
    assert found.calls[-1].dropped == ("summary",)


async def test_summaries_that_were_kept_are_used() -> None:
    """What was summarised in the session's own turns is compacted here, too, at its size; others' summaries are not."""
    context = SummaryContext(_short, keep_recent=1, compact_after=2)
    session = await asked(["a", "b", "c", "d"], store=InMemoryStore(), context=context)
    found = await what_if(session, context)
    assert found.calls[-1].compacted == ("summary",)
    assert found.calls[-1].tokens == session.traces()[-1].total
    other = await what_if(session, SummaryContext("echo:", keep_recent=1, compact_after=2))
    assert (other.calls[-1].compacted, other.calls[-1].dropped) == ((), ("summary",))


def _short(messages: Sequence[Message]) -> str:
    return "short"


async def test_where_the_history_begins_and_when_it_moves() -> None:
    """A call says where its history begins, and whether that is elsewhere than in the call before."""
    session = await asked(["a", "b", "c", "d", "e"])
    found = await what_if(session, SummaryContext(keep_recent=2, compact_after=3))
    third = session.turns()[1].id
    assert [call.boundary for call in found.calls] == [None] * 4 + [third]
    assert [call.moved for call in found.calls] == [False] * 4 + [True]
    assert (found.moves, found.calls[-1].begins) == (1, "turn 2")
    assert found.calls[-1].happened == ("history begins at turn 2", "without summary")


async def test_a_boundary_within_a_turn() -> None:
    """A history that begins with a turn's later reply is told by turn and reply, and stubs that move are a move."""

    def cut(view: View) -> Assembled:
        stubbed = None if len(view.turns) < 2 else view.turns[1].id
        since = f"{view.turns[0].id}#2" if view.turns else None
        line = Layer("history", "", kind="history").cut(since=since, stubbed=stubbed, original_tokens=0, reason=None)
        return Assembled([], layers=[line])

    found = await what_if(await asked(["a", "b", "c", "d"]), cut)
    assert [call.begins for call in found.calls] == ["", *["turn 1, reply 2"] * 3]
    assert [call.moved for call in found.calls] == [False, True, True, False]
    assert [call.only_stubs for call in found.calls] == [False, False, True, False]
    assert found.calls[2].happened == ("long results before turn 2 are stubs",)
    assert found.calls[-1].stubbed == found.calls[1].turn_id


def test_a_boundary_behind_the_last_turn() -> None:
    """A place is told as people read it: a turn, a reply in it, or its end."""
    numbers = {"t": 4}
    assert [placed(f"t{rest}", numbers) for rest in ("", "#2", "#end")] == [
        "turn 4",
        "turn 4, reply 2",
        "the end of turn 4",
    ]


async def test_only_some_turns() -> None:
    """Turns that are not asked for get no row, and stand in the history of the others."""
    session = await asked(["a", "b", "c"])
    every = await what_if(session, FullContext())
    last = await what_if(session, FullContext(), turns=range(3, 10))
    assert [(call.turn, call.tokens) for call in last.calls] == [(3, every.calls[2].tokens)]


async def test_forms_of_the_result() -> None:
    """The result gives rows, JSON, a table with the sums, and a plot in a notebook."""
    found = await what_if(await asked(["a", "word " * 300]), FullContext(), window=200)
    assert [row["tokens"] for row in found.rows()] == [call.tokens for call in found.calls]
    told = json.loads(json.dumps(found.to_json()))
    assert [told[name] for name in ("total", "sent", "shared", "moves", "refused")] == [2, found.sent, 0, 0, 1]
    assert [each["number"] for each in told["calls"]] == [1, 2]
    head, *rows, which, sums = str(found).splitlines()
    assert head.split()[:3] == ["turn", "calls", "sent"]
    assert rows[1].endswith(f"refused: needs {found.calls[1].needed:,}")
    assert which == f"FullContext · {found.model} · window 200"
    assert sums.startswith(f"2 calls · {found.sent:,} tokens sent · 0 (0%) as in the call before")
    assert "<svg" in found._repr_html_()


async def test_a_table_of_turns_or_of_calls() -> None:
    """A turn's row is its last call and counts them; asked for every call, each has its own."""
    found = await what_if(await with_tool_rounds(), FullContext())
    assert [(row[0], row[1]) for row in found.cells()] == [("1", "1"), ("2", "3"), ("3", "1")]
    assert [row[1] for row in found.cells(every_call=True)] == ["1", "1", "2", "3", "1"]
    assert found.cells()[1][2] == f"{found.calls[3].tokens:,}"


async def test_a_session_without_turns() -> None:
    """Where nothing was said there is nothing to build, and the sums are nought."""
    found = await what_if(await asked([]), FullContext())
    assert (found.total, found.sent, found.rows(), found.cells()) == (0, 0, [], [])
    assert "<svg" in found._repr_html_()
