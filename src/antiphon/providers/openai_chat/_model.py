"""The model that is asked over HTTP."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from ..._jsonable import Jsonable
from ..._jsonable import encode as as_json
from ...errors import Misuse, ModelError, UnknownModel
from ...models import ModelEvent, ModelRequest
from .._retrying import retrying
from .._transport import Answer, Endpoint, Transport
from ._address import address_of, checked_headers, key_for, missing_key, ollama_address
from ._decode import Decoder
from ._encode import encode
from ._reading import Reading
from ._refusals import refusal
from ._wire_names import tool_name

if TYPE_CHECKING:
    import httpx2


class OpenAIChatModel:
    """Asks OpenAI, or a server that speaks its chat completions: llama.cpp, vLLM, Ollama, LM Studio and many more.

    What goes over the wire is `encode`'s and `Decoder`'s. The connection is opened by the first call and used again.
    A call that fails before its first event is made again, where that may help: after a connection error, and after
    408, 409, 429 and 5xx. A key from the environment, `OPENAI_API_KEY`, goes to api.openai.com alone, over TLS; no
    key is ever part of an error, a log line or a `repr`. Redirects are not followed.

    Args:
        name: the model as the server calls it, as in `gpt-5-mini`.
        api_key: sent as a bearer token; None is the environment's for OpenAI's own host, and none for any other.
        base_url: the API's address, as in `http://127.0.0.1:8000/v1`; None is OpenAI's.
        headers: sent with every request, over those made here.
        timeout: seconds without a byte (120), or an `httpx2.Timeout`; to connect it is 10 at most.
        max_retries: how often a call is made again.
        http_client: an `httpx2.AsyncClient` of yours, for proxies and certificates; it is never closed here.
        auth: anything that httpx2 takes as `auth`, for tokens that change.
        options: fields of the body for every call, as in `{"temperature": 0}`; sent as given, and they win.
        window: tokens of request and reply together; None is not known, announced as 0.
        called: how traces and errors call the model; None is `openai:NAME`, or `BASE_URL#NAME` for other servers.

    Raises:
        BadCredentials: if OpenAI's own host is to be asked and there is no key.
        UnknownModel: if the name is empty.
        Misuse: if an address, a header or a number cannot be right.
    """

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | httpx2.Timeout | None = None,
        max_retries: int = 2,
        http_client: httpx2.AsyncClient | None = None,
        auth: Any = None,
        options: Mapping[str, Jsonable] | None = None,
        window: int | None = None,
        called: str | None = None,
    ) -> None:
        _check_numbers(timeout=timeout, max_retries=max_retries, window=window)
        self._address = address_of(base_url)
        self._asked_as = name
        self._name = called or (f"openai:{name}" if self._address.openai else f"{self._address.base}#{name}")
        if not name.strip():
            raise UnknownModel(self._name, "the model's own name is missing")
        own = checked_headers(headers)
        key = key_for(self._address, given=api_key, environ=os.environ, model=self._name)
        if self._address.openai and key is None and not (auth or "authorization" in own or _proves(http_client)):
            raise missing_key(self._name)
        sent = {"content-type": "application/json", "accept": "text/event-stream, application/json"}
        sent |= {"authorization": f"Bearer {key}"} if key else {}
        endpoint = Endpoint(self._name, self._address.url, self._refused, sent | own)
        self._transport = Transport(endpoint, timeout=timeout, client=http_client, auth=auth)
        self._options = dict(options or {})
        self._max_retries = max_retries
        self._window = window

    @property
    def name(self) -> str:
        """How traces and errors call this model, as in `openai:gpt-5-mini` or `http://127.0.0.1:8000/v1#qwen3`."""
        return self._name

    @property
    def window(self) -> int:
        """Tokens of request and reply together; 0 is not known."""
        return self._window or 0

    def __repr__(self) -> str:
        return f"OpenAIChatModel({self._name!r})"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer one request. Closing the stream closes the connection, and with it the work behind it, at once.

        Raises:
            Unreachable: if there is no connection, or it broke; a stream that broke is not asked for again.
            BadCredentials: for a key that is wrong or may not.
            RateLimited: after too many requests.
            Overloaded: if the server failed.
            ContextTooLong: if the request is longer than the model's window.
            UnknownModel: if the server has no such model.
            Refused: if its policy refuses the content.
            InvalidRequest: if it refuses anything else.
            MalformedReply: if the answer is no chat completion, or ended before its end.
        """
        body = encode(
            request,
            model=self._asked_as,
            options=self._options,
            compatible=not self._address.openai,
            stream=True,
        )
        names = {tool_name(tool.name): tool.name for tool in request.tools}
        encoded = as_json(body)
        async with aclosing(retrying(lambda: self._attempt(encoded, names), max_retries=self._max_retries)) as events:
            async for event in events:
                yield event

    async def aclose(self) -> None:
        """Close the connections of this event loop, unless they are an `http_client`'s; the next call opens others."""
        await self._transport.aclose()

    async def _attempt(self, body: bytes, names: Mapping[str, str]) -> AsyncGenerator[ModelEvent, None]:
        hide = self._transport.secrets.hide
        reading = Reading(Decoder(self._name, names=names, hide=hide), model=self._name, hide=hide)
        async with aclosing(self._transport.chunks(body, reading)) as chunks:
            async for chunk in chunks:
                for event in reading.feed(chunk):
                    yield event
        for event in reading.end():
            yield event

    def _refused(self, answer: Answer) -> ModelError:
        return refusal(self._name, answer, address=self._address.shown, hide=self._transport.secrets.hide)


def ollama_model(name: str) -> OpenAIChatModel:
    """Give a model that Ollama runs, as in `llama3.2`: on this machine, or where `OLLAMA_HOST` says."""
    return OpenAIChatModel(name, base_url=ollama_address(os.environ), called=f"ollama:{name}")


def model_at(address: str) -> OpenAIChatModel:
    """Give the model at an address, as in `http://127.0.0.1:8000/v1#qwen3`. No key is sent.

    Raises:
        UnknownModel: if no model follows a `#`.
        Misuse: if what stands before it is no address.
    """
    base, _, name = address.partition("#")
    if not name:
        # Not repeated: it may hold what is nobody's business.
        raise UnknownModel("http:", "the model after # is missing; written as http://HOST/v1#MODEL")
    return OpenAIChatModel(name, base_url=base)


def _proves(client: httpx2.AsyncClient | None) -> bool:
    """Whether a client of the caller's says who asks by itself."""
    return client is not None and (client.auth is not None or "authorization" in client.headers)


def _check_numbers(*, timeout: Any, max_retries: int, window: int | None) -> None:
    if max_retries < 0:
        raise Misuse(f"OpenAIChatModel was given max_retries={max_retries}", "give 0 or more")
    if isinstance(timeout, int | float) and not timeout > 0:
        raise Misuse(f"OpenAIChatModel was given timeout={timeout}", "give a number of seconds above 0")
    if window is not None and window < 1:
        raise Misuse(f"OpenAIChatModel was given window={window}", "give at least 1")
