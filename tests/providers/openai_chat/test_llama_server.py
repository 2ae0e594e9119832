"""A real server, llama.cpp's own, asked over HTTP: nothing about it is ours but the client."""

import asyncio
import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from typing import Any

import pytest

from antiphon import Chat, TextDelta
from antiphon._messages import Message
from antiphon.errors import ContextTooLong, UnknownModel, Unreachable
from antiphon.models import ModelEvent, ModelRequest, Replied, TextPiece
from antiphon.providers.local import find_model
from antiphon.providers.openai_chat import OpenAIChatModel

SERVE = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel = 1024, 1
params.n_batch = params.n_ubatch = 64
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.hostnames, params.port = ["127.0.0.1"], 0
params.ui = params.fit_params = params.warmup = False
params.offline, params.verbosity = True, -1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def installed() -> bool:
    """Whether the engine and the small model's file are here."""
    try:
        return importlib.util.find_spec("xllamacpp") is not None and find_model("smollm2").is_file()
    except UnknownModel:
        return False


pytestmark = pytest.mark.skipif(
    not installed(), reason="needs xllamacpp and the file of smollm2; `./dev setup` installs both"
)


@contextmanager
def serving() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-c", SERVE, str(find_model("smollm2"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        try:
            yield f"{address}/v1", process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a server that all tests share which leave it alive."""
    with serving() as (address, _):
        yield address


def asked(text: str, **fields: Any) -> ModelRequest:
    """A request with one message; the server samples always alike."""
    return ModelRequest([Message.of("user", text)], options={"seed": 1, "temperature": 0}, **fields)


async def events_of(model: OpenAIChatModel, request: ModelRequest) -> list[ModelEvent]:
    """Everything that comes."""
    async with aclosing(model.stream(request)) as stream:
        return [event async for event in stream]


def test_it_streams(url: str) -> None:
    """A question is answered in pieces, with the server's own figures, and the second one finds the first's prefix."""

    async def twice() -> list[list[ModelEvent]]:
        model = OpenAIChatModel("smollm2", base_url=url)
        found = [
            await events_of(model, asked("What is the capital of France?", max_output_tokens=20)) for _ in range(2)
        ]
        await model.aclose()
        return found

    first, second = asyncio.run(twice())
    reply, again = first[-1], second[-1]
    assert isinstance(reply, Replied) and isinstance(again, Replied)
    pieces = [event.text for event in first if isinstance(event, TextPiece)]
    assert len(pieces) > 3 and "".join(pieces) == reply.message.text
    assert reply.usage is not None and reply.usage.input > 10 and 0 < reply.usage.output <= 20
    assert again.usage is not None and again.usage.cached > 0


def test_a_limit_and_a_schema_are_kept(url: str) -> None:
    """The limit is told to the server by its own name for it, and so is the schema."""

    async def both() -> list[ModelEvent]:
        model = OpenAIChatModel("smollm2", base_url=url)
        short = await events_of(model, asked("Tell me a long story.", max_output_tokens=5))
        schema = {"type": "object", "properties": {"color": {"enum": ["blue"]}}, "required": ["color"]}
        shaped = await events_of(model, asked("The color of the sky?", output_schema=schema, max_output_tokens=30))
        await model.aclose()
        return [short[-1], shaped[-1]]

    short, shaped = asyncio.run(both())
    assert isinstance(short, Replied) and (short.finish, short.usage and short.usage.output) == ("length", 5)
    assert isinstance(shaped, Replied) and '"blue"' in shaped.message.text


def test_too_long_a_prompt_is_said(url: str) -> None:
    """A prompt beyond the server's window is the error of that name."""

    async def ask() -> None:
        model = OpenAIChatModel("smollm2", base_url=url)
        try:
            await events_of(model, asked("The quick brown fox jumps over the lazy dog. " * 300))
        finally:
            await model.aclose()

    with pytest.raises(ContextTooLong, match=r"exceeds the available context size \(1024 tokens\)"):
        asyncio.run(ask())


def test_leaving_frees_the_slot(url: str) -> None:
    """Left in the middle of a reply, the server's one slot answers the next request within a second."""

    async def left() -> float:
        model = OpenAIChatModel("smollm2", base_url=url)
        stream = model.stream(asked("Tell me a very long story about a ship.", max_output_tokens=900))
        await anext(stream)
        started = time.monotonic()
        await stream.aclose()
        async with aclosing(model.stream(asked("Hi", max_output_tokens=5))) as next_stream:
            await anext(next_stream)
            first = time.monotonic() - started
        await model.aclose()
        return first

    assert asyncio.run(left()) < 1


def test_a_server_that_dies_leaves_what_it_said() -> None:
    """Killed in the middle of a reply, a server leaves a turn that failed with its text, and then one that says so."""

    async def killed(url: str, process: subprocess.Popen[str]) -> tuple[str, str, str]:
        model = OpenAIChatModel("smollm2", base_url=url, options={"seed": 1}, max_retries=0)
        async with Chat(model=model) as chat:
            session = await chat.create_session("s")
            turn = session.send("Tell me a very long story about a ship.")
            async for event in turn:
                if isinstance(event, TextDelta):
                    process.kill()
            with pytest.raises(Unreachable, match="broke before the reply was complete"):
                await turn.result()
            await asyncio.to_thread(process.wait)
            with pytest.raises(Unreachable, match="nothing listens at"):
                await session.ask("Hello?")
            first, second = session.turns()
            await model.aclose()
        return first.status, first.partial or "", second.status

    with serving() as (url, process):
        status, partial, after = asyncio.run(killed(url, process))
    assert (status, after) == ("failed", "failed") and partial
