"""A router: several models under one, with a scratchpad that outlives a switch."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from antiphon import Message
from antiphon.errors import Misuse, UnknownModel, Unreachable
from antiphon.models import HasWindow, Model, ModelRequest
from antiphon.scratch import Compactor, Router, Scratchpad, complete
from antiphon.testing import ModelContract, ScriptedModel
from tests.scratch.conversations import call, calling

pytestmark = pytest.mark.anyio


@dataclass
class Known:
    """What a catalog knows of a model."""

    window: Any


def small_and_large() -> Router:
    """A router of two models with windows."""
    return Router(
        [ScriptedModel("small", name="small", window=4_000), ScriptedModel("large", name="large", window=10**6)]
    )


class TestRouter(ModelContract):
    """A router keeps the promises of the model that is active."""

    def make_model(self) -> Model:
        return activated(ScriptedModel(["It is a fine day at sea."] * 2, window=8_192, delay=0.001))

    def make_failing_model(self) -> Model:
        return activated(ScriptedModel([Unreachable("scripted", "the cable was cut")]))

    def make_calling_model(self) -> Model:
        calls = [call(city, "look_up", city=city) for city in ("Oslo", "Rome")]
        return activated(ScriptedModel([calling(*calls)]))


def activated(model: Model) -> Router:
    """A router whose one model is active."""
    router = Router({"one": model})
    # Activating waits for nothing here, so that one step of it is all of it.
    with pytest.raises(StopIteration):
        router.activate("one").send(None)
    return router


async def test_a_router_is_its_active_model() -> None:
    """Name, window and replies are those of the model that is active."""
    router = small_and_large()
    assert (router.active, router.name, router.window) == (None, "router", 0)
    await router.activate("large")
    assert (router.active, router.name, router.window) == ("large", "large", 10**6)
    assert str(await complete(router, Scratchpad().user("u"))) == "large"
    asked: object = router
    assert isinstance(asked, Model) and isinstance(asked, HasWindow)


async def test_a_router_has_a_scratchpad_with_a_compactor() -> None:
    """The compactor is there from the start, with the default limit."""
    compactor = Router().scratchpad.compactor
    assert compactor is not None and compactor.max_tokens == 250_000


async def test_a_switch_keeps_messages_and_compacts_at_the_next_append() -> None:
    """A smaller window lowers the limit; what is there stays whole until something is appended."""
    router = small_and_large()
    await router.activate("large")
    router.scratchpad.user("word " * 5_000).assistant("Yes.")
    await router.activate("small")
    compactor = router.scratchpad.compactor
    assert compactor is not None and compactor.max_tokens < 4_000 * 7 / 8
    assert len(router.scratchpad) == 2
    router.scratchpad.user("And now?")
    assert [message.text for message in router.scratchpad] == ["And now?"]


async def test_clearing_keeps_the_limit() -> None:
    """The router's scratchpad is cleared like any other, and the active model stays."""
    router = small_and_large()
    await router.activate("small")
    before = router.scratchpad.compactor
    router.scratchpad.user("u").clear()
    assert (len(router.scratchpad), router.scratchpad.compactor, router.active) == (0, before, "small")


@pytest.mark.parametrize("window", [0, None, -1, True, "8k"])
async def test_a_window_that_is_not_known_leaves_the_limit(window: Any) -> None:
    """A catalog that lacks a figure must not switch the limit off."""
    router = Router([ScriptedModel("x", name="odd")], catalog={"odd": Known(window)})
    await router.activate("odd")
    compactor = router.scratchpad.compactor
    assert compactor is not None and compactor.max_tokens == 250_000
    assert router.window == 0


@pytest.mark.parametrize("window", [1, 2, 10])
async def test_the_smallest_window_is_still_a_limit(window: int) -> None:
    """Room for the reply never leaves a limit of 0, which would be none."""
    router = Router([ScriptedModel("x", name="tiny", window=window)])
    await router.activate("tiny")
    compactor = router.scratchpad.compactor
    assert compactor is not None and 0 < compactor.max_tokens <= window


async def test_a_limit_that_is_off_stays_off() -> None:
    """Who switched the limit of tokens off meant it."""
    compactor = Compactor(max_tokens=0)
    router = Router([ScriptedModel("x", name="m", window=4_000)], scratchpad=Scratchpad(compactor))
    await router.activate("m")
    assert compactor.max_tokens == 0


async def test_the_smaller_of_two_known_windows_holds() -> None:
    """Where a model and the catalog differ, neither is exceeded."""
    catalog = {"a": Known(4_000), "b": Known(9_000)}
    router = Router([ScriptedModel("x", name=name, window=6_000) for name in "ab"], catalog=catalog)
    for name, window in (("a", 4_000), ("b", 6_000)):
        await router.activate(name)
        assert router.window == window


async def test_the_catalog_is_fetched_once_and_again_when_asked() -> None:
    """It is fetched when it is first needed, by whoever needs it first, kept, and replaced by refresh."""
    fetched: list[int] = []

    async def fetch() -> dict[str, Known]:
        await asyncio.sleep(0)
        fetched.append(len(fetched))
        return {"m": Known(1_000 * len(fetched))}

    router = Router([ScriptedModel("x", name="m")], catalog=fetch)
    assert fetched == []
    await asyncio.gather(router.catalog(), router.catalog(), router.activate("m"))
    assert (len(fetched), router.window) == (1, 1_000)
    assert (await router.refresh())["m"].window == 2_000 and await router.catalog() == {"m": Known(2_000)}


async def test_a_refresh_that_fails_keeps_the_catalog() -> None:
    """The catalog that was fetched before is there after a failure."""
    line = [{"m": Known(1_000)}]
    router = Router([ScriptedModel("x", name="m")], catalog=lambda: line.pop())
    first = await router.catalog()
    with pytest.raises(IndexError):
        await router.refresh()
    assert await router.catalog() is first


async def test_a_router_with_a_catalog_only_asks_nobody() -> None:
    """Looking into the catalog works; asking and activating are Misuse, and nothing is appended."""
    router = Router(catalog={"m": Known(1_000)})
    assert list(await router.catalog()) == ["m"]
    for asking in (router.complete("u"), router.activate("m"), anext(router.stream(ModelRequest([])))):
        with pytest.raises(Misuse, match="has a catalog only"):
            await asking
    assert len(router.scratchpad) == 0


async def test_without_an_active_model_nothing_is_appended() -> None:
    """A router that was not told whom to ask says so before it takes the input."""
    router = small_and_large()
    with pytest.raises(Misuse, match=r"await router\.activate"):
        await router.complete("u")
    assert len(router.scratchpad) == 0


async def test_a_name_that_is_not_there_leaves_the_active_model() -> None:
    """An unknown name is refused with those there are."""
    router = small_and_large()
    await router.activate("small")
    with pytest.raises(UnknownModel, match="this router has 'small', 'large'"):
        await router.activate("medium")
    assert router.active == "small"


async def test_models_may_be_made_of_their_names() -> None:
    """With a function, any name is accepted, and its window is the catalog's if that knows it."""
    router = Router(lambda name: ScriptedModel(name, name=name), catalog={"a": Known(4_000)})
    for name, window in (("a", 4_000), ("b", 0)):
        await router.activate(name)
        assert (router.active, router.window) == (name, window)


def test_two_models_of_one_name_are_misuse() -> None:
    """A name stands for one model."""
    with pytest.raises(Misuse, match="one name"):
        Router([ScriptedModel("x"), ScriptedModel("y")])


async def test_a_routers_own_complete_appends_the_input() -> None:
    """It asks with the router's scratchpad and tools; without an input it asks with what is there."""
    model = ScriptedModel([Unreachable("m", "no line"), calling(call("c1", "now"))], name="m")
    router = Router([model], tools=[now])
    await router.activate("m")
    with pytest.raises(Unreachable):
        await router.complete({"q": 1})
    reply = await router.complete()
    assert [message.role for message in router.scratchpad] == ["user", "assistant"]
    assert (reply.calls[0].status, model.requests[1].messages) == ("pending", [Message.of("user", '{"q":1}')])


def now() -> str:
    """Tells the time."""
    return "noon"


async def test_a_running_stream_stays_with_its_model() -> None:
    """A switch while a model answers holds for the next request."""
    router = small_and_large()
    await router.activate("small")
    stream = router.stream(ModelRequest([Message.of("user", "u")]))
    first = await anext(stream)
    await router.activate("large")
    rest = [event async for event in stream]
    assert "".join(getattr(event, "text", "") for event in (first, *rest)) == "small"
