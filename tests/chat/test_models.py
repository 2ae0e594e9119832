"""Which model answers a turn, and whose it is to close."""

from dataclasses import fields

import pytest

from antiphon import Chat, Limits
from antiphon.chat._planner import Planner, Settings
from antiphon.errors import Misuse, UnknownModel
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure

pytestmark = pytest.mark.anyio


async def test_a_model_by_name() -> None:
    """A Chat and a turn take a model's name; the options that were asked for this turn alone are kept."""
    model = ScriptedModel("mine")
    session = await Chat("echo:").create_session()
    assert 'the last says: "hi"' in (await session.ask("hi")).text
    assert (await session.ask("hi", model=model, limits=Limits(seconds=5))).text == "mine"
    assert (await session.ask("hi", model="echo:")).model == "echo"
    assert [turn.options for turn in session.turns()] == [
        {},
        {"model": "scripted", "limits": {"model_calls": 25, "seconds": 5, "at_limit": "answer"}},
        {"model": "echo:"},
    ]


async def test_an_unknown_name_is_refused_at_once() -> None:
    """A name that leads nowhere raises where it is given: at construction, or at send, with nothing written."""
    with pytest.raises(UnknownModel, match="'nope:x' is not known"):
        Chat("nope:x")
    session = await Chat("echo:").create_session()
    with pytest.raises(UnknownModel):
        session.send("hi", model="nope:x")
    with pytest.raises(Misuse, match="model is a int; give a Model or a model's name"):
        session.send("hi", model=5)  # type: ignore[arg-type]
    assert (session.turns(), session.live_turn) == ((), None)


async def test_none_is_no_option() -> None:
    """An option that is None says nothing, as wrappers pass it on."""
    session = await Chat("echo:").create_session()
    nothing = dict.fromkeys(("key", "model", "instructions", "deps", "limits", "metadata", "when_busy"))
    reply = await session.ask("hi", **nothing)  # type: ignore[arg-type]
    assert session.turns()[0].options == {}
    assert reply.model == "echo"


class Closing(ScriptedModel):
    """A model that can be closed."""

    closed = 0

    async def aclose(self) -> None:
        """Note it."""
        self.closed += 1


async def test_models_handed_in_are_their_owners() -> None:
    """A Chat closes only models that it made from names."""
    model = Closing("x")
    async with Chat(model) as chat:
        await (await chat.create_session()).ask("hi")
    assert model.closed == 0


async def test_models_made_from_names_are_made_once_and_closed() -> None:
    """A name gives one model for all turns, and the model is closed with the Chat, once."""
    none = {each.name: None for each in fields(Settings)}
    planner = Planner(Settings(**{**none, "model": "echo:", "tools": (), "keep_texts": "stable"}))  # type: ignore[arg-type]
    made = planner.model("echo:")
    assert planner.model("echo:") is made
    planner._made["made:"] = model = Closing("x")
    await planner.aclose()
    await planner.aclose()
    assert model.closed == 1


async def test_what_a_model_says_of_itself_is_kept() -> None:
    """A model of ours and of others is known by its name in traces; a name that is no text fails the turn alone."""

    class Nameless(ScriptedModel):
        name = 5  # type: ignore[assignment]

    session = await Chat(ScriptedModel("fine", name="mine")).create_session()
    assert "turn.shown holds a value of the wrong kind" in str(
        await failure(session.ask("hi", instructions="x", model=Nameless("never")))  # type: ignore[arg-type]
    )
    assert (await session.ask("hi")).trace.model == "mine"
