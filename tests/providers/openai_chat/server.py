"""A strict server on loopback that speaks chat completions over raw HTTP/1.1, and says what it saw.

It runs an event loop of its own in a thread, so that the loop of the test holds nothing of it.
"""

import asyncio
import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from tests.providers.openai_chat.rules import Broken, broken, too_long

KEY = "sk-test-0123456789abcdef-the-secret"
NO_KEY = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth"
    " (i.e. Authorization: Bearer YOUR_KEY). You can obtain an API key from https://platform.openai.com/account/api-keys."
)
NO_JSON = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library"
    " correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)"
)
SAID = "It is a fine day at sea, and the ship rolls gently. "


@dataclass(frozen=True)
class Answer:
    """What one request is answered with.

    Attributes:
        status: the HTTP status.
        headers: beside those that are always there.
        pieces: what is written of the body, one after another.
        delay: seconds before each piece.
        breaks: whether the connection ends without the body's proper end.
        waits: seconds before anything is answered at all.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Sequence[bytes] = ()
    delay: float = 0.0
    breaks: bool = False
    waits: float = 0.0


def chunk(delta: Mapping[str, Any] | None, *, finish: str | None = None, **more: Any) -> bytes:
    """One event of a stream; without a delta it has no choice."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    found = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test-2026"}
    return event({**found, "choices": choices, **more})


def event(found: Any) -> bytes:
    """One event with this JSON."""
    return b"data: " + json.dumps(found).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
USAGE = {
    "prompt_tokens": 30,
    "completion_tokens": 12,
    "total_tokens": 42,
    "prompt_tokens_details": {"cached_tokens": 16},
    "completion_tokens_details": {"reasoning_tokens": 0},
}


def streamed(*texts: str, finish: str = "stop", **how: Any) -> Answer:
    """A reply in these pieces."""
    deltas = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": text}) for text in texts)]
    ends = [chunk({}, finish=finish), chunk(None, usage=USAGE), DONE]
    return Answer(pieces=[*deltas, *ends], **how)


def calling(*calls: tuple[str, str, str]) -> Answer:
    """A reply with these calls: id, name and arguments, which come in two pieces."""
    pieces = [chunk({"role": "assistant", "content": None})]
    for i, (id, name, arguments) in enumerate(calls):
        begun = {"index": i, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
        pieces.append(chunk({"tool_calls": [begun]}))
        half = len(arguments) // 2
        parts = (arguments[:half], arguments[half:])
        pieces += [chunk({"tool_calls": [{"index": i, "function": {"arguments": part}}]}) for part in parts]
    return Answer(pieces=[*pieces, chunk({}, finish="tool_calls"), chunk(None, usage=USAGE), DONE])


def refusing(status: int, body: Any = None, **headers: str) -> Answer:
    """An answer that is no reply; names of headers are written with underscores."""
    text = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, {"content-type": "application/json", **named}, [text])


def whole(message: Mapping[str, Any], *, finish: str = "stop") -> Answer:
    """A reply that is not streamed."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    found = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-test-2026"}
    body = json.dumps({**found, "choices": [choice], "usage": USAGE}).encode()
    return Answer(headers={"content-type": "application/json"}, pieces=[body])


@dataclass
class Seen:
    """A request as it came.

    Attributes:
        closed: when the other side closed the connection before the answer had ended, on the monotonic clock.
    """

    head: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    closed: float | None = None


class FakeOpenAI:
    """Answers what its script says, one answer a request, and behind its end makes answers up.

    Args:
        script: the answers.
        compatible: whether it keeps the rules of servers that are not OpenAI's.
        models: those that exist.
        window: tokens, at four characters each, that a request may have.

    Attributes:
        seen: the requests, in order.
        answering: how many answers are on their way.
        connections: how many connections were ever opened.
    """

    def __init__(
        self,
        *script: Answer,
        compatible: bool = True,
        models: Sequence[str] = ("m", "gpt-5-mini"),
        window: int = 1_000_000,
    ) -> None:
        self._script = list(script)
        self._window = window
        self._compatible, self._models = compatible, models
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.seen: list[Seen] = []
        self.answering = 0
        self.connections = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server = self._wait(asyncio.start_server(self._connected, "127.0.0.1", 0))
        self.port: int = self._server.sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *answers: Answer) -> None:
        """Add answers to the script."""
        self._script += answers

    def idle(self, *, within: float = 1.0) -> bool:
        """Whether no answer is on its way, or none is a moment later."""
        deadline = time.monotonic() + within
        while self.answering and time.monotonic() < deadline:
            time.sleep(0.002)
        return not self.answering

    def close(self) -> None:
        """Break every connection and listen no more."""
        self._wait(self._closed())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _closed(self) -> None:
        self._server.close()
        await _turns(10)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:  # those, too, whose task was canceled before its first step
            writer.transport.abort()
        await _turns(10)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        body, answer = self._judged(raw, headers)
        seen = Seen(first, headers, body)
        self.seen.append(seen)
        self.answering += 1
        writing = asyncio.create_task(self._write(writer, answer))
        watching = asyncio.create_task(self._watch(reader, seen, writer))
        try:
            await asyncio.wait([writing, watching], return_when=asyncio.FIRST_COMPLETED)
            return writing.done() and writing.result()
        finally:
            self.answering -= 1
            writing.cancel()
            watching.cancel()
            await asyncio.gather(writing, watching, return_exceptions=True)

    async def _watch(self, reader: asyncio.StreamReader, seen: Seen, writer: asyncio.StreamWriter) -> None:
        # Looked at and not read: a byte that came would be the next request's.
        while not reader.at_eof() and not writer.transport.is_closing():  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        seen.closed = time.monotonic()
        writer.transport.abort()

    def _judged(self, raw: bytes, headers: Mapping[str, str]) -> tuple[Mapping[str, Any], Answer]:
        wrong = None
        body: Any = {}
        if not self._compatible and headers.get("authorization") != f"Bearer {KEY}":
            wrong = Broken("openai.auth", NO_KEY, 401)
        try:
            body = json.loads(raw.decode())
            json.dumps(body, ensure_ascii=False).encode()
        except ValueError:
            wrong = Broken("openai.json", NO_JSON)
        wrong = wrong or broken(body, compatible=self._compatible)
        wrong = wrong or too_long(body, self._window, compatible=self._compatible)
        if wrong is None and body["model"] not in self._models:
            says = f"The model `{body['model']}` does not exist or you do not have access to it."
            wrong = Broken("openai.model.unknown", says, 404, "model_not_found")
        if wrong is not None:
            return body, refusing(wrong.status, wrong.body())
        return body, self._script.pop(0) if self._script else made_up(body)

    async def _write(self, writer: asyncio.StreamWriter, answer: Answer) -> bool:
        await asyncio.sleep(answer.waits)
        headers = {"content-type": "text/event-stream", **answer.headers, "transfer-encoding": "chunked"}
        lines = [f"HTTP/1.1 {answer.status} Said", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for piece in answer.pieces:
            await asyncio.sleep(answer.delay)
            if writer.transport.is_closing():
                raise ConnectionResetError
            if piece:
                writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
        if answer.breaks:
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


async def _turns(count: int) -> None:
    # Whoever was let in a moment ago gets its task, and an aborted socket is closed, some turns of the loop later.
    for _ in range(count):
        await asyncio.sleep(0.001)


def made_up(body: Mapping[str, Any]) -> Answer:
    """What is answered without a script: calls where tools are offered, a long text where it may be long."""
    if body.get("tools"):
        name = body["tools"][0]["function"]["name"]
        return calling(*((f"call_{city}", name, json.dumps({"city": city})) for city in ("Oslo", "Rome")))
    most = body.get("max_tokens") or body.get("max_completion_tokens") or 40
    words = (SAID * (most // 12 + 1)).split(" ")[:most]
    return streamed(*(f"{word} " for word in words), delay=0.002)
