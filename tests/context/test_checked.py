"""What a layered context is made with: numbers, shares and counters that cannot be used are refused."""

from typing import Any

import pytest

from antiphon import Chat, LayeredContext
from antiphon.errors import Misuse
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", ["window", "max_output_tokens", "keep_recent"])
@pytest.mark.parametrize("value", [True, 1.5, float("nan"), "10", -1])
def test_a_number_that_is_none(name: str, value: Any) -> None:
    """An option that is no whole number from 0 on is refused when the context is made: traces hold whole numbers."""
    with pytest.raises(Misuse, match=f"{name}="):
        LayeredContext(**{name: value})


@pytest.mark.parametrize("shares", [["docs"], {"docs": None}, {"docs": float("inf")}, {"docs": -1}, {"docs": True}])
def test_a_share_that_is_none(shares: Any) -> None:
    """A share that is no number from 0 on is refused when the context is made."""
    with pytest.raises(Misuse, match="share"):
        LayeredContext(shares=shares)


@pytest.mark.parametrize("given", [1.5, -1, None, "3", float("nan")])
async def test_a_counter_that_gives_no_whole_number(given: Any) -> None:
    """A counter that gives no whole number fails the turn before anybody is asked, and the session stays readable."""
    model = ScriptedModel(["fine"])
    session = await Chat(model, context=LayeredContext(counter=lambda text: given)).create_session()
    error = await failure(session.ask("hi"))
    assert isinstance(error, Misuse)
    assert f"gave {given!r} for a text" in str(error)
    assert (model.requests, session.traces(), session.turns()[0].status) == ([], [], "failed")


async def test_a_counter_of_ones_own_is_named() -> None:
    """A trace calls a counter by its own name; what cannot be called is none."""

    def words(text: str) -> int:
        return len(text.split())

    session = await Chat(ScriptedModel(["fine"]), context=LayeredContext(counter=words)).create_session()
    await session.ask("one two three")
    assert (session.traces()[0].counter, session.traces()[0].layers[1].tokens) == ("words", 3)
    with pytest.raises(Misuse, match="counter is a int"):
        LayeredContext(counter=5)  # type: ignore[arg-type]
