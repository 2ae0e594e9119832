"""The model that is asked over HTTP, against a strict server."""

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import httpx2
import pytest

from antiphon._messages import Message
from antiphon.errors import (
    BadCredentials,
    ContextTooLong,
    InvalidRequest,
    MalformedReply,
    Misuse,
    ModelError,
    Overloaded,
    RateLimited,
    UnknownModel,
    Unreachable,
)
from antiphon.models import ModelEvent, ModelRequest, Replied, Retry, TextPiece, ToolSpec
from antiphon.providers.openai_chat import OpenAIChatModel, model_at, ollama_model
from tests.providers.openai_chat.server import KEY, Answer, FakeOpenAI, calling, refusing, streamed, whole

HI = ModelRequest([Message.of("user", "Hi")])
OPENAI = "https://api.openai.com/v1"


async def events_of(model: OpenAIChatModel, request: ModelRequest = HI) -> list[ModelEvent | ModelError]:
    """What comes, an error last; the model is closed."""
    found: list[ModelEvent | ModelError] = []
    try:
        async with aclosing(model.stream(request)) as stream:
            async for event in stream:
                found.append(event)  # noqa: PERF401 - what came before the error counts
    except ModelError as error:
        found.append(error)
    await model.aclose()
    return found


def ask(*script: Answer, request: ModelRequest = HI, **options: Any) -> list[ModelEvent | ModelError]:
    """What a model gives whose server answers this."""
    with FakeOpenAI(*script) as server:
        return asyncio.run(events_of(OpenAIChatModel("m", base_url=server.url, **options), request))


def text_of(events: list[ModelEvent | ModelError]) -> str:
    """The text of the reply that came last."""
    assert isinstance(events[-1], Replied), events[-1]
    return events[-1].message.text


def test_it_answers() -> None:
    """A plain question is answered in pieces, and the request was what the server wants."""
    found = ask(streamed("It is ", "fine."))
    assert found[:2] == [TextPiece("It is "), TextPiece("fine.")] and text_of(found) == "It is fine."


def test_a_server_that_does_not_stream_is_read() -> None:
    """A plain JSON answer is a reply too."""
    assert text_of(ask(whole({"content": "Hello."}))) == "Hello."


def test_calls_come_back_under_their_names() -> None:
    """A tool whose name the wire does not take is called under the name that it has."""
    request = ModelRequest(HI.messages, tools=[ToolSpec("mcp.git.log", "", {})])
    found = ask(request=request)[-1]
    assert isinstance(found, Replied) and [call.name for call in found.message.calls] == ["mcp.git.log"] * 2
    assert found.finish == "calls"


def test_it_goes_to_openai_with_a_key() -> None:
    """OpenAI's own host is asked with a bearer key and in its own words."""
    with FakeOpenAI(compatible=False) as server:

        class There(httpx2.AsyncHTTPTransport):
            """Takes what is meant for OpenAI to the strict server."""

            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                assert str(request.url) == f"{OPENAI}/chat/completions"
                request.url = httpx2.URL(f"{server.url}/chat/completions")
                return await super().handle_async_request(request)

        async def run() -> list[ModelEvent | ModelError]:
            async with httpx2.AsyncClient(transport=There()) as client:
                model = OpenAIChatModel("gpt-5-mini", api_key=KEY, http_client=client)
                return await events_of(model, ModelRequest(HI.messages, max_output_tokens=5))

        assert isinstance(asyncio.run(run())[-1], Replied)
        assert server.seen[0].body["max_completion_tokens"] == 5


def test_no_key_is_sent_where_none_was_given() -> None:
    """Another server gets no key, though there is one in the environment."""
    script = (
        "import asyncio, sys\n"
        "from antiphon._model_names import model_from_name\n"
        "from antiphon.models import ModelRequest\n"
        "from antiphon._messages import Message\n"
        "model = model_from_name(sys.argv[1])\n"
        "async def ask():\n"
        "    async for _ in model.stream(ModelRequest([Message.of('user', 'Hi')])): pass\n"
        "    await model.aclose()\n"
        "asyncio.run(ask())\n"
    )
    with FakeOpenAI() as server:
        environ = {**os.environ, "OPENAI_API_KEY": KEY, "OLLAMA_HOST": f"127.0.0.1:{server.port}"}
        for name in (f"{server.url}#m", "ollama:m"):
            subprocess.run([sys.executable, "-c", script, name], env=environ, check=True)
        assert len(server.seen) == 2
        assert not any("authorization" in seen.headers for seen in server.seen)


def test_headers_and_auth_are_sent() -> None:
    """Headers of the caller's come over those made here, and `auth` is httpx2's."""
    with FakeOpenAI() as server:
        url = server.url
        ways: list[dict[str, Any]] = [{"headers": {"Authorization": "Token abc"}}, {"auth": ("ana", "pass")}]
        for options in (*ways, {"api_key": KEY}):
            asyncio.run(events_of(OpenAIChatModel("m", base_url=url, **options)))
        sent = [seen.headers["authorization"] for seen in server.seen]
    assert sent == ["Token abc", "Basic YW5hOnBhc3M=", f"Bearer {KEY}"]


@pytest.mark.parametrize(
    "answer",
    [
        refusing(503, {"error": {"message": "busy"}}, retry_after_ms="1"),
        refusing(429, {"error": {"message": "busy"}}, retry_after_ms="1"),
        refusing(408, None, retry_after_ms="1"),
        refusing(409, None, retry_after_ms="1"),
        Answer(pieces=[b'data: {"error": {"message": "busy"}}\n\n']),
        Answer(pieces=[b""], breaks=True),
    ],
)
def test_what_failed_before_a_piece_is_asked_again(answer: Answer) -> None:
    """A status that may pass, an error at once, and a connection that broke at once are asked again, visibly."""
    found = ask(answer, streamed("Hi"), max_retries=1)
    assert isinstance(found[0], Retry) and text_of(found) == "Hi"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refusing(400, {"error": "bad"}), InvalidRequest),
        (refusing(429, {"error": {"message": "empty", "code": "insufficient_quota"}}), RateLimited),
        (refusing(503, {"error": "busy"}, x_should_retry="false"), Overloaded),
        (refusing(429, {"error": "later"}, retry_after="600"), RateLimited),
        (refusing(400, {"error": {"message": "x", "type": "exceed_context_size_error"}}), ContextTooLong),
    ],
)
def test_what_will_not_pass_is_not_asked_again(answer: Answer, kind: type[ModelError]) -> None:
    """What no second try changes ends at once."""
    (error,) = ask(answer, streamed("Hi"))
    assert type(error) is kind


def test_a_stream_that_breaks_at_any_event_is_an_error() -> None:
    """Broken after any event, a stream gives what came and one error, and is never asked for again; whole, a reply."""
    texts = streamed("one ", "two ", "three").pieces
    for count in range(len(texts) + 1):
        found = ask(Answer(pieces=texts[:count], breaks=True), max_retries=0)
        said = "".join(event.text for event in found if isinstance(event, TextPiece))
        assert said == "".join(("one ", "two ", "three")[: max(0, count - 1)])
        # Events: the role, three texts, why it stopped, usage, [DONE]. From the fifth on the reply is whole.
        assert isinstance(found[-1], Replied if count >= 5 else Unreachable)
        assert not any(isinstance(event, Retry) for event in found)


def test_a_stream_that_ends_too_soon_is_an_error() -> None:
    """A stream that ends properly and never said why the model stopped is no reply."""
    found = ask(Answer(pieces=streamed("Hi").pieces[:2]))
    assert isinstance(found[-1], MalformedReply)


def test_slow_bytes_are_read() -> None:
    """An answer that comes a byte at a time is the same."""
    body = b"".join(streamed("é🎉").pieces)
    assert text_of(ask(Answer(pieces=[bytes([byte]) for byte in body]))) == "é🎉"


@pytest.mark.parametrize("closing", [True, False])
def test_leaving_closes_the_connection_at_once(closing: bool) -> None:
    """A stream that is closed, and one whose reader is cancelled, are gone from the server in moments."""

    async def left(model: OpenAIChatModel) -> float:
        stream = model.stream(HI)
        await anext(stream)
        reading = asyncio.create_task(_drained(stream))
        await asyncio.sleep(0.05)
        started = time.monotonic()
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reading
        if closing:
            await stream.aclose()
        assert server.idle()
        await model.aclose()
        return started

    with FakeOpenAI(streamed(*["x"] * 200, delay=0.02)) as server:
        started = asyncio.run(left(OpenAIChatModel("m", base_url=server.url)))
        closed = server.seen[0].closed
    assert closed is not None and closed - started < 0.5


async def _drained(stream: AsyncIterator[ModelEvent]) -> None:
    async for _ in stream:
        pass


def test_one_client_serves_many_calls() -> None:
    """Ten calls at once are answered apart, and ten more after them open no new connection each."""

    async def many(model: OpenAIChatModel) -> set[str]:
        found = set()
        for _ in range(2):
            streams = [_text(model) for _ in range(10)]
            found |= set(await asyncio.gather(*streams))
        await model.aclose()
        return found

    script = [streamed(f"reply {i}", delay=0.01) for i in range(20)]
    with FakeOpenAI(*script) as server:
        assert asyncio.run(many(OpenAIChatModel("m", base_url=server.url))) == {f"reply {i}" for i in range(20)}
        assert server.connections <= 12


async def _text(model: OpenAIChatModel) -> str:
    async with aclosing(model.stream(HI)) as stream:
        return "".join([event.text async for event in stream if isinstance(event, TextPiece)])


def test_a_missing_key_fails_at_once() -> None:
    """OpenAI's own host without any key is refused when the model is made, naming the variable."""
    script = (
        "import os; os.environ.pop('OPENAI_API_KEY', None)\n"
        "from antiphon._model_names import model_from_name\n"
        "try: model_from_name('openai:gpt-5-mini')\nexcept Exception as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "model 'openai:gpt-5-mini' refused the credentials: there is no key: set OPENAI_API_KEY, or give api_key=;"
        " check the key and what it may use\n"
    )


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: OpenAIChatModel("m", api_key=""), BadCredentials),
        (lambda: OpenAIChatModel("", base_url="http://127.0.0.1:1/v1"), UnknownModel),
        (lambda: OpenAIChatModel("m", base_url="http://x/v1", max_retries=-1), Misuse),
        (lambda: OpenAIChatModel("m", base_url="http://x/v1", timeout=0), Misuse),
        (lambda: OpenAIChatModel("m", base_url="http://x/v1", window=0), Misuse),
        (lambda: model_at("http://127.0.0.1:1/v1"), UnknownModel),
        (lambda: model_at("http:///v1#m"), Misuse),
    ],
)
def test_what_cannot_work_fails_when_it_is_made(make: Callable[[], object], kind: type[Exception]) -> None:
    """A wrong address, key, name or number is refused before anything is asked."""
    with pytest.raises(kind):
        make()


def test_names_are_as_the_user_named_them() -> None:
    """The name in traces and errors is the one that would make the model again; a window is announced if known."""
    names = [
        OpenAIChatModel("gpt-5-mini", api_key=KEY).name,
        OpenAIChatModel("qwen3", base_url="http://127.0.0.1:8000/v1/").name,
        OpenAIChatModel("x", base_url="https://o.example/v1", called="openrouter:x").name,
        model_at("http://127.0.0.1:8000/v1#org/qwen3:4b").name,
        ollama_model("llama3.2:1b").name,
    ]
    assert names == [
        "openai:gpt-5-mini",
        "http://127.0.0.1:8000/v1#qwen3",
        "openrouter:x",
        "http://127.0.0.1:8000/v1#org/qwen3:4b",
        "ollama:llama3.2:1b",
    ]
    assert [OpenAIChatModel("m", base_url="http://x/v1", window=window).window for window in (None, 9)] == [0, 9]


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (404, {"error": {"message": "model 'x' not found"}}, "is not known (HTTP 404): model 'x' not found;"),
        (401, {"error": {"message": f"Invalid token {KEY}"}}, "(HTTP 401): Invalid token [hidden];"),
        (400, {"error": f"header was Bearer {KEY}"}, "(HTTP 400): header was [hidden]"),
    ],
)
def test_errors_are_one_clear_sentence(status: int, body: Any, says: str) -> None:
    """What the server says is told, and a key that it echoes is not."""
    (error,) = ask(refusing(status, body), api_key=KEY)
    assert says in str(error) and KEY not in repr(error)


def test_a_key_that_is_echoed_in_a_stream_is_hidden() -> None:
    """An error within a stream does not tell the key either."""
    (error,) = ask(Answer(pieces=[f'data: {{"error": "bad {KEY}"}}\n\n'.encode()]), api_key=KEY, max_retries=0)
    assert isinstance(error, Overloaded) and error.found == "bad [hidden]"


def test_the_model_shows_no_key() -> None:
    """Neither the model nor anything in it shows the key."""
    model = OpenAIChatModel("m", api_key=KEY, headers={"x-other": "another-secret"}, base_url="http://x/v1")
    shown = f"{model!r} {model._transport._endpoint!r} {model._transport.secrets!r}"
    assert KEY not in shown and "another-secret" not in shown


def test_an_unknown_model_is_said_by_the_server() -> None:
    """A model that the server does not have is an error that names it."""
    with FakeOpenAI() as server:
        (error,) = asyncio.run(events_of(OpenAIChatModel("nope", base_url=server.url)))
        assert type(error) is UnknownModel and f"{server.url}#nope" in str(error)


@pytest.mark.parametrize(
    ("model", "compatible", "size", "rule"),
    [
        ("m", False, 500, "maximum context length is 100 tokens. However, your messages"),
        ("m", False, 250, "However, you requested"),
        ("gpt-5-mini", False, 500, "Input tokens exceed the configured limit of 100"),
        ("m", True, 500, "exceeds the available context size (100 tokens)"),
    ],
)
def test_too_long_a_request_is_its_own_error(model: str, compatible: bool, size: int, rule: str) -> None:
    """A request beyond the window is the error of that name, in the words of any server."""
    with FakeOpenAI(compatible=compatible, window=100) as server:
        asked = OpenAIChatModel(model, base_url=server.url, api_key=KEY, options={"max_completion_tokens": 60})
        (error,) = asyncio.run(events_of(asked, ModelRequest([Message.of("user", "x" * size)])))
    assert isinstance(error, ContextTooLong) and rule in error.found


def test_calls_can_be_scripted_by_the_server() -> None:
    """Calls that come in pieces come out whole, with usage."""
    found = ask(calling(("call_1", "look_up", '{"city": "Oslo"}')))[-1]
    assert isinstance(found, Replied) and found.usage is not None
    assert [(call.id, call.arguments) for call in found.message.calls] == [("call_1", {"city": "Oslo"})]
