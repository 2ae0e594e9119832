"""`what-if`, `trace` and `preview`: what would have been shown, what was, what differs, and what would be."""

import asyncio
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from antiphon import (
    Assembled,
    Chat,
    FileStore,
    FullContext,
    Line,
    Message,
    Replied,
    SummaryContext,
    TurnRequest,
    Usage,
    View,
)
from antiphon._trace import Layer, Trace
from antiphon.cli._trace_diff import changes
from antiphon.cli._trace_table import bar_lengths
from antiphon.journal import SessionCreated, TurnAccepted, TurnCompleted, TurnShown, encode, heading
from antiphon.testing import ScriptedModel
from tests.cli.running import Terminal


def talked(terminal: Terminal, count: int, session_id: str = "a", *, usage: Usage | None = None) -> None:
    """A session of so many turns, the first ones of it summarised."""

    async def talk() -> None:
        model = ScriptedModel(lambda _: Replied(Message.of("assistant", "fine"), usage=usage), window=4_000)
        context = SummaryContext(lambda _: "They talked.", keep_recent=1, compact_after=3)
        async with Chat(model, store=FileStore(terminal.store), context=context, instructions="Be kind.") as chat:
            session = await chat.create_session(session_id)
            for n in range(count):
                await session.ask(f"question {n} " + "word " * 20)

    asyncio.run(talk())


def lines(out: str) -> list[str]:
    """Lines with single spaces."""
    return [" ".join(line.split()) for line in out.splitlines()]


# --- what-if -----------------------------------------------------------------------------------------------------


def test_a_session_under_another_context(terminal: Terminal) -> None:
    """`what-if` has a line a turn and the sums; the journal stays as it is."""
    talked(terminal, 5)
    before = terminal.journal("a").read_bytes()
    ran = terminal.run("what-if", "a", "--context", "full", "--window", "2000")
    head, *rows, _, which, sums = lines(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert head.split()[:4] == ["turn", "sent", "system", "history"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3", "4", "5"]
    assert which == "FullContext · scripted · window 2,000"
    assert sums.startswith("5 calls · ")
    assert terminal.journal("a").read_bytes() == before


def test_what_does_not_fit_is_a_line(terminal: Terminal) -> None:
    """A call that does not fit is refused in its line, and the command ends well."""
    talked(terminal, 5)
    ran = terminal.run("what-if", "--context", "full", "--window", "150", "--calls")
    assert ran.code == 0
    assert re.fullmatch(r"5 refused: needs \d+", lines(ran.out)[5])


def test_contexts_by_name(terminal: Terminal) -> None:
    """By default the layered context is used; `--keep-recent` is the summary's and the layered one's."""
    talked(terminal, 9)
    assert json.loads(terminal.run("what-if", "--json").out)["context"] == "LayeredContext"
    told = json.loads(terminal.run("what-if", "a", "--json", "--context", "summary", "--keep-recent", "4").out)
    assert (told["context"], told["moves"], told["total"]) == ("SummaryContext", 0, 9)
    ran = terminal.run("what-if", "a", "--context", "full", "--keep-recent", "4")
    assert (ran.code, "keeps every turn" in ran.refusal) == (2, True)


def test_a_named_model_is_asked_for_its_window_only(terminal: Terminal) -> None:
    """`-m` names whose window counts."""
    talked(terminal, 1)
    told = json.loads(terminal.run("what-if", "a", "-m", "echo:", "--json").out)
    assert (told["model"], told["calls"][0]["window"]) == ("echo:", 8_192)
    assert terminal.run("what-if", "a", "-m", "nope:x").code == 2


def test_a_plot_in_a_file(terminal: Terminal) -> None:
    """`--plot` draws into a file, and says so beside the table."""
    talked(terminal, 3)
    path = terminal.home / "plot.svg"
    ran = terminal.run("what-if", "a", "--plot", str(path), "--json")
    assert ran.err == f"drawn into {path}\n"
    assert json.loads(ran.out)["total"] == 3
    assert ET.fromstring(path.read_text("utf-8")).tag.endswith("svg")
    assert terminal.run("what-if", "a", "--plot", str(terminal.home / "no" / "x.svg")).code == 2


def test_a_file_of_messages(terminal: Terminal) -> None:
    """A file is read as by `import`, and kept nowhere; one that cannot be read is refused with the place."""
    path = terminal.home / "a.json"
    said = [{"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}]
    path.write_text(json.dumps(said))
    ran = terminal.run("what-if", str(path), "--window", "500", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert [each["window"] for each in json.loads(ran.out)["calls"]] == [500]
    assert not terminal.store.exists()
    path.write_text("[1]")
    assert "message 1 of" in terminal.run("what-if", str(path)).refusal


@pytest.mark.parametrize("args", [("nope",), ("nope.json",), ("empty",), ("--window", "0"), ("--context", "x")])
def test_what_if_refuses(terminal: Terminal, args: Sequence[str]) -> None:
    """Unknown sessions and contexts, windows that hold nothing, and sessions without a turn are refused."""
    talked(terminal, 0, "empty")
    ran = terminal.run("what-if", *args)
    assert (ran.code, bool(ran.refusal)) == (2, True)


def test_columns_that_say_nothing_are_left_out(terminal: Terminal) -> None:
    """The table says how many calls a turn had, or which one a line is, only where a turn has several."""
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "y"},
        {"role": "assistant", "content": "z"},
    ]
    path = terminal.home / "a.json"
    path.write_text(json.dumps(said))
    head, row, *_ = lines(terminal.run("what-if", str(path)).out)
    assert head == "turn calls sent history input free as before what happened"
    assert row.startswith("1 2 ")
    assert [line[:4] for line in lines(terminal.run("what-if", str(path), "--calls").out)[:3]] == [
        "turn",
        "1 1 ",
        "1 2 ",
    ]


# --- trace -------------------------------------------------------------------------------------------------------


def test_a_trace_shows_the_window_and_the_layers(terminal: Terminal) -> None:
    """`trace` says how the window is shared, as a bar, too, and has a line a layer with what it was and why."""
    talked(terminal, 5)
    head, window, bar, legend, names, *rows = lines(terminal.run("trace", "a").out)
    assert re.fullmatch(r"turn 5 \([\w-]+\), call 1 · scripted", head)
    assert re.match(r"window 4,000 = \d+ sent \+ 500 for the reply \+ 350 margin \+ [\d,]+ free$", window)
    assert re.fullmatch(r"\[s+h+i+r+m+\.+\]", bar)
    assert len(bar) == 66
    assert legend.startswith("s system ")
    assert " . free " in legend
    assert names == "layer where status tokens was why"
    assert re.match(r"summary history compacted \d+ \d+ 2 turns; summary by", rows[1])
    assert rows[4].startswith("overhead input included")


def test_a_trace_shows_what_the_provider_said(terminal: Terminal) -> None:
    """Where the provider reported tokens, and some read from its cache, the trace says so, also as JSON."""
    talked(terminal, 1, usage=Usage(input=90, output=7, cached=64))
    last = terminal.run("trace", "a").out.splitlines()[-1]
    assert "read from cache 64 · the provider counted 90 sent, 7 in the reply" in last
    told = json.loads(terminal.run("trace", "a", "--json").out)
    assert (told["usage"]["cached"], told["usage"]["input"]) == (64, 90)


def test_a_report_belongs_to_its_call(terminal: Terminal) -> None:
    """What was reported of a later call is not said of one that broke off before."""

    def entry(cls: Callable[..., Any], **fields: Any) -> Line:
        return encode(cls(**heading("b", "2026-01-02T03:04:05.678Z"), **fields))

    def shown(call: int) -> Line:
        return entry(TurnShown, turn_id="t", call=call, model="m", trace_json=trace(Layer("input", "")).to_json())

    usage = Usage(input=90, output=7)
    accepted = entry(TurnAccepted, turn_id="t", input="x")
    completed = entry(TurnCompleted, turn_id="t", output="y", usage=usage)
    entries = [entry(SessionCreated), accepted, shown(1), shown(2), completed]
    asyncio.run(FileStore(terminal.store).create("b", entries))
    told = [json.loads(terminal.run("trace", "b", "1", "--call", n, "--json").out)["usage"] for n in ("1", "2")]
    assert (told[0], told[1]["input"]) == (None, 90)


def test_what_differs_between_two_turns(terminal: Terminal) -> None:
    """`trace --diff` names the first layer that differs and lists the others with their sizes, also as JSON."""
    talked(terminal, 5)
    head, first, names, *rows = lines(terminal.run("trace", "a", "--diff", "4", "5").out)
    assert head.startswith("turn 4, call 1 (")
    assert first == "the first layer that differs is summary (history): appeared"
    assert names == "layer where before now by what differs"
    assert [row.split()[0] for row in rows] == ["summary", "history", "overhead"]
    told = json.loads(terminal.run("trace", "--diff", "4", "5", "--json").out)
    assert [told[name]["number"] for name in ("before", "now")] == [4, 5]
    first_change = told["changes"][0]
    assert (first_change["layer"], first_change["where"], first_change["before"]) == ("summary", "history", None)
    assert (first_change["now"] > 0, first_change["what"]) == (True, "appeared")
    assert "nothing differs" in terminal.run("trace", "--diff", "3", "3").out


@pytest.mark.parametrize(
    "args",
    [("a", "1", "--diff", "1", "2"), ("--diff", "1", "9"), ("--diff", "1", "x"), ("--diff", "1", "2", "--call", "1")],
)
def test_diff_refuses(terminal: Terminal, args: Sequence[str]) -> None:
    """Turns that are not there, and a third one beside the two, are refused."""
    talked(terminal, 2)
    ran = terminal.run("trace", *args)
    assert (ran.code, bool(ran.refusal)) == (2, True)


def trace(*layers: Layer) -> Trace:
    """A trace of these layers."""
    return Trace("t", 1, "m", layers)


def test_every_way_to_differ() -> None:
    """Layers that appeared, are gone, have another text, another fate, another beginning or another size are named."""
    old, gone = Layer("memory", "x").kept(5, digest="1"), Layer("gone", "x").kept(3)
    same, history = Layer("same", "x").kept(2, digest="2"), Layer("history", "", kind="history")
    before = trace(old, gone, same, history.kept(9), Layer("docs", "x").kept(4))
    now = trace(
        old.kept(5, digest="3"),
        Layer("new", "").kept(1),
        same,
        history.kept(9).cut(since="t", stubbed="u", original_tokens=0, reason=None),
        Layer("docs", "x").dropped("no room left"),
    )
    assert [(change.layer, change.before, change.now, change.what) for change in changes(before, now)] == [
        ("memory", 5, 5, "another text"),
        ("new", None, 1, "appeared"),
        ("gone", 3, None, "gone"),
        ("history", 9, 9, "begins elsewhere, other parts are stubs"),
        ("docs", 4, 0, "included, now dropped, shorter"),
    ]


@pytest.mark.parametrize(
    ("sizes", "width", "lengths"),
    [
        ({"a": 1, "b": 1}, 10, {"a": 5, "b": 5}),
        ({"a": 1, "b": 10_000}, 10, {"a": 1, "b": 9}),
        ({"a": 1, "b": 1, "c": 1}, 64, {"a": 22, "b": 21, "c": 21}),
        ({"a": 1, "b": 1, "c": 1}, 2, {"a": 1, "b": 1, "c": 1}),
    ],
)
def test_a_bar_shares_its_cells(sizes: dict[str, int], width: int, lengths: dict[str, int]) -> None:
    """A bar is as wide as it may be, and whatever is there is seen."""
    assert bar_lengths(sizes, width) == lengths


def test_an_unknown_window_has_a_bar_of_what_was_sent(terminal: Terminal) -> None:
    """Without a window the bar is of what was sent alone; warnings stand behind the table."""

    async def answered(request: TurnRequest) -> str:
        return "x"

    def warned(view: View) -> Assembled:
        return FullContext().build(view)._replace(warnings=["mind the \x1b[2Jgap"])

    async def talk() -> None:
        async with Chat(responder=answered, store=FileStore(terminal.store), context=warned) as chat:
            await (await chat.create_session("b")).ask("hello")

    asyncio.run(talk())
    out = lines(terminal.run("trace", "b").out)
    assert out[1].endswith("sent, window unknown")
    assert re.fullmatch(r"\[i+\]", out[2])
    assert out[-1] == "warning: mind the \\x1b[2Jgap"


# --- preview -----------------------------------------------------------------------------------------------------


def test_a_preview_under_another_context_or_window(terminal: Terminal) -> None:
    """`preview --window` and `--context` show what would be sent under them; what does not fit is refused."""
    talked(terminal, 14)
    told = json.loads(terminal.run("preview", "a", "x", "-m", "echo:", "--window", "2000", "--json").out)
    assert told["trace"]["window"] == 2_000
    ran = terminal.run("preview", "a", "x", "-m", "echo:", "--window", "400", "--context", "layered", "--json")
    assert json.loads(ran.out)["trace"]["totals"]["total"] < told["trace"]["totals"]["total"]
    short = terminal.run("preview", "a", "x", "-m", "echo:", "--keep-recent", "1", "--context", "summary")
    assert (short.code, "summary" in short.out) == (0, True)
    assert terminal.run("preview", "a", "x" * 9_000, "-m", "echo:", "--window", "100").code == 1
