"""Traces of turns: one a model call, the same live and read back, and every line sums up."""

import json

import pytest

from antiphon import Assembled, Chat, ContextBuilt, Layer, Message, Store, ToolCall, Trace, View
from antiphon.errors import Misuse
from antiphon.journal import TurnShown
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure

pytestmark = pytest.mark.anyio


def context(view: View) -> Assembled:
    """History, more system text, and a block with the input."""
    said = [message for turn in view.turns for message in turn.messages]
    return Assembled(said, system="Known: ana lives in Rome.", with_input="It is Monday.", warnings=("careful",))


def check_sums(trace: Trace) -> None:
    """Every included line counts once, every place and the headroom add up."""
    assert trace.total == sum(layer.tokens for layer in trace.layers)
    places = trace.totals
    assert places.pop("total") == sum(places.values()) == trace.total
    assert trace.window == trace.total + trace.reserve + trace.margin + trace.headroom
    ids = [layer.id for layer in trace.layers]
    assert len(ids) == len(set(ids))
    assert ids.count("overhead") == 1


async def test_each_call_has_its_trace(store: Store) -> None:
    """A turn of two calls has two traces, that of the events equal to those read back, and each sums up."""
    asked = Message("assistant", (ToolCall("c", "f"),))
    chat = Chat(ScriptedModel([asked, "found", "next"]), store=store, context=context, instructions="Be kind.")
    session = await chat.create_session("s")
    turn = session.send("hi")
    reply = await turn.result()
    told = [event.trace async for event in turn if isinstance(event, ContextBuilt)]
    assert [(trace.call, trace.turn_id, trace.model) for trace in reply.traces] == [
        (1, turn.id, "scripted"),
        (2, turn.id, "scripted"),
    ]
    await session.ask("more")
    reopened = await Chat("echo:", store=store).open_session("s")
    for trace, live in zip(session.traces(turn.id), told, strict=True):
        check_sums(trace)
        assert (trace.rows(), trace.totals, trace.warnings) == (live.rows(), live.totals, live.warnings)
    assert [trace.rows() for trace in reopened.traces()] == [trace.rows() for trace in session.traces()]
    assert len(session.traces()) == 3
    assert reply.trace.rows() == told[1].rows()


async def test_what_a_call_was_shown_has_one_line_each() -> None:
    """Instructions, added system text, history, block, input and overhead each have one line in one place."""
    session = await Chat(ScriptedModel(["a", "b"]), context=context, instructions="Be kind.").create_session()
    await session.ask("hi")
    trace = (await session.ask("more")).trace
    assert {layer.id: layer.where for layer in trace.layers} == {
        "instructions": "system",
        "context": "system",
        "history": "history",
        "block": "input",
        "input": "input",
        "overhead": "input",
    }
    assert all(layer.tokens > 0 for layer in trace.layers)
    assert "careful" in trace.warnings


async def test_system_texts_are_kept_once() -> None:
    """With keep_texts='stable' a system text stands in the journal once, under its digest; with 'none' never."""
    for keep_texts, expected in (("stable", ["Be kind.", "Known: ana lives in Rome."]), ("none", [])):
        chat = Chat(ScriptedModel("x" * 3), context=context, instructions="Be kind.", keep_texts=keep_texts)  # type: ignore[arg-type]
        session = await chat.create_session()
        for _ in range(2):
            await session.ask("hi", model=ScriptedModel("x"))
        shown = [entry async for entry in session.journal() if isinstance(entry, TurnShown)]
        assert [layer.digest is not None for layer in session.traces()[0].layers[:2]] == [True, True]
        texts = [text for entry in shown for text in _texts(entry).values()]
        assert texts == expected


def _texts(entry: TurnShown) -> dict[str, str]:
    found: dict[str, str] = json.loads(bytes(entry.texts_json)) or {}
    return found


async def test_layers_of_a_context_stand_as_given() -> None:
    """A context that gives its own lines has them in the trace, dropped ones with their reason."""

    def layered(view: View) -> Assembled:
        lines = (Layer("mine:kept", "x").kept(3), Layer("mine:late", "y").dropped("too slow", original_tokens=9))
        return Assembled([], with_input="x", layers=lines)

    session = await Chat(ScriptedModel("ok"), context=layered).create_session()
    rows = (await session.ask("hi")).trace.rows()
    assert [(row["layer"], row["status"], row["tokens"], row["reason"]) for row in rows[1:3]] == [
        ("mine:kept", "included", 3, None),
        ("mine:late", "dropped", 0, "too slow"),
    ]


async def test_a_failed_turn_has_the_trace_of_what_it_was_shown() -> None:
    """A call that failed still says what it was shown; one that never was built has no trace."""
    session = await Chat(ScriptedModel(ValueError("no"))).create_session()
    await failure(session.ask("hi"))
    await failure(session.ask("hi", instructions="word " * 50_000))
    assert [len(turn.traces) for turn in session.turns()] == [1, 0]
    with pytest.raises(Misuse, match="no turn 'nope'"):
        session.traces("nope")


async def test_a_recorded_turn_has_no_trace() -> None:
    """Nothing was shown to anybody in a turn from elsewhere."""
    session = await Chat("echo:").create_session()
    turn = await session.record(input="a", output="b")
    assert session.traces(turn.id) == []
