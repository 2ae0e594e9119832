"""Hooks: what they see, what they may change, and what becomes of a turn whose hook fails."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import Raw

from antiphon import (
    Chat,
    LayeredContext,
    Message,
    PendingCall,
    Session,
    SummaryContext,
    Text,
    ToolCall,
    ToolPolicy,
    ToolResult,
    View,
    source,
)
from antiphon.chat import Compacted, Compacting, Failed, TextDelta, ToolReturned
from antiphon.chat._hooks import Hooks
from antiphon.errors import (
    ContextTooLong,
    MalformedReply,
    Misuse,
    NotStorable,
    Overloaded,
    SummaryFailed,
    ToolDenied,
    TurnCanceled,
    WindowTooSmall,
)
from antiphon.models import Replied
from antiphon.testing import ScriptedModel
from antiphon.tools import Tool, tool
from tests.chat.fakes import ListStore, failure
from tests.chat.rounds import Ran, calls, outcomes, reopened, results, shown_calls, talking

pytestmark = pytest.mark.anyio

ACT = calls(("a", "act", {"text": "x"}))
SECRET = "4111-1111"


def raising(error: Exception) -> Callable[..., Any]:
    """A hook that raises."""

    def hook(*_: Any) -> Any:
        raise error

    return hook


def redact(messages: Sequence[Message]) -> list[Message]:
    """A hook that takes the secret out of every text."""
    return [
        Message.of(
            each.role,
            [Text(part.text.replace(SECRET, "[card]")) if isinstance(part, Text) else part for part in each.parts],
        )
        for each in messages
    ]


def sent(model: ScriptedModel, at: int = -1) -> list[str]:
    """Texts of a request's messages."""
    return [message.text for message in model.requests[at].messages]


async def journal_of(session: Session) -> str:
    """The whole journal of a session as text."""
    return "".join([repr(entry) for entry in [entry async for entry in session.journal()]])


def test_a_hook_must_be_callable() -> None:
    """What cannot be called is refused when the Hooks are made, what is no Hooks when the Chat is."""
    with pytest.raises(Misuse, match="on_error is a str"):
        Hooks(on_error="log")  # type: ignore[arg-type]
    with pytest.raises(Misuse, match="hooks is a dict"):
        Chat("echo:", hooks={})  # type: ignore[arg-type]


# --- before_send ----------------------------------------------------------------------------------------------


async def test_before_send_is_called_once_a_call() -> None:
    """It sees exactly what each model call would be shown: in every round of a turn, and in no preview (B-012)."""
    seen: list[list[Message]] = []

    def before_send(messages: Sequence[Message]) -> Sequence[Message]:
        seen.append(list(messages))
        return messages

    ran = Ran()
    model, _, session = await talking([ACT, "done", "again"], [ran.tool()], hooks=Hooks(before_send=before_send))
    await session.ask("hi")
    await session.preview("what if")
    await session.ask("more")
    assert [list(request.messages) for request in model.requests] == seen
    warnings = [each for turn in session.turns() for trace in turn.traces for each in trace.warnings]
    assert not any("before_send" in each for each in warnings)


async def test_before_send_changes_what_is_sent_and_not_what_is_kept() -> None:
    """A hook that redacts, async too: no model sees the secret, and the journal has it as it was said."""

    async def before_send(messages: Sequence[Message]) -> list[Message]:
        await asyncio.sleep(0)
        return redact(messages)

    model, _, session = await talking(["noted", "yes"], [], hooks=Hooks(before_send=before_send))
    await session.ask(f"my card is {SECRET}")
    await session.ask("do you have it?")
    assert [sent(model, n) for n in (0, 1)] == [
        ["my card is [card]"],
        ["my card is [card]", "noted", "do you have it?"],
    ]
    assert SECRET in await journal_of(session)
    assert "[card]" not in await journal_of(session)


async def test_before_send_may_give_dicts() -> None:
    """Plain objects with a role and content are read; a system message is added to the system text."""

    def before_send(messages: Sequence[Message]) -> list[Any]:
        return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi there"}]

    model, _, session = await talking(["ok"], [], hooks=Hooks(before_send=before_send), instructions="Help.")
    await session.ask("hi")
    assert (model.requests[0].system, sent(model)) == ("Help.\n\nBe brief.", ["hi there"])
    trace = session.turns()[0].traces[0]
    assert next(line for line in trace.layers if line.id == "before_send").where == "system"
    assert "Be brief." not in await journal_of(session)


@pytest.mark.parametrize("text", ["a far longer input " * 30, "x"], ids=["longer", "shorter"])
async def test_the_trace_tells_of_a_change(text: str) -> None:
    """What is sent is counted again: the totals are those of a turn that says it so, and a warning tells of it."""

    def before_send(messages: Sequence[Message]) -> list[Message]:
        return [*messages[:-1], Message.of("user", text)]

    _, _, session = await talking(["ok"], [], hooks=Hooks(before_send=before_send))
    _, _, plain = await talking(["ok"], [])
    await session.ask("some words of an input")
    await plain.ask(text)
    trace, expected = session.turns()[0].traces[0], plain.turns()[0].traces[0]
    assert trace.totals == expected.totals
    assert any("before_send changed what is sent" in warning for warning in trace.warnings)
    assert next(line for line in trace.layers if line.id == "input").reason == "changed by before_send"


async def test_the_trace_stays_true_where_history_is_left_out() -> None:
    """A hook that sends the newest input alone leaves nothing of history in the totals."""
    hooks = Hooks(before_send=lambda messages: [messages[-1]])
    model, _, session = await talking(["one", "two"], [], hooks=hooks)
    await session.ask("first " * 50)
    await session.ask("second")
    trace = session.turns()[1].traces[0]
    assert (sent(model), trace.totals["history"]) == (["second"], 0)
    assert next(line for line in trace.layers if line.id == "history").status == "dropped"


EARLIER = [Message.of("user", "what came before"), Message.of("assistant", "and its reply")]
RULE = Message.of("system", "One more rule.")


@pytest.mark.parametrize("instructions", [None, "Help."])
@pytest.mark.parametrize("given", [EARLIER, [RULE], [RULE, *EARLIER]], ids=["messages", "system", "both"])
async def test_everything_that_a_hook_adds_is_counted(given: list[Message], instructions: str | None) -> None:
    """What frames a message, too: a context that gives the same costs the same, place by place."""
    hooks = Hooks(before_send=lambda messages: [*given, *messages])
    hooked, _, session = await talking(["ok"], [], hooks=hooks, instructions=instructions)
    plain, _, other = await talking(["ok"], [], context=lambda view: given, instructions=instructions)
    await session.ask("hi")
    await other.ask("hi")
    assert (hooked.requests[0].system, sent(hooked)) == (plain.requests[0].system, sent(plain))
    assert session.turns()[0].traces[0].totals == other.turns()[0].traces[0].totals


async def test_a_context_with_its_own_counter_is_counted_by_that() -> None:
    """A LayeredContext's counter counts what the hook adds, and block and input shrink to what is left of them."""

    @source(id="docs")
    def docs(view: View) -> str:
        return "one two three"

    context = LayeredContext(window=9_000, counter=lambda text: 100 * len(text.split()), sources=[docs])
    totals = []
    for words in ("one two three four five", "one"):
        hooks = Hooks(before_send=lambda messages, words=words: [Message.of("user", words)])  # type: ignore[misc]
        _, _, session = await talking(["ok"], [], hooks=hooks, context=context)
        await session.ask("hi")
        trace = session.turns()[0].traces[0]
        totals.append((trace.totals["input"] % 100, trace.totals["input"] // 100))
    assert totals == [(4, 5), (4, 1)]


@pytest.mark.parametrize(("keeps", "expected"), [(True, "dropped included"), (False, "included dropped")])
async def test_the_block_beside_the_input_has_its_own_line(keeps: bool, expected: str) -> None:
    """Where a hook keeps the block, the input's line tells of the change; where it drops the block, the block's."""

    @source(id="docs")
    def docs(view: View) -> str:
        return "one two three"

    def before_send(messages: Sequence[Message]) -> list[Message]:
        parts = messages[-1].parts
        return [Message("user", parts[-1:] if keeps else parts[:-1])]

    hooks = Hooks(before_send=before_send)
    _, _, session = await talking(["ok"], [], hooks=hooks, context=LayeredContext(sources=[docs]))
    await session.ask("hi")
    lines = {line.id: line for line in session.turns()[0].traces[0].layers}
    assert f"{lines['input'].status} {lines['docs'].status}" == expected


async def test_what_no_longer_fits_is_refused() -> None:
    """A hook that makes a call too long for the window ends the turn before anything is sent."""
    hooks = Hooks(before_send=lambda messages: [Message.of("user", "word " * 9_000), *messages])
    model = ScriptedModel(["no"], window=4_000)
    session = await Chat(model, hooks=hooks).create_session()
    assert isinstance(await failure(session.ask("hi")), WindowTooSmall)
    assert (model.requests, session.turns()[0].status) == ([], "failed")


DROPS: list[Callable[[Sequence[Message]], Any]] = [
    lambda messages: messages[:-1],
    lambda messages: [],
    lambda messages: [*messages[:-1], Message("user")],
    lambda messages: redact(messages[:-1]),
    lambda messages: [*messages[:-1], Message.of("assistant", "made up")],
    lambda messages: [Message.of(each.role, each.text.upper()) for each in messages[:-1]],
]


@pytest.mark.parametrize("drop", DROPS, ids=range(len(DROPS)))
async def test_the_newest_input_stays(drop: Callable[..., Any]) -> None:
    """A hook that loses the newest input fails the turn, though an earlier one reads the same; nothing is sent."""
    hooks = Hooks(before_send=lambda messages: messages if len(messages) < 3 else drop(messages))
    model, _, session = await talking(["hello", "no"], [], hooks=hooks)
    await session.ask("hi")
    error = await failure(session.ask("hi"))
    assert isinstance(error, Misuse)
    assert "newest input" in str(error)
    assert (len(model.requests), session.turns()[-1].status) == (1, "failed")


KEEPS: list[Callable[[Sequence[Message]], Any]] = [
    lambda messages: messages[-3:],
    lambda messages: [Message.of("user", "before"), *messages],
    lambda messages: [*messages, Message.of("user", "a reminder")],
    lambda messages: [
        Message.of(each.role, [Text("!"), *each.parts]) if each.role == "user" else each for each in messages
    ],
]


@pytest.mark.parametrize("keep", KEEPS, ids=range(len(KEEPS)))
async def test_the_newest_input_may_change_in_its_place(keep: Callable[..., Any]) -> None:
    """In every round: what stands before, behind, or in place of the input's words is the hook's to choose."""
    ran = Ran()
    model, _, session = await talking(["ok", ACT, "done"], [ran.tool()], hooks=Hooks(before_send=keep))
    await session.ask("first")
    assert (await session.ask("second")).text == "done"
    assert any("second" in text for text in sent(model))
    assert shown_calls(model.requests[-1].messages) == [">a", "<a"]


async def test_a_person_who_steers_is_not_left_out() -> None:
    """What was said while the turn ran is as new as the input: it stays, too."""

    def before_send(messages: Sequence[Message]) -> list[Message]:
        return [each for each in messages if each.text != "and this"]

    async def steered(request: Any) -> str:
        await turn.steer("and this")
        return "first"

    _, _, session = await talking([steered, "second"], [], hooks=Hooks(before_send=before_send))
    turn = session.send("hi")
    assert "newest input" in str(await failure(turn.result()))


@pytest.mark.parametrize("gone", [">", "<"])
async def test_calls_and_results_stay_together(gone: str) -> None:
    """A call without its result, or the other way round, is not sent; the trace says so, the journal keeps both."""

    def before_send(messages: Sequence[Message]) -> list[Message]:
        return [each for each in messages if not (each.calls if gone == ">" else each.results)]

    ran = Ran()
    asked = calls(("a", "act", {"text": "x"}), words="I look")
    model, _, session = await talking([asked, "done"], [ran.tool()], hooks=Hooks(before_send=before_send))
    await session.ask("hi")
    assert (shown_calls(model.requests[-1].messages), len(results(session))) == ([], 1)
    assert sent(model) == (["hi"] if gone == ">" else ["hi", "I look"])
    assert any("without counterpart" in warning for warning in session.turns()[0].traces[-1].warnings)


async def test_a_result_is_sent_once() -> None:
    """A hook that repeats messages gives a call two results, of which the first is sent."""
    hooks = Hooks(before_send=lambda messages: [*messages, *messages[2:]])
    model, _, session = await talking([ACT, "done"], [Ran().tool()], hooks=hooks)
    await session.ask("hi")
    assert shown_calls(model.requests[-1].messages) == [">a", "<a"]


async def test_the_trace_says_which_part_was_changed() -> None:
    """Where only a result of the running turn is shorter, its line says so, and what came before is as it was."""

    def before_send(messages: Sequence[Message]) -> list[Message]:
        short = [ToolResult.of("a", "act", output="-")]
        return [Message("tool", tuple(short)) if each.results else each for each in messages]

    asked = calls(("a", "act", {"text": "x"}), words="I look")
    _, _, session = await talking(["ok", asked, "done"], [giving("long " * 90)], hooks=Hooks(before_send=before_send))
    await session.ask("first")
    await session.ask("second")
    lines = {line.id: line for line in session.turns()[1].traces[-1].layers}
    assert (lines["turn"].status, lines["turn"].reason) == ("truncated", "changed by before_send")
    assert [(lines[id].status, lines[id].reason) for id in ("history", "input")] == [("included", None)] * 2
    assert lines["turn"].original_tokens - lines["turn"].tokens > 80


@pytest.mark.parametrize(
    ("given", "kind"), [("text", Misuse), (None, Misuse), ([3], NotStorable), ([{"a": 1}], NotStorable)]
)
async def test_before_send_must_give_messages(given: Any, kind: type[Exception]) -> None:
    """What cannot be read as messages fails the turn; nothing is sent."""
    model, _, session = await talking(["no"], [], hooks=Hooks(before_send=lambda messages: given))
    assert isinstance(await failure(session.ask("hi")), kind)
    assert model.requests == []


async def test_before_send_that_raises_fails_the_turn() -> None:
    """It fails closed, with its own error: nothing is sent."""
    error = ValueError("cannot redact")
    model, _, session = await talking(["no"], [], hooks=Hooks(before_send=raising(error)))
    assert await failure(session.ask("hi")) is error
    assert (model.requests, session.turns()[0].status) == ([], "failed")


async def test_before_send_is_asked_again_when_a_call_was_too_long() -> None:
    """The call that is made shorter goes through the hook like any other; one that is not sent again does not."""
    seen: list[int] = []

    def before_send(messages: Sequence[Message]) -> list[Message]:
        seen.append(len(messages))
        return redact(messages)

    replies = ["ok", ContextTooLong("scripted"), "shorter", ContextTooLong("scripted")]
    hooks = Hooks(before_send=before_send)
    model, _, session = await talking(replies, [], hooks=hooks, context=LayeredContext(when_full="trim"))
    await session.ask("a " * 2_000)
    assert (await session.ask(f"b {SECRET}")).text == "shorter"
    assert (len(seen), len(model.requests)) == (3, 3)
    await session.clear_context()
    assert isinstance(await failure(session.ask("c")), ContextTooLong)
    assert (len(seen), len(model.requests)) == (4, 4)
    assert [sent(model, n)[-1] for n in (1, 2)] == ["b [card]"] * 2


# --- after_receive --------------------------------------------------------------------------------------------


async def test_after_receive_changes_the_reply_before_it_is_kept() -> None:
    """What it gives is the reply, everywhere; None leaves the reply as it is (B-013)."""

    async def after_receive(message: Message) -> Message | None:
        return Message.of("assistant", message.text.replace(SECRET, "[card]")) if SECRET in message.text else None

    _, _, session = await talking([f"it is {SECRET}", "plain"], [], hooks=Hooks(after_receive=after_receive))
    assert [(await session.ask("card?")).text, (await session.ask("so?")).text] == ["it is [card]", "plain"]
    assert SECRET not in await journal_of(session)


async def test_readers_hear_the_changed_text_where_nothing_was_streamed() -> None:
    """A reply that came as a whole is told as it was changed."""
    hooks = Hooks(after_receive=lambda message: Message.of("assistant", "changed"))
    _, _, session = await talking([[Replied(Message.of("assistant", "as it was"))]], [], hooks=hooks)
    turn = session.send("hi")
    await turn.result()
    assert [event.text async for event in turn if isinstance(event, TextDelta)] == ["changed"]


async def test_after_receive_decides_which_calls_there_are() -> None:
    """Calls that it takes out never run, and the reply then ends the turn."""
    ran = Ran()
    hooks = Hooks(after_receive=lambda message: Message.of("assistant", "no calls today"))
    model, _, session = await talking([ACT], [ran.tool()], hooks=hooks)
    assert (await session.ask("hi")).text == "no calls today"
    assert (ran.effects, len(model.requests)) == ([], 1)


async def test_a_call_that_after_receive_adds_is_judged() -> None:
    """A call of the hook's own is validated and put to the policy like a model's."""
    ran = Ran()
    hooks = Hooks(after_receive=lambda message: ACT if message.text == "first" else None)
    policy = ToolPolicy(deny=["act"])
    _, _, session = await talking(["first", "second"], [ran.tool()], hooks=hooks, policy=policy)
    assert (await session.ask("hi")).text == "second"
    assert (ran.effects, outcomes(session)) == ([], {"a": True})


TWICE = calls(("a", "act"), ("a", "act"))


@pytest.mark.parametrize(
    ("given", "kind"), [(Message.of("user", "x"), MalformedReply), (TWICE, MalformedReply), ("x", Misuse)]
)
async def test_what_after_receive_gives_is_checked(given: Any, kind: type[Exception]) -> None:
    """Role and calls are checked as a model's own; anything but a Message is refused."""
    _, _, session = await talking(["ok"], [], hooks=Hooks(after_receive=lambda message: given))
    error = await failure(session.ask("hi"))
    assert isinstance(error, kind)
    assert "after_receive" in str(error)


async def test_after_receive_that_raises_fails_the_turn() -> None:
    """It fails closed, with its own error, and nothing of the reply is kept, not even as partial."""
    error = ValueError("cannot look")
    _, _, session = await talking([f"it is {SECRET}"], [], hooks=Hooks(after_receive=raising(error)))
    assert await failure(session.ask("hi")) is error
    assert (session.turns()[0].status, session.turns()[0].partial) == ("failed", None)
    assert SECRET not in await journal_of(session)


# --- on_compact -----------------------------------------------------------------------------------------------


def summing(asked: list[Sequence[Message]], **options: Any) -> SummaryContext:
    """A context that summarises all but the newest turn, and notes what its summarizer was asked."""

    def summarize(messages: Sequence[Message]) -> str:
        asked.append(messages)
        return f"summary {len(asked)}"

    return SummaryContext(summarize, keep_recent=0, compact_after=1, incremental=True, **options)


async def test_on_compact_stands_in_place_of_the_summarizer() -> None:
    """Its text is the summary, and nobody is asked; it is given the summary so far (B-014)."""
    asked: list[Any] = []
    given: list[tuple[list[str], str | None]] = []

    def on_compact(messages: Sequence[Message], summary: str | None) -> str:
        given.append(([message.text for message in messages], summary))
        return f"mine {len(given)}"

    hooks = Hooks(on_compact=on_compact)
    model, _, session = await talking(["r"] * 4, [], hooks=hooks, context=summing(asked))
    for text in "abcd":
        await session.ask(text)
    assert (asked, len(model.requests)) == ([], 4)
    assert given == [(["a", "r"], None), (["b", "r"], "mine 1")]
    assert "mine 2" in sent(model)[0]


@pytest.mark.parametrize("given", [None, "", "  \n"])
async def test_on_compact_may_leave_it_to_the_summarizer(given: str | None) -> None:
    """None and blank text are no summary: the summarizer is asked (B-083)."""
    asked: list[Any] = []
    hooks = Hooks(on_compact=lambda messages, summary: given)
    model, _, session = await talking(["r"] * 3, [], hooks=hooks, context=summing(asked))
    for text in "abc":
        await session.ask(text)
    assert (len(asked), "summary 1" in sent(model)[0]) == (1, True)


@pytest.mark.parametrize("hook", [raising(ValueError("no")), lambda messages, summary: 3])
async def test_on_compact_that_raises_is_a_failed_summary(hook: Callable[..., Any]) -> None:
    """The context does what it does then: it goes on without, or the turn fails, with the phase told."""
    asked: list[Any] = []
    told: list[tuple[str, str]] = []
    hooks = Hooks(on_compact=hook, on_error=lambda error, phase: told.append((type(error).__name__, phase)))
    _, _, trimmed = await talking(["r"] * 3, [], hooks=hooks, context=summing(asked, on_failure="trim"))
    _, _, failing = await talking(["r"] * 3, [], hooks=hooks, context=summing(asked, on_failure="fail"))
    heard: list[str] = []
    failing.events.on(Failed, lambda event: heard.append(event.phase))
    for text in "ab":
        await trimmed.ask(text)
        await failing.ask(text)
    assert (await trimmed.ask("c")).text == "r"
    assert isinstance(await failure(failing.ask("c")), SummaryFailed)
    assert (asked, heard, told) == ([], ["compact"], [("SummaryFailed", "compact")] * 2)


async def test_listeners_hear_of_compacting() -> None:
    """Compacting tells how many messages, Compacted what stands for them, a hook's text too (B-054, B-055)."""
    hooks = Hooks(on_compact=lambda messages, summary: "mine")
    _, _, session = await talking(["r"] * 3, [], hooks=hooks, context=summing([]))
    heard: list[Any] = []
    session.events.on(Compacting, lambda event: heard.append(event.messages))
    session.events.on(Compacted, lambda event: heard.append(event.summary))
    for text in "abc":
        await session.ask(text)
    assert heard == [2, "mine"]


# --- on_tool_call ---------------------------------------------------------------------------------------------


async def test_on_tool_call_changes_the_arguments() -> None:
    """What it gives is what runs, what is journaled, and what the model is shown; None leaves them (B-015)."""
    seen: list[tuple[str, Any]] = []

    async def on_tool_call(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        seen.append((name, arguments))
        return {"text": "y"} if arguments["text"] == "x" else None

    ran = Ran()
    asked = calls(("a", "act", {"text": "x"}), ("b", "act", {"text": "z"}))
    model, _, session = await talking([asked, "done"], [ran.tool()], hooks=Hooks(on_tool_call=on_tool_call))
    await session.ask("hi")
    assert seen == [("act", {"text": "x"}), ("act", {"text": "z"})]
    assert ran.effects == ["y", "z"]
    assert [call.arguments for call in model.requests[-1].messages[1].calls] == [{"text": "y"}, {"text": "z"}]
    assert [call.arguments for call in session.turns()[0].messages[1].calls] == [{"text": "y"}, {"text": "z"}]


async def test_on_tool_call_sees_what_would_run() -> None:
    """Arguments that are only readable once repaired are shown repaired: a hook cannot be got round by bad JSON."""
    seen: list[Any] = []
    written = ToolCall.of("a", "functions.act", arguments={}, raw="{'text': 'x',}")
    ran = Ran()
    hooks = Hooks(on_tool_call=lambda name, arguments: seen.append((name, arguments)))
    _, _, session = await talking([calls(written), "done"], [ran.tool()], hooks=hooks)
    await session.ask("hi")
    assert (seen, ran.effects) == ([("act", {"text": "x"})], ["x"])


async def test_on_tool_call_may_mend_arguments() -> None:
    """It comes before they are validated: arguments that do not fit may be made to, and the other way round."""
    ran = Ran()
    mended: dict[str, Any] = {"wrong": {"text": "right"}, "text": {"text": [1]}}
    hooks = Hooks(on_tool_call=lambda name, arguments: mended[next(iter(arguments))])
    asked = calls(("a", "act", {"wrong": 1}), ("b", "act", {"text": "x"}))
    _, _, session = await talking([asked, "done"], [ran.tool()], hooks=hooks)
    await session.ask("hi")
    assert (ran.effects, outcomes(session)) == (["right"], {"a": False, "b": True})


@pytest.mark.parametrize("given", [{"text": "safe"}, {"text": "x", "name": "other"}, None])
async def test_a_hook_never_weakens_the_policy(given: Any) -> None:
    """Whatever arguments it gives, a call that the policy denies does not run, nor does it become another tool's."""
    ran, other = Ran(), Ran()
    hooks = Hooks(on_tool_call=lambda name, arguments: given)
    tools = [ran.tool(), other.tool("other")]
    _, _, session = await talking([ACT, "done"], tools, hooks=hooks, policy=ToolPolicy(deny=["act"], allow=["other"]))
    await session.ask("hi")
    assert (ran.effects, other.effects, outcomes(session)) == ([], [], {"a": True})


async def test_the_policy_judges_what_the_hook_gave() -> None:
    """`evaluate` and `needs_approval` see the arguments that run: a hook can make a free call wait."""
    judged: list[Any] = []

    def needs_approval(arguments: dict[str, Any]) -> bool:
        judged.append(arguments["text"])
        return bool(arguments["text"] == "danger")

    ran = Ran()
    hooks = Hooks(on_tool_call=lambda name, arguments: {"text": "danger"})
    _, _, session = await talking([ACT], [ran.tool(needs_approval=needs_approval)], hooks=hooks)
    assert (await session.ask("hi")).finish_reason == "waiting"
    assert (ran.effects, judged) == ([], ["danger"])


async def test_what_a_person_approves_is_what_runs() -> None:
    """A waiting call shows the arguments that the hook gave; once approved they run, and no hook is asked again."""
    ran, asked = Ran(), list[str]()

    def on_tool_call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        asked.append(arguments["text"])
        return {"text": arguments["text"] + "!"}

    hooks = Hooks(on_tool_call=on_tool_call)
    tools = [ran.tool(needs_approval=True)]
    _, store, session = await talking([ACT], tools, hooks=hooks)
    await session.ask("hi")
    _, again = await reopened(store, ["done"], tools, hooks=hooks)
    assert [call.arguments for call in again.pending()] == [{"text": "x!"}]
    await again.approve("a", by="ana")
    await again.resume().result()
    assert (ran.effects, asked) == (["x!"], ["x"])


async def test_a_persons_arguments_are_not_the_hooks_to_change() -> None:
    """Arguments that are given with an approval run as they are."""
    ran = Ran()
    hooks = Hooks(on_tool_call=lambda name, arguments: {"text": "hook"})
    _, _, session = await talking([ACT, "done"], [ran.tool(needs_approval=True)], hooks=hooks)
    await session.ask("hi")
    await session.approve("a", by="ana", arguments={"text": "ana"})
    await session.resume().result()
    assert ran.effects == ["ana"]


@pytest.mark.parametrize(
    "hook",
    [raising(ToolDenied("act", "not today")), lambda name, arguments: [1], lambda name, arguments: {"text": {1}}],
)
async def test_on_tool_call_that_raises_stops_its_call(hook: Callable[..., Any]) -> None:
    """That call is answered with an error and does not run; the others do, and the turn goes on."""
    ran = Ran()
    hooks = Hooks(on_tool_call=lambda name, arguments: hook(name, arguments) if arguments["text"] == "x" else None)
    asked = calls(("a", "act", {"text": "x"}), ("b", "act", {"text": "z"}))
    _, _, session = await talking([asked, "done"], [ran.tool()], hooks=hooks)
    assert (await session.ask("hi")).text == "done"
    assert (ran.effects, outcomes(session)) == (["z"], {"a": True, "b": False})
    assert "on_tool_call hook raised" in results(session)[0].text


async def test_on_tool_call_is_not_asked_about_calls_that_cannot_run() -> None:
    """Of a tool that is not there, and of a reply that was cut off."""
    asked: list[str] = []
    hooks = Hooks(on_tool_call=lambda name, arguments: asked.append(name))
    replies = [calls(("a", "nothing")), Replied(ACT, finish="length"), "done"]
    _, _, session = await talking(replies, [Ran().tool()], hooks=hooks)
    await session.ask("hi")
    assert (asked, outcomes(session)) == ([], {"a": True})


# --- on_tool_result -------------------------------------------------------------------------------------------


def giving(output: Any) -> Tool:
    """A tool that gives this, or raises it."""

    def act(text: str = "") -> Any:
        if isinstance(output, Exception):
            raise output
        return output

    return tool(act)


async def test_on_tool_result_changes_what_is_kept() -> None:
    """A JSON value stands for the output, a ToolResult for the result; None leaves it (B-016)."""
    given: dict[str, Any] = {
        "a": {"masked": True},
        "b": ToolResult.of("other", "other", output="mine", is_error=True),
        "c": None,
    }
    seen: list[tuple[str, str]] = []

    async def on_tool_result(name: str, result: ToolResult) -> Any:
        seen.append((name, result.text))
        return given[result.call_id]

    asked = calls(*((id, "act") for id in "abc"))
    _, _, session = await talking([asked, "done"], [giving("raw")], hooks=Hooks(on_tool_result=on_tool_result))
    await session.ask("hi")
    assert seen == [("act", "raw")] * 3
    found = [(each.call_id, each.name, each.output, each.is_error) for each in results(session)]
    assert found == [("a", "act", {"masked": True}, False), ("b", "act", "mine", True), ("c", "act", "raw", False)]


async def test_on_tool_result_sees_errors_too() -> None:
    """A tool that raised has a result like any other; a value in its place is still an error."""
    hooks = Hooks(on_tool_result=lambda name, result: result.text.replace(SECRET, "[card]"))
    _, _, session = await talking([ACT, "done"], [giving(ValueError(f"bad card {SECRET}"))], hooks=hooks)
    await session.ask("hi")
    assert (results(session)[0].text, outcomes(session)) == ("ValueError: bad card [card]", {"a": True})
    assert SECRET not in await journal_of(session)


FAILING = [
    raising(ValueError(f"cannot mask {SECRET}")),
    lambda name, result: ToolResult("a", "act", output_json=Raw(b"{")),
]


@pytest.mark.parametrize("hook", FAILING)
async def test_on_tool_result_that_raises_keeps_the_result_back(hook: Callable[..., Any]) -> None:
    """The result is an error that says so: never what the tool gave, nor the hook's own words, to anyone."""
    model, _, session = await talking([ACT, "done"], [giving(f"card {SECRET}")], hooks=Hooks(on_tool_result=hook))
    heard: list[Any] = []
    session.events.on(ToolReturned, heard.append)
    assert (await session.ask("hi")).text == "done"
    assert "on_tool_result hook raised" in results(session)[0].text
    assert outcomes(session) == {"a": True}
    told = await journal_of(session) + repr(model.requests) + repr(heard)
    assert SECRET not in told


# --- on_error -------------------------------------------------------------------------------------------------


@source(id="docs")
def broken_source(view: View) -> str:
    """A source that gives nothing."""
    raise ValueError("index is gone")


async def test_on_error_is_told_of_each_phase() -> None:
    """A source, a tool and what ends the turn are each told once, with their phase (B-017, B-042, B-043)."""
    told: list[tuple[type[BaseException], str, str]] = []

    async def on_error(error: BaseException, phase: str) -> None:
        told.append((type(error), str(error).split(";")[0], phase))

    end = Overloaded("scripted", "busy")
    asked = calls(("a", "act"), ("b", "nothing"))
    context = LayeredContext(sources=[broken_source])
    _, _, session = await talking(
        [asked, end], [giving(ValueError("no"))], hooks=Hooks(on_error=on_error), context=context
    )
    assert await failure(session.ask("hi")) is end
    assert [(each[0].__name__, each[2]) for each in told] == [
        ("ContextError", "source"),
        ("UnknownTool", "tool"),
        ("ToolError", "tool"),
        ("Overloaded", "send"),
    ]
    assert "index is gone" in told[0][1]
    assert told[2][1] == "act: ValueError: no"


async def test_on_error_is_not_told_of_what_was_mended() -> None:
    """A call that was too long and then fit, and a turn that was canceled, are no errors."""
    told: list[Any] = []
    hooks = Hooks(on_error=lambda error, phase: told.append(error))
    replies = ["ok", ContextTooLong("scripted"), "shorter", "never"]
    _, _, session = await talking(replies, [], hooks=hooks, context=LayeredContext(when_full="trim"))
    await session.ask("a " * 2_000)
    assert (await session.ask("b")).text == "shorter"
    turn = session.send("c")
    await turn.cancel("enough")
    assert told == []


async def test_on_error_is_told_before_the_failure_is_committed() -> None:
    """So that one that is slow is canceled with its turn; the turn then fails all the same."""
    store = ListStore()
    begun = asyncio.Event()
    types: list[str] = []

    async def on_error(error: BaseException, phase: str) -> None:
        types.extend(store.types())
        begun.set()
        await asyncio.Event().wait()

    _, _, session = await talking([ValueError("no")], [], hooks=Hooks(on_error=on_error), store=store)
    turn = session.send("hi")
    await begun.wait()
    await turn.cancel("enough")
    assert (await failure(turn.result())).args == ("no",)
    assert ("turn.failed" in types, store.types()[-1]) == (False, "turn.failed")


async def _cancels_itself(error: BaseException, phase: str) -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize("hook", [raising(KeyError("mine")), _cancels_itself])
async def test_on_error_that_raises_costs_only_itself(
    hook: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged; the turn ends as it would have."""
    _, _, session = await talking([ValueError("no")], [], hooks=Hooks(on_error=hook))
    with caplog.at_level(logging.ERROR, "antiphon"):
        assert isinstance(await failure(session.ask("hi")), ValueError)
    assert ["on_error" in record.getMessage() for record in caplog.records] == [True]
    assert session.turns()[0].status == "failed"


async def test_hooks_that_fail_are_told_to_on_error() -> None:
    """What a hook raises is an error of the phase it stands in."""
    told: list[tuple[str, str]] = []

    def on_error(error: BaseException, phase: str) -> None:
        told.append((str(error), phase))

    calling = Hooks(on_tool_call=raising(ValueError("call")), on_error=on_error)
    returning = Hooks(on_tool_result=raising(ValueError("result")), on_error=on_error)
    sending = Hooks(before_send=raising(ValueError("send")), on_error=on_error)
    for hooks in (calling, returning):
        await (await talking([ACT, "done"], [giving("raw")], hooks=hooks))[2].ask("hi")
    await failure((await talking([ACT, "done"], [], hooks=sending))[2].ask("hi"))
    assert told == [("call", "tool"), ("result", "tool"), ("send", "send")]


# --- on_state_change ------------------------------------------------------------------------------------------


async def test_on_state_change_gets_key_old_and_new(caplog: pytest.LogCaptureFixture) -> None:
    """Before the subscribers, in another order of arguments than theirs; equal values tell nobody (B-018, B-061)."""
    told: list[Any] = []

    async def on_state_change(key: str, old: Any, new: Any) -> None:
        await asyncio.sleep(0)
        told.append((key, old, new))
        if new == 3:
            raise ValueError("mine")

    session = await Chat("echo:", hooks=Hooks(on_state_change=on_state_change)).create_session()
    session.state.subscribe("k", lambda new, old: told.append((new, old)))
    for value in ([1], [1], 2, 3):
        await session.state.set("k", value)
    assert told == [("k", None, [1]), ([1], None), ("k", [1], 2), (2, [1]), ("k", 2, 3), (3, 2)]
    assert ["on_state_change" in record.getMessage() for record in caplog.records] == [True]


# --- all of them ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["before_send", "after_receive", "on_tool_call", "on_tool_result"])
async def test_a_slow_hook_is_canceled_with_its_turn(name: str) -> None:
    """Wherever it hangs, cancelling the turn cancels it, and the turn is canceled and over."""
    begun, ended = asyncio.Event(), list[str]()

    async def hang(*_: Any) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append(name)
            raise

    _, _, session = await talking([ACT, "done"], [Ran().tool()], hooks=Hooks(**{name: hang}))
    turn = session.send("hi")
    await begun.wait()
    await turn.cancel("enough")
    assert isinstance(await failure(turn.result()), TurnCanceled)
    assert (ended, session.turns()[0].status) == ([name], "canceled")


NAMES = ("before_send", "after_receive", "on_tool_call", "on_tool_result")


def noting(name: str, order: list[str]) -> Callable[..., Any]:
    """A hook that notes that it was called, and changes nothing."""

    def hook(*given: Any) -> Any:
        order.append(name)
        return given[-1]

    return hook


async def test_the_order_of_hooks() -> None:
    """One turn with a call: each hook at its place, once for what it stands before (B-041)."""
    order: list[str] = []

    hooks = Hooks(**{name: noting(name, order) for name in NAMES})

    def evaluate(call: PendingCall) -> None:
        order.append("policy")

    policy = ToolPolicy(evaluate=evaluate)
    _, _, session = await talking([ACT, "done"], [Ran().tool()], hooks=hooks, policy=policy)
    await session.ask("hi")
    assert order == [*NAMES[:3], "policy", NAMES[3], *NAMES[:2]]


async def test_a_resumed_turn_calls_hooks_for_what_it_does_anew() -> None:
    """A model call that is made again goes through all of them; a call that had started runs with its arguments."""
    order: list[str] = []
    hooks = Hooks(**{name: noting(name, order) for name in NAMES})
    ran, store = Ran(), ListStore()
    _, _, session = await talking([ACT, "done"], [ran.tool(idempotent=True)], hooks=hooks, store=store)
    await session.ask("hi")
    started = store.types().index("tool.started")
    for kept, expected in ((2, [*NAMES, *NAMES[:2]]), (started + 1, ["on_tool_result", *NAMES[:2]])):
        order.clear()
        cut = ListStore({"s": store.lines["s"][:kept]})
        _, copy = await reopened(
            cut, [ACT, "done"] if kept == 2 else ["done"], [ran.tool(idempotent=True)], hooks=hooks
        )
        await copy.resume().result()
        assert order == expected
