"""All that is asked of the official SDK (https://github.com/modelcontextprotocol/python-sdk).

Importing this module needs the optional extra `mcp` and takes most of a second.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx2
import mcp_types as wire
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

from .._messages import ToolResult
from .._tool_errors import ToolError
from ..errors import Misuse
from ._mcp_config import McpHttpServer, McpServer, McpStdioServer
from ._mcp_results import result_from
from ._mcp_stderr import StderrLog

_logger = logging.getLogger("antiphon")
_PAGES = 100
"""Pages of a list of tools: a server whose list never ends must not hold up the others."""
_CONNECT = 30.0
"""Seconds for connecting and writing; reading is bounded by the timeout of what is asked."""
_SHOWN = 200
"""Characters of a fault that are shown: it may hold a whole schema."""


@dataclass(frozen=True)
class Signals:
    """What a connection tells while it is held.

    Attributes:
        ended: nothing more will come from the server.
        changed: the server says that its tools are others now.
        refused: a request was answered with this HTTP status.
    """

    ended: Callable[[], None]
    changed: Callable[[], None]
    refused: Callable[[int], None]


@asynccontextmanager
async def connected(server: McpServer, signals: Signals, *, stderr: StderrLog | None) -> AsyncIterator[Client]:
    """A client that has greeted the server; to be entered and left in one task.

    Args:
        server: whom to connect.
        signals: what is called, in the loop's thread.
        stderr: where a program's standard error goes.
    """
    if isinstance(server, McpHttpServer):
        transport = _over_http(server, signals)
    else:
        transport = _over_stdio(server, signals, stderr=stderr or StderrLog(server.name))

    async def heard(message: object) -> None:
        if isinstance(message, wire.ToolListChangedNotification):
            signals.changed()

    async with Client(transport, message_handler=heard, cache=None) as client:
        listening = asyncio.create_task(_listen(client, signals))
        try:
            yield client
        finally:
            listening.cancel()


async def all_tools(client: Client) -> list[wire.Tool]:
    """All tools of a server, in its order; none of one that has only other things to offer."""
    if client.server_capabilities.tools is None:
        return []
    found: list[wire.Tool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return found
    raise Misuse(f"the list of tools has more than {_PAGES} pages")


async def answered(client: Client, tool: str, *, arguments: dict[str, Any], full_name: str) -> ToolResult:
    """The result of a call.

    Raises:
        MCPError: what the server answers instead of one.
        ToolError: if the result does not fit the schema that the server gave for results; the call was run.
    """
    try:
        answer = await client.call_tool(tool, _in_utf8(arguments))
    except RuntimeError:  # The SDK's own sentence quotes the whole schema and the whole result.
        raise ToolError(
            f"tool {full_name!r} was run, but its result does not fit the schema that its server gave for it;"
            " it took effect, so look before calling it again"
        ) from None
    return result_from(full_name, answer)


def _in_utf8(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments without halves of characters, which models write and which would end the connection."""
    text = json.dumps(arguments, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        whole: dict[str, Any] = json.loads(text.encode(errors="replace"))
        return whole
    return arguments


def schema_fault(schema: dict[str, Any]) -> str | None:
    """Why a schema is none; None for one that is. One that is none would have providers refuse every request."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        at = "".join(f"[{each!r}]" for each in error.absolute_path)
        return f"its schema is not valid{f' at {at}' if at else ''}: {error.message[:_SHOWN]}"
    return None


def is_over(error: MCPError) -> bool:
    """Whether an HTTP server has forgotten the session: the call was not run, and only a new session will be."""
    return error.code == wire.INVALID_REQUEST and error.message == "Session terminated"


def is_refusal(error: MCPError) -> bool:
    """Whether an HTTP server answered with a status and nothing else."""
    return error.code == wire.INTERNAL_ERROR and error.message == "Server returned an error response"


@asynccontextmanager
async def _over_stdio(
    server: McpStdioServer, signals: Signals, *, stderr: StderrLog
) -> AsyncGenerator[tuple[_Watched, Any]]:
    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env=dict(server.env),
        cwd=server.cwd,
        encoding_error_handler="replace",
    )
    with stderr.pipe:
        async with stdio_client(parameters, errlog=stderr.pipe) as (reading, writing):
            stderr.started()
            yield _Watched(reading, signals.ended), writing


@asynccontextmanager
async def _over_http(server: McpHttpServer, signals: Signals) -> AsyncGenerator[tuple[_Watched, Any]]:
    async def told(response: httpx2.Response) -> None:
        if response.status_code >= 400 and response.request.method == "POST":
            signals.refused(response.status_code)

    async with AsyncExitStack() as stack:
        client = httpx2.AsyncClient(
            headers=dict(server.headers),
            timeout=httpx2.Timeout(_CONNECT, read=None),
            event_hooks={"response": [told]},
        )
        await stack.enter_async_context(client)
        streams = streamable_http_client(server.url, http_client=client)
        reading, writing = await stack.enter_async_context(streams)
        yield _Watched(reading, signals.ended), writing


async def _listen(client: Client, signals: Signals) -> None:
    """Hear of changed tools where a server tells only those who asked, which is from protocol 2026-07-28 on."""
    tools = client.server_capabilities.tools
    if tools is None or not tools.list_changed:
        return
    try:
        async with client.listen(tools_list_changed=True) as events:
            async for _ in events:
                signals.changed()
    except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError) as error:
        _logger.debug("nothing is heard of changed tools: %s", error)


class _Watched:
    """A stream of messages that says when it has ended."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream, self._ended = stream, ended

    @property
    def last_context(self) -> Any:
        """The context variables that the last message came with, where the stream keeps them."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        try:
            return await self._stream.receive()
        except BaseException:  # isolates: the transport, whose end is told whatever it is
            self._ended()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except BaseException:  # isolates: the transport, whose end is told whatever it is
            self._ended()
            raise

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        closed: bool | None = await self._stream.__aexit__(kind, error, trace)
        return closed
