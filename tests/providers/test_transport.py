"""One request over HTTP: its bytes, its end, its failures, and what must never be told of it."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import httpx2
import pytest

from antiphon.errors import InvalidRequest, Misuse, ModelError, Unreachable
from antiphon.providers._secrets import Secrets
from antiphon.providers._surrogates import Joiner, whole_texts
from antiphon.providers._transport import Answer, Endpoint, Transport
from tests.providers.openai_chat.server import KEY, FakeOpenAI, refusing, streamed
from tests.providers.openai_chat.server import Answer as Served

BODY = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'


class Reading:
    """A reply that is over when it is told so."""

    whole = False
    over = False


def refused(answer: Answer) -> ModelError:
    """An error that shows what came."""
    found = answer.body.decode(errors="replace")
    return InvalidRequest("m", found, status=answer.status, retry_after=answer.retry_after)


def transport_to(url: str, **options: Any) -> Transport:
    """A transport to chat completions at an address."""
    return Transport(Endpoint("m", f"{url}/chat/completions", refused, {"authorization": f"Bearer {KEY}"}), **options)


async def body_of(transport: Transport, reply: Any = None) -> bytes:
    """All bytes of the answer."""
    async with aclosing(transport.chunks(BODY, reply or Reading())) as chunks:
        return b"".join([chunk async for chunk in chunks])


def failure_of(transport: Transport) -> ModelError:
    """The error of a request."""

    async def ask() -> None:
        try:
            await body_of(transport)
        finally:
            await transport.aclose()

    with pytest.raises(ModelError) as raised:
        asyncio.run(ask())
    return raised.value


@pytest.fixture
def deaf() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def test_connections_are_used_again() -> None:
    """Two requests after each other go over one connection."""
    with FakeOpenAI(streamed("a"), streamed("b")) as server:

        async def twice() -> None:
            transport = transport_to(server.url)
            for _ in range(2):
                await body_of(transport)
            await transport.aclose()

        asyncio.run(twice())
        assert (len(server.seen), server.connections) == (2, 1)


def test_a_reply_that_is_over_keeps_the_connection() -> None:
    """When everything was said the answer's end is read too, so that the connection can be used again."""
    with FakeOpenAI(streamed("a"), streamed("b")) as server:

        async def twice() -> None:
            transport = transport_to(server.url)
            for _ in range(2):
                reading = Reading()
                async with aclosing(transport.chunks(BODY, reading)) as chunks:
                    async for chunk in chunks:
                        reading.over = b"[DONE]" in chunk
            await transport.aclose()

        asyncio.run(twice())
        assert server.connections == 1


def test_an_end_that_never_comes_is_not_waited_for() -> None:
    """When everything was said, a server that keeps the answer open is left."""
    with FakeOpenAI(Served(pieces=[b"data: [DONE]\n\n", b"data: x\n\n"], delay=2)) as server:

        async def once() -> float:
            reading, transport = Reading(), transport_to(server.url)
            reading.over = True
            started = time.monotonic()
            async with aclosing(transport.chunks(BODY, reading)) as chunks:
                _ = [chunk async for chunk in chunks]
            await transport.aclose()
            return time.monotonic() - started

        assert asyncio.run(once()) < 3.5


def test_another_loop_has_another_client() -> None:
    """A transport works in one event loop after the other, though connections cannot move."""
    with FakeOpenAI(streamed("a"), streamed("b")) as server:
        transport = transport_to(server.url)

        async def once() -> None:
            await body_of(transport)
            await transport.aclose()

        asyncio.run(once())
        asyncio.run(once())
        assert len(server.seen) == 2


def test_nobody_listening_is_said() -> None:
    """Where nothing listens the sentence says so, with the address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    error = failure_of(transport_to(f"http://127.0.0.1:{port}/v1"))
    assert isinstance(error, Unreachable) and error.found == f"nothing listens at http://127.0.0.1:{port}"


def test_another_protocol_is_said() -> None:
    """TLS with a server that speaks none is an error of ours that says so."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with listening.accept()[0] as connection:
                connection.recv(10_000)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        answering = threading.Thread(target=answer)
        answering.start()
        error = failure_of(transport_to(f"https://127.0.0.1:{listening.getsockname()[1]}"))
        answering.join()
    assert isinstance(error, Unreachable) and "speaks no TLS" in error.found


def test_silence_has_an_end(deaf: str) -> None:
    """A server that never answers is given up after the time between two bytes."""
    started = time.monotonic()
    error = failure_of(transport_to(deaf, timeout=0.2))
    assert isinstance(error, Unreachable) and "no byte came from http://127.0.0.1" in error.found
    assert time.monotonic() - started < 2 and isinstance(error.__cause__, TimeoutError)


@pytest.mark.parametrize(("of_the_client", "given"), [(0.2, None), (60, 0.2), (60, httpx2.Timeout(0.2))])
def test_a_client_of_the_callers_keeps_its_time(deaf: str, of_the_client: float, given: Any) -> None:
    """A client that was handed in keeps its own time, unless one is given beside it."""

    async def ask() -> None:
        async with httpx2.AsyncClient(timeout=of_the_client) as client:
            with pytest.raises(Unreachable, match="no byte came"):
                await asyncio.wait_for(body_of(transport_to(deaf, client=client, timeout=given)), 5)

    asyncio.run(ask())


def test_silence_between_pieces_has_an_end() -> None:
    """A stream that stands still is given up too."""
    with FakeOpenAI(streamed("a", "b", delay=5)) as server:
        assert "no byte came" in failure_of(transport_to(server.url, timeout=0.2)).found


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_redirects_are_not_followed(code: int) -> None:
    """What was meant for one server is not sent to another, not even by a client that follows."""
    with FakeOpenAI() as other, FakeOpenAI(refusing(code, location=f"{other.url}/chat/completions")) as server:

        async def ask() -> None:
            async with httpx2.AsyncClient(follow_redirects=True) as client:
                with pytest.raises(InvalidRequest):
                    await body_of(transport_to(server.url, client=client))

        asyncio.run(ask())
        assert (len(server.seen), other.seen) == (1, [])


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after_ms": "250"}, 0.25),
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "7", "retry_after_ms": "x"}, 7.0),
        ({"retry_after": "Wed, 01 Jan 2020 00:00:00 GMT"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-1"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_is_asked_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    """Milliseconds go before seconds; a date that is over, and what is no number, is nothing."""
    with FakeOpenAI(refusing(429, {}, **headers)) as server:
        assert failure_of(transport_to(server.url)).retry_after == seconds


@pytest.mark.parametrize(("told", "again"), [("true", True), ("false", False), ("maybe", False)])
def test_the_server_has_the_last_word_on_retries(told: str, again: bool) -> None:
    """`x-should-retry` decides whether an error is worth another try."""
    with FakeOpenAI(refusing(400, {}, x_should_retry=told)) as server:
        assert failure_of(transport_to(server.url)).retryable is again


def test_an_endless_error_is_cut() -> None:
    """Of an error's body no more than 64 KiB are read."""
    with FakeOpenAI(Served(500, pieces=[b"x" * 10_000] * 50)) as server:
        assert len(failure_of(transport_to(server.url)).found) == 64 * 1024


def test_a_client_of_the_callers_stays_open() -> None:
    """A client that was handed in is used and never closed; a closed one is the caller's mistake."""
    with FakeOpenAI() as server:

        async def ask() -> None:
            client = httpx2.AsyncClient(headers={"x-mine": "yes"})
            transport = transport_to(server.url, client=client)
            await body_of(transport)
            await transport.aclose()
            assert not client.is_closed and server.seen[0].headers["x-mine"] == "yes"
            await client.aclose()
            with pytest.raises(Misuse, match="is closed"):
                await body_of(transport)

        asyncio.run(ask())


def test_closing_breaks_what_is_read() -> None:
    """Closed while it reads, a transport ends the reading with an error of ours, and the server sees it."""
    with FakeOpenAI(streamed(*"abcdefgh", delay=0.2)) as server:

        async def ask() -> None:
            transport = transport_to(server.url)
            reading = asyncio.create_task(body_of(transport))
            await asyncio.sleep(0.3)
            await transport.aclose()
            with pytest.raises(Unreachable):
                await asyncio.wait_for(reading, 1)

        asyncio.run(ask())
        assert server.idle(within=0.5) and server.seen[0].closed is not None


def test_a_key_that_cannot_be_sent_is_not_quoted() -> None:
    """A header that HTTP cannot carry fails without its value, in the error and in whatever stands behind it."""
    endpoint = Endpoint("m", "http://127.0.0.1:9/v1", refused, {"authorization": "Bearer sk-bad\nkey"})
    with FakeOpenAI() as server:
        error = failure_of(Transport(Endpoint("m", server.url, refused, endpoint.headers)))
    assert "sk-bad" not in f"{error!r} {error.__cause__!r} {endpoint!r}"


def test_secrets_are_hidden_wherever_they_are_echoed() -> None:
    """Header values are hidden, with and without their scheme; what says nothing, or is short, is not."""
    secrets = Secrets()
    secrets.learn({"Authorization": f"Bearer {KEY}", "X-Team": "blue", "Accept": "text/event-stream"})
    assert secrets.hide(f"got {KEY} of Bearer {KEY}, blue, text/event-stream") == (
        "got [hidden] of [hidden], blue, text/event-stream"
    )
    assert KEY not in repr(secrets)


def test_halves_of_characters_are_joined_or_replaced() -> None:
    """Halves that come in two pieces are one character; a half alone is replaced; nothing comes twice."""
    joiner = Joiner()
    assert [joiner.feed("a\ud83c"), joiner.feed("\udf89b"), joiner.feed("\ud83c"), joiner.end()] == [
        "a", "🎉b", "", "\ufffd"
    ]  # fmt: skip
    assert whole_texts({"\ud800": ["\udc00x", 1, ("y",)]}) == {"\ufffd": ["\ufffdx", 1, ["y"]]}


def test_nothing_is_loaded_before_the_first_call() -> None:
    """Neither importing the provider nor making a model loads httpx2."""
    script = (
        "import sys, antiphon.providers.openai_chat as p\n"
        "p.OpenAIChatModel('m', base_url='http://127.0.0.1:1/v1'); p.encode; p.decode_history; p.Decoder\n"
        "print('httpx2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_cancelling_before_an_answer_closes_the_connection() -> None:
    """Cancelled while the server still thinks, a request is gone at once."""
    with FakeOpenAI(Served(waits=30)) as server:

        async def ask() -> float:
            transport = transport_to(server.url)
            asking = asyncio.create_task(body_of(transport))
            await asyncio.sleep(0.2)
            cancelled = time.monotonic()
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking
            return cancelled

        cancelled = asyncio.run(ask())
        assert server.idle()
        closed = server.seen[0].closed
        assert closed is not None and closed - cancelled < 0.5
