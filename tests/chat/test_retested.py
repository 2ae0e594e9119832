"""Behaviours of tool turns that are easily lost: what is told in which order, and what is left of a broken turn."""

import json
from typing import Any

import pytest

from antiphon import Chat, FullContext, LayeredContext, Session, ToolContext, ToolPolicy, ToolReturned
from antiphon.testing import ScriptedModel
from tests.chat.fakes import ListStore, failure
from tests.chat.rounds import Hanging, Ran, begun, calls, reopened, results, shown_calls, talking

pytestmark = pytest.mark.anyio

ROOMY = LayeredContext(window=16_000)


async def noted(session: Session, model: Any) -> str:
    """What a later call is told of the turns before it."""
    await session.ask("and now?")
    return "\n".join(message.text for message in model.requests[-1].messages[:-1])


async def test_a_canceled_turn_leaves_a_note_of_what_ran_and_of_what_may_have() -> None:
    """A tool that had started and gave nothing may have taken effect: the next call is told so, by name."""
    ran, hanging = Ran(), Hanging()
    asked = calls(("a", "act"), ("b", "hang"))
    model, _, session = await talking([asked, "so"], [ran.tool(), hanging.tool()], context=ROOMY)
    turn = await begun(lambda: session.send("hi"), hanging.begun)
    await anext(event async for event in turn if isinstance(event, ToolReturned))
    await turn.cancel()
    assert await noted(session, model) == (
        "[Note: an earlier turn was canceled and is left out. These tools had run in it: act."
        " These were started, gave no result, and may have taken effect: hang.]"
    )


async def test_a_tool_that_failed_may_have_taken_effect() -> None:
    """One that raised is named as in doubt, and one that gave a result in another round is not, for all its like id."""

    def fail() -> None:
        raise ValueError("half done")

    replies = [calls(("a", "act")), calls(("a", "fail")), ValueError("gone"), "so"]
    model, _, session = await talking(replies, [Ran().tool(), fail], context=ROOMY)
    assert isinstance(await failure(session.ask("hi")), ValueError)
    told = await noted(session, model)
    assert "had run in it: act. These were started" in told
    assert told.endswith("may have taken effect: fail.]")


async def test_a_call_that_never_started_leaves_no_note() -> None:
    """A turn that waited and was put aside has done nothing, so nothing is told of it."""
    model, _, session = await talking([calls(("a", "act")), "so"], [Ran().tool(needs_approval=True)], context=ROOMY)
    await session.ask("hi")
    assert await noted(session, model) == ""


async def test_a_turn_that_died_while_a_tool_ran_leaves_a_note() -> None:
    """Nobody wrote how it ended, so another process says that it was broken off, and what may have happened."""
    hanging = Hanging()
    _, store, session = await talking([calls(("a", "hang"))], [hanging.tool()])
    turn = await begun(lambda: session.send("hi"), hanging.begun)
    left = ListStore(lines={"s": list(store.lines["s"])})
    await turn.cancel()
    model, copy = await reopened(left, ["so"], [], context=ROOMY)
    assert "was broken off and is left out. These were started" in await noted(copy, model)


async def test_events_of_a_tool_turn_in_order() -> None:
    """The start is told before the progress, the progress before the result, and the result before the next call."""

    async def work(ctx: ToolContext[None]) -> str:
        ctx.progress("half")
        return "done"

    _, _, session = await talking([calls(("a", "work")), "so"], [work])
    turn = session.send("hi")
    await turn.result()
    assert [event.type async for event in turn] == [
        "turn.accepted",
        "turn.shown",
        "model.replied",
        "tool.started",
        "tool.progress",
        "tool.returned",
        "turn.shown",
        "text.delta",
        "turn.completed",
    ]


async def test_results_beyond_the_window_are_cut_in_the_middle_of_a_turn() -> None:
    """Two results that do not fit together leave no call without its result, and the input stays; history is whole."""

    def read(name: str) -> str:
        return name * 9_000

    asked = [calls((name, "read", {"name": name})) for name in "ab"]
    model, _, session = await talking([*asked, "so"], [read], context=LayeredContext(window=4_000))
    assert (await session.ask("hi")).text == "so"
    for request in model.requests:
        shown = shown_calls(request.messages)
        assert [each[1:] for each in shown if each[0] == ">"] == [each[1:] for each in shown if each[0] == "<"]
        assert any(message.text.startswith("hi") for message in request.messages)
    assert [len(result.text) for result in results(session)] == [9_000, 9_000]


async def test_a_restored_tool_turn_is_shown_as_it_was() -> None:
    """Through JSON and back, the next request of a session with calls and results is the same, and no call is open."""
    _, _, session = await talking([calls(("a", "act", {"text": "x"})), "so"], [Ran().tool()], context=FullContext())
    await session.ask("hi")
    restored = await Chat(ScriptedModel([]), tools=[Ran().tool()], context=FullContext()).restore(
        json.loads(json.dumps(session.snapshot()))
    )
    shown = [(await each.preview("next")).messages for each in (session, restored)]
    assert [message.to_json() for message in shown[0]] == [message.to_json() for message in shown[1]]
    assert (shown_calls(shown[1]), restored.pending()) == ([">a", "<a"], ())


@pytest.mark.parametrize("name", ["functions.drop", "default_api:drop", "drop"])
async def test_a_routers_prefix_gets_around_no_policy(name: str) -> None:
    """The rules are asked about the tool that would run, however a model spells it."""
    ran = Ran()
    policy = ToolPolicy(allow=["functions.*", "default_api:*"], deny=["drop"])
    _, _, session = await talking([calls(("a", name)), "so"], [ran.tool("drop")], policy=policy)
    await session.ask("hi")
    assert (ran.effects, results(session)[0].is_error) == ([], True)


async def test_a_tool_that_asks_its_own_session_is_refused() -> None:
    """Its turn runs, so the session is busy; the tool has an error, and the turn goes on."""
    inside: list[Session] = []

    async def again() -> str:
        return (await inside[0].ask("inner")).text

    _, _, session = await talking([calls(("a", "again")), "so"], [again])
    inside.append(session)
    assert (await session.ask("hi")).text == "so"
    assert results(session)[0].text.startswith("SessionBusy")
