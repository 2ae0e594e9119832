"""Asking with a scratchpad: what is sent, what becomes of calls, and when it ends."""

import asyncio
from typing import Any

import pytest

from antiphon import Chat, Limits, Message, Replied, ToolCall, Usage
from antiphon.errors import MalformedReply, Misuse, Unreachable
from antiphon.models import TextPiece
from antiphon.scratch import Compactor, ScratchLimits, Scratchpad, complete
from antiphon.testing import ScriptedModel
from antiphon.tools import Decision, ToolContext, ToolPolicy, tool
from tests.scratch.conversations import call, calling, orphans, result

pytestmark = pytest.mark.anyio
RUN = ToolPolicy(otherwise="run")
SUM = calling(call("c1", a=1, b=2))


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def fail() -> None:
    """Fails."""
    raise ValueError("no luck")


def asked(*, policy: ToolPolicy | None = None) -> Scratchpad:
    """A scratchpad with a question."""
    return Scratchpad(policy=policy).user("How much?")


async def test_the_reply_is_appended() -> None:
    """The reply comes back, stands in the scratchpad whole, and is the same object there."""
    pad = asked()
    reply = await complete(ScriptedModel([Replied(Message.of("assistant", "Three."), Usage(9, 2))]), pad)
    assert (str(reply), reply.usage, pad[-1].reply) == ("Three.", Usage(9, 2), reply)


async def test_the_reply_of_a_chat_is_kept_too() -> None:
    """What a session answered can go on in a scratchpad, with its usage and its reason."""
    said = Replied(Message.of("assistant", "Three."), Usage(9, 2))
    async with Chat(ScriptedModel([said])) as chat:
        reply = await (await chat.create_session()).ask("How much?")
    kept = asked().assistant(reply)[-1].reply
    assert kept is not None and (kept.text, kept.usage, kept.finish_reason) == ("Three.", Usage(9, 2), "stop")


async def test_system_messages_are_lifted() -> None:
    """System messages are the request's system text, in order; the others are sent as they stand."""
    model = ScriptedModel(["Three."])
    pad = Scratchpad().system("Be kind.").user({"q": 1}).system([1]).system("")
    await complete(model, pad, tools=[add])
    request = model.requests[0]
    assert (request.system, [message.text for message in request.messages]) == ("Be kind.\n\n[1]", ['{"q":1}'])
    assert [spec.name for spec in request.tools] == ["add"]


async def test_by_default_nothing_runs() -> None:
    """A call to a known tool waits, one to an unknown tool failed, and neither is answered."""
    pad = asked()
    both = calling(call("c1", a=1, b=2), call("c2", "nope"))
    model = ScriptedModel([both])
    reply = await complete(model, pad, tools=[add])
    assert [(each.id, each.status) for each in reply.calls] == [("c1", "pending"), ("c2", "failed")]
    assert reply.calls[0].reason == "waits by ask: '*'"
    assert "no tool 'nope' is offered" in reply.calls[1].reason
    assert pad.pending == list(reply.calls) and len(pad) == 2 and len(model.requests) == 1


async def test_calls_are_answered_by_hand() -> None:
    """With the results of what waited appended under the calls' own ids, the next request goes on from there."""
    pad, model = asked(), ScriptedModel([SUM, "Three."])
    await complete(model, pad, tools=[add])
    for waiting in pad.pending:
        pad.tool(waiting.id, add(**waiting.arguments))
    assert str(await complete(model, pad, tools=[add])) == "Three."
    assert [each.output for message in model.requests[1].messages for each in message.results] == [3]


async def test_a_policy_that_runs_goes_on() -> None:
    """Calls that may run are run, their results appended, and the model is asked until it answers in words."""
    pad, model = asked(policy=RUN), ScriptedModel([SUM, calling(call("c2", a=3, b=4)), "Ten."])
    assert str(await complete(model, pad, tools=[add])) == "Ten."
    assert [each.output for message in pad for each in message.results] == [3, 7]
    reply = pad[1].reply
    assert reply is not None and [each.status for each in reply.calls] == ["allowed"]


async def test_a_policy_for_one_time_wins() -> None:
    """The policy that is handed in decides instead of the scratchpad's, which stays."""
    pad = asked()
    await complete(ScriptedModel([SUM, "Three."]), pad, tools=[add], policy=RUN)
    assert len(pad) == 4 and pad.policy is not RUN


async def test_a_denied_call_is_answered_so() -> None:
    """A denied call does not run, is told the model, and the model is asked again."""
    pad = asked(policy=ToolPolicy(deny=["add"]))
    assert str(await complete(ScriptedModel([SUM, "I may not."]), pad, tools=[add])) == "I may not."
    reply = pad[1].reply
    assert reply is not None and (reply.calls[0].status, reply.calls[0].reason) == ("denied", "denied by deny: 'add'")
    assert pad[2].results[0].is_error and "may not be run" in pad[2].results[0].text


async def test_a_call_that_raises_is_answered_with_its_error() -> None:
    """An error is the call's result, the call has failed, and the model is told."""
    pad = asked(policy=RUN)
    await complete(ScriptedModel([calling(call("c1", "fail")), "Pity."]), pad, tools=[fail])
    reply = pad[1].reply
    assert reply is not None and reply.calls[0].status == "failed"
    assert (pad[2].results[0].text, pad.pending) == ("ValueError: no luck", [])


async def test_arguments_that_do_not_fit_are_answered() -> None:
    """A call whose arguments do not fit is not run, and the model is told what is wrong."""
    pad = asked(policy=RUN)
    await complete(ScriptedModel([calling(call("c1", a="x")), "Sorry."]), pad, tools=[add])
    assert "the arguments of 'add' do not fit" in pad[2].results[0].text


async def test_where_everything_waits_wrong_arguments_wait_too() -> None:
    """By default no call is answered, not even one that could not run; its reason says why."""
    pad = asked()
    await complete(ScriptedModel([calling(call("c1", a="x"))]), pad, tools=[add])
    assert "do not fit" in pad.pending[0].reason and pad.pending[0].status == "pending"


async def test_a_call_that_was_cut_off_never_runs() -> None:
    """A reply that ended at its limit of tokens may hold half a call."""
    pad, ran = asked(policy=RUN), []
    cut = Replied(calling(call("c1", "note")), finish="length")
    await complete(ScriptedModel([cut, "Again."]), pad, tools=[tool(name="note")(lambda: ran.append(1))])
    assert ran == [] and "cut off" in pad[2].results[0].text


async def test_one_bad_call_stops_no_other() -> None:
    """Of a batch what may run runs; the rest stays open, the model is not asked again, and the gap is named."""
    pad = asked(policy=ToolPolicy(ask=["fail"], otherwise="run"))
    batch = calling(call("c1", "nope"), call("c2", "fail"), call("c3", a=1, b=2))
    model = ScriptedModel([batch])
    reply = await complete(model, pad, tools=[add, fail])
    assert [each.status for each in reply.calls] == ["failed", "pending", "allowed"]
    assert [each.id for each in pad.pending] == ["c1", "c2"] and len(model.requests) == 1
    with pytest.raises(Misuse, match="call 'c1' of 'nope' in message 1 has no result; call 'c2' of 'fail'"):
        await complete(model, pad, tools=[add, fail])
    assert len(model.requests) == 1


async def test_an_evaluator_decides() -> None:
    """A policy's function is asked about calls that no list names, with their repaired arguments."""
    seen: list[Any] = []

    def small(asked: Any) -> Decision:
        seen.append((asked.name, asked.arguments))
        return Decision("run" if asked.arguments["a"] < 5 else "ask", "only small numbers")

    pad = asked(policy=ToolPolicy(evaluate=small))
    broken = ToolCall("c1", "add", raw='{"a": 1, "b": 2,}')
    await complete(ScriptedModel([calling(broken, call("c2", a=9, b=9))]), pad, tools=[add])
    assert seen == [("add", {"a": 1, "b": 2}), ("add", {"a": 9, "b": 9})]
    assert [(each.id, each.reason) for each in pad.pending] == [("c2", "waits by only small numbers")]


async def test_an_evaluator_that_raises_leaves_the_call_open() -> None:
    """A policy that cannot decide runs nothing."""

    def broken(_: Any) -> Decision:
        raise KeyError("who")

    pad = asked(policy=ToolPolicy(evaluate=broken))
    await complete(ScriptedModel([SUM]), pad, tools=[add])
    assert "evaluate raised KeyError" in pad.pending[0].reason


async def test_results_stand_in_the_order_of_the_calls() -> None:
    """Calls run at once, and whichever ends first, their results stand as they were asked."""
    first = asyncio.Event()

    async def slow() -> str:
        await first.wait()
        return "slow"

    async def fast() -> str:
        first.set()
        return "fast"

    pad = asked(policy=RUN)
    both = calling(call("c1", "slow"), call("c2", "fast"))
    await complete(ScriptedModel([both, "Done."]), pad, tools=[slow, fast])
    assert [each.output for message in pad for each in message.results] == ["slow", "fast"]


@pytest.mark.parametrize("limits", [ScratchLimits(model_calls=2), Limits(model_calls=2, at_limit="stop")])
async def test_at_the_limit_tools_run_and_no_request_is_made(limits: Any) -> None:
    """The last reply's calls are run and answered, the model is not asked again, and nothing is left open."""
    pad, model = asked(policy=RUN), ScriptedModel(lambda _: SUM)
    reply = await complete(model, pad, tools=[add], limits=limits)
    assert (len(model.requests), len(pad), bool(reply.calls), pad.pending) == (2, 5, True, [])


async def test_the_default_limit_is_eight() -> None:
    """Without a word eight requests are made at most."""
    pad, model = asked(policy=RUN), ScriptedModel(lambda _: SUM)
    await complete(model, pad, tools=[add])
    assert len(model.requests) == 8


async def test_a_last_call_without_tools_ends_in_words() -> None:
    """With at_limit="answer" the last request offers no tools."""
    pad, model = asked(policy=RUN), ScriptedModel([SUM, "Three."])
    await complete(model, pad, tools=[add], limits=ScratchLimits(model_calls=2, at_limit="answer"))
    assert [len(request.tools) for request in model.requests] == [1, 0]


@pytest.mark.parametrize("limits", [{"model_calls": 0}, {"model_calls": -1}, {"model_calls": True}, {"at_limit": "x"}])
def test_limits_that_are_none_are_refused(limits: Any) -> None:
    """No limit leaves no room for a call."""
    with pytest.raises(Misuse):
        ScratchLimits(**limits)


async def test_a_limit_that_would_not_hold_is_refused() -> None:
    """A Chat's limits of tokens and seconds are not kept here, and not left aside without a word."""
    pad = asked()
    with pytest.raises(Misuse, match="does not limit seconds"):
        await complete(ScriptedModel(["Three."]), pad, limits=Limits(seconds=1))
    assert len(pad) == 1


async def test_a_failed_request_keeps_the_input() -> None:
    """After a failure the input is there once: completing again asks the same, and it is not doubled."""
    pad, model = asked(), ScriptedModel([Unreachable("scripted", "no line"), "Three."])
    with pytest.raises(Unreachable):
        await complete(model, pad)
    await complete(model, pad)
    assert model.requests[0].messages == model.requests[1].messages and len(pad) == 2


@pytest.mark.parametrize("events", [[], [TextPiece("Th")], [Replied(Message.of("user", "I?"))]])
async def test_a_stream_without_a_reply_is_malformed(events: list[Any]) -> None:
    """A stream that ends early, or in somebody else's message, appends nothing."""
    pad = asked()
    with pytest.raises(MalformedReply):
        await complete(ScriptedModel([events]), pad)
    assert len(pad) == 1


@pytest.mark.parametrize(
    ("messages", "named"),
    [
        ([], "nothing to answer"),
        ([Message.of("system", "s")], "nothing to answer"),
        ([Message.of("user", "u"), result("c7")], "the result of 'c7' in message 1 answers no call"),
        ([Message.of("user", "u"), SUM, result(), result()], "the result of 'c1' in message 3 answers no call"),
        ([SUM, Message.of("assistant", "a"), result()], "message 2 stands behind a reply later than its call"),
    ],
)
async def test_what_no_model_takes_is_not_sent(messages: list[Message], named: str) -> None:
    """A history that would be refused is refused here, with a sentence that names the place."""
    model = ScriptedModel(["Three."])
    with pytest.raises(Misuse, match=named):
        await complete(model, Scratchpad(messages=messages))
    assert model.requests == []


async def test_a_strategy_that_loses_a_call_is_found_before_sending() -> None:
    """What a function leaves out it answers for: the gap is named, and no broken request is made."""
    pad = Scratchpad(Compactor(max_messages=2, strategy=lambda messages: messages[-1:]), RUN).user("u")
    model = ScriptedModel([SUM])
    with pytest.raises(Misuse, match="the result of 'c1' in message 0 answers no call"):
        await complete(model, pad, tools=[add])
    assert len(model.requests) == 1


async def test_a_long_loop_stays_within_its_limit() -> None:
    """A loop of tools on a scratchpad with a compactor never sends an orphan, and always the input."""
    pad = Scratchpad(Compactor(max_messages=4), RUN).system("s").user("old").assistant("older").user("u")
    model = ScriptedModel(lambda _: SUM)
    await complete(model, pad, tools=[add], limits=ScratchLimits(model_calls=6))
    for request in model.requests:
        assert orphans(request.messages) == [] and len(request.messages) <= 3
        assert "u" in [message.text for message in request.messages] and request.system == "s"


async def test_a_canceled_round_keeps_what_has_ended() -> None:
    """The result of a call that had ended is appended; the other stays open and says that it may have taken effect."""
    started = asyncio.Event()

    async def hang() -> None:
        started.set()
        await asyncio.Event().wait()

    pad = asked(policy=RUN)
    both = calling(call("c1", a=1, b=2), call("c2", "hang"))
    alone = tool(sequential=True)(hang)
    task = asyncio.create_task(complete(ScriptedModel([both]), pad, tools=[add, alone]))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [message.results[0].call_id for message in pad if message.results] == ["c1"]
    assert [each.id for each in pad.pending] == ["c2"] and "may have taken effect" in pad.pending[0].reason


async def test_keys_of_calls_never_come_again() -> None:
    """A model that numbers the calls of each reply from 0 gives tools another key each time."""
    keys: list[str] = []

    def note(context: ToolContext[str]) -> None:
        keys.append(context.key + context.deps)

    pad, model = asked(policy=RUN), ScriptedModel(lambda _: calling(call("0", "note")))
    await complete(model, pad, tools=[note], deps="!", limits=ScratchLimits(model_calls=3))
    assert len(set(keys)) == 3 and keys[0].endswith("!")
