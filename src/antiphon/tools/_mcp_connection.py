"""One MCP server: a task that holds the connection, and what any other task asks through it.

Importing this module needs the optional extra `mcp`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import Any

from mcp import Client, MCPError
from mcp_types import Tool as Listed

from .._messages import ToolResult
from .._tool_errors import McpServerDown
from ._mcp_config import McpServer, McpStdioServer
from ._mcp_sdk import Signals, all_tools, answered, connected, is_over, is_refusal, schema_fault
from ._mcp_stderr import StderrLog

_logger = logging.getLogger("antiphon")
_LONGEST_WAIT = 60.0
"""Seconds after which a server that does not start is tried again at the latest."""
_LEAVING = 10.0
"""Seconds that closing waits for a server that does not let go; the SDK kills a program before."""
_SETTLING = 1.0
"""Seconds that a failed call waits to learn why the connection is over."""


class Connection:
    """What can be asked of one server, from any task of one loop.

    A server that went away is started anew by the next call. While it does not start, calls fail at once, and it is
    tried again after 1, 2, 4 … seconds.

    Attributes:
        server: which it is.

    Args:
        server: whom to connect.
        start_timeout: seconds that starting, or a list of tools, may take.
        clock: monotonic seconds.
    """

    def __init__(self, server: McpServer, *, start_timeout: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.server = server
        self._limit, self._clock = start_timeout, clock
        self._starting = asyncio.Lock()
        self._link: _Link | None = None
        self._last_read: _Link | None = None
        self._held: dict[asyncio.Task[None], _Link] = {}
        self._failed, self._again_at = 0, 0.0
        self._closed = False

    @property
    def failure(self) -> str:
        """Why the server cannot be reached, with the last line of its standard error; empty while it can."""
        if self._link is None or not self._link.over.is_set():
            return ""
        said = self._link.last_words
        return self._link.why + (f"; it last said {said!r}" if said else "")

    @property
    def changed(self) -> bool:
        """Whether the list of tools may be another than the one last read."""
        link = self._link
        return link is not None and link.client is not None and (link is not self._last_read or link.changed)

    def schema_fault(self, schema: dict[str, Any]) -> str | None:
        """Why a tool's schema will not do, or None."""
        return schema_fault(schema)

    async def listed(self) -> list[Listed]:
        """The server's tools, as they are now.

        Raises:
            McpServerDown: if it cannot be reached or gives no list in time.
        """
        link = await self._alive()
        if link is self._last_read or link.changed:
            link.changed = False
            await self._read_again(link)
        self._last_read = link
        return link.tools

    async def _read_again(self, link: _Link) -> None:
        try:
            link.tools = await asyncio.wait_for(all_tools(link.connected), self._limit)
            return
        except TimeoutError:
            why = f"it gave no list of tools within {self._limit:g} s"
        except Exception as error:  # isolates: server
            why = f"it gave no list of tools: {_sentence(error)}"
        link.end(why)
        raise McpServerDown(self.server.name, why)

    async def called(self, tool: str, arguments: dict[str, Any], *, full_name: str) -> ToolResult:
        """What a tool of the server gives.

        Args:
            tool: the server's own name of it.
            arguments: as they are passed on.
            full_name: our name of it.

        Raises:
            McpServerDown: if the server cannot be reached, or goes away meanwhile.
            MCPError: what the server answers instead of a result.
        """
        link = await self._alive()
        try:
            return await answered(link.connected, tool, arguments=arguments, full_name=full_name)
        except Exception as error:  # isolates: server
            if not (isinstance(error, MCPError) and is_over(error)):
                raise await self._meant(error, link) from None
            # Not run: the protocol asks for a new session, and the call is made in that one.
            link.end("it has forgotten the session")
        link = await self._alive()
        try:
            return await answered(link.connected, tool, arguments=arguments, full_name=full_name)
        except Exception as error:  # isolates: server
            raise await self._meant(error, link) from None

    async def _meant(self, error: Exception, link: _Link) -> Exception:
        """What a call's error says of the server; itself where it is the call's own."""
        if link.over.is_set():
            return McpServerDown(self.server.name, await link.settled(), during_call=True)
        if isinstance(error, MCPError) and is_refusal(error):
            return McpServerDown(self.server.name, f"it answered HTTP {link.status}", during_call=True)
        return error

    async def aclose(self) -> None:
        """End the connection, and a program that was started with it; from any task, and as often as wanted."""
        self._closed = True
        for task, link in self._held.items():
            link.end("it was closed")
            if link.client is None:
                task.cancel()
        if self._held:
            _, pending = await asyncio.wait(self._held, timeout=_LEAVING)
            for task in pending:
                task.cancel()

    async def _alive(self) -> _Link:
        async with self._starting:
            if self._closed:
                raise McpServerDown(self.server.name, "it was closed")
            if self._link is not None and not self._link.over.is_set():
                return self._link
            wait = self._again_at - self._clock()
            if self._link is not None and wait > 0:
                why = f"{self._link.why}; it is tried again in {max(1, round(wait))} s"
                raise McpServerDown(self.server.name, why)
            self._link = _Link(self.server)
            await self._start(self._link)
            return self._link

    async def _start(self, link: _Link) -> None:
        task = asyncio.create_task(link.hold(), name=f"antiphon-mcp-{self.server.name}")
        self._held[task] = link
        task.add_done_callback(lambda ended: self._held.pop(ended, None))
        try:
            await asyncio.wait_for(link.up.wait(), self._limit)
        except TimeoutError:
            link.end(f"it did not answer within {self._limit:g} s")
        finally:
            if link.client is None:
                link.end("starting it was canceled")
                task.cancel()
        if not link.over.is_set():
            self._failed = 0
            return
        self._failed += 1
        self._again_at = self._clock() + min(_LONGEST_WAIT, 2.0 ** (self._failed - 1))
        raise McpServerDown(self.server.name, link.why)


class _Link:
    """One life of a connection.

    Attributes:
        client: the SDK's client, once the server has answered.
        tools: what it has listed.
        changed: whether it has since said that they are others.
        up: set when the server has answered, or is known not to.
        over: set when nothing more will come; the connection is then left.
        why: why it is over.
        last_words: the last line of the program's standard error.
        status: the last HTTP status that was a refusal.
    """

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._stderr = StderrLog(server.name) if isinstance(server, McpStdioServer) else None
        self.client: Client | None = None
        self.tools: list[Listed] = []
        self.changed = False
        self.up, self.over, self._left = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.why, self.last_words, self.status = "", "", 0

    @property
    def connected(self) -> Client:
        """The client of a link that is up."""
        assert self.client is not None
        return self.client

    def end(self, why: str) -> None:
        """Have the connection left; the first reason stays."""
        self.why = self.why or why
        self.over.set()

    async def settled(self) -> str:
        """Why the connection is over, once that is known."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._left.wait(), 0 if self.why else _SETTLING)
        return self.why or "the connection ended"

    async def hold(self) -> None:
        """Hold the connection until it is over. The SDK's contexts are entered and left in this one task."""
        signals = Signals(ended=self.over.set, changed=self._note_change, refused=self._note_status)
        try:
            async with connected(self._server, signals, stderr=self._stderr) as client:
                # Read in every life: the SDK checks results against the schemas that it has seen.
                self.tools = await all_tools(client)
                self.client = client
                self.up.set()
                await self.over.wait()
        except Exception as error:  # isolates: server
            self.why = self.why or self._reason(error)
        finally:
            self.end("its program ended" if self._stderr else "the connection ended")
            if self._stderr:
                self.last_words = await asyncio.to_thread(self._stderr.last_words)
            _logger.info("MCP server %r: %s", self._server.name, self.why)
            self.up.set()
            self._left.set()

    def _reason(self, error: Exception) -> str:
        if self._stderr and isinstance(_first(error), MCPError) and self.over.is_set():
            return "its program ended"
        return _sentence(error) + (f" (HTTP {self.status})" if self.status else "")

    def _note_change(self) -> None:
        self.changed = True

    def _note_status(self, status: int) -> None:
        self.status = status


def _first(error: BaseException) -> BaseException:
    """The error itself; of a group, its first one."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _sentence(error: BaseException) -> str:
    first = _first(error)
    said = str(first).strip().splitlines()
    return f"{type(first).__name__}: {said[0]}" if said else type(first).__name__
