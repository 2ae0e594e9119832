"""Sessions that are too long to be shown whole: when summaries are written, kept, shared out and done without."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from antiphon import (
    Chat,
    FileStore,
    InMemoryStore,
    Message,
    Reasoning,
    Session,
    Store,
    SummaryContext,
    ToolCall,
)
from antiphon.context import estimate_tokens
from antiphon.context._summarizing import INSTRUCTIONS, MARKER
from antiphon.errors import RateLimited, SummaryFailed, TurnCanceled
from antiphon.models import ModelRequest
from antiphon.testing import ScriptedModel
from tests.chat.fakes import ListStore, failure, types_of

pytestmark = pytest.mark.anyio

SECRET = "they-spoke-of-ports"


def talk(turns: int, *, first: int = 1) -> list[dict[str, str]]:
    """So many questions and answers."""
    numbers = range(first, first + turns)
    pairs = [[("user", f"question {n}"), ("assistant", f"answer {n}")] for n in numbers]
    return [{"role": role, "content": text} for pair in pairs for role, text in pair]


class Writer:
    """A summarizer that notes what it was given.

    Attributes:
        given: the questions in each request, in order.
        messages: each request.
        raises: what it raises, while there is anything.
    """

    def __init__(self, text: Callable[[int], Any] = lambda n: f"{SECRET} {n}", *, raises: Sequence[Exception] = ()):
        self.text, self.raises = text, list(raises)
        self.messages: list[Sequence[Message]] = []

    async def __call__(self, messages: Sequence[Message]) -> Any:
        """Write."""
        self.messages.append(messages)
        await asyncio.sleep(0)
        if self.raises:
            raise self.raises.pop(0)
        return self.text(len(self.messages))

    @property
    def given(self) -> list[int]:
        """How many questions stood in each request."""
        return [sum(m.text.startswith("question") for m in messages) for messages in self.messages]


def answering(window: int | None = None) -> ScriptedModel:
    """A model that always answers."""
    return ScriptedModel(lambda request: "answered", window=window)


async def long_session(chat: Chat, turns: int = 20, *, id: str = "s", context: SummaryContext | None = None) -> Session:
    """A session of so many completed turns."""
    return await chat.import_session(talk(turns), id=id)


def shown_to(model: ScriptedModel) -> list[str]:
    """The texts of the last request."""
    return [message.text for message in model.requests[-1].messages]


async def ask(session: Session, times: int) -> None:
    """Ask so many numbered questions."""
    for _ in range(times):
        await session.ask(f"question {len(session.turns()) + 1}")


async def test_item_15_one_summary_serves_several_turns() -> None:
    """At `compact_after` none, then one of exactly 12 turns that serves 12, then one of all 24 (J-090..093, J-098)."""
    writer, model = Writer(), answering()
    session = await long_session(Chat(model, context=SummaryContext(writer)))
    await ask(session, 1)  # 20 earlier turns
    assert writer.given == []
    await ask(session, 1)  # 21
    assert writer.given == [12]
    await ask(session, 11)  # 22 to 32
    assert writer.given == [12]
    await ask(session, 1)  # 33
    assert writer.given == [12, 24]
    assert [message.role for message in writer.messages[1][:2]] == ["user", "assistant"]


async def test_item_15_up_to_the_boundary_all_is_shown() -> None:
    """With no more than `compact_after` completed turns the request is that of the whole dialogue (J-090)."""
    requests = []
    for context in (None, SummaryContext(Writer())):
        model = answering()
        session = await long_session(Chat(model, context=context))
        await session.ask("now")
        requests.append(model.requests)
    assert requests[0] == requests[1]


async def test_fifty_turns_are_one_summary_and_fourteen_turns() -> None:
    """In turn 51 with 8 and 20, one marked summary of 36 turns stands first, then 14 turns, then the input (J-091)."""
    writer, model = Writer(), answering()
    session = await long_session(Chat(model, context=SummaryContext(writer, keep_recent=8, compact_after=20)), 50)
    await session.ask("question 51")
    texts = shown_to(model)
    assert writer.given == [36]
    assert texts[0] == f"{MARKER}\n{SECRET} 1"
    assert texts[1:] == [text for n in range(37, 51) for text in (f"question {n}", f"answer {n}")] + ["question 51"]
    lines = {layer.id: layer for layer in session.traces()[-1].layers}
    assert (lines["summary"].status, lines["summary"].reason) == ("compacted", "36 turns; summary by Writer")
    assert lines["history"].since == session.turns()[36].id


@pytest.mark.parametrize("keeps", [True, False], ids=["derived-kept", "derived-deleted"])
async def test_item_15_in_a_new_process(tmp_path: Path, keeps: bool) -> None:
    """A new process writes no summary again where the old one's is kept, and one where `.derived` was deleted (P06)."""
    writers = [Writer(), Writer()]
    for writer in writers:
        chat = Chat(answering(), store=FileStore(tmp_path), context=SummaryContext(writer))
        session = await (chat.open_session("s") if writer is writers[1] else long_session(chat, 25))
        await ask(session, 1)
        if not keeps:
            rmtree(tmp_path / ".derived")
    assert [writer.given for writer in writers] == [[12], [] if keeps else [12]]


async def test_item_15_in_a_new_process_without_derived_data() -> None:
    """A store that keeps nothing derived has the summary written once a context object."""
    store = ListStore()
    for _ in range(2):
        writer = Writer()
        chat = Chat(answering(), store=store, context=SummaryContext(writer))
        session = await (chat.open_session("s") if "s" in store.lines else long_session(chat, 25))
        await ask(session, 2)
        assert writer.given == [12]


async def test_a_summary_is_never_in_the_journal(tmp_path: Path) -> None:
    """The journal holds no text of a summary, whatever texts it keeps; it is no title, input, feedback or turn."""
    context = SummaryContext(Writer())
    chat = Chat(answering(), store=FileStore(tmp_path), context=context, keep_texts="all", instructions="Be kind.")
    session = await long_session(chat, 21)
    await ask(session, 14)
    assert (tmp_path / "s.jsonl").read_bytes().count(SECRET.encode()) == 0
    assert [summary.text for summary in await session.summaries()] == [f"{SECRET} 1", f"{SECRET} 2"]
    assert (len(session.turns()), session.title) == (35, None)
    everything = [turn.entries for turn in session.turns()]
    assert SECRET not in repr(everything)
    assert not any(message.text.startswith(MARKER) for message in session.messages())


async def test_item_16_a_failing_summary_fails_the_turn(store: Store) -> None:
    """The turn fails with what went wrong, nothing is lost or kept, and the next turn tries again (J-099)."""
    writer, model = Writer(raises=[ConnectionError("no route")]), answering()
    session = await long_session(Chat(model, store=store, context=SummaryContext(writer)), 21)
    error = await failure(session.ask("question 22"))
    assert isinstance(error, SummaryFailed)
    assert str(error) == "summarizer 'Writer' wrote no summary: it raised ConnectionError: no route"
    assert (error.turn_id, model.requests, await session.summaries()) == (session.turns()[-1].id, [], [])
    assert [turn.status for turn in session.turns()[20:]] == ["completed", "failed"]
    assert (await session.retry().result()).text == "answered"
    assert writer.given == [12, 12]


async def test_item_16_cancel_during_the_summary_cancels_its_call() -> None:
    """Canceling the turn stops the summarizer's call; the turn is canceled, nothing is kept, the next tries again."""
    begun, stopped = asyncio.Event(), asyncio.Event()
    calls = 0

    async def writer(messages: Sequence[Message]) -> str:
        nonlocal calls
        calls += 1
        if calls == 1:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()
        return SECRET

    model = answering()
    session = await long_session(Chat(model, context=SummaryContext(writer)), 21)
    turn = session.send("question 22")
    await begun.wait()
    await turn.cancel("never mind")
    assert stopped.is_set()
    assert isinstance(await failure(turn.result()), TurnCanceled)
    assert (model.requests, await session.summaries(), session.turns()[-1].status) == ([], [], "canceled")
    assert (await session.ask("question 22")).text == "answered"
    assert calls == 2


async def test_item_16_cancel_closes_the_summarizing_model() -> None:
    """A model that summarizes is broken off too: its stream is closed when the turn is canceled (M6)."""
    begun, closed = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            begun.set()
            try:
                await asyncio.Event().wait()
                yield None
            finally:
                closed.set()

    session = await long_session(Chat(answering(), context=SummaryContext(Slow("never"))), 21)
    turn = session.send("question 22")
    await begun.wait()
    await turn.cancel()
    assert closed.is_set()


FAILING: dict[str, Callable[[], Any]] = {
    "raises": lambda: ScriptedModel([RateLimited("m", "too many requests")] * 9),
    "broken-off": lambda: ScriptedModel([[]] * 9),
    "reasoning-only": lambda: ScriptedModel([Message("assistant", (Reasoning("a long thought"),))] * 9),
    "blank": lambda: ScriptedModel([" \n\t"] * 9),
    "no-text": lambda: Writer(lambda n: None),
    "no-str": lambda: Writer(lambda n: 5),
    "function-raises": lambda: Writer(raises=[ValueError("no")] * 9),
    "calls": lambda: ScriptedModel([Message("assistant", (ToolCall("c", "f"),))] * 9),
}


@pytest.mark.parametrize("fault", FAILING)
async def test_trim_goes_on_without_the_old_turns(fault: str) -> None:
    """Under `trim` the turn is answered from the recent turns; the trace says why, nothing is kept (F027, F028, F031).

    The next turn tries again.
    """
    model = answering()
    chat = Chat(model, context=SummaryContext(FAILING[fault](), on_failure="trim"))
    session = await long_session(chat, 21)
    before = session.turns()
    await session.ask("question 22")
    assert shown_to(model) == [text for n in range(13, 22) for text in (f"question {n}", f"answer {n}")] + [
        "question 22"
    ]
    trace = session.traces()[-1]
    (line,) = [layer for layer in trace.layers if layer.id == "summary"]
    assert (line.status, line.tokens, str(line.reason) in trace.warnings[0]) == ("failed", 0, True)
    assert trace.warnings[0].startswith("no summary, so 12 earlier turns are left out: summarizer ")
    assert (session.turns()[:21], await session.summaries()) == (before, [])
    await session.ask("question 23")
    assert session.traces()[-1].warnings[0].startswith("no summary, so 12")


async def test_full_goes_on_with_everything() -> None:
    """Under `full` a turn without a summary shows the whole dialogue; once one comes, it stands (F027)."""
    writer, model = Writer(raises=[ConnectionError("no route")]), answering()
    session = await long_session(Chat(model, context=SummaryContext(writer, on_failure="full")), 21)
    await session.ask("question 22")
    assert len(shown_to(model)) == 43
    failed = "summarizer 'Writer' wrote no summary: it raised ConnectionError: no route"
    assert f"no summary, so the whole dialogue is shown: {failed}" in session.traces()[-1].warnings
    await session.ask("question 23")
    assert shown_to(model)[0] == f"{MARKER}\n{SECRET} 2"
    assert writer.given == [12, 12]


async def test_a_responder_cannot_summarize() -> None:
    """Where a function answers and no summarizer is named, the error says what to do, and a named one works."""

    async def responder(request: Any) -> str:
        return "answered"

    session = await long_session(Chat(responder=responder, context=SummaryContext()), 21)
    assert "give the context a summarizer" in str(await failure(session.ask("question 22")))
    session = await long_session(Chat(responder=responder, context=SummaryContext("echo:")), 21)
    assert (await session.ask("question 22")).text == "answered"
    assert [summary.model for summary in await session.summaries()] == ["echo:"]


async def test_the_summarizer_has_its_own_instructions_only() -> None:
    """Neither the Chat's instructions nor the turn's reach the summarizer (F041); the context's own replace ours."""
    for own in (None, "Write in rhyme."):
        model = answering()
        chat = Chat(model, context=SummaryContext(instructions=own), instructions="Say nothing.")
        session = await long_session(chat, 21)
        await session.ask("question 22", instructions="Stay silent.")
        summarizing, asking = model.requests
        assert summarizing.system == (own or INSTRUCTIONS)
        assert [message.role for message in summarizing.messages] == ["user"]
        assert "silent" not in summarizing.messages[0].text
        assert asking.system == "Stay silent."


async def test_the_summarizer_follows_a_model_switch() -> None:
    """Without a summarizer of its own, the model of the turn being answered summarizes; the trace names it (F042)."""
    usual, other = ScriptedModel(lambda r: "usual", name="usual"), ScriptedModel(lambda r: "other", name="other")
    session = await long_session(Chat(usual, context=SummaryContext()), 21)
    await session.ask("question 22", model=other)
    assert (len(usual.requests), len(other.requests)) == (0, 2)
    assert [summary.model for summary in await session.summaries()] == ["other"]
    await ask(session, 11)  # one of 12 turns still serves
    assert len(usual.requests) == 11
    await ask(session, 1)
    assert len(usual.requests) == 13
    reasons = [layer.reason for trace in session.traces() for layer in trace.layers if layer.id == "summary"]
    assert (reasons[0], reasons[-1]) == ("12 turns; summary by other", "24 turns; summary by usual")


@pytest.mark.parametrize("window", [2_000, 4_000, 20_000])
@pytest.mark.parametrize("wordy", [False, True], ids=["short", "wordy"])
async def test_too_long_an_input_is_split(window: int, wordy: bool) -> None:
    """Every request to the summarizer fits its window, by counting, also when it writes too much (F016, F017)."""
    writer = ScriptedModel(lambda request: "too many words " * 3_000 if wordy else "short", window=window)
    messages = talk(60)
    for n, message in enumerate(messages):
        message["content"] += " and a word more" * (40 if n % 9 else 300)
    context = SummaryContext(writer, keep_recent=0, compact_after=1)
    session = await Chat(answering(1_000_000), context=context).import_session(messages)
    await session.ask("and now?")
    assert len(writer.requests) > 1
    for request in writer.requests:
        sent = sum(estimate_tokens(message.text) + 4 for message in request.messages) + estimate_tokens(request.system)
        assert sent <= window - min(4_096, window // 8)
    told = "\n".join(request.messages[0].text for request in writer.requests)
    assert all(f"question {n} and" in told and f"answer {n} and" in told for n in range(1, 60))


async def test_each_piece_stands_behind_the_summary_so_far() -> None:
    """A split input loses nothing on its way: each request holds what was written of the pieces before (F034)."""
    writer = ScriptedModel([f"part {n}" for n in range(1, 60)], window=2_000)
    messages = talk(60)
    for message in messages:
        message["content"] += " and a word more" * 40
    context = SummaryContext(writer, keep_recent=0, compact_after=1)
    session = await Chat(answering(1_000_000), context=context).import_session(messages)
    await session.ask("and now?")
    for n, request in enumerate(writer.requests[1:], 1):
        assert request.messages[0].text.startswith(f"{MARKER}\npart {n}\n\n")
    assert (await session.summaries())[0].text == f"part {len(writer.requests)}"


async def test_incremental_writes_from_the_summary_before() -> None:
    """An incremental summary is written from the one before and the turns since; without one, from all (F034)."""
    writer, model = Writer(), answering()
    context = SummaryContext(writer, keep_recent=2, compact_after=4, incremental=True)
    session = await long_session(Chat(model, context=context), 5)
    await ask(session, 5)
    assert [len(messages) for messages in writer.messages] == [4, 5, 5]
    firsts = [messages[0].text for messages in writer.messages]
    assert firsts == ["question 1", f"{MARKER}\n{SECRET} 1", f"{MARKER}\n{SECRET} 2"]
    since = [message.text for message in writer.messages[1][1:]]
    assert since == ["question 3", "answer 3", "question 4", "answer 4"]
    assert [summary.turns for summary in await session.summaries()] == [2, 4, 6]


async def test_whole_summaries_are_written_from_every_turn() -> None:
    """Without `incremental` the second summary is written from the original turns, all of them (F034, J-098)."""
    writer = Writer()
    context = SummaryContext(writer, keep_recent=2, compact_after=4)
    session = await long_session(Chat(answering(), context=context), 5)
    await ask(session, 3)
    assert writer.given == [2, 4]
    assert writer.messages[1][0].text == "question 1"


async def test_summaries_say_what_they_cover(tmp_path: Path) -> None:
    """`summaries()` lists all that were written, oldest first, with the turns covered, the model and the time (P55)."""
    chat = Chat(
        answering(), store=FileStore(tmp_path), context=SummaryContext(Writer(), keep_recent=2, compact_after=4)
    )
    session = await long_session(chat, 5)
    await ask(session, 3)
    turns = session.turns()
    found = await session.summaries()
    assert [(each.first_turn, each.last_turn, each.turns) for each in found] == [
        (turns[0].id, turns[1].id, 2),
        (turns[0].id, turns[3].id, 4),
    ]
    assert [(each.model, each.at) for each in found] == [
        ("Writer", turns[5].accepted_at),
        ("Writer", turns[7].accepted_at),
    ]
    assert list(await (await Chat("echo:", store=chat.store).open_session("s")).summaries()) == list(found)


async def test_a_summary_written_again_is_listed_once(tmp_path: Path) -> None:
    """A summary that was lost from beside the journal is written again, and stands once in the list."""
    writer = Writer()
    chat = Chat(answering(), store=FileStore(tmp_path), context=SummaryContext(writer))
    session = await long_session(chat, 21)
    await ask(session, 1)
    for kept in (tmp_path / ".derived" / "s").iterdir():
        if SECRET.encode() in kept.read_bytes():
            kept.unlink()
    await ask(session, 1)
    assert writer.given == [12, 12]
    assert len(await session.summaries()) == 1


async def test_two_chats_never_share_a_summary() -> None:
    """One context in two Chats whose stores hold sessions of the same id keeps them apart, also by keys (J-097)."""
    context = SummaryContext(lambda messages: f"on {messages[0].text}", keep_recent=0, compact_after=1)
    stores: list[Callable[[], Store]] = [ListStore, InMemoryStore]
    for make in stores:
        for word in ("herring", "lamps"):
            model = answering()
            session = await Chat(model, store=make(), context=context).create_session("s")
            for n in range(3):
                await session.ask(f"{word} {n}", key=f"k{n}")
            assert shown_to(model)[0] == f"{MARKER}\non {word} 0"


async def test_failed_and_canceled_turns_do_not_count() -> None:
    """Only completed turns are counted, summarised and shown; steering goes with its turn (J-095, J-102, F114)."""
    writer = Writer()
    model = ScriptedModel(lambda request: ValueError("no") if "bad" in str(request.messages[-1]) else "fine")
    context = SummaryContext(writer, keep_recent=1, compact_after=2)
    session = await Chat(model, context=context).create_session()
    for text in ("question a", "bad b", "question c", "bad d", "question e", "question f"):
        turn = session.send(text)
        if text == "question a":
            await turn.accepted()
            await turn.steer("question a, quickly")
        await asyncio.gather(turn.result(), return_exceptions=True)
    assert len(writer.messages) == 1
    assert [message.text for message in writer.messages[0] if message.role == "user"] == [
        "question a",
        "question a, quickly",
    ]
    assert "bad" not in "".join(shown_to(model))


async def test_after_clear_context_summaries_start_anew() -> None:
    """What stood before clearing is neither summarised nor shown; the transcript keeps it (P24, F199)."""
    writer, model = Writer(), answering()
    session = await long_session(Chat(model, context=SummaryContext(writer, keep_recent=0, compact_after=1)), 3)
    await ask(session, 1)
    await session.clear_context()
    await ask(session, 3)
    assert writer.given == [2, 1]
    assert [m.text for m in writer.messages[1]] == ["question 5", "answered"]
    assert len(session.turns()) == 7


async def test_after_a_summary_everything_is_still_there() -> None:
    """Summarising deletes nothing: a context that shows all, and a fork at an early turn, have it all (F199)."""
    model = answering()
    session = await long_session(Chat(model, context=SummaryContext(Writer())), 50)
    await ask(session, 1)
    assert (
        len((await session.preview("x", context=lambda view: [m for t in view.turns for m in t.messages])).messages)
        == 103
    )
    fork = await session.fork(at=session.turns()[2].id)
    assert [message.text for message in fork.messages()] == [each["content"] for each in talk(3)]


async def test_a_summary_is_told_of_as_it_begins_and_ends() -> None:
    """A reader of the turn hears that it is being compacted, and then the summary, before the context is built."""
    session = await long_session(Chat(answering(), context=SummaryContext(Writer())), 21)
    types = [event.type async for event in session.send("question 22")]
    assert types[:4] == ["turn.accepted", "context.compacting", "context.compacted", "turn.shown"]


async def test_what_lies_beside_the_journal_is_small(tmp_path: Path) -> None:
    """What is kept of a summary grows with its text, and not with the number of turns that it covers."""
    context = SummaryContext(Writer(), keep_recent=0, compact_after=1)
    session = await long_session(Chat(answering(), store=FileStore(tmp_path), context=context), 2_000)
    await ask(session, 2)
    kept = sum(path.stat().st_size for path in (tmp_path / ".derived").rglob("*") if path.is_file())
    assert kept < 2_000
    assert json.dumps(await types_of(session)).count("context") == 0
