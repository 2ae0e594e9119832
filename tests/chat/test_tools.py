"""Turns that call tools: one result a call whatever happens, in few appends, and what ends them."""

import asyncio
import json
import threading
from typing import Any

import pytest

from antiphon import (
    Chat,
    Decision,
    FullContext,
    LayeredContext,
    Limits,
    PendingCall,
    Text,
    Tool,
    Toolbox,
    ToolCall,
    ToolContext,
    ToolPolicy,
    ToolProgress,
    tool,
)
from antiphon import errors as failing
from antiphon.models import ModelRequest, Replied
from antiphon.testing import ScriptedModel
from tests.chat.fakes import Act, ListStore, failure, passing
from tests.chat.rounds import Hanging, Ran, calls, outcomes, reopened, results, shown_calls, talking

pytestmark = pytest.mark.anyio


class Silent(Exception):
    """An error that says nothing."""


@tool
async def works() -> str:
    """Give a text."""
    return "fine"


@tool
async def raises() -> str:
    """Raise without a word."""
    raise Silent


@tool(timeout=0.01)
async def hangs() -> str:
    """Never end."""
    await asyncio.Event().wait()
    return ""


@tool
async def cancels_itself() -> str:
    """End as a canceled task does."""
    raise asyncio.CancelledError


@tool
async def gives_an_object() -> object:
    """Give what is no JSON."""
    return object()


@tool
def gives_very_much() -> str:
    """Give more than may be kept."""
    return "x" * 20_000_001


@tool
async def needs(number: int) -> int:
    """Need an argument."""
    return number


STRANGE = [
    ("raises", {}, True, "Silent: it says nothing more"),
    ("hangs", {}, True, "gave nothing within 0.01 s"),
    ("cancels_itself", {}, True, "the tool canceled itself"),
    ("gives_an_object", {}, False, "which is not JSON"),
    ("gives_very_much", {}, False, "[cut here: "),
    ("nowhere", {}, True, "no tool 'nowhere' is offered, nothing was run"),
    ("needs", {"number": "many"}, True, "the arguments of 'needs' do not fit, nothing was run"),
    ("needs", {}, True, "the arguments of 'needs' do not fit, nothing was run"),
]


@pytest.mark.parametrize(("name", "arguments", "is_error", "words"), STRANGE)
async def test_a_call_has_one_result_whatever_happens(
    name: str, arguments: dict[str, Any], is_error: bool, words: str
) -> None:
    """Its own id and name, a text that is not empty, and its siblings' results beside it.

    huggingface/smolagents#2554, smallest-inc/smallest-python-sdk#118.
    """
    tools = [works, raises, hangs, cancels_itself, gives_an_object, gives_very_much, needs]
    _, _, session = await talking([calls(("a", "works"), ("b", name, arguments), ("c", "works")), "so"], tools)
    assert (await session.ask("hi")).text == "so"
    assert outcomes(session) == {"a": False, "b": is_error, "c": False}
    result = results(session)[1]
    assert (result.call_id, result.name) == ("b", name)
    assert words in result.text


@pytest.mark.parametrize("raw", ['{"number": ', "number=5", "[1, 2]", "{'number': }"])
async def test_broken_arguments_are_answered_and_replayed_as_an_object(raw: str) -> None:
    """What cannot be read is answered with an error; the text is kept, and later requests hold valid arguments.

    MoonshotAI/kimi-cli#2165, bojieli/ai-agent-book#192.
    """
    broken = ToolCall("a", "needs", raw=raw)
    model, store, session = await talking([calls(broken), "so", "next"], [needs])
    await session.ask("hi")
    assert outcomes(session) == {"a": True}
    await session.ask("more")
    assert [call.arguments for message in model.requests[-1].messages for call in message.calls] == [{}]
    assert any(json.dumps(raw).encode() in line.data for line in store.lines["s"])


async def test_repaired_arguments_run() -> None:
    """What has one meaning is repaired and run."""
    _, _, session = await talking([calls(ToolCall("a", "needs", raw='{"number": 5,}')), "so"], [needs])
    await session.ask("hi")
    assert [result.output for result in results(session)] == [5]


@pytest.mark.parametrize(
    "odd", [{"properties": [1]}, {"required": 5}, {"properties": {"a": {"type": ["string", 5]}}}], ids=str
)
async def test_a_schema_that_makes_no_sense_costs_one_call(odd: dict[str, Any]) -> None:
    """A schema of the caller's or a server's that cannot be read is an error of its call, not of the turn."""
    ran = Ran()
    made = Tool(ran.tool().run, name="odd", parameters={"type": "object", **odd})
    _, _, session = await talking([calls(("a", "odd", {"a": 1}), ("b", "works")), "so"], [made, works])
    assert (await session.ask("hi")).text == "so"
    assert (ran.effects, outcomes(session)) == ([], {"a": True, "b": False})


async def test_calls_of_a_reply_that_was_cut_off_never_run() -> None:
    """A reply that ended at its length has its calls answered, complete as they look, and none of them run."""
    ran = Ran()
    cut = Replied(calls(("a", "act"), ("b", "act")), finish="length")
    _, _, session = await talking([cut, "so"], [ran.tool()])
    await session.ask("hi")
    assert outcomes(session) == {"a": True, "b": True}
    assert "cut off at its limit of tokens" in results(session)[0].text
    assert ran.effects == []


async def test_results_stand_in_call_order() -> None:
    """Calls that end in reverse are shown in the order in which they were made (can1357/oh-my-pi#11179)."""
    turns = [asyncio.Event() for _ in range(4)]
    turns[3].set()

    @tool
    async def wait(n: int) -> int:
        """Wait for the one behind."""
        await turns[n + 1].wait()
        turns[n].set()
        return n

    asked = calls(*((f"c{n}", "wait", {"n": n}) for n in range(3)))
    model, store, session = await talking([asked, "so"], [wait])
    await session.ask("hi")
    ended = [json.loads(line.data)["callId"] for line in store.lines["s"] if line.type == "tool.returned"]
    assert ended == ["c2", "c1", "c0"]
    assert shown_calls(model.requests[1].messages) == [">c0", ">c1", ">c2", "<c0", "<c1", "<c2"]


async def test_a_round_costs_two_appends_more() -> None:
    """The reply and the start of its calls are one append; results that come together are another."""
    ran = Ran()
    asked = calls(*((f"c{n}", "act") for n in range(5)))
    _, store, session = await talking([asked, "so"], [ran.tool()])
    await session.ask("hi")
    assert store.appends == [
        ["turn.accepted"],
        ["turn.shown", "model.replied", "tool.started"],
        ["tool.returned"] * 5,
        ["turn.shown", "turn.completed"],
    ]


async def test_a_result_is_kept_while_its_sibling_runs() -> None:
    """Each result is committed as its call ends, not when the round does."""
    ran, hanging = Ran(), Hanging()
    _, store, session = await talking([calls(("a", "hang"), ("b", "act")), "so"], [ran.tool(), hanging.tool()])
    turn = session.send("hi")
    async for event in turn:
        if event.type == "tool.returned":
            break
    assert store.types().count("tool.returned") == 1
    hanging.opened.set()
    assert (await turn.result()).text == "so"


async def test_nothing_runs_before_its_start_is_committed() -> None:
    """A store that refuses the reply and its calls' start fails the turn, and no tool has run."""
    ran = Ran()
    _, store, session = await talking([calls(("a", "act"))], [ran.tool()])
    store.script = [Act(), Act(failing.AppendFailed("s", "full"), writes=False)]
    assert isinstance(await failure(session.ask("hi")), failing.AppendFailed)
    assert (ran.effects, store.types()[-1]) == ([], "turn.failed")


async def test_a_result_that_cannot_be_kept_fails_the_turn() -> None:
    """A store that refuses a result fails the turn with its error, and the next turn works."""
    ran = Ran()
    _, store, session = await talking([calls(("a", "act")), "next"], [ran.tool()])
    store.script = [Act(), Act(), Act(failing.AppendFailed("s", "full"), writes=False)]
    assert isinstance(await failure(session.ask("hi")), failing.AppendFailed)
    assert session.turns()[0].status == "failed"
    assert (await session.ask("go on")).text == "next"


async def test_sequential_tools_run_alone() -> None:
    """A sequential tool runs while no other does, and calls start in their order."""
    running, most = set[str](), list[int]()

    async def noted(name: str) -> None:
        running.add(name)
        most.append(len(running))
        await passing(5)
        running.discard(name)

    @tool(sequential=True)
    async def alone() -> None:
        """Run alone."""
        await noted("alone")

    @tool
    async def together(name: str) -> None:
        """Run beside others."""
        await noted(name)

    beside = [(name, "together", {"name": name}) for name in ("a", "b")]
    _, _, session = await talking([calls(*beside, ("c", "alone")), "so"], [alone, together])
    await session.ask("hi")
    assert most == [1, 2, 1]


async def test_deps_and_progress_reach_the_call_and_the_readers() -> None:
    """A tool is told the turn's deps and its ids; what it says of its progress is an event of its call."""
    seen = list[ToolContext[dict[str, str]]]()

    @tool
    async def look(ctx: ToolContext[dict[str, str]]) -> str:
        """Say how far it is."""
        seen.append(ctx)
        ctx.progress("half", fraction=0.5)
        return ctx.deps["user"]

    _, _, session = await talking([calls(("a", "look")), "so"], [look])
    turn = session.send("hi", deps={"user": "ana"})
    await turn.result()
    (context,) = seen
    assert (context.session_id, context.turn_id, context.call_id, context.attempt) == ("s", turn.id, "a", 1)
    (progress,) = [event async for event in turn if isinstance(event, ToolProgress)]
    assert (progress.call_id, progress.name, progress.note, progress.fraction) == ("a", "look", "half", 0.5)
    assert results(session)[0].output == "ana"


# --- cancel ------------------------------------------------------------------------------------------------------


async def test_canceled_while_a_tool_runs() -> None:
    """The tool is canceled, none behind it starts, and the next turn is shown no call without a result.

    cubeplexai/cubeloop#116, olimorris/codecompanion.nvim#3073.
    """
    ran, hanging = Ran(), Hanging()
    asked = calls(("a", "hang"), ("b", "act"))
    model, _, session = await talking([asked, "next"], [hanging.tool(), ran.tool(sequential=True)])
    turn = session.send("hi")
    await hanging.begun.wait()
    await turn.cancel("enough")
    assert (hanging.ended, ran.effects) == (["canceled"], [])
    assert (session.turns()[0].status, session.turns()[0].error) == ("canceled", "enough")
    assert (await session.ask("go on")).text == "next"
    assert shown_calls(model.requests[-1].messages) == []


@pytest.mark.parametrize("at", [0, 1, 2, 3])
async def test_canceled_while_each_append_is_written(at: int) -> None:
    """Whichever append a cancel meets, the outcome is turn.canceled or the reply, and no tool starts behind it.

    langgenius/dify#41846.
    """
    ran = Ran()
    _, store, session = await talking([calls(("a", "act")), "so", "next"], [ran.tool()])
    gate = asyncio.Event()
    store.script = [*(Act() for _ in range(at)), Act(gate=gate)]
    turn = session.send("hi")
    await store.reached.wait()
    done = list(ran.effects)
    canceling = asyncio.create_task(turn.cancel("enough"))
    await passing(5)
    gate.set()
    await canceling
    assert (ran.effects, session.turns()[0].status) == (done, "completed" if at == 3 else "canceled")
    assert (await session.ask("go on", model=ScriptedModel("next"))).text == "next"


async def test_canceled_while_the_question_to_a_person_is_written() -> None:
    """A cancel that comes before a turn waits is not lost: it is canceled, and nobody is asked."""
    ran = Ran()
    _, store, session = await talking([calls(("a", "act"))], [ran.tool(needs_approval=True)])
    gate = asyncio.Event()
    store.script = [Act(), Act(gate=gate)]
    turn = session.send("hi")
    await store.reached.wait()
    canceling = asyncio.create_task(turn.cancel("enough"))
    await passing(5)
    gate.set()
    await canceling
    assert isinstance(await failure(turn.result()), failing.TurnCanceled)
    assert (session.turns()[0].status, session.pending()) == ("canceled", ())


async def test_canceled_while_a_policy_decides() -> None:
    """A cancel that comes while a policy asks elsewhere keeps what was said, and nothing runs."""
    ran, asked = Ran(), asyncio.Event()

    async def evaluate(call: PendingCall) -> None:
        asked.set()
        await asyncio.Event().wait()

    _, _, session = await talking(
        [calls(("a", "act"), words="I look")], [ran.tool()], policy=ToolPolicy(evaluate=evaluate)
    )
    turn = session.send("hi")
    await asked.wait()
    await turn.cancel()
    own = session.turns()[0]
    assert (own.status, own.partial, ran.effects) == ("canceled", "I look", [])


async def test_steering_during_a_round_survives_a_cancel() -> None:
    """What a person said while tools ran is on the canceled turn (openclaw/openclaw#127996)."""
    hanging = Hanging()
    _, _, session = await talking([calls(("a", "hang"))], [hanging.tool()])
    turn = session.send("hi")
    await hanging.begun.wait()
    await turn.steer("shorter")
    await turn.cancel()
    assert session.turns()[0].steering == ("shorter",)


async def test_leaving_the_caller_cancels_the_tool() -> None:
    """Cancelling ask() while a tool runs cancels the turn, and returns once that is committed."""
    hanging = Hanging()
    _, store, session = await talking([calls(("a", "hang"))], [hanging.tool()])
    asking = asyncio.create_task(session.ask("hi"))
    await hanging.begun.wait()
    asking.cancel()
    assert isinstance(await failure(asking), asyncio.CancelledError)
    assert (hanging.ended, store.types()[-1]) == (["canceled"], "turn.canceled")


async def test_closing_the_chat_cancels_the_tool() -> None:
    """A Chat that is closed without patience cancels running tools and commits that."""
    hanging, store = Hanging(), ListStore()
    chat = Chat(ScriptedModel([calls(("a", "hang"))]), store=store, tools=[hanging.tool()])
    turn = (await chat.create_session("s")).send("hi")
    await hanging.begun.wait()
    await chat.aclose(drain=0)
    assert isinstance(await failure(turn.result()), failing.TurnCanceled)
    assert (hanging.ended, store.types()[-1]) == (["canceled"], "turn.canceled")


@pytest.mark.parametrize("how", ["canceled", "timed out"])
async def test_what_a_thread_says_too_late_is_not_heard(how: str) -> None:
    """A sync tool that goes on behind its turn's cancel or its own timeout gives no second result."""
    begun, opened, over = asyncio.Event(), threading.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    @tool(timeout=0.05 if how == "timed out" else None)
    def slow() -> str:
        """Go on for long."""
        loop.call_soon_threadsafe(begun.set)
        opened.wait()
        over.set()
        return "late"

    _, store, session = await talking([calls(("a", "slow")), "so"], [slow])
    turn = session.send("hi")
    await begun.wait()
    if how == "canceled":
        await turn.cancel()
    else:
        assert (await turn.result()).text == "so"
    before = store.types()
    opened.set()
    await asyncio.to_thread(over.wait)
    await passing(5)
    assert store.types() == before
    assert "late" not in [result.text for result in results(session)]


# --- limits ------------------------------------------------------------------------------------------------------


async def test_tool_calls_beyond_the_limit_are_answered() -> None:
    """The first calls run, the others are answered; the model is asked once more without tools, and the turn ends."""
    ran = Ran()
    asked = calls(*((f"c{n}", "act", {"text": f"{n}"}) for n in range(3)))
    model, _, session = await talking([asked, "so"], [ran.tool()], limits=Limits(tool_calls=2))
    assert (await session.ask("hi")).text == "so"
    assert (ran.effects, outcomes(session)) == (["0", "1"], {"c0": False, "c1": False, "c2": True})
    assert [len(request.tools) for request in model.requests] == [1, 0]


@pytest.mark.parametrize("at_limit", ["answer", "stop"])
async def test_the_last_model_call_runs_no_tool(at_limit: Any) -> None:
    """A turn that ends by its limit of model calls says so, with its calls answered (agentscope-ai/QwenPaw#7775)."""
    ran = Ran()
    limits = Limits(model_calls=2, at_limit=at_limit)
    model, _, session = await talking(
        [calls(("a", "act")), calls(("b", "act"), words="I would"), "next"], [ran.tool()], limits=limits
    )
    reply = await session.ask("hi")
    assert (reply.text, reply.finish_reason) == ("I would", "limit")
    assert (ran.effects, outcomes(session)) == (["act"], {"a": False, "b": True})
    assert [len(request.tools) for request in model.requests] == [1, 0 if at_limit == "answer" else 1]
    assert (await session.ask("go on")).text == "next"


async def test_seconds_cancel_running_tools() -> None:
    """A turn whose time is over while a tool runs is canceled, and so is the tool."""
    hanging = Hanging()
    _, _, session = await talking([calls(("a", "hang"))], [hanging.tool()], limits=Limits(seconds=0.02))
    error = await failure(session.ask("hi"))
    assert isinstance(error, failing.TurnCanceled)
    assert hanging.ended == ["canceled"]
    assert session.turns()[0].error == "the time limit of 0.02 s is reached"


# --- what may run ------------------------------------------------------------------------------------------------


async def test_a_tool_that_is_not_offered_in_this_turn_is_not_run() -> None:
    """`tools=[]` for one turn holds when a call is to run, not only in what is shown (lvndry/jazz#546)."""
    ran = Ran()
    model, _, session = await talking([calls(("a", "act")), "so", calls(("b", "act")), "so"], [ran.tool()])
    await session.ask("hi", tools=[])
    assert (ran.effects, outcomes(session), len(model.requests[0].tools)) == ([], {"a": True}, 0)
    await session.ask("hi")
    assert (ran.effects, outcomes(session)) == (["act"], {"b": False})


async def test_a_tool_of_a_closed_preset_is_not_run() -> None:
    """A tool that no enabled preset holds is not run by its name."""
    ran = Ran()
    box = Toolbox([ran.tool(), works], presets={"acting": ["act"]}, base=["works"])
    session = await Chat(ScriptedModel([calls(("a", "act")), "so"]), tools=box).create_session("s")
    await session.ask("hi")
    assert (ran.effects, outcomes(session)) == ([], {"a": True})


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        (("deny", "ask", "allow"), "denied"),
        (("ask", "allow"), "asked"),
        (("allow",), "run"),
        (("deny", "allow"), "denied"),
    ],
)
async def test_the_most_restrictive_list_wins(lists: tuple[str, ...], expected: str) -> None:
    """Deny, then ask, then allow, in the loop as in the policy (aflock-ai/aflock#98)."""
    ran = Ran()
    policy = ToolPolicy(**{name: ["act"] for name in lists})  # type: ignore[arg-type]
    _, _, session = await talking([calls(("a", "act")), "so"], [ran.tool(needs_approval=True)], policy=policy)
    reply = await session.ask("hi")
    found = "asked" if reply.pending else "run" if ran.effects else "denied"
    assert found == expected
    if found == "denied":
        assert "may not be run: deny: 'act'" in results(session)[0].text


async def test_a_policy_may_decide_elsewhere() -> None:
    """An async evaluate sees the exact call, and what it says holds."""
    seen, ran = list[PendingCall](), Ran()

    async def evaluate(call: PendingCall) -> Decision:
        await asyncio.sleep(0)
        seen.append(call)
        return Decision("run" if call.arguments["text"] == "x" else "deny", "evaluate")

    asked = calls(("a", "act", {"text": "x"}), ("b", "act", {"text": "y"}))
    _, _, session = await talking([asked, "so"], [ran.tool()], policy=ToolPolicy(evaluate=evaluate))
    reply = await session.ask("hi")
    assert [(call.id, call.turn_id, call.name, call.arguments) for call in seen] == [
        ("a", reply.turn_id, "act", {"text": "x"}),
        ("b", reply.turn_id, "act", {"text": "y"}),
    ]
    assert (ran.effects, outcomes(session)) == (["x"], {"a": False, "b": True})


async def test_a_policy_that_raises_makes_a_call_wait() -> None:
    """What a policy cannot decide a person decides; the turn does not fail."""

    def evaluate(call: PendingCall) -> None:
        raise ValueError("no connection")

    _, _, session = await talking([calls(("a", "works"))], [works], policy=ToolPolicy(evaluate=evaluate))
    reply = await session.ask("hi")
    assert [call.reason for call in reply.pending] == ["evaluate raised ValueError: no connection"]


# --- long results ------------------------------------------------------------------------------------------------

LONG = "".join(f"line {n}\n" for n in range(2_000))


@tool(max_result_tokens=50)
async def long() -> str:
    """Give much."""
    return LONG


def of_results(request: ModelRequest) -> list[str]:
    """The results in a request."""
    return [result.text for message in request.messages for result in message.results]


@pytest.mark.parametrize("context", [FullContext(), LayeredContext(window=8_000)], ids=["full", "layered"])
async def test_a_long_result_is_shown_cut_and_kept_whole(context: Any) -> None:
    """A model is shown start, end and a mark, in this turn and in later ones; the journal has all of it."""
    model, _, session = await talking([calls(("a", "long")), "so", "next"], [long], context=context)
    await session.ask("hi")
    (shown,) = of_results(model.requests[1])
    assert len(shown) < 400
    assert shown.startswith("line 0\n")
    assert shown.endswith("line 1999\n")
    assert "characters left out" in shown
    assert results(session)[0].output == LONG
    await session.ask("more")
    assert of_results(model.requests[2]) == [shown]


def ref_in(text: str) -> str:
    """The reference in a mark."""
    return text.partition("ref ")[2].partition(" ")[0].rstrip("]…")


def reading(**more: Any) -> Any:
    """A reply that reads back what was left out of the last result it is shown."""
    return lambda request: calls(("r", "read_result", {"ref": ref_in(of_results(request)[-1]), **more}))


@pytest.mark.parametrize("context", [FullContext(), LayeredContext(window=8_000)], ids=["full", "layered"])
async def test_read_result_gives_what_was_left_out(context: Any) -> None:
    """Where a mark names read_result, that tool is offered and gives any part of the whole."""
    script = [calls(("a", "long")), reading(start=5_000, length=100), "so"]
    model, _, session = await talking(script, [long], context=context)
    await session.ask("hi")
    assert "read_result" in [spec.name for spec in model.requests[1].tools]
    assert results(session)[1].text.startswith(LONG[5_000:5_100])


async def test_a_long_result_is_read_back_page_by_page() -> None:
    """Pages joined are the whole; each says where the next begins, and none is cut by a limit of its own."""

    def first_ref(request: ModelRequest) -> str:
        return ref_in(of_results(request)[0])

    pages = [
        lambda request, n=n: calls(
            (f"r{n}", "read_result", {"ref": first_ref(request), "start": n * 800, "length": 800})
        )
        for n in range(3)
    ]
    whole = LONG[:2_000]
    _, _, session = await talking(
        [calls(("a", "some")), *pages, "so"], [tool(name="some", max_result_tokens=50)(lambda: whole)]
    )
    await session.ask("hi")
    texts = [result.text for result in results(session)[1:]]
    assert [text.rpartition("\n[")[2] for text in texts[:2]] == [
        "1,200 characters follow; go on at start=800]",
        "400 characters follow; go on at start=1600]",
    ]
    assert "".join([*(text.rpartition("\n[")[0] for text in texts[:2]), texts[2]]) == whole


@pytest.mark.parametrize("ref", ["", "x", "1", ".1", "0123abcd.1", "0123abcd.x"])
async def test_a_reference_that_names_nothing_is_told(ref: str) -> None:
    """A reference that a model makes up is answered in words, and gives nobody's result."""
    script = [calls(("a", "long")), calls(("r", "read_result", {"ref": ref})), "so"]
    _, _, session = await talking(script, [long])
    await session.ask("hi")
    assert results(session)[1].text.startswith(f"there is no result {ref!r}")


async def test_a_tool_of_ones_own_named_read_result_is_ones_own() -> None:
    """A tool named read_result that the caller gave is the one that runs."""
    ran = Ran()
    _, _, session = await talking([calls(("a", "read_result", {"text": "x"})), "so"], [ran.tool("read_result")])
    await session.ask("hi")
    assert ran.effects == ["x"]


# --- reopened equals live ----------------------------------------------------------------------------------------


def sent(request: ModelRequest) -> str:
    """All that a model is sent, as text that tells every difference."""
    return json.dumps([message.to_json() for message in request.messages]) + repr((request.system, request.tools))


@pytest.mark.parametrize("context", [FullContext(), LayeredContext(window=8_000)], ids=["full", "layered"])
async def test_a_reopened_session_is_shown_the_same(context: Any) -> None:
    """The request behind tool turns is the same, byte for byte, with and without reopening (simonw/llm#1426)."""
    script = [
        calls(("a", "long"), ("b", "raises"), ("c", "nowhere")),
        calls(("a", "needs", {"number": 5}), ToolCall("b", "needs", raw='{"number": '), words="and"),
        "so",
    ]
    tools: list[Tool] = [long, raises, needs]
    live, store, session = await talking([*script, "next"], tools, context=context)
    await session.ask("hi")
    again, copy = await reopened(store, ["next"], tools, context=context)
    kept = {name: list(lines) for name, lines in store.lines.items()}
    await session.ask("more")
    store.lines = kept
    await copy.ask("more")
    assert sent(live.requests[-1]) == sent(again.requests[-1])


async def test_tools_that_are_gone_are_still_replayed() -> None:
    """Calls of tools that no longer exist are shown as before (anthropics/claude-code#14173)."""
    _, store, session = await talking([calls(("a", "works")), "so"], [works])
    await session.ask("hi")
    again, copy = await reopened(store, ["next"], [needs])
    await copy.ask("more")
    assert shown_calls(again.requests[0].messages) == [">a", "<a"]


async def test_steering_between_rounds_keeps_its_place() -> None:
    """Input, round 1, steer, round 2, reply: in the next request and in the reopened session."""
    hanging = Hanging()
    script = [calls(("a", "hang")), calls(("b", "works")), "so", "next"]
    _, store, session = await talking(script, [hanging.tool(), works])
    turn = session.send("hi")
    await hanging.begun.wait()
    await turn.steer("shorter")
    hanging.opened.set()
    await turn.result()
    told = [(message.role, message.text or shown_calls([message])) for message in session.turns()[0].messages]
    assert told == [
        *[("user", "hi"), ("assistant", [">a"]), ("tool", ["<a"]), ("user", "shorter")],
        *[("assistant", [">b"]), ("tool", ["<b"]), ("assistant", "so")],
    ]
    _, copy = await reopened(store, [], [works])
    assert copy.turns()[0].messages == session.turns()[0].messages


async def test_words_beside_calls_are_no_reply() -> None:
    """The reply of a turn is its last message; what stood beside calls is in the turn alone."""
    _, _, session = await talking([calls(("a", "works"), words="I look"), "so"], [works])
    assert (await session.ask("hi")).text == "so"
    assert [part for part in session.turns()[0].messages[1].parts if isinstance(part, Text)] == [Text("I look")]


@pytest.mark.parametrize("own", [True, False], ids=["own", "another"])
async def test_a_tool_may_wait_for_another_session_and_not_for_its_own(own: bool) -> None:
    """Waiting for the turn that waits for the tool would never end, so it is refused; another session is asked."""
    sessions: list[Any] = []

    async def ask() -> str:
        """Ask a session."""
        return str(await sessions[0].ask("inside", when_busy="wait"))

    _, _, session = await talking([calls(("a", "ask")), "so"], [ask])
    sessions.append(session if own else await Chat(ScriptedModel("from there")).create_session())
    assert (await session.ask("hi")).text == "so"
    told = "waits for that turn to end" if own else "from there"
    assert told in results(session)[0].text
