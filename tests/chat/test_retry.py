"""Retry: a new turn that names the old one, which stays as it is."""

import pytest

from antiphon import Chat, Session
from antiphon.errors import Misuse, Overloaded, Refused, SessionBusy
from antiphon.models import TextPiece
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure, gated, said

pytestmark = pytest.mark.anyio


async def session_of(*replies: object) -> tuple[ScriptedModel, Session]:
    """A session whose model answers so."""
    model = ScriptedModel(list(replies))
    return model, await Chat(model).create_session("s")


async def test_a_retry_shows_the_input_once() -> None:
    """A failed turn retried: its input stands once in the context, and the new turn names the old (F112, J-023)."""
    model, session = await session_of(Overloaded("m"), "fine")
    failed = session.send("hi")
    await failure(failed.result())
    retried = session.retry()
    assert (await retried.result()).text == "fine"
    assert [message.text for message in model.requests[1].messages] == ["hi"]
    assert [(turn.retry_of, turn.status) for turn in session.turns()] == [(None, "failed"), (failed.id, "completed")]
    assert said(session) == [("user", "hi"), ("assistant", "fine")]


async def test_only_the_finished_answer_is_shown() -> None:
    """Shown text of failed attempts never reaches a model, however often it was tried (F114)."""
    model, session = await session_of([TextPiece("sorry"), Refused("m")], [TextPiece("no"), Refused("m")], "yes", "ok")
    await failure(session.ask("hi"))
    await failure(session.retry().result())
    await session.retry().result()
    await session.ask("next")
    assert [message.text for message in model.requests[-1].messages] == ["hi", "yes", "next"]


async def test_a_refused_input_is_not_shown_again() -> None:
    """An input that the provider refuses stays out of later contexts (F115)."""
    model, session = await session_of(Refused("m"), "fine")
    await failure(session.ask("bad"))
    await session.ask("good")
    assert [message.text for message in model.requests[1].messages] == ["good"]


async def test_retrying_one_turn_leaves_the_others() -> None:
    """Of two failed turns the chosen one is retried; the other stays as it was (F121)."""
    _, session = await session_of(Overloaded("m"), Overloaded("m"), "fine")
    for text in "ab":
        await failure(session.ask(text))
    before = session.turns()
    await session.retry(before[0].id).result()
    assert session.turns()[:2] == before
    assert (session.turns()[2].input, session.turns()[2].retry_of) == ("a", before[0].id)


async def test_a_completed_turn_retried_is_shown_twice() -> None:
    """Both turns are completed, so both are dialogue; the first is among the earlier turns (J-083, J-114)."""
    model, session = await session_of("one", "two", "three")
    await session.ask("hi")
    await session.retry().result()
    await session.ask("next")
    assert [message.text for message in model.requests[1].messages] == ["hi", "one", "hi"]
    assert [message.text for message in model.requests[2].messages] == ["hi", "one", "hi", "two", "next"]


async def test_an_interrupted_turn_is_answered_from_the_start() -> None:
    """A turn whose process died reads as interrupted after reopening, and can be retried (J-023)."""
    gate, chat, session = await gated()
    turn = session.send("hi")
    await gate.begun.wait()
    reopened = await Chat(ScriptedModel("fine"), store=chat.store).open_session("s")
    assert [turn.status for turn in reopened.turns()] == ["interrupted"]
    gate.open()
    await turn.result()
    elsewhere = await Chat(ScriptedModel("fine"), store=chat.store).open_session("s")
    assert (await elsewhere.retry().result()).text == "fine"


async def test_what_cannot_be_retried() -> None:
    """There must be a turn, and none may run."""
    gate, _, session = await gated()
    with pytest.raises(Misuse, match="chat session 's' has no turn yet; send one first"):
        session.retry()
    with pytest.raises(Misuse, match="no turn 'nope' in chat session 's'"):
        session.retry("nope")
    turn = session.send("hi")
    await turn.accepted()
    with pytest.raises(SessionBusy):
        session.retry()
    gate.open()
    await turn.result()


async def test_a_retry_takes_options() -> None:
    """A retry is a send: it takes a key and another model."""
    _, session = await session_of(Overloaded("m"))
    await failure(session.ask("hi"))
    retried = session.retry(model=ScriptedModel("better"), key="k")
    assert (await retried.result()).text == "better"
    assert session.retry(key="k").id == retried.id
