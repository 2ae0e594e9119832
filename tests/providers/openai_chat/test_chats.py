"""Sessions over the model that is asked over HTTP."""

import asyncio
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon import Chat, FileStore, Retrying, TextDelta
from antiphon.errors import BadCredentials, TurnCanceled, Unreachable
from antiphon.providers.openai_chat import OpenAIChatModel
from tests.providers.openai_chat.server import KEY, Answer, FakeOpenAI, refusing, streamed


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """A strict server without a script."""
    with FakeOpenAI() as server:
        yield server


def model_of(server: FakeOpenAI) -> OpenAIChatModel:
    """A model that is asked there."""
    return OpenAIChatModel("m", base_url=server.url, api_key=KEY, window=8_192)


def test_a_dialogue_goes_over_the_wire(server: FakeOpenAI) -> None:
    """Two turns are answered, and the second request holds the first turn."""
    server.script(streamed("Hello."), streamed("Fine."))

    async def two() -> list[str]:
        model = model_of(server)
        async with Chat(model=model, instructions="Be brief.") as chat:
            session = await chat.create_session("s")
            said = [(await session.ask(text)).text for text in ("Hi", "How are you?")]
        await model.aclose()
        return said

    assert asyncio.run(two()) == ["Hello.", "Fine."]
    assert [(m["role"], m["content"]) for m in server.seen[1].body["messages"]] == [
        ("system", "Be brief."),
        ("user", "Hi"),
        ("assistant", "Hello."),
        ("user", "How are you?"),
    ]


def test_cancelling_a_turn_closes_the_connection(server: FakeOpenAI) -> None:
    """The server sees a cancelled turn leave in moments; what was said is kept."""
    server.script(streamed(*["word "] * 300, delay=0.02))

    async def cancelled() -> tuple[float, str | None]:
        model = model_of(server)
        async with Chat(model=model) as chat:
            session = await chat.create_session("s")
            turn = session.send("Hi")
            async for event in turn:
                if isinstance(event, TextDelta):
                    break
            started = time.monotonic()
            await turn.cancel("enough")
            with pytest.raises(TurnCanceled):
                await turn.result()
            assert server.idle()
            partial = session.turns()[0].partial
        await model.aclose()
        return started, partial

    started, partial = asyncio.run(cancelled())
    closed = server.seen[0].closed
    assert closed is not None and closed - started < 0.5
    assert partial and set(partial.split()) == {"word"}


def test_retries_are_told(server: FakeOpenAI) -> None:
    """A server that was busy twice is asked three times, and each time is an event of the turn."""
    busy = refusing(503, {"error": {"message": "loading"}}, retry_after_ms="5")
    server.script(busy, busy, streamed("Here I am."))

    async def told() -> list[tuple[int, float, str]]:
        model = model_of(server)
        async with Chat(model=model) as chat:
            turn = (await chat.create_session("s")).send("Hi")
            found = [(e.attempt, e.delay, e.reason) async for e in turn if isinstance(e, Retrying)]
            assert (await turn.result()).text == "Here I am."
        await model.aclose()
        return found

    says = "is overloaded (HTTP 503): loading"
    assert asyncio.run(told()) == [(1, 0.005, says), (2, 0.005, says)]


def test_a_broken_stream_keeps_what_was_said(server: FakeOpenAI) -> None:
    """A reply that broke is kept as partial, its turn failed, and the next turn is answered without it."""
    server.script(Answer(pieces=streamed("Half a ", "reply").pieces[:3], breaks=True), streamed("Whole."))

    async def broke() -> tuple[str | None, str]:
        model = model_of(server)
        async with Chat(model=model) as chat:
            session = await chat.create_session("s")
            with pytest.raises(Unreachable):
                await session.ask("Hi")
            reply = await session.ask("Again?")
            partial = session.turns()[0].partial
        await model.aclose()
        return partial, reply.text

    assert asyncio.run(broke()) == ("Half a reply", "Whole.")
    assert len(server.seen) == 2 and "Half a" not in str(server.seen[1].body)


def test_the_key_is_found_nowhere(server: FakeOpenAI, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Not in the journal, an event, an error or any log at DEBUG is the key found, though the server echoes it."""
    echo = {"error": {"message": f"Incorrect API key provided: Bearer {KEY}"}}
    server.script(streamed("Hello."), refusing(503, echo, retry_after_ms="5"), refusing(401, echo))
    caplog.set_level(logging.DEBUG)

    async def talk() -> str:
        model = model_of(server)
        async with Chat(model=model, store=FileStore(tmp_path)) as chat:
            session = await chat.create_session("s")
            told = repr(await session.ask("Hi"))
            turn = session.send("And?")
            told += "".join(repr(event.to_dict()) + repr(event) for event in [event async for event in turn])
            with pytest.raises(BadCredentials) as raised:
                await turn.result()
            told += f"{raised.value!r} {raised.value.__dict__} {model!r} {session.turns()!r}"
        await model.aclose()
        return told

    told = asyncio.run(talk())
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    logged = "".join(f"{record.getMessage()} {record.args}" for record in caplog.records if record.name != "asyncio")
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert "[hidden]" in told and b"[hidden]" in kept and logged
    assert KEY not in told and KEY.encode() not in kept and KEY not in logged
