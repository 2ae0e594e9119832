"""HTTP for every provider: one request, its answer as bytes, and every failure as a `ModelError`."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from importlib import import_module
from time import time
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from ..errors import MalformedReply, Misuse, ModelError, Unreachable
from ._secrets import Secrets

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 10.0
READ_SECONDS = 120.0
"""Seconds without a byte: a large prompt may be read for as long before the first piece comes."""
_MOST_OF_AN_ERROR = 64 * 1024
_ERROR_SECONDS = 10.0
_GOODBYE_SECONDS = 0.1
"""Seconds given to a server to end its answer once everything was said, so that the connection can be used again."""


class Reply(Protocol):
    """What is being read, as far as the transport must know."""

    @property
    def whole(self) -> bool:
        """Whether the reply is complete: a connection that breaks now has broken nothing."""
        ...

    @property
    def over(self) -> bool:
        """Whether nothing more is to come."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is no reply: its status, its headers in lower case, its body as far as it was read."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait, by `retry-after-ms` or `retry-after`, or None."""
        return _number(self.headers.get("retry-after-ms"), 0.001) or _number(self.headers.get("retry-after"), 1.0)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go.

    Attributes:
        model: how errors call the model.
        url: the whole address.
        refused: makes the error of an answer that is no reply.
        headers: sent with every request.
    """

    model: str
    url: str
    refused: Callable[[Answer], ModelError]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class Transport:
    """Sends requests to one endpoint, through a client that is made by the first of them.

    An event loop has a client of its own: connections cannot move from one to another.

    Args:
        endpoint: where requests go.
        timeout: seconds without a byte, or httpx2's own Timeout; None is 120, and 10 to connect. A client that was
            handed in keeps its own, unless one is given here.
        client: an `httpx2.AsyncClient` of the caller's, which is never closed here.
        auth: anything that httpx2 takes as `auth`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout: float | httpx2.Timeout | None = None,
        client: httpx2.AsyncClient | None = None,
        auth: Any = None,
    ) -> None:
        self._endpoint = endpoint
        self._timeout = timeout
        self._given = client
        self._auth = auth
        self._own: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = WeakKeyDictionary()
        self.secrets = Secrets()
        self.secrets.learn(endpoint.headers)

    async def chunks(self, body: bytes, reply: Reply) -> AsyncGenerator[bytes, None]:
        """Post a body and give the answer's bytes as they come. Closing it closes the connection at once.

        Redirects are not followed: what was written for one server, and the key with it, would go to another.

        Raises:
            Unreachable: if there is no connection, it breaks, or no byte comes for too long.
            ModelError: what `refused` makes of any other status than 200 to 299.
        """
        async with self._answered(body) as response, aclosing(_read(response, reply)) as chunks:
            with self._failures(reply):
                async for chunk in chunks:
                    yield chunk

    async def aclose(self) -> None:
        """Close the running loop's client if it is ours, and with it whatever it still reads."""
        own = self._own.pop(asyncio.get_running_loop(), None)
        if own is not None:
            await own.aclose()

    @asynccontextmanager
    async def _answered(self, body: bytes) -> AsyncIterator[httpx2.Response]:
        response = await self._sent(body)
        try:
            if not response.is_success:
                raise await self._refusal(response)
            yield response
        finally:
            await response.aclose()

    async def _sent(self, body: bytes) -> httpx2.Response:
        httpx = _httpx()
        client = self._client()
        options: dict[str, Any] = {} if self._auth is None else {"auth": self._auth}
        with self._failures():
            request = client.build_request("POST", self._endpoint.url, content=body, headers=self._endpoint.headers)
            if self._given is not None and self._timeout is not None:
                request.extensions["timeout"] = httpx.Timeout(_timeout(self._timeout)).as_dict()
            response = await client.send(request, stream=True, follow_redirects=False, **options)
        # Looked at afterwards, for `auth` and the client may have added to them.
        self.secrets.learn(response.request.headers)
        return response

    def _client(self) -> httpx2.AsyncClient:
        if self._given is not None:
            if self._given.is_closed:
                raise Misuse(f"the http_client of model {self._endpoint.model!r} is closed", "hand in an open one")
            return self._given
        loop = asyncio.get_running_loop()
        if loop not in self._own:
            httpx = _httpx()
            self._own[loop] = httpx.AsyncClient(timeout=_timeout(self._timeout), headers={"user-agent": "antiphon"})
        return self._own[loop]

    async def _refusal(self, response: httpx2.Response) -> ModelError:
        body = await _beginning(response)
        headers = {name.lower(): value for name, value in response.headers.items()}
        error = self._endpoint.refused(Answer(response.status_code, headers, body))
        # OpenAI's own word on whether to try again, which its client obeys before it looks at the status.
        told = headers.get("x-should-retry")
        if told in ("true", "false"):
            error.retryable = told == "true"
        return error

    @contextmanager
    def _failures(self, reply: Reply | None = None) -> Iterator[None]:
        httpx = _httpx()
        try:
            yield
        except (httpx.HTTPError, httpx.StreamError) as error:
            if reply is None or not reply.whole:
                raise _failure(error, self._endpoint, begun=reply is not None) from _cause(error)


def _httpx() -> Any:
    # Loaded by the first call: a tenth of a second that whoever only names a model does not pay.
    return import_module("httpx2")


def _timeout(given: float | httpx2.Timeout | None) -> Any:
    if given is not None and not isinstance(given, int | float):
        return given
    seconds = READ_SECONDS if given is None else given
    return _httpx().Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))


async def _read(response: httpx2.Response, reply: Reply) -> AsyncGenerator[bytes, None]:
    chunks = response.aiter_bytes()
    async for chunk in chunks:
        yield chunk
        if reply.over:
            with suppress(TimeoutError):
                await _collect(chunks, [], within=_GOODBYE_SECONDS)
            return


async def _beginning(response: httpx2.Response) -> bytes:
    read: list[bytes] = []
    # Its status says enough: a body that cannot be read, or never ends, is no reason to say less.
    with suppress(TimeoutError, _httpx().HTTPError):
        await _collect(response.aiter_bytes(), read, within=_ERROR_SECONDS)
    return b"".join(read)[:_MOST_OF_AN_ERROR]


async def _collect(chunks: AsyncIterator[bytes], read: list[bytes], *, within: float) -> None:
    size = 0
    # In this task, and not by `wait_for` in another: a connection belongs to the task that reads it.
    async with asyncio.timeout(within):
        async for chunk in chunks:
            read.append(chunk)
            size += len(chunk)
            if size > _MOST_OF_AN_ERROR:
                return


def _failure(error: Exception, endpoint: Endpoint, *, begun: bool) -> ModelError:
    httpx = _httpx()
    where = _origin(endpoint.url)
    if isinstance(error, httpx.DecodingError):
        return MalformedReply(endpoint.model, f"{where} answered in an encoding that cannot be decoded")
    if isinstance(error, httpx.ReadTimeout):
        return Unreachable(endpoint.model, f"no byte came from {where} for too long")
    if isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout | httpx.WriteTimeout):
        return Unreachable(endpoint.model, f"no connection to {where} in time")
    if isinstance(error, httpx.ConnectError):
        return Unreachable(endpoint.model, _unconnected(error, where))
    broke = "before the reply was complete" if begun else "before an answer came"
    return Unreachable(endpoint.model, f"the connection to {where} broke {broke}")


def _cause(error: Exception) -> BaseException | None:
    """What stands behind our error: nothing that could quote what was sent."""
    httpx = _httpx()
    if isinstance(error, httpx.ReadTimeout):
        return TimeoutError("no byte came")
    # h11 quotes a header's value that it cannot send.
    return None if isinstance(error, httpx.LocalProtocolError) else error


def _unconnected(error: BaseException, where: str) -> str:
    behind = list(_behind(error))
    if any(isinstance(each, ConnectionRefusedError) for each in behind):
        return f"nothing listens at {where}"
    if any(isinstance(each, socket.gaierror) for each in behind):
        return f"no machine has the name in {where}"
    for each in behind:
        if isinstance(each, ssl.SSLError):
            return f"{where} could not be trusted or speaks no TLS ({each.reason or 'TLS failed'})"
    return f"no connection to {where}"


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            yield from error.exceptions
        error = error.__cause__ or error.__context__


def _origin(url: str) -> str:
    parts = _httpx().URL(url)
    host = f"[{parts.host}]" if ":" in parts.host else parts.host
    return f"{parts.scheme}://{host}" + ("" if parts.port is None else f":{parts.port}")


def _number(text: str | None, unit: float) -> float | None:
    if text is None:
        return None
    try:
        found = float(text) * unit
    except ValueError:
        try:
            found = parsedate_to_datetime(text).timestamp() - time()
        except (ValueError, TypeError):
            return None
    return found if 0 < found < float("inf") else None
