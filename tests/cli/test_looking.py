"""`why`, `preview` and `fork`: looking back, looking ahead, and going another way."""

import asyncio
import json

import pytest

from antiphon import Chat, FileStore
from antiphon.chat import Fate
from antiphon.cli._fate_table import spans
from antiphon.context import SummaryContext
from tests.cli.running import Terminal


def fate(turn: int, call: int, *, status: str = "included", layer: str = "history") -> Fate:
    """What became of the words in one call."""
    return Fate(f"t{turn}", call, layer, status, f"{status} there", 1)  # type: ignore[arg-type]


def named(*fates: Fate) -> list[tuple[str, int, bool]]:
    """The rows of the table: which calls, how many, and whether the words were lost there."""
    numbers = {each.turn_id: int(each.turn_id[1:]) for each in fates}
    return [(span.named, span.count, span.lost) for span in spans(fates, numbers)]


def test_calls_of_one_fate_are_one_row() -> None:
    """Consecutive calls with the same fate are joined, and the row where the words got lost is marked."""
    fates = [fate(1, 1, layer="input"), *(fate(turn, 1) for turn in range(2, 20)), fate(20, 1, status="compacted")]
    assert named(*fates) == [("turn 1", 1, False), ("turns 2-19", 18, False), ("turn 20", 1, True)]


def test_calls_of_one_turn_are_told_apart() -> None:
    """Where a turn's calls have different fates, the rows say which calls; what was never there was not lost."""
    fates = [fate(1, 1, status="absent"), fate(1, 2), fate(1, 3), fate(1, 4, status="dropped"), fate(2, 1)]
    assert named(*fates) == [
        ("turn 1, call 1", 1, False),
        ("turn 1, calls 2-3", 2, False),
        ("turn 1, call 4", 1, True),
        ("turn 2", 1, False),
    ]


def summarised(terminal: Terminal, summary: str) -> None:
    """A session of six turns in which the first ones were summarised."""

    async def talk() -> None:
        context = SummaryContext(lambda _: summary, keep_recent=1, compact_after=3)
        async with Chat("echo:", store=FileStore(terminal.store), context=context) as chat:
            session = await chat.create_session("a")
            for said in ("Answer in French", "two", "three", "four", "five", "six"):
                await session.ask(said)

    asyncio.run(talk())


def test_where_words_got_lost(terminal: Terminal) -> None:
    """`why` shows where words were said, shown and lost to a summary, and hints at instructions."""
    summarised(terminal, "nothing of note")
    ran = terminal.run("why", "answer in FRENCH")
    rows = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert rows[1] == "turn 1 input said here"
    assert rows[2].startswith("turns 2-")
    assert "shown in full (" in rows[2]
    assert "the words are not in the summary" in rows[3]
    assert [row.endswith("<- lost here") for row in rows[1:4]] == [False, False, True]
    assert rows[-1].startswith("hint: instructions are never compacted")


def test_words_in_a_summary_are_not_lost(terminal: Terminal) -> None:
    """Summaries are read before it is looked into them: words that one holds were not lost."""
    summarised(terminal, "The user wants: Answer in French.")
    told = json.loads(terminal.run("why", "a", "answer in french", "--json").out)
    assert {each["status"] for each in told} == {"included"}
    assert [(each["number"], each["call"]) for each in told] == [(number, 1) for number in range(1, 7)]
    assert "lost" not in terminal.run("why", "a", "answer in french").out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((), "missing argument"),
        (("a", "b", "c"), "put the words in quotes"),
        (("nope", "x"), "no chat session 'nope'"),
        ((" ",), "no words"),
    ],
)
def test_why_refuses_what_it_cannot_look_for(terminal: Terminal, args: tuple[str, ...], says: str) -> None:
    """No words, words without quotes and unknown sessions are refused in one sentence."""
    terminal.ask("One")
    ran = terminal.run("why", *args)
    assert ran.code == 2
    assert says in ran.refusal


def test_a_preview_shows_what_would_be_sent(terminal: Terminal) -> None:
    """`preview` gives the trace of a call that is not made, with --texts what would be sent; nothing is kept."""
    session = terminal.ask("One", "-s", "Be kind.")
    before = terminal.journal(session).read_bytes()
    ran = terminal.run("preview", session, "And \x1b[2Jtwo?", "--texts")
    assert ran.out.startswith("not sent · echo:\n")
    assert "instructions" in ran.out
    texts = ran.out[ran.out.index("--- system") :].splitlines()
    assert texts[:5] == ["--- system", "Be kind.", "", "--- user", "One"]
    assert texts[-1] == "And \\x1b[2Jtwo?"
    assert terminal.journal(session).read_bytes() == before


def test_a_preview_needs_no_session(terminal: Terminal) -> None:
    """Without a session it is a new one that is not kept: no store is made. The pipe is read as by `ask`."""
    ran = terminal.run("preview", "-m", "echo:", "-s", "Be kind.", "Summarise", "--texts", "--json", stdin=b"text")
    told = json.loads(ran.out)
    assert told["system"] == "Be kind."
    assert told["messages"] == [{"role": "user", "content": "text\n\nSummarise"}]
    assert (told["trace"]["number"], told["trace"]["model"]) == (None, "echo:")
    assert not terminal.store.exists()


def test_a_preview_of_the_last_session(terminal: Terminal) -> None:
    """`preview -c` looks into the session that changed last; without --texts no text is given."""
    terminal.ask("One")
    told = json.loads(terminal.run("preview", "-c", "Two", "--json").out)
    assert list(told) == ["trace"]
    assert next(layer for layer in told["trace"]["layers"] if layer["layer"] == "history")["tokens"] > 0


@pytest.mark.parametrize(("args", "code"), [(("nope", "x"), 2), (("a", "-c", "x"), 2), (("x" * 60_000,), 1)])
def test_a_preview_refuses(terminal: Terminal, args: tuple[str, ...], code: int) -> None:
    """An unknown session, two ways to name one, and a prompt that does not fit are refused in one sentence."""
    terminal.ask("One", "--session", "a")
    ran = terminal.run("preview", "-m", "echo:", *args)
    assert (ran.code, bool(ran.refusal)) == (code, True)


def test_a_fork_goes_another_way(terminal: Terminal) -> None:
    """`fork` prints the id of a session with the turns up to the one that is named by number or id."""
    session = terminal.ask("One")
    for said in ("Two", "Three"):
        terminal.ask(said, "-c")
    turns = json.loads(terminal.run("show", session, "--json").out)
    for at, count in (("2", 2), (turns[0]["id"], 1), (None, 3)):
        ran = terminal.run("fork", session, *([] if at is None else ["--at", at]))
        assert (ran.code, ran.err) == (0, "")
        assert len(json.loads(terminal.run("show", ran.out.strip(), "--json").out)) == count
    assert json.loads(terminal.run("show", session, "--json").out) == turns


@pytest.mark.parametrize(
    "args", [("nope",), ("a", "--at", "2"), ("a", "--at", "x"), ("a", "--id", "a"), ("a", "--id", "../b")]
)
def test_a_fork_refuses(terminal: Terminal, args: tuple[str, ...]) -> None:
    """Unknown sessions and turns, and ids that are taken or cannot be, are refused in one sentence."""
    terminal.ask("One", "--session", "a")
    ran = terminal.run("fork", *args)
    assert (ran.code, bool(ran.refusal)) == (2, True)
    assert [path.name for path in terminal.store.glob("*.jsonl")] == ["a.jsonl"]
