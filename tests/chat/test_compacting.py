"""Histories that a person wants shorter, or that a provider finds too long."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from antiphon import Chat, Compacted, FileStore, FullContext, LayeredContext, Message, Retrying, Session
from antiphon.context._summarizing import MARKER
from antiphon.errors import ContextTooLong, Misuse, SessionBusy, SummaryFailed
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure, types_of

pytestmark = pytest.mark.anyio


class Notes:
    """A summarizer that numbers its summaries, and fails as often as it is told."""

    def __init__(self, *, failures: int = 0) -> None:
        self.failures = failures
        self.given: list[Sequence[Message]] = []

    async def __call__(self, messages: Sequence[Message]) -> str:
        """Write."""
        self.given.append(messages)
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise ConnectionError("the line is dead")
        return f"notes {len(self.given)}"


async def session_with(context: Any, *, turns: int = 3, reply: str = "yes", **given: Any) -> Session:
    """A session of so many turns."""
    chat = Chat(ScriptedModel(lambda request: reply), context=context, **given)
    session = await chat.create_session("ana-1")
    for n in range(turns):
        await session.ask(f"question {n}")
    return session


async def shown_text(session: Session) -> str:
    """What the next call would be shown, as one text."""
    shown = await session.preview("and now?")
    return "\n".join(message.text for message in shown.messages)


async def test_a_person_may_have_everything_summarised_now() -> None:
    """The summary stands for the turns so far, and the transcript keeps them all."""
    notes = Notes()
    session = await session_with(LayeredContext(summarizer=notes))
    summary = await session.compact()
    assert (summary.text, summary.turns) == ("notes 1", 3)
    assert [message.text for message in notes.given[0]][::2] == ["question 0", "question 1", "question 2"]
    text = await shown_text(session)
    assert f"{MARKER}\nnotes 1" in text
    assert "question" not in text
    assert len(session.turns()) == 3


async def test_what_a_person_had_summarised_is_no_lack_of_room() -> None:
    """Where a person had everything summarised, the trace does not say that recent turns do not fit."""
    session = await session_with(LayeredContext(summarizer=Notes()))
    await session.compact()
    await session.ask("and now?")
    history = next(line for line in session.traces()[-1].layers if line.id == "history")
    assert "fit" not in (history.reason or "")


async def test_what_was_summarised_on_demand_outlives_the_process(tmp_path: Path) -> None:
    """A reopened session shows the same summary, and nobody is asked again (june kept none)."""
    session = await session_with(LayeredContext(summarizer=Notes()), store=FileStore(tmp_path))
    await session.compact(focus="the numbers")
    before = await shown_text(session)
    chat = Chat("echo:", store=FileStore(tmp_path), context=LayeredContext(summarizer=Notes(failures=9)))
    assert await shown_text(await chat.open_session("ana-1")) == before


async def test_a_summary_that_fails_on_demand_changes_nothing() -> None:
    """Who asked is told, the journal has no entry of it, and asking again tries again."""
    session = await session_with(LayeredContext(summarizer=Notes(failures=1)))
    error = await failure(session.compact())
    assert isinstance(error, SummaryFailed) and "the line is dead" in str(error)
    assert "question 2" in await shown_text(session)
    assert "context.compacted" not in await types_of(session)
    assert (await session.compact()).text == "notes 2"


async def test_two_who_ask_at_once_get_one_summary() -> None:
    """The second waits for the first and gets the same (earendil-works/pi#7253)."""
    notes = Notes()
    session = await session_with(LayeredContext(summarizer=notes))
    first, second = await asyncio.gather(session.compact(), session.compact())
    assert first == second
    assert len(notes.given) == 1
    assert (await types_of(session)).count("context.compacted") == 1


async def test_nothing_is_summarised_while_a_turn_runs() -> None:
    """Who asks meanwhile is told which turn runs."""
    session = await session_with(LayeredContext(summarizer=Notes()))
    turn = session.send("wait")
    error = await failure(session.compact())
    assert isinstance(error, SessionBusy) and error.turn_id == turn.id
    await turn.result()


@pytest.mark.parametrize(
    ("context", "turns", "sentence"),
    [
        (FullContext(), 1, "FullContext writes no summaries on demand"),
        (LayeredContext(), 0, "has nothing to summarise"),
        (LayeredContext(when_full="trim"), 1, "this context writes no summaries"),
    ],
    ids=["full", "empty", "trim"],
)
async def test_what_cannot_be_summarised_is_refused(context: Any, turns: int, sentence: str) -> None:
    """A context without summaries, or a session without turns, says so."""
    session = await session_with(context, turns=turns)
    error = await failure(session.compact())
    assert isinstance(error, Misuse) and sentence in str(error)


async def test_listeners_hear_of_a_summary() -> None:
    """Who listens to the session gets the text that stands for the turns."""
    session = await session_with(LayeredContext(summarizer=Notes()))
    heard: list[str] = []
    session.events.on(Compacted, lambda event: heard.append(event.summary))
    await session.compact()
    assert heard == ["notes 1"]


def refusing_above(tokens: int) -> Callable[[Any], Any]:
    """A script that finds requests of more characters than this too long."""

    def answer(request: Any) -> Any:
        size = sum(len(message.text) for message in request.messages)
        return ContextTooLong("scripted", f"{size} characters") if size > tokens * 4 else "yes " * 60

    return answer


async def test_a_call_that_its_provider_finds_too_long_is_cut_once_more() -> None:
    """The turn goes on with less, once, and both its readers and its trace are told."""
    model = ScriptedModel(refusing_above(1_500))
    chat = Chat(model, context=LayeredContext(window=4_000, when_full="trim"))
    session = await chat.create_session()
    events: list[Any] = []
    session.events.on(Retrying, events.append)
    for n in range(40):
        await session.ask(f"question {n} " + "word " * 40)
    assert events and all("were too long; asking again with" in event.reason for event in events)
    warned = [trace for trace in session.traces() if any("too long" in said for said in trace.warnings)]
    assert len(warned) == len(events)
    assert [turn.status for turn in session.turns()] == ["completed"] * 40


async def test_what_cannot_be_cut_fails_as_the_provider_said() -> None:
    """A context that never leaves anything out asks no second time (anomalyco/opencode#30664)."""
    model = ScriptedModel(refusing_above(10))
    session = await Chat(model, context=FullContext()).create_session()
    error = await failure(session.ask("word " * 100))
    assert isinstance(error, ContextTooLong)
    assert len(model.requests) == 1


async def test_a_provider_that_goes_on_refusing_is_asked_twice() -> None:
    """The second refusal is the turn's error."""
    model = ScriptedModel(lambda request: ContextTooLong("scripted", "whatever you send"))
    chat = Chat(model, context=LayeredContext(window=4_000, when_full="trim"))
    session = await chat.import_session([{"role": r, "content": "x " * 400} for r in ("user", "assistant") * 4])
    assert isinstance(await failure(session.ask("hi")), ContextTooLong)
    assert len(model.requests) == 2


async def test_a_trace_tells_what_was_shown_before_too() -> None:
    """From the second call on, a trace says how many tokens at its start are those of the call before."""
    session = await session_with(LayeredContext(), instructions="Be kind.", turns=3)
    shared = [trace.shared for trace in session.traces()]
    assert shared[0] is None
    assert 0 < (shared[1] or 0) < (shared[2] or 0)
    assert (shared[2] or 0) <= session.traces()[2].total
