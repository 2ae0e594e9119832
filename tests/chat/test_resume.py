"""Turns that a dead process left: taken up where their journal ends, and nothing is done twice."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from antiphon import Chat, Limits, Message, Session, Store, ToolContext, ToolPolicy, Usage, tool
from antiphon.chat import _calling
from antiphon.errors import Misuse, SessionBusy, SessionClosed
from antiphon.models import Replied
from antiphon.testing import ScriptedModel
from tests.chat.fakes import ListStore, failure, gated
from tests.chat.rounds import Hanging, Ran, calls, outcomes, reopened, results, talking

pytestmark = pytest.mark.anyio

TWO = calls(("a", "act", {"text": "x"}), ("b", "act", {"text": "y"}))


async def left_behind(
    replies: Sequence[Any], tools: list[Any], upto: str, *, nth: int = 1, **options: Any
) -> ListStore:
    """What a process leaves that dies behind the nth entry of a type."""
    sent = options.pop("sent", {})
    _, store, session = await talking(replies, tools, **options)
    await session.ask("hi", **sent)
    types = store.types()
    at = [n for n, each in enumerate(types) if each == upto][nth - 1]
    store.lines["s"] = store.lines["s"][: at + 1]
    store.appends.clear()
    return store


async def resumed(
    store: ListStore, replies: Sequence[Any], tools: list[Any], **options: Any
) -> tuple[Any, Session, Any]:
    """The session in another process, its last turn resumed to the end of the run."""
    model, session = await reopened(store, replies, tools, **options)
    assert session.turns()[-1].status == "interrupted"
    return model, session, await session.resume().result()


async def test_a_turn_broken_off_in_a_model_call_asks_again() -> None:
    """Behind the input alone, the model is asked with the same, and the reply is the turn's."""
    store = await left_behind(["so"], [], "turn.accepted")
    model, session, reply = await resumed(store, ["again"], [])
    assert (reply.text, session.turns()[0].status) == ("again", "completed")
    assert [message.text for message in model.requests[0].messages] == ["hi"]
    assert store.types() == ["session.created", "turn.accepted", "turn.resumed", "turn.shown", "turn.completed"]


async def test_calls_that_gave_a_result_are_not_run_again() -> None:
    """Behind a finished round, its results are shown to the next model call, which has the next number."""
    ran = Ran()
    store = await left_behind([TWO, "so"], [ran.tool()], "tool.returned", nth=2)
    again = Ran()
    model, session, reply = await resumed(store, ["again"], [again.tool()])
    assert (reply.text, ran.effects, again.effects) == ("again", ["x", "y"], [])
    assert [result.output for message in model.requests[0].messages for result in message.results] == ["act x", "act y"]
    assert [trace.call for trace in session.turns()[0].traces] == [1, 2]


async def test_a_started_call_waits_for_a_person() -> None:
    """A call that was started and gave nothing may have taken effect: it is asked about, saying so."""
    ran = Ran()
    store = await left_behind([TWO, "so"], [ran.tool()], "tool.returned")
    again = Ran()
    model, session, reply = await resumed(store, ["again"], [again.tool()])
    assert [(call.id, call.reason) for call in reply.pending] == [("b", _calling.STARTED)]
    assert (again.effects, model.requests, session.turns()[0].status) == ([], [], "waiting")
    await session.answer("b", "it was sent", by="ana")
    assert (await session.resume().result()).text == "again"
    assert [result.output for result in results(session)] == ["act x", "it was sent"]


async def test_a_started_call_runs_again_when_a_person_says_so() -> None:
    """Approved, it runs once more: attempt 2 under the same key."""
    ran, again = Ran(), Ran()
    store = await left_behind([TWO, "so"], [ran.tool()], "tool.returned")
    _, session, _ = await resumed(store, ["again"], [again.tool()])
    await session.approve("b", by="ana")
    assert (await session.resume().result()).text == "again"
    assert (again.effects, again.contexts[0].attempt) == (["y"], 2)
    assert again.contexts[0].key == ran.contexts[1].key


async def test_an_approval_is_not_for_a_second_start() -> None:
    """A call that was approved, started and broken off is asked about again."""
    ran = Ran()
    _, store, session = await talking([calls(("a", "act")), "so"], [ran.tool(needs_approval=True)])
    await session.ask("hi")
    await session.approve("a", by="ana")
    await session.resume().result()
    types = store.types()
    store.lines["s"] = store.lines["s"][: types.index("tool.started") + 1]
    again = Ran()
    _, copy = await reopened(store, [], [again.tool(needs_approval=True)])
    assert [call.reason for call in (await copy.resume().result()).pending] == [_calling.STARTED]
    assert again.effects == []


async def test_an_idempotent_call_runs_again() -> None:
    """Nobody is asked: attempt 2, the same key, and one result."""
    ran, again = Ran(), Ran()
    store = await left_behind([TWO, "so"], [ran.tool(idempotent=True)], "tool.started")
    _, session, reply = await resumed(store, ["again"], [again.tool(idempotent=True)])
    assert (reply.text, again.effects, outcomes(session)) == ("again", ["x", "y"], {"a": False, "b": False})
    assert [context.attempt for context in again.contexts] == [2, 2]
    assert [context.key for context in again.contexts] == [context.key for context in ran.contexts]
    assert len({context.key for context in ran.contexts}) == 2


async def test_an_idempotent_call_that_was_approved_runs_again_as_it_was_approved() -> None:
    """With the arguments that a person gave, and without asking once more."""
    ran, again = Ran(), Ran()
    act = ran.tool(needs_approval=True, idempotent=True)
    _, store, session = await talking([calls(("a", "act", {"text": "x"})), "so"], [act])
    await session.ask("hi")
    await session.approve("a", by="ana", arguments={"text": "mine"})
    await session.resume().result()
    store.lines["s"] = store.lines["s"][: store.types().index("tool.started") + 1]
    _, _, reply = await resumed(store, ["again"], [again.tool(needs_approval=True, idempotent=True)])
    assert (reply.text, again.effects) == ("again", ["mine"])


async def test_an_idempotent_call_that_is_denied_by_now_is_refused() -> None:
    """The policy is asked on every start."""
    ran, again = Ran(), Ran()
    store = await left_behind([calls(("a", "act")), "so"], [ran.tool(idempotent=True)], "tool.started")
    _, session, _ = await resumed(store, ["again"], [again.tool(idempotent=True)], policy=ToolPolicy(deny=["act"]))
    assert (again.effects, outcomes(session)) == ([], {"a": True})


async def test_an_idempotent_call_that_a_policy_asks_about_by_now_waits() -> None:
    """What a policy let run, and no person, is asked about under one that asks; an approval holds for all attempts."""
    ran, again = Ran(), Ran()
    store = await left_behind([calls(("a", "act")), "so"], [ran.tool(idempotent=True)], "tool.started")
    tools, policy = [again.tool(idempotent=True)], ToolPolicy(ask=["act"])
    _, session, reply = await resumed(store, ["again"], tools, policy=policy)
    assert (again.effects, [call.reason for call in reply.pending]) == ([], ["ask: 'act'"])
    await session.approve("a", by="ana")
    assert (await session.resume().result()).text == "again"
    store.lines["s"] = store.lines["s"][: store.types().index("tool.returned")]
    assert (await resumed(store, ["thrice"], tools, policy=policy))[2].text == "thrice"
    assert [context.attempt for context in again.contexts] == [2, 3]


async def test_a_started_call_whose_tool_is_gone_is_answered() -> None:
    """A tool that no longer exists cannot be run; the turn goes on all the same."""
    store = await left_behind([calls(("a", "act")), "so"], [Ran().tool(idempotent=True)], "tool.started")
    _, session, reply = await resumed(store, ["again"], [])
    assert (reply.text, outcomes(session)) == ("again", {"a": True})


async def test_the_key_tells_rounds_apart() -> None:
    """Two calls of one turn under one id, in different rounds, are two calls: their keys differ."""
    ran = Ran()
    script = [calls(("a", "act", {"text": "x"})), calls(("a", "act", {"text": "y"})), "so"]
    _, _, session = await talking(script, [ran.tool()])
    await session.ask("hi")
    assert len({context.key for context in ran.contexts}) == 2


async def test_limits_count_what_was_before() -> None:
    """Model calls, tool calls and tokens of the run that died count in the one that goes on."""
    ran = Ran()
    spent = Replied(TWO, finish="calls", usage=Usage(60, 40))
    for limits in (Limits(model_calls=2), Limits(tool_calls=2), Limits(tokens=100)):
        store = await left_behind([spent, "so"], [ran.tool()], "tool.returned", nth=2, limits=limits)
        model, _, reply = await resumed(store, ["again"], [ran.tool()], limits=limits)
        assert (reply.text, model.requests[0].tools) == ("again", ())


async def test_a_call_started_before_does_not_meet_the_limit_again() -> None:
    """An idempotent call that used up the limit runs again, and is never said not to have been run."""
    ran = Ran()
    limits = Limits(tool_calls=1)
    store = await left_behind([calls(("a", "act")), "so"], [ran.tool(idempotent=True)], "tool.started", limits=limits)
    _, session, _ = await resumed(store, ["again"], [ran.tool(idempotent=True)], limits=limits)
    assert (ran.effects, outcomes(session)) == (["act", "act"], {"a": False})
    store = await left_behind([calls(("a", "act")), "so"], [ran.tool()], "tool.started", limits=limits)
    _, _, reply = await resumed(store, [], [ran.tool()], limits=limits)
    assert [call.reason for call in reply.pending] == [_calling.STARTED]


@pytest.mark.parametrize("at_limit", ["answer", "stop"])
async def test_a_turn_that_had_reached_its_limit_ends_by_it(at_limit: Any) -> None:
    """Broken off behind its last model call, it asks no model again: it ends in the words that are there."""
    limits = Limits(model_calls=2, at_limit=at_limit)
    script = [calls(("a", "act")), calls(("b", "act"), words="I would")]
    store = await left_behind(script, [Ran().tool()], "tool.returned", nth=2, limits=limits)
    model, session, reply = await resumed(store, [], [Ran().tool()], limits=limits)
    assert (reply.text, reply.finish_reason, model.requests) == ("I would", "limit", [])
    assert outcomes(session) == {"a": False, "b": True}


async def test_usage_is_summed_over_runs() -> None:
    """What the dead run was told of tokens is part of the turn's usage."""
    ran = Ran()
    first = Replied(calls(("a", "act")), finish="calls", usage=Usage(10, 5))
    store = await left_behind([first, "so"], [ran.tool()], "tool.returned")
    last = Replied(Message.of("assistant", "again"), usage=Usage(20, 1))
    _, _, reply = await resumed(store, [last], [ran.tool()])
    assert (reply.usage.input, reply.usage.output) == (30, 6)


async def test_the_turns_own_instructions_and_limits_hold() -> None:
    """What was asked for the turn alone is kept, and holds when it is resumed; what is given then counts more."""
    sent = {"instructions": "In French.", "limits": Limits(model_calls=1)}
    store = await left_behind(["so"], [Ran().tool()], "turn.accepted", sent=sent, instructions="In English.")
    kept = list(store.lines["s"])
    model, _, _ = await resumed(store, ["again"], [Ran().tool()], instructions="In English.")
    assert (model.requests[0].system, model.requests[0].tools) == ("In French.", ())
    store.lines["s"] = kept
    model, session = await reopened(store, ["again"], [], instructions="In English.")
    await session.resume(instructions="In German.").result()
    assert model.requests[0].system == "In German."


async def test_instructions_that_were_not_kept_are_never_made_up() -> None:
    """With keep_texts='none' a digest stands in the journal, and no model is ever told a digest."""
    sent = {"instructions": "In French."}
    store = await left_behind(["so"], [], "turn.accepted", sent=sent, keep_texts="none")
    model, session = await reopened(store, ["again"], [], keep_texts="none", instructions="In English.")
    with pytest.raises(Misuse, match="were not kept"):
        session.resume()
    await session.resume(instructions="In French.").result()
    assert model.requests[0].system == "In French."


async def test_a_model_that_cannot_be_made_from_its_name_is_given_again() -> None:
    """A model object's name may look like a scheme, as llama3:8b does: the Chat's model answers then."""
    sent = {"model": ScriptedModel("so", name="llama3:8b")}
    store = await left_behind(["never"], [], "turn.accepted", sent=sent)
    _, _, reply = await resumed(store, ["again"], [])
    assert reply.text == "again"


async def test_a_named_model_of_the_turn_answers_again() -> None:
    """A model that was named for the turn alone answers it when it is resumed."""
    store = await left_behind(["never"], [], "turn.accepted", sent={"model": "echo:"})
    _, _, reply = await resumed(store, [], [])
    assert reply.model == "echo"


async def test_a_tool_that_was_not_offered_is_not_run_by_resuming() -> None:
    """Calls of a turn that was sent with `tools=[]` stay unrun, whatever the Chat has."""
    ran = Ran()
    lines = await left_behind([calls(("a", "act")), "so"], [ran.tool()], "model.replied", sent={"tools": []})
    _, session, reply = await resumed(lines, ["again"], [ran.tool()])
    assert (reply.text, ran.effects, outcomes(session)) == ("again", [], {"a": True})


async def test_calls_of_a_reply_that_is_all_there_is_are_judged() -> None:
    """Behind a reply whose calls nothing is said of, they are judged and run as in any round."""
    ran = Ran()
    store = await left_behind([TWO, "so"], [ran.tool()], "model.replied")
    again = Ran()
    _, _, reply = await resumed(store, ["again"], [again.tool()])
    assert (reply.text, again.effects, again.contexts[0].attempt) == ("again", ["x", "y"], 1)


async def test_steering_of_the_dead_run_is_shown() -> None:
    """What a person said before the process died reaches the model."""
    hanging = Hanging()
    _, store, session = await talking([calls(("a", "hang")), "so"], [hanging.tool(idempotent=True)])
    turn = session.send("hi")
    await hanging.begun.wait()
    await turn.steer("shorter")
    hanging.opened.set()
    await turn.result()
    store.lines["s"] = store.lines["s"][: store.types().index("turn.steered") + 1]
    model, _, _ = await resumed(store, ["again"], [hanging.tool(idempotent=True)])
    assert [message.text for message in model.requests[0].messages if message.role == "user"] == ["hi", "shorter"]


async def test_deps_are_given_anew() -> None:
    """Deps are never kept: a resumed turn has those of the resume."""

    @tool(idempotent=True)
    async def look(ctx: ToolContext[str]) -> str:
        """Give the deps."""
        return str(ctx.deps)

    store = await left_behind([calls(("a", "look")), "so"], [look], "tool.started", sent={"deps": "old"})
    _, session = await reopened(store, ["again"], [look])
    await session.resume(deps="new").result()
    assert [result.output for result in results(session)] == ["new"]


@pytest.mark.parametrize("upto", ["turn.completed", "turn.failed", "turn.canceled"])
async def test_a_turn_that_is_over_is_not_resumed(upto: str) -> None:
    """Whatever its outcome; nothing is written."""
    hanging = Hanging()
    _, store, session = await talking(["so", ValueError("no"), calls(("a", "hang"))], [hanging.tool()])
    await session.ask("hi")
    if upto != "turn.completed":
        await failure(session.ask("hi"))
    if upto == "turn.canceled":
        turn = session.send("hi")
        await hanging.begun.wait()
        await turn.cancel()
    before = store.types()
    assert before[-1] == upto
    with pytest.raises(Misuse, match="send anew"):
        session.resume()
    assert store.types() == before


async def test_only_the_last_turn_is_resumed() -> None:
    """An interrupted turn that others have come after stays as it is; an unknown one is refused."""
    store = await left_behind(["so"], [], "turn.accepted")
    _, session = await reopened(store, ["next"], [])
    first = session.turns()[0].id
    await session.ask("more")
    with pytest.raises(Misuse, match="is not the last of its session"):
        session.resume(first)
    with pytest.raises(Misuse, match="no turn 'x'"):
        session.resume("x")


async def test_a_session_without_turns_has_none_to_resume() -> None:
    """There is nothing to take up."""
    _, _, session = await talking([], [])
    with pytest.raises(Misuse):
        session.resume()


async def test_a_running_turn_is_not_resumed() -> None:
    """Not twice at once, and not while it runs where it was sent; a closed Chat resumes nothing."""
    gate, chat, session = await gated()
    turn = session.send("hi")
    await gate.begun.wait()
    with pytest.raises(SessionBusy):
        session.resume()
    gate.open()
    await turn.result()
    await chat.aclose()
    store = await left_behind(["so"], [], "turn.accepted")
    _, other = await reopened(store, ["again"], [])
    first = other.resume()
    with pytest.raises(SessionBusy):
        other.resume()
    assert (await first.result()).text == "again"


async def test_a_closed_chat_resumes_nothing() -> None:
    """As it sends nothing."""
    store = await left_behind(["so"], [], "turn.accepted")
    chat = Chat(ScriptedModel([]), store=store)
    session = await chat.open_session("s")
    await chat.aclose()
    with pytest.raises(SessionClosed):
        session.resume()


async def test_two_that_resume_one_turn(store: Store) -> None:
    """Of two processes that resume at once one is told that the session is busy; the call runs once."""
    ran = Ran()
    act = ran.tool(needs_approval=True)
    first = await Chat(ScriptedModel([calls(("a", "act")), "so"]), store=store, tools=[act]).create_session("s")
    await first.ask("hi")
    await first.approve("a", by="ana")
    _, second = await reopened(store, ["so"], [act])
    runs = asyncio.gather(first.resume().result(), second.resume().result(), return_exceptions=True)
    assert sorted(type(each).__name__ for each in await runs) == ["Reply", "SessionBusy"]
    assert ran.effects == ["act"]
    _, third = await reopened(store, [], [])
    assert outcomes(third) == {"a": False}


async def test_resumed_again_and_again() -> None:
    """A turn whose every run dies in its model call is resumed as often, and its journal stays good."""
    store = await left_behind(["so"], [], "turn.accepted")
    for _ in range(3):
        _, session = await reopened(store, ["again"], [])
        await session.resume().result()
        store.lines["s"] = store.lines["s"][:-1]
    _, _, reply = await resumed(store, ["at last"], [])
    assert reply.text == "at last"
    assert store.types().count("turn.resumed") == 4
