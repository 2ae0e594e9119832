"""Contexts of the caller's own, and instructions: what they may look at, and what becomes of what they give."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from antiphon import Assembled, Chat, Message, ToolCall, View
from antiphon.errors import Misuse, NotStorable, TurnCanceled, WindowTooSmall
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure, types_of

pytestmark = pytest.mark.anyio


class Last:
    """Shows the last completed turn only."""

    def build(self, view: View) -> list[Message]:
        """Give it."""
        return [message for turn in view.turns[-1:] for message in turn.messages]


def last(view: View) -> list[Message]:
    """The same as a function."""
    return Last().build(view)


async def slowly(view: View) -> Assembled:
    """The same, async and as Assembled."""
    await asyncio.sleep(0)
    return Assembled(last(view))


def plainly(view: View) -> list[dict[str, str]]:
    """The same, as plain dicts."""
    return [{"role": message.role, "content": message.text} for message in last(view)]


@pytest.mark.parametrize("context", [Last(), last, slowly, plainly], ids=["object", "function", "async", "dicts"])
async def test_every_form_of_context(context: Any) -> None:
    """An object with build, a function, an async one and dicts give what stands before the input (J-110, P02)."""
    model = ScriptedModel(["one", "two", "three"])
    session = await Chat(model, context=context).create_session()
    for text in "abc":
        await session.ask(text)
    assert [message.text for message in model.requests[2].messages] == ["b", "two", "c"]


async def test_a_context_sees_every_earlier_turn() -> None:
    """Earlier turns of every status, without the one being answered; a retry sees the turn that it retries (J-114)."""
    views: list[View] = []

    def context(view: View) -> Sequence[Message]:
        views.append(view)
        return []

    chat = Chat(ScriptedModel(["one", ValueError("no"), "again"]), context=context)
    session = await chat.create_session("s", scope="ana")
    await session.ask("a")
    await session.give_feedback(session.turns()[0].id, preferred="better")
    await failure(session.ask("b", deps={"db": 1}, metadata={"n": 2}))
    await session.retry().result()
    assert [[turn.status for turn in view.turns] for view in views] == [[], ["completed"], ["completed", "failed"]]
    assert views[1].turns[0].feedback[0].preferred == "better"
    view = views[1]
    assert (view.session_id, view.scope, view.input, view.query, view.deps, view.metadata) == (
        *("s", "ana", "b", "b"),
        {"db": 1},
        {"n": 2},
    )


async def test_item_17_a_context_cannot_change_what_is_kept() -> None:
    """What a context does to its turns changes nothing stored, and fails that turn alone (J-111)."""

    def context(view: View) -> list[Message]:
        for turn in view.turns:
            turn.metadata["responder"] = "changed"
            turn.input = "changed"  # type: ignore[misc]
        return []

    model = ScriptedModel(["one", "three"])
    chat = Chat(model, context=context)
    session = await chat.create_session("s")
    await session.ask("a")
    before = session.turns()
    assert isinstance(await failure(session.ask("b")), AttributeError)
    assert session.turns()[:1] == before
    assert session.turns()[0].metadata["responder"] == {"kind": "model", "name": "scripted"}
    assert len(model.requests) == 1


async def test_item_17_a_context_that_raises_fails_the_turn() -> None:
    """What a context raises is what result() raises and what the journal says; later turns work (J-112, J-113)."""
    own = LookupError("nothing to show")

    def context(view: View) -> list[Message]:
        if view.query == "bad":
            raise own
        return []

    model = ScriptedModel(["fine"])
    session = await Chat(model, context=context).create_session()
    assert await failure(session.ask("bad")) is own
    assert [turn.error for turn in session.turns()] == ["LookupError: nothing to show"]
    assert await types_of(session) == ["session.created", "turn.accepted", "turn.failed"]
    assert (await session.ask("good")).text == "fine"


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (None, Misuse, "the context gave a NoneType"),
        ("text", Misuse, "the context gave a str"),
        ({"role": "user", "content": "x"}, Misuse, "the context gave a dict"),
        ([5], NotStorable, "message holds a int"),
        ([{"content": "x"}], NotStorable, "message holds a dict with the keys"),
        ([{"role": "user", "content": 5}], NotStorable, "content holds a int"),
        (Assembled([], system=5), TypeError, ""),  # type: ignore[arg-type]
    ],
    ids=["none", "text", "dict", "number", "no-role", "bad-content", "bad-system"],
)
async def test_nonsense_fails_the_turn(given: Any, error: type[Exception], sentence: str) -> None:
    """A context that gives what is no context fails the turn before any model is asked, and says what it gave."""
    model = ScriptedModel("never")
    session = await Chat(model, context=lambda view: given).create_session()
    raised = await failure(session.ask("hi"))
    assert isinstance(raised, error)
    assert sentence in str(raised)
    assert model.requests == []
    assert [turn.status for turn in session.turns()] == ["failed"]


@pytest.mark.parametrize("given", [5, "full", Last], ids=["number", "text", "class"])
def test_what_is_no_context_is_refused_at_once(given: Any) -> None:
    """A Chat takes an object with build, or a function; a class is most likely one that was not made yet."""
    with pytest.raises(TypeError, match="give an object with build"):
        Chat("echo:", context=given)


async def test_the_input_is_always_there() -> None:
    """Whatever a context leaves out, the newest input is in every call, last (D7)."""
    model = ScriptedModel("x")
    session = await Chat(model, context=lambda view: []).create_session()
    await session.ask("here I am")
    assert [message.text for message in model.requests[0].messages] == ["here I am"]


async def test_what_does_not_fit_is_never_sent() -> None:
    """An input that cannot fit the model's window fails the turn with the sizes, before any call (D7)."""
    model = ScriptedModel("never", window=100)
    session = await Chat(model).create_session()
    error = await failure(session.ask("word " * 500))
    assert isinstance(error, WindowTooSmall)
    assert error.sizes["input"] > 100
    assert model.requests == []


async def test_canceling_a_context_cancels_its_work() -> None:
    """A turn canceled while its context is built stops that, and asks no model (item 16's rule)."""
    stopped = asyncio.Event()
    begun = asyncio.Event()

    async def context(view: View) -> list[Message]:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return []

    model = ScriptedModel("never")
    session = await Chat(model, context=context).create_session()
    turn = session.send("hi")
    await begun.wait()
    await turn.cancel()
    assert stopped.is_set()
    assert isinstance(await failure(turn.result()), TurnCanceled)
    assert model.requests == []


async def test_instructions_stand_first() -> None:
    """Instructions are system text before what the context adds; a turn may have others, a function may give them."""
    model = ScriptedModel(["1", "2", "3"])
    added = Assembled([], system="added")
    chat = Chat(model, context=lambda view: added, instructions=lambda view: f"{len(view.turns)} so far")
    session = await chat.create_session()
    await session.ask("a")
    await session.ask("b")
    await session.ask("c", instructions="Be brief.")
    assert [request.system for request in model.requests] == [
        "0 so far\n\nadded",
        "1 so far\n\nadded",
        "Be brief.\n\nadded",
    ]
    assert session.turns()[2].options == {"instructions": "Be brief."}


async def test_instructions_that_raise_fail_the_turn() -> None:
    """A function of instructions is the caller's code: what it raises, or gives that is no text, fails the turn."""
    own = KeyError("tenant")

    def instructions(view: View) -> str:
        if view.query == "none":
            return 5  # type: ignore[return-value]
        raise own

    session = await Chat(ScriptedModel("x"), instructions=instructions).create_session()
    assert await failure(session.ask("hi")) is own
    assert isinstance(await failure(session.ask("none")), TypeError)
    assert [turn.status for turn in session.turns()] == ["failed", "failed"]


async def test_the_context_is_the_same_after_reopening() -> None:
    """The next turn's request is byte for byte the same with and without reopening, tool steps too (F193)."""
    asked = Message("assistant", (ToolCall.of("c", "f", arguments={"a": [1, 2.5, "ä"]}),))
    requests = []
    for reopen in (False, True):
        model = ScriptedModel([asked, "found", "next"])
        chat = Chat(model, instructions="Be kind.")
        session = await chat.create_session("s")
        await session.ask("hi")
        if reopen:
            session = await Chat(model, store=chat.store, instructions="Be kind.").open_session("s")
        await session.ask("more")
        requests.append(model.requests[-1])
    assert requests[0] == requests[1]
    assert [message.role for message in requests[0].messages] == ["user", "assistant", "tool", "assistant", "user"]
