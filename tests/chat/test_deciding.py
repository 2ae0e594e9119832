"""Calls that wait for a person: asked once, decided on by id, and only then run, as they were decided."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from antiphon import (
    Chat,
    Decision,
    FileStore,
    InMemoryStore,
    Limits,
    PendingCall,
    Session,
    ToolCall,
    ToolPolicy,
    Waiting,
)
from antiphon.errors import Misuse, NotStorable, TurnOver
from antiphon.journal import SessionRenamed
from antiphon.testing import ScriptedModel
from tests.chat.fakes import Act, failure, line, passing
from tests.chat.rounds import Hanging, Ran, calls, outcomes, reopened, results, talking

pytestmark = pytest.mark.anyio

ASKED = calls(("a", "act", {"text": "x"}), words="I will")


async def waiting(ran: Ran, *replies: Any, asked: Any = ASKED, **options: Any) -> tuple[ScriptedModel, Any, Session]:
    """A session whose only turn waits."""
    model, store, session = await talking([asked, *replies], [ran.tool(needs_approval=True)], **options)
    assert (await session.ask("hi")).finish_reason == "waiting"
    return model, store, session


async def test_a_turn_that_waits() -> None:
    """Its run ends with what there is, its last event is Waiting, and the session says which calls wait and why."""
    ran = Ran()
    _, store, session = await talking([ASKED], [ran.tool(needs_approval=True)])
    turn = session.send("hi")
    reply = await turn.result()
    assert (reply.finish_reason, reply.text, ran.effects) == ("waiting", "I will", [])
    pending = PendingCall("a", turn.id, "act", {"text": "x"}, "otherwise: the tool needs approval")
    assert (reply.pending, session.pending()) == ((pending,), (pending,))
    last = [event async for event in turn][-1]
    assert isinstance(last, Waiting)
    assert (last.pending, last.reply) == ((pending,), reply)
    assert (session.turns()[0].status, session.live_turn) == ("waiting", None)
    assert store.types()[-3:] == ["turn.shown", "model.replied", "tool.asked"]


async def test_the_lease_of_a_waiting_turn_is_let_go() -> None:
    """Another Chat over the same store can take the session while a turn waits."""
    ran, store = Ran(), InMemoryStore()
    await waiting(ran, store=store)
    _, other = await reopened(store, ["so"], [ran.tool(needs_approval=True)])
    assert (await other.ask("go on")).text == "so"


async def test_a_waiting_turn_is_waiting_after_reopening() -> None:
    """Nobody writes that a turn waits, and it is read all the same; asking anew by its key gives it back."""
    ran = Ran()
    _, store, session = await talking([ASKED], [ran.tool(needs_approval=True)])
    await session.ask("hi", key="k")
    _, copy = await reopened(store, [], [ran.tool(needs_approval=True)])
    assert (copy.turns()[0].status, copy.pending()) == ("waiting", session.pending())
    assert (await copy.ask("hi", key="k")).pending == session.pending()


async def test_approved() -> None:
    """An approved call runs once when its turn is resumed, and the turn goes on to its reply."""
    ran = Ran()
    model, store, session = await waiting(ran, "so")
    await session.approve("a", by="ana")
    assert (ran.effects, session.pending()) == ([], ())
    assert (await session.resume().result()).text == "so"
    assert (ran.effects, [result.output for result in results(session)]) == (["x"], ["act x"])
    assert len(model.requests) == 2
    assert store.types()[4:] == [
        *("tool.asked", "tool.decided", "turn.resumed", "tool.started", "tool.returned"),
        *("turn.shown", "turn.completed"),
    ]


async def test_approved_with_other_arguments() -> None:
    """What a person puts in place of the arguments is what runs, what readers are told, and what is journaled."""
    ran = Ran()
    _, _, session = await waiting(ran, "so")
    await session.approve("a", by="ana", arguments={"text": "y"})
    turn = session.resume()
    await turn.result()
    assert ran.effects == ["y"]
    (started,) = [event async for event in turn if event.type == "tool.started"]
    assert started.to_dict()["arguments"] == {"text": "y"}


async def test_other_arguments_are_validated() -> None:
    """Arguments of a person's that do not fit are answered with an error, as the model's would be."""
    ran = Ran()
    _, _, session = await waiting(ran, "so")
    await session.approve("a", by="ana", arguments={"text": {"not": "text"}})
    assert (await session.resume().result()).text == "so"
    assert (ran.effects, outcomes(session)) == ([], {"a": True})
    assert "do not fit" in results(session)[0].text


async def test_arguments_that_are_not_json_are_refused() -> None:
    """Nothing is written, and the call goes on waiting."""
    ran = Ran()
    _, _, session = await waiting(ran)
    with pytest.raises(NotStorable):
        await session.approve("a", by="ana", arguments={"text": object()})
    assert len(session.pending()) == 1


async def test_denied() -> None:
    """A denied call does not run, and the model is told who said so and why."""
    ran = Ran()
    _, _, session = await waiting(ran, "so")
    await session.deny("a", by="ana", reason="not on Fridays")
    assert (await session.resume().result()).text == "so"
    assert (ran.effects, outcomes(session)) == ([], {"a": True})
    assert "ana refused it: not on Fridays" in results(session)[0].text


async def test_answered() -> None:
    """What a person says a call gave is its result; it is not run."""
    ran = Ran()
    _, store, session = await waiting(ran, "so")
    await session.answer("a", {"done": "by hand"}, by="ana")
    assert store.appends[-1] == ["tool.decided", "tool.returned"]
    assert (await session.resume().result()).text == "so"
    assert (ran.effects, results(session)[0].output, outcomes(session)) == ([], {"done": "by hand"}, {"a": False})


async def test_a_long_answer_is_shown_as_it_is_given() -> None:
    """A person's answer is the result whatever it is: null, a list, a text."""
    ran = Ran()
    for output in (None, [1, 2], "x" * 10):
        _, _, session = await waiting(ran, "so")
        await session.answer("a", output, by="ana")
        await session.resume().result()
        assert results(session)[0].output == output


@pytest.mark.parametrize("by", ["", " "])
async def test_somebody_decides(by: str) -> None:
    """A decision without a name is refused."""
    _, _, session = await waiting(Ran())
    for deciding in (session.approve("a", by=by), session.deny("a", by=by), session.answer("a", 1, by=by)):
        assert isinstance(await failure(deciding), Misuse)
    assert len(session.pending()) == 1


async def test_a_decision_is_taken_once() -> None:
    """A call that was decided on, or that never was asked about, is refused."""
    _, store, session = await waiting(Ran())
    await session.deny("a", by="ana")
    before = store.types()
    for deciding in (session.approve("a", by="ben"), session.answer("a", 1, by="ben"), session.deny("z", by="ben")):
        assert isinstance(await failure(deciding), Misuse)
    assert store.types() == before


async def test_resumed_while_nobody_has_decided() -> None:
    """A turn that still waits waits again: the model is not asked, nothing runs, nobody is asked twice."""
    ran = Ran()
    model, store, session = await waiting(ran)
    for _ in range(2):
        reply = await session.resume().result()
        assert (reply.finish_reason, [call.id for call in reply.pending]) == ("waiting", ["a"])
    assert (len(model.requests), ran.effects) == (1, [])
    assert store.types().count("tool.asked") == 1


async def test_one_of_two_is_approved() -> None:
    """The approved call runs when its turn is resumed; the other one still waits, and the model is not asked."""
    ran = Ran()
    asked = calls(("a", "act", {"text": "x"}), ("b", "act", {"text": "y"}))
    model, _, session = await waiting(ran, "so", asked=asked)
    await session.approve("b", by="ana")
    reply = await session.resume().result()
    assert ([call.id for call in reply.pending], ran.effects, len(model.requests)) == (["a"], ["y"], 1)
    await session.approve("a", by="ana")
    assert (await session.resume().result()).text == "so"
    assert (ran.effects, [result.call_id for result in results(session)]) == (["y", "x"], ["a", "b"])


async def test_calls_that_wait_do_not_hold_up_the_others() -> None:
    """Of a round, what may run runs at once; the turn waits for the rest."""
    ran, free = Ran(), Ran()
    asked = calls(("a", "act"), ("b", "free"))
    model, _, session = await talking([asked, "so"], [ran.tool(needs_approval=True), free.tool("free")])
    reply = await session.ask("hi")
    assert (free.effects, [call.id for call in reply.pending], len(model.requests)) == (["free"], ["a"], 1)
    await session.approve("a", by="ana")
    await session.resume().result()
    assert (free.effects, ran.effects) == (["free"], ["act"])


async def test_an_approval_is_for_one_call() -> None:
    """The same call made again is asked about again, even under the same id (curie-eng/curie#430)."""
    ran = Ran()
    _, _, session = await waiting(ran, ASKED, "so")
    await session.approve("a", by="ana")
    reply = await session.resume().result()
    assert (reply.finish_reason, ran.effects) == ("waiting", ["x"])
    await session.approve("a", by="ana")
    assert (await session.resume().result()).text == "so"
    assert ran.effects == ["x", "x"]


async def test_arguments_of_a_decision_are_for_one_call() -> None:
    """What a person put in place of one call's arguments is not used for a later call of the same id."""
    ran = Ran()
    _, _, session = await waiting(ran, ASKED, "so")
    await session.approve("a", by="ana", arguments={"text": "mine"})
    await session.resume().result()
    await session.approve("a", by="ana")
    await session.resume().result()
    assert (ran.effects, [context.attempt for context in ran.contexts]) == (["mine", "x"], [1, 1])


async def test_an_approval_of_one_tool_says_nothing_of_another() -> None:
    """What was denied stays refused when a neighbour is approved, and is asked about anew.

    evenfire-ai/evenfire#723.
    """
    ran = Ran()
    tools = [ran.tool(name, needs_approval=True) for name in ("mcp.x", "mcp.y")]
    script = [calls(("a", "mcp.x"), ("b", "mcp.y")), calls(("c", "mcp.x")), "so"]
    _, _, session = await talking(script, tools)
    await session.ask("hi")
    await session.deny("a", by="ana")
    await session.approve("b", by="ana")
    reply = await session.resume().result()
    assert ([call.id for call in reply.pending], ran.effects) == (["c"], ["mcp.y"])


async def test_an_approved_call_that_is_denied_by_now_is_refused() -> None:
    """The policy is asked when the call is to run, whatever a person said before."""
    ran = Ran()
    _, store, session = await waiting(ran)
    await session.approve("a", by="ana")
    _, copy = await reopened(store, ["so"], [ran.tool(needs_approval=True)], policy=ToolPolicy(deny=["act"]))
    assert (await copy.resume().result()).text == "so"
    assert (ran.effects, outcomes(copy)) == ([], {"a": True})


async def test_an_approved_call_is_judged_by_the_arguments_it_runs_with() -> None:
    """A policy that looks at arguments sees those that a person gave."""
    ran = Ran()

    def evaluate(call: PendingCall) -> Decision:
        return Decision("deny" if call.arguments["text"] == "rm" else "ask", "evaluate")

    _, _, session = await waiting(ran, "so", policy=ToolPolicy(evaluate=evaluate))
    await session.approve("a", by="ana", arguments={"text": "rm"})
    await session.resume().result()
    assert (ran.effects, outcomes(session)) == ([], {"a": True})


async def test_a_person_sees_what_would_run() -> None:
    """Pending arguments are those that the tool would be given, where the model's were no JSON object."""
    ran = Ran()
    _, _, session = await waiting(ran, asked=calls(ToolCall("a", "act", raw='{"text": "all",}')))
    assert [call.arguments for call in session.pending()] == [{"text": "all"}]


async def test_manual() -> None:
    """Under the manual policy everything waits, whatever the tool says."""
    ran = Ran()
    _, _, session = await talking([ASKED], [ran.tool()], policy=ToolPolicy.manual())
    assert [call.reason for call in (await session.ask("hi")).pending] == ["ask: '*'"]


async def test_approved_in_one_process_and_resumed_in_another(tmp_path: Path) -> None:
    """A decision is in the journal: who resumes need not be who decided, or who sent."""
    ran = Ran()
    await waiting(ran, store=FileStore(tmp_path))
    _, second = await reopened(FileStore(tmp_path), [], [])
    await second.approve("a", by="ana")
    _, third = await reopened(FileStore(tmp_path), ["so"], [ran.tool(needs_approval=True)])
    assert (await third.resume().result()).text == "so"
    assert ran.effects == ["x"]


async def test_a_decision_of_elsewhere_is_seen() -> None:
    """A session that was open when another process decided reads that when it resumes or decides itself."""
    ran = Ran()
    _, store, first = await waiting(ran, "so")
    _, second = await reopened(store, [], [])
    await second.approve("a", by="ana")
    assert isinstance(await failure(first.deny("a", by="ben")), Misuse)
    assert (await first.resume().result()).text == "so"
    assert ran.effects == ["x"]


async def test_decided_while_its_siblings_run() -> None:
    """A call decided on in this process before its round has ended is run in the same run."""
    ran, hanging = Ran(), Hanging()
    asked = calls(("a", "act"), ("b", "hang"))
    _, _, session = await talking([asked, "so"], [ran.tool(needs_approval=True), hanging.tool()])
    turn = session.send("hi")
    await hanging.begun.wait()
    await session.approve("a", by="ana")
    hanging.opened.set()
    assert (await turn.result()).text == "so"
    assert ran.effects == ["act"]


async def test_decided_elsewhere_while_its_siblings_run() -> None:
    """A decision that another process writes during a round fails nothing: the turn goes on with it."""
    ran, hanging = Ran(), Hanging()
    asked = calls(("a", "act"), ("b", "hang"))
    tools = [ran.tool(needs_approval=True), hanging.tool()]
    _, store, session = await talking([asked, "so"], tools)
    turn = session.send("hi")
    await hanging.begun.wait()
    _, other = await reopened(store, [], tools)
    await other.approve("a", by="ana")
    hanging.opened.set()
    assert (await turn.result()).text == "so"
    assert ran.effects == ["act"]


async def test_two_decide_at_once() -> None:
    """Of two decisions on one call in one process the first counts, and the other is refused as too late."""
    _, store, session = await waiting(Ran())
    found = await asyncio.gather(session.approve("a", by="ana"), session.deny("a", by="ben"), return_exceptions=True)
    assert [type(each) for each in found] == [type(None), Misuse]
    assert store.types().count("tool.decided") == 1


async def test_a_decision_meets_a_commuting_entry() -> None:
    """A decision that finds the journal moved is written behind what came, if the call still waits."""
    ran = Ran()
    _, store, session = await waiting(ran)
    store.script = [Act(foreign=[line(SessionRenamed, title="theirs")])]
    await session.approve("a", by="ana")
    assert store.types()[-2:] == ["session.renamed", "tool.decided"]


async def test_a_fork_carries_no_question_and_no_approval() -> None:
    """The copy's turn is canceled: nothing in it waits, and what was approved in the original runs there alone."""
    ran = Ran()
    _, _, session = await waiting(ran, "so")
    before = await session.fork()
    await session.approve("a", by="ana")
    behind = await session.fork()
    for copy in (before, behind):
        assert (copy.turns()[0].status, copy.pending()) == ("canceled", ())
        assert isinstance(await failure(copy.approve("a", by="ana")), Misuse)
        with pytest.raises(Misuse):
            copy.resume()
    assert (await session.resume().result()).text == "so"
    assert ran.effects == ["x"]


async def test_a_restored_session_carries_no_question() -> None:
    """What is read back from a snapshot waits for nobody, and nothing that was approved runs."""
    ran = Ran()
    _, _, session = await waiting(ran)
    await session.approve("a", by="ana")
    snapshot = session.snapshot()
    chat = Chat(ScriptedModel(["so"]), tools=[ran.tool(needs_approval=True)])
    copy = await chat.restore(snapshot)
    assert (copy.turns()[0].status, copy.pending()) == ("canceled", ())
    assert (await copy.ask("go on")).text == "so"
    assert ran.effects == []


async def test_imported_messages_carry_no_question() -> None:
    """A call without a result in imported messages is answered, and neither waits nor runs."""
    ran = Ran()
    chat = Chat(ScriptedModel(["so"]), tools=[ran.tool(needs_approval=True)])
    _, _, session = await waiting(ran)
    copy = await chat.import_session(list(session.turns()[0].messages))
    assert copy.pending() == ()
    assert (await copy.ask("go on")).text == "so"
    assert ran.effects == []


@pytest.mark.parametrize("approved", [True, False])
async def test_what_runs_is_what_is_kept(approved: bool) -> None:
    """With redaction a tool is given what stands in the journal, whether it ran at once or was approved later."""
    ran = Ran()
    asked = calls(("a", "act", {"text": "my secret"}))
    options: Any = {"redact": lambda text: text.replace("secret", "[…]")}
    _, _, session = await talking([asked, "so"], [ran.tool(needs_approval=approved)], **options)
    await session.ask("hi")
    if approved:
        assert [call.arguments for call in session.pending()] == [{"text": "my […]"}]
        await session.approve("a", by="ana")
        await session.resume().result()
    assert (ran.effects, results(session)[0].output) == (["my […]"], "act my […]")


async def test_steering_before_it_waited_is_shown_when_it_goes_on() -> None:
    """What a person said in a round that then waited reaches the model behind the round; later it is too late."""
    ran, hanging = Ran(), Hanging()
    asked = calls(("a", "act"), ("b", "hang"))
    model, _, session = await talking([asked, "so"], [ran.tool(needs_approval=True), hanging.tool()])
    turn = session.send("hi")
    await hanging.begun.wait()
    await turn.steer("shorter")
    hanging.opened.set()
    assert (await turn.result()).finish_reason == "waiting"
    with pytest.raises(TurnOver):
        await turn.steer("too late")
    await session.approve("a", by="ana")
    await session.resume().result()
    assert [message.text for message in model.requests[1].messages if message.role == "user"] == ["hi", "shorter"]


async def test_waiting_does_not_use_up_the_limit() -> None:
    """Only calls that are run count, each once, however often its turn is resumed."""
    ran = Ran()
    asked = calls(("a", "act", {"text": "x"}), ("b", "act", {"text": "y"}))
    _, _, session = await waiting(ran, "so", asked=asked, limits=Limits(tool_calls=2))
    await session.resume().result()
    await session.approve("a", by="ana")
    await session.resume().result()
    await session.approve("b", by="ana")
    assert (await session.resume().result()).text == "so"
    assert (ran.effects, outcomes(session)) == (["x", "y"], {"a": False, "b": False})


async def test_needs_approval_of_the_arguments() -> None:
    """A tool may say by its arguments whether a call waits."""
    ran = Ran()
    act = ran.tool(needs_approval=lambda arguments: arguments["text"] == "y")
    asked = calls(("a", "act", {"text": "x"}), ("b", "act", {"text": "y"}))
    _, _, session = await talking([asked], [act])
    assert [call.id for call in (await session.ask("hi")).pending] == ["b"]
    assert ran.effects == ["x"]


async def test_a_cancel_behind_the_run_changes_nothing() -> None:
    """A turn that waits has no run that could be canceled; it goes on waiting."""
    ran = Ran()
    _, _, session = await talking([ASKED], [ran.tool(needs_approval=True)])
    turn = session.send("hi")
    await turn.result()
    await turn.cancel()
    await passing(3)
    assert session.turns()[0].status == "waiting"


async def test_a_resumed_turn_can_be_canceled() -> None:
    """A cancel while an approved call runs cancels it and the turn, and nothing waits any more."""
    hanging = Hanging()
    _, _, session = await talking([calls(("a", "hang"))], [hanging.tool(needs_approval=True)])
    await session.ask("hi")
    await session.approve("a", by="ana")
    turn = session.resume()
    await hanging.begun.wait()
    await turn.cancel("enough")
    assert (hanging.ended, session.turns()[0].status, session.pending()) == (["canceled"], "canceled", ())


@pytest.mark.parametrize("before", [0, 100_000], ids=["short", "long"])
async def test_a_session_that_waits_is_listed_so(tmp_path: Path, before: int) -> None:
    """A listing that looks only at the end of a long journal tells a turn that waits from one that was broken off."""
    ran = Ran()
    _, _, session = await talking([ASKED], [ran.tool(needs_approval=True)], store=FileStore(tmp_path))
    await session.state.set("notes", "x" * before)
    await session.ask("hi")
    chat = Chat("echo:", store=FileStore(tmp_path))
    assert [(each.status, each.turns) async for each in chat.sessions()] == [("waiting", None if before else 1)]
    await session.approve("a", by="ana")
    assert [each.status async for each in chat.sessions()] == ["interrupted"]


async def test_a_decision_on_what_was_seen_meets_nothing_else() -> None:
    """Given what waited then, a decision is refused once another call waits under the same id."""
    ran = Ran()
    again = calls(("a", "act", {"text": "everything"}))
    _, _, session = await waiting(ran, again, "so", asked=calls(("a", "act", {"text": "little"})))
    seen = session.pending()[0]
    await session.approve(seen, by="ana")
    await session.resume().result()
    error = await failure(session.approve(seen, by="ben"))
    assert isinstance(error, Misuse) and "another call waits under 'a' by now" in str(error)
    assert ran.effects == ["little"]


async def test_a_model_is_shown_the_arguments_that_ran() -> None:
    """A call that a person let run with other arguments stands with those before its result; the turn keeps both."""
    ran = Ran()
    model, _, session = await waiting(ran, "so")
    await session.approve("a", by="ana", arguments={"text": "less"})
    await session.resume().result()
    assert model.requests[-1].messages[-2].calls[0].arguments == {"text": "less"}
    turn = session.turns()[0]
    assert turn.messages[1].calls[0].arguments == {"text": "x"}
    assert turn.shown_messages[1].calls[0].arguments == {"text": "less"}
