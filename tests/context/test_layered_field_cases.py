"""Faults that other projects' users reported on contexts, replayed against LayeredContext: one test for each."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from antiphon import Chat, Image, Layer, Message, Reasoning, Session, Text, ToolCall, ToolResult, Usage, View
from antiphon.context import estimate_tokens
from antiphon.context._folded import Folded
from antiphon.context._layered import LayeredContext
from antiphon.errors import ContextError, ContextTooLong, RateLimited, WindowTooSmall
from antiphon.journal import ContextCompacted, encode, heading
from antiphon.models import ModelRequest, Replied
from antiphon.testing import ScriptedModel
from tests.chat.fakes import AT, failure
from tests.properties.histories import (
    Given,
    Room,
    Round,
    Told,
    calls_of,
    calls_shown,
    grown,
    marks,
    recount,
    results_of,
    show,
    tool,
    unpaired,
)

pytestmark = pytest.mark.anyio

FACT = "The harbour master's name is Ingrid Aas."
FILLER = "They spoke of ropes, of tides and of the price of tar, at some length. " * 12


def model(window: int | None = 4_000, **more: Any) -> ScriptedModel:
    """A model that always answers."""
    return ScriptedModel(lambda request: "answered", window=window, **more)


def talk(turns: int, *, first: str = FACT, filler: str = FILLER) -> list[dict[str, Any]]:
    """A long conversation whose first question holds a fact."""
    said = [first, *(f"question {n}. {filler}" for n in range(2, turns + 1))]
    return [each for q in said for each in ({"role": "user", "content": q}, {"role": "assistant", "content": "Yes."})]


async def long_session(chat: Chat, turns: int = 40, **talked: Any) -> Session:
    """A session of so many turns that no small window holds it."""
    return await chat.import_session(talk(turns, **talked), id="s")


class Writer:
    """A summarizer that keeps what it was given, and answers in order; the last answer for ever."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.given = list(answers), list[Sequence[Message]]()

    async def __call__(self, messages: Sequence[Message]) -> Any:
        """Write."""
        self.given.append(messages)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def text(self, n: int) -> str:
        """Everything that request number `n` held."""
        return "\n".join(message.text for message in self.given[n])


def told(request: ModelRequest) -> str:
    """The whole text of a request."""
    return request.system + "\n".join(message.text for message in request.messages)


def fits(request: ModelRequest, window: int) -> bool:
    """Whether a request, counted here, leaves room for its reply."""
    spent = estimate_tokens(request.system) + sum(4 + estimate_tokens(m.text) for m in request.messages)
    return spent <= window - min(4_096, window // 8)


def history(*told: Told, times: int = 1) -> Any:
    """A session of these turns."""
    return grown(list(told) * times)


# --- A: pairs of calls and results ------------------------------------------------------------------------------


async def test_a_call_without_result_does_not_stop_the_session() -> None:
    """A call whose result never came stands in no later request, also behind a cut (HKUDS/OpenHarness#191)."""
    asked = {"id": "a", "function": {"name": "look", "arguments": "{}"}}
    broken: list[Any] = [{"role": "user", "content": "and?"}, {"role": "assistant", "tool_calls": [asked]}]
    answers = model()
    session = await Chat(answers, context=LayeredContext(keep_recent=1)).import_session([*talk(40), *broken])
    before = session.turns()
    await session.ask("next")
    assert unpaired(answers.requests[-1].messages) == []
    assert session.turns()[:-1] == before


@pytest.mark.parametrize("window", [1_000, 2_000, 3_000, 4_000, 6_000])
def test_parallel_calls_are_never_parted(window: int) -> None:
    """A cut falls before the message that made ten calls or behind all ten results (langchain-ai/langchain#34282)."""
    ten = Told(rounds=(Round(((10, 350),) * 10),))
    found = show(LayeredContext(keep_recent=1), Room(window=window, counter="estimate").view(history(ten, times=6)))
    assert unpaired(found.messages) == []
    assert {len(message.calls) for message in found.messages} <= {0, 10}


def test_turns_that_are_over_are_looked_at_once() -> None:
    """However many calls a session has had: of its turns only the last one, and those that may change, are looked at
    again."""
    turns = history(Told(reply=30), times=40).turns()
    measured = Folded(note=True)
    for n in range(1, len(turns) + 1):
        assert measured.continues(turns[:n])
        measured.extend(turns[:n])
    assert len(measured._open) == 1
    assert not measured.continues(turns[:-1])


def test_the_running_turn_stays_whole() -> None:
    """Between rounds of a running turn the history is cut and not the turn (pydantic/pydantic-ai#2050)."""
    room = Room(window=4_096)
    running = [calls_of("now0", Round(((10, 300),))), results_of("now0", Round(((10, 300),)))]
    view = room.view(history(Told(reply=3_000), times=20))
    shown = calls_shown(room.context(), view, running)[-1]
    assert not isinstance(shown, WindowTooSmall)
    assert list(shown.messages[-2:]) == running


async def test_a_mixed_message_leaves_no_orphan() -> None:
    """Text beside a result stays, the result goes with its call (Hmbown/Codewhale#6119)."""
    mixed = Message("user", (Text("and this?"), ToolResult.of("a", "look", output="found")))
    call = Message("assistant", (ToolCall.of("a", "look", arguments={}),))
    talked = [Message.of("user", "look"), call, mixed, Message.of("assistant", "yes")]
    answers = model(2_000)
    session = await Chat(answers, context=LayeredContext()).import_session([*talk(30), *talked, *talk(3)])
    await session.ask("next")
    assert unpaired(answers.requests[-1].messages) == []
    assert all(not message.results for message in answers.requests[-1].messages if message.role != "tool")


def test_tools_that_are_gone_break_nothing() -> None:
    """Calls of tools that nobody offers any more are shown and cut like any (anthropics/claude-code#14173)."""
    room = Room(window=4_096, tools=(40,))
    found = show(room.context(), room.view(history(Told(rounds=(Round(((10, 3_000),)),)), times=30)))
    assert unpaired(found.messages) == []
    assert any(message.calls for message in found.messages)


# --- C: compaction ----------------------------------------------------------------------------------------------


async def test_too_long_for_the_summarizer_too() -> None:
    """A history twice the summarizer's window is summarised in pieces that fit (anomalyco/opencode#15849)."""
    writer = ScriptedModel(lambda request: "notes", window=2_000)
    answers = model(4_000)
    session = await long_session(Chat(answers, context=LayeredContext(summarizer=writer)), 60)
    assert (await session.ask("next")).text == "answered"
    assert writer.requests
    assert all(fits(request, 2_000) for request in writer.requests)


async def test_a_smaller_model_is_sent_less() -> None:
    """After a switch to a smaller window every request, summaries too, fits it (zed-industries/zed#61373)."""
    large, small = model(200_000), model(8_000)
    session = await long_session(Chat(large, context=LayeredContext()), 150)
    await session.ask("next")
    await session.ask("next", model=small)
    assert small.requests
    assert all(fits(request, 8_000) for request in small.requests)
    assert session.traces()[-1].window == 8_000


async def test_an_unknown_window_is_not_unlimited() -> None:
    """A model that says no window has 8,192 tokens, and the trace warns (CommandCodeAI/command-code#756)."""
    answers = model(None)
    session = await long_session(Chat(answers, context=LayeredContext(when_full="trim")), 400)
    await session.ask("next")
    trace = session.traces()[-1]
    assert (trace.window, fits(answers.requests[-1], 8_192)) == (8_192, True)
    assert any("unknown" in warning for warning in trace.warnings)


async def test_pinned_text_that_never_fits_is_refused_at_once() -> None:
    """Rules longer than the window are refused with sizes; no summarizer is asked (anthropic-sdk-python#1091)."""
    writer, answers = Writer("notes"), model(2_000)
    session = await long_session(Chat(answers, context=LayeredContext(summarizer=writer)))
    error = await failure(session.ask("next", instructions="Be exact, and kind to all. " * 600))
    assert isinstance(error, WindowTooSmall)
    assert error.sizes["instructions"] > 2_000
    assert (writer.given, answers.requests) == ([], [])


async def test_a_first_input_that_never_fits_loops_nowhere() -> None:
    """An input longer than the window is refused once, and the session goes on (cline/cline#5668)."""
    answers = model(10_000)
    session = await Chat(answers, context=LayeredContext()).create_session()
    assert isinstance(await failure(session.ask("word " * 80_000)), WindowTooSmall)
    assert answers.requests == []
    assert (await session.ask("shorter")).text == "answered"


async def test_one_summary_serves_two_who_ask_at_once() -> None:
    """What a person asked to be summarised is summarised once, with the automatic one (earendil-works/pi#7253)."""
    writer, chat = Writer("notes"), Chat(model(4_000), context=LayeredContext())
    session = await long_session(chat)
    asked = encode(ContextCompacted(**heading("s", AT), up_to=session.turns()[-1].id))
    await chat.store.append("s", [asked], if_last=None)
    chat = Chat(model(4_000), store=chat.store, context=LayeredContext(summarizer=writer))
    session = await chat.open_session("s")
    await session.ask("next")
    await session.ask("and next")
    assert len(writer.given) == 1


async def test_without_compaction_nothing_is_summarised() -> None:
    """Under `error` a session that is too long fails its turn, and no summarizer is asked (opencode#30664)."""
    writer, answers = Writer("notes"), model(4_000)
    session = await long_session(Chat(answers, context=LayeredContext(summarizer=writer, when_full="error")))
    assert isinstance(await failure(session.ask("next")), WindowTooSmall)
    assert (writer.given, answers.requests) == ([], [])


async def test_a_provider_that_finds_it_too_long_starts_no_summary() -> None:
    """A provider's "too long" summarises nothing where compaction is off (anomalyco/opencode#30664)."""
    writer, answers = Writer("notes"), ScriptedModel([ContextTooLong("m", "too long")] * 3, window=100_000)
    session = await long_session(Chat(answers, context=LayeredContext(summarizer=writer, when_full="error")), 3)
    assert isinstance(await failure(session.ask("next")), ContextTooLong | ContextError)
    assert writer.given == []


# --- D: summaries -----------------------------------------------------------------------------------------------


FAILING: dict[str, Any] = {
    "raises": RateLimited("m", "too many requests"),
    "dropped": ConnectionError("reset"),
    "blank": " \n",
    "nothing": None,
    "far too long": "word " * 20_000,
    "canceled by itself": asyncio.CancelledError(),
}


@pytest.mark.parametrize("fault", FAILING)
async def test_a_failing_summary_costs_no_turn_and_no_history(fault: str) -> None:
    """A summarizer that fails leaves history out for now; the trace says why (langchain#39268, aider#5689)."""
    writer, answers = Writer(FAILING[fault]), model()
    session = await long_session(Chat(answers, context=LayeredContext(summarizer=writer)))
    before = session.turns()
    assert (await session.ask("next")).text == "answered"
    assert session.turns()[:40] == before
    assert await session.summaries() == []
    trace = session.traces()[-1]
    assert any("summar" in text for text in [*trace.warnings, *(str(line.reason) for line in trace.layers)])
    assert "too many requests" not in told(answers.requests[-1])


async def test_a_failed_summary_is_tried_again_later() -> None:
    """A summarizer that failed once is asked again, at the latest when the boundary moves (langchain#39268)."""
    writer = Writer(ConnectionError("reset"), "They spoke of tar.")
    session = await long_session(Chat(model(), context=LayeredContext(summarizer=writer)))
    for n in range(12):
        await session.ask(f"question {n}. {FILLER}")
    assert [summary.text for summary in await session.summaries()]
    assert session.traces()[-1].layers[0].status != "failed"


class Nothing:
    """Keeps nothing beside the journal, and counts how often it was asked."""

    asked = 0

    async def get(self, key: str) -> bytes | None:
        """Give nothing."""
        self.asked += 1
        return None

    async def put(self, key: str, content: bytes) -> None:
        """Keep nothing."""


async def test_what_was_never_summarised_is_not_looked_for_in_every_call() -> None:
    """Where the boundary has moved often and no summary is kept, only the last one is looked for again."""
    kept, cache = Nothing(), dict[Any, Any]()
    view = Room(window=2_000).view(history(Told(reply=3_000), times=60), cache=cache, derived=kept)
    await LayeredContext().build(view)
    assert kept.asked > 10
    before = kept.asked
    await LayeredContext().build(view)
    assert kept.asked == before + 1


async def test_reasoning_alone_is_no_summary() -> None:
    """A summarizer that gives reasoning and no text has failed; the turn completes (openclaw/openclaw#138599)."""
    thinking = ScriptedModel(lambda request: Message("assistant", (Reasoning("hm"),)), window=8_000)
    session = await long_session(Chat(model(), context=LayeredContext(summarizer=thinking)))
    assert (await session.ask("next")).text == "answered"
    assert await session.summaries() == []


async def test_rules_survive_every_compaction() -> None:
    """Rules and pinned layers are in every request byte for byte (anthropics/claude-code#68636)."""
    rules = "1. Never say never.\n\n\t2. Prices in øre — always.  \n3. `exact`  spacing"
    pinned = Given("house", (Layer("house:rule", "Doors close at ten.", pinned=True, placement="system"),))
    answers = model(2_000)
    context = LayeredContext(summarizer=Writer("notes"), sources=[pinned])
    session = await Chat(answers, context=context, instructions=rules).create_session()
    for n in range(60):
        await session.ask(f"question {n}. {FILLER}")
    assert all(rules in request.system and "Doors close at ten." in request.system for request in answers.requests)
    assert len(await session.summaries()) >= 2


async def test_a_second_summary_knows_the_first() -> None:
    """What the second summary is written from holds the first summary or the first turns (dyad-sh/dyad#2515)."""
    writer = Writer(f"notes: {FACT}")
    session = await Chat(model(2_000), context=LayeredContext(summarizer=writer)).create_session()
    await session.ask(FACT)
    for n in range(40):
        await session.ask(f"question {n}. {FILLER}")
    assert len(writer.given) >= 2
    assert all(FACT in writer.text(n) for n in range(len(writer.given)))


async def test_a_summary_stands_below_the_rules_and_says_what_it_covers() -> None:
    """A rule that a summarizer made up is marked as a summary, outside the system text (codegraff#738)."""
    writer, answers = Writer("The user recorded the rule: obey the notes."), model()
    session = await long_session(Chat(answers, context=LayeredContext(summarizer=writer), instructions="Be kind."))
    await session.ask("next")
    request = answers.requests[-1]
    assert "obey the notes" not in request.system
    (at,) = [message for message in request.messages if "obey the notes" in message.text]
    assert at.text.lower().startswith(("summary", "[", "notes"))
    (line,) = [line for line in session.traces()[-1].layers if line.kind == "summary"]
    assert (line.status, bool(line.digest), bool(line.reason)) == ("compacted", True, True)
    (summary,) = await session.summaries()
    assert summary.first_turn == session.turns()[0].id


async def test_what_is_inserted_asks_for_nothing() -> None:
    """Neither a summary's mark nor a left-out line is a question or a request (anomalyco/opencode#13838)."""
    for when_full in ("compact", "trim"):
        answers = model()
        context = LayeredContext(summarizer=Writer("They spoke of tar."), when_full=when_full)
        session = await long_session(Chat(answers, context=context))
        await session.ask("next")
        inserted = [
            message.text
            for message in answers.requests[-1].messages[:-1]
            if message.role == "user" and "question" not in message.text
        ]
        assert inserted
        assert not any("?" in text or "please" in text.lower() or "continue" in text.lower() for text in inserted)


async def test_a_stale_summary_is_written_anew() -> None:
    """A summary says up to which turn it goes; when the boundary has moved another one stands (episodic-memory#109)."""
    writer = Writer("first notes", "second notes", "later notes")
    answers = model()
    session = await long_session(Chat(answers, context=LayeredContext(summarizer=writer)))
    await session.ask("next")
    for n in range(30):
        await session.ask(f"question {n}. {FILLER}")
    found = await session.summaries()
    places = [[turn.id for turn in session.turns()].index(summary.last_turn) for summary in found]
    assert len(found) >= 2
    assert places == sorted(set(places))
    assert "first notes" not in told(answers.requests[-1])


async def test_the_persona_is_not_the_summarizers() -> None:
    """The summarizer has instructions of its own, and none of the Chat's (minpeter/pss-runtime#382)."""
    answers = model()
    session = await long_session(Chat(answers, context=LayeredContext(), instructions="Say nothing unless needed."))
    await session.ask("next")
    summarizing, asking = answers.requests[0], answers.requests[-1]
    assert summarizing is not asking
    assert "unless needed" in asking.system
    assert "unless needed" not in told(summarizing)


async def test_the_summarizer_follows_the_model() -> None:
    """Without one of its own the context asks the model of the turn, and the summary names it (tya5/reyn#3785)."""
    first, other = model(name="first"), model(name="other")
    session = await long_session(Chat(first, context=LayeredContext()))
    await session.ask("next", model=other)
    assert first.requests == []
    assert [summary.model for summary in await session.summaries()] == ["other"]


# --- E: counting ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["漢字の長い文章です。", "ひらがなだけのぶん。", "한국어 문장입니다. "])
async def test_scripts_without_spaces_fit_too(text: str) -> None:
    """Chinese, Japanese and Korean sessions fit by an estimate that knows them (headroomlabs-ai/headroom#1093)."""
    answers = model(4_000)
    session = await long_session(Chat(answers, context=LayeredContext(when_full="trim")), 60, filler=text * 30)
    await session.ask("next")
    assert fits(answers.requests[-1], 4_000)
    # A character is about a token there; a quarter of one would let four times the window through.
    assert sum(len(message.text) for message in answers.requests[-1].messages) <= 4_000


@pytest.mark.parametrize("place", ["input", "result"])
async def test_an_image_is_not_its_bytes(place: str) -> None:
    """A megabyte of base64 costs what an image costs and starts no summary (gemini-cli#17923, cherry-studio#17106)."""
    image = Image("image/png", data="aGVs" * 350_000)
    if place == "input":
        talked = [Message("user", (Text("look"), image)), Message.of("assistant", "a lamp")]
    else:
        call = Message("assistant", (ToolCall.of("a", "draw", arguments={}),))
        result = ToolResult.of("a", "draw", output="drawn", media=[image])
        talked = [Message.of("user", "draw"), call, Message("tool", (result,)), Message.of("assistant", "a lamp")]
    writer, answers = Writer("notes"), model(32_000)
    session = await Chat(answers, context=LayeredContext(summarizer=writer)).import_session(talked)
    await session.ask("next")
    assert writer.given == []
    assert list(answers.requests[0].messages[: len(talked)]) == talked
    assert 1_000 < session.traces()[-1].total < 2_500


def test_arguments_and_results_are_counted() -> None:
    """Fifty kilobytes of arguments and results in the last turn do not pass for nothing (takemo101/sitesurf#30)."""
    room = Room(window=32_000)
    turn = Told(rounds=(Round(((50_000, 50_000),)),))
    found = show(room.context(), room.view(history(turn, times=4)))
    assert recount(found, room.budget.counter) <= room.budget.packed_limit
    assert found.trace.total >= recount(found, room.budget.counter)


def reporting(window: int, *, factor: float = 1.0, cached: float = 0.0) -> ScriptedModel:
    """A model whose provider reports `factor` times what we estimate, a share of it as cached."""

    def answer(request: ModelRequest) -> Replied:
        spent = int(factor * estimated(request))
        usage = Usage(input=spent, output=4, cached=int(cached * spent))
        return Replied(Message.of("assistant", "Yes."), finish="stop", usage=usage)

    return ScriptedModel(answer, window=window)


def estimated(request: ModelRequest) -> int:
    """Tokens of a request by the estimate, counted here."""
    return estimate_tokens(request.system) + sum(4 + estimate_tokens(m.text) for m in request.messages)


async def test_cached_tokens_are_not_added_to_the_input() -> None:
    """Input that is reported as cached brings no cut forward: it is part of the input (anomalyco/opencode#4416)."""
    requests = []
    for cached in (0.0, 0.99):
        answers = reporting(4_000, cached=cached)
        session = await Chat(answers, context=LayeredContext(when_full="trim")).create_session()
        for n in range(30):
            await session.ask(f"question {n}. {FILLER}")
        requests.append([request.messages for request in answers.requests])
    assert requests[0] == requests[1]
    assert len(requests[0][-1]) < 59


@pytest.mark.parametrize("factor", [0.8, 1.3, 1.9])
async def test_a_wrong_estimate_is_corrected(factor: float) -> None:
    """Where a provider counts more than we do, what it counts fits its window (headroomlabs-ai/headroom#1093)."""
    answers = reporting(8_000, factor=factor)
    session = await Chat(answers, context=LayeredContext(when_full="trim")).create_session()
    for n in range(60):
        await session.ask(f"question {n}. {FILLER}")
    assert max(factor * estimated(request) for request in answers.requests) <= 8_000 - 1_000
    assert len(answers.requests[-1].messages) < 119


# --- F: budget --------------------------------------------------------------------------------------------------


async def test_an_identity_that_does_not_fit_is_never_sent() -> None:
    """3,000 tokens of identity in a window of 2,048: refused with the sizes, nothing is sent (zoedolan/Vybn#2093)."""
    answers = model(2_048)
    session = await Chat(answers, context=LayeredContext()).create_session()
    error = await failure(session.ask("hi", instructions="You are Ada. " * 900))
    assert isinstance(error, WindowTooSmall)
    assert (error.window, "instructions" in error.sizes, answers.requests) == (2_048, True, [])


@pytest.mark.parametrize("sizes", [(40_000, 40_000, 40_000), (13_000, 20_000, 20_000), (1_000_000, 10, 10)])
def test_large_results_of_one_round_fit_together(sizes: tuple[int, ...]) -> None:
    """Results that are too long together are all made shorter until they fit (NeuralNote#203, openclaw#15409)."""
    room = Room(window=8_192)
    large = Round(tuple((10, size) for size in sizes))
    running = [calls_of("now0", large), results_of("now0", large)]
    shown = calls_shown(room.context(), room.view(history(Told(), times=5)), running)[-1]
    assert not isinstance(shown, WindowTooSmall)
    assert recount(shown, room.budget.counter) <= room.budget.packed_limit
    assert unpaired(shown.messages) == []
    assert [len(result.text) >= 10 for result in shown.messages[-1].results] == [True] * 3
    assert recount(shown, room.budget.counter) >= 0.5 * room.budget.packed_limit


def test_the_newest_turns_are_kept() -> None:
    """Of equal turns the newest are kept, in order (BaseIntelligence/bounty-challenge#50790)."""
    room = Room(window=4_096)
    transcript = history(Told(input=1_000, reply=1_000), times=20)
    found = marks(show(room.context(), room.view(transcript)).messages)
    whole = marks([message for turn in transcript.turns() for message in turn.messages])
    assert 4 <= len(found) < len(whole)
    assert found == whole[-len(found) :]


def test_a_false_figure_buys_nothing() -> None:
    """A layer that declares a tenth of its cost is counted, and the trace shows both (openclaw-memory-libravdb#105)."""
    lying = Given("docs", (Layer("docs:1", "A long document. " * 2_000, tokens=10, placement="system"),))
    room = Room(window=4_096)
    found = show(LayeredContext(sources=[lying]), room.view(history()))
    (line,) = [line for line in found.trace.layers if line.id == "docs:1"]
    assert (line.status, line.tokens) == ("dropped", 0)
    honest = show(LayeredContext(sources=[lying]), Room(window=64_000).view(history()))
    (line,) = [line for line in honest.trace.layers if line.id == "docs:1"]
    assert line.tokens > 5_000
    assert "10" in str(line.reason)


def test_a_megabyte_result_is_cut_on_a_character() -> None:
    """A tool's megabyte is shown with its size and its start and end, whole characters all (imzodev/openaidy#442)."""
    large = "😀é漢" * 120_000
    call = Message("assistant", (ToolCall.of("c0", "read", arguments={}),))
    result = Message("tool", (ToolResult.of("c0", "read", output=large),))
    room = Room(window=8_192)
    shown = calls_shown(room.context(), room.view(history()), [call, result])[-1]
    assert not isinstance(shown, WindowTooSmall)
    (short,) = shown.messages[-1].results
    assert short.text.encode().decode() == short.text
    assert "\ufffd" not in short.text
    assert short.text.startswith("😀é漢")
    assert short.text.endswith("漢")
    assert "left out" in short.text
    assert result.results[0].text == large


async def test_a_window_of_zero_is_unknown_and_never_unlimited() -> None:
    """0 means unknown, as it does for models, and holds wherever a window is given (usestrix/strix#741)."""
    answers = model(0)
    session = await long_session(Chat(answers, context=LayeredContext(window=0, when_full="trim")), 400)
    await session.ask("next")
    assert session.traces()[-1].window == 8_192


def test_cut_structures_are_marked_and_told() -> None:
    """An old JSON result that became a stub is valid text with a mark, and the trace says so (zeroclaw#10067)."""
    rows = {"rows": [{"name": "Müller-Lüdenscheidt 漢字", "at": n} for n in range(2_000)]}
    call = Message("assistant", (ToolCall.of("c", "read", arguments={}),))
    old = [Message.of("user", "[t0i] read"), call, Message("tool", (ToolResult.of("c", "read", output=rows),))]
    large = Round(((10, 9_000),))
    running = [*old[1:], calls_of("now0", large), results_of("now0", large)]
    room = Room(window=8_192)
    shown = calls_shown(room.context(), room.view(history()), running)[-1]
    assert not isinstance(shown, WindowTooSmall)
    stub = shown.messages[2].results[0]
    assert len(json.dumps(stub.output)) < 1_000
    assert "left out" in stub.text
    assert [line for line in shown.trace.layers if line.id == "turn" and (line.stubbed or line.reason)]


# --- R: the prefix ----------------------------------------------------------------------------------------------


class Clock:
    """A source that says the time, which is another one in every build."""

    id = "clock"

    async def contribute(self, view: View) -> Sequence[Layer]:
        """Say it."""
        return [Layer("clock", f"It is {len(view.turns)} seconds past nine.")]


async def test_a_clock_spoils_no_prefix() -> None:
    """What changes every turn stands behind everything else (goruck/home-generative-agent#617)."""
    answers = model(32_000)
    session = await Chat(answers, context=LayeredContext(sources=[Clock()]), instructions="Be kind.").create_session()
    await session.ask("first")
    await session.ask("second")
    first, second = answers.requests
    assert first.system == second.system
    assert first.messages[0].parts[0] == second.messages[0].parts[0]
    assert "seconds past" not in told(first).partition("first")[0]
    assert len(second.messages[0].parts) == 1


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_tools_stand_in_one_order(order: tuple[int, ...]) -> None:
    """However tools were given they stand in one order, unlocked ones behind (NousResearch/hermes-agent#27339)."""
    tools = [tool(name, 40) for name in ("beta", "alpha", "gamma")]
    source = Given("skill", (Layer("skill:1", "How to.", unlocks=("aaa",)),))
    view = Room().view(history(), tools=tuple(tools[n] for n in order), unlockable=(tool("aaa", 40),))
    found = show(LayeredContext(sources=[source]), view)
    assert found.tool_names == ("alpha", "beta", "gamma", "aaa")


def test_an_unchanged_source_gives_unchanged_bytes() -> None:
    """A source that says the same is the same bytes in two builds (opencode-agent-memory#24)."""
    same = Given("memory", (Layer("memory:1", "Prefers short answers.", placement="system"),))
    room = Room()
    first = show(LayeredContext(sources=[same]), room.view(history(Told(), times=3)))
    second = show(LayeredContext(sources=[same]), room.view(history(Told(), times=4)))
    assert first.system == second.system
    assert list(second.messages[: len(first.messages) - 1]) == list(first.messages[:-1])
