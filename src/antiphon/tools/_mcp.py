"""Tools of MCP servers, under names of their own and trusted no further than the caller says."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from .._messages import ToolResult
from .._tool_errors import McpServerDown
from ..errors import MissingExtra, Misuse
from ._mcp_config import McpServer, servers_of
from ._tool import Tool, without_patterns

if TYPE_CHECKING:
    from mcp_types import Tool as Listed

    from ._mcp_connection import Connection


class McpServers:
    """MCP servers and their tools, for a Chat: `Chat(model, tools=[*mine, *servers.tools()])`.

    A tool is named `mcp.<server>.<tool>`. It waits for a person's approval unless its server's `read_only` names it:
    what a server says of its own tools is told to nobody and grants nothing. A server that fails costs only its own
    calls, each of which then has an error for its result; the next call starts it anew.

    Use it in `async with`, or call `start` and `aclose`. Calls may come from any task, and from another event loop
    while the one it was started in runs. Needs the optional extra `mcp`.

    Args:
        servers: whom to connect.
        timeout: seconds that a call may take, or None; a call that takes longer is canceled at the server too.
        start_timeout: seconds that starting a server may take, and reading its list of tools.

    Raises:
        Misuse: if two servers have one name, or a timeout is out of range.
    """

    def __init__(
        self, servers: Sequence[McpServer], *, timeout: float | None = 60.0, start_timeout: float = 30.0
    ) -> None:
        names = [server.name for server in servers]
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise Misuse(f"two MCP servers are named {twice!r}", "give one another name")
        if not start_timeout > 0 or not (timeout is None or timeout > 0):
            raise Misuse(f"timeout={timeout!r}, start_timeout={start_timeout!r}", "give seconds, more than 0")
        self._servers, self._timeout, self._start_timeout = tuple(servers), timeout, start_timeout
        self._connections: list[Connection] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._found: dict[str, list[Listed]] = {}
        self._tools: dict[str, Tool] = {}
        self._refused: dict[str, str] = {}

    @classmethod
    def from_config(
        cls, given: Mapping[str, Any] | str | Path, *, timeout: float | None = 60.0, start_timeout: float = 30.0
    ) -> Self:
        """Read the usual configuration: `{"mcpServers": {"files": {"command": "npx", "args": […], "env": {…}}}}`.

        A server has `command`, `args`, `env` and `cwd`, or `url` and `headers`. `${NAME}` and `${NAME:-default}` in
        these stand for environment variables. One with `"disabled": true` is left out. `"readOnly": ["search"]` is
        ours: it names the tools that run unasked. Keys that only other programs know are passed over, above all
        those that approve tools.

        Args:
            given: the configuration, or the path of a JSON file.
            timeout: see the class.
            start_timeout: see the class.

        Raises:
            Misuse: at the first thing that is wrong, named by file and key.
        """
        return cls(servers_of(given, environ=os.environ), timeout=timeout, start_timeout=start_timeout)

    async def start(self) -> None:
        """Start all servers at once and read their lists of tools; one that fails stands in `failures`.

        Raises:
            MissingExtra: if the optional extra `mcp` is not installed.
            Misuse: if they were started before.
        """
        if self._loop is not None:
            raise Misuse("these MCP servers were started before", "make new McpServers")
        self._loop = asyncio.get_running_loop()
        # In a thread, for it takes most of a second.
        kind = await asyncio.to_thread(_connection_type)
        self._connections = [kind(server, start_timeout=self._start_timeout) for server in self._servers]
        try:
            await self._read(self._connections)
        except BaseException:  # isolates: the caller, who canceled this
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """End all connections and programs. Calls that run fail; may be called from any task, and twice."""
        await asyncio.gather(*(each.aclose() for each in self._connections))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def tools(self) -> tuple[Tool, ...]:
        """The tools as they were last read, in the order of the servers; they change only by `refresh`.

        Raises:
            Misuse: before `start`.
        """
        if self._loop is None:
            raise Misuse("these MCP servers are not started", "use them in `async with`, or call start() first")
        return tuple(self._tools.values())

    @property
    def failures(self) -> Mapping[str, str]:
        """Why servers cannot be reached now, by server."""
        return {each.server.name: each.failure for each in self._connections if each.failure}

    @property
    def refused(self) -> Mapping[str, str]:
        """Why tools are not offered, or named read-only in vain, by full name."""
        return dict(self._refused)

    @property
    def changed(self) -> bool:
        """Whether a server has said that its tools are others now, or was started anew."""
        return any(each.changed for each in self._connections)

    async def refresh(self) -> bool:
        """Read the lists that have changed, and try the servers that failed. Call it between turns.

        Returns:
            whether `tools` gives others now.
        """
        before = {name: (each.description, each.schema) for name, each in self._tools.items()}
        await self._read([each for each in self._connections if each.changed or each.failure])
        return before != {name: (each.description, each.schema) for name, each in self._tools.items()}

    async def _read(self, connections: Sequence[Connection]) -> None:
        lists = await asyncio.gather(*(_listed(each) for each in connections))
        for connection, found in zip(connections, lists, strict=True):
            if found is not None:
                self._found[connection.server.name] = found
        self._tools, self._refused = {}, {}
        for connection in self._connections:
            for each in self._found.get(connection.server.name, ()):
                self._offer(connection, each)
            self._refused |= _in_vain(connection.server, self._found.get(connection.server.name))

    def _offer(self, connection: Connection, each: Listed) -> None:
        name = _full_name(connection.server, each.name)
        try:
            if name in self._tools:
                raise Misuse("the server lists another tool under this name")
            self._tools[name] = self._tool(connection, each, name=name)
        except Misuse as error:
            self._refused[name] = str(error)

    def _tool(self, connection: Connection, each: Listed, *, name: str) -> Tool:
        read_only = each.name in connection.server.read_only
        fault = connection.schema_fault(each.input_schema)
        if fault is not None:
            raise Misuse(fault)
        made = Tool(
            self._caller(connection, each.name, full_name=name),
            name=name,
            description=each.description or each.title or "",
            # Some servers leave out what the protocol asks for, and providers insist on.
            parameters={"type": "object", **each.input_schema},
            read_only=read_only,
            needs_approval=not read_only,
            timeout=self._timeout,
        )
        # The server checks them itself; one that nothing ends would hold up everything here.
        return without_patterns(made)

    def _caller(
        self, connection: Connection, tool: str, *, full_name: str
    ) -> Callable[..., Coroutine[Any, Any, ToolResult]]:
        async def call(**arguments: Any) -> ToolResult:
            loop = self._loop
            if loop is asyncio.get_running_loop():
                return await connection.called(tool, arguments, full_name=full_name)
            if loop is None or not loop.is_running():
                raise McpServerDown(connection.server.name, "the event loop that it was started in has ended")
            asked = asyncio.run_coroutine_threadsafe(connection.called(tool, arguments, full_name=full_name), loop)
            return await asyncio.wrap_future(asked)

        return call


def _connection_type() -> type[Connection]:
    try:
        from ._mcp_connection import Connection
    except ModuleNotFoundError:
        raise MissingExtra("mcp", needed_for="talking to MCP servers") from None
    return Connection


async def _listed(connection: Connection) -> list[Listed] | None:
    try:
        return await connection.listed()
    except McpServerDown:
        return None


def _full_name(server: McpServer, tool: str) -> str:
    """Our name of a tool; what no name may hold, such as the slash that the protocol allows, becomes `_`."""
    return f"mcp.{server.name}.{re.sub(r'[^A-Za-z0-9_.:-]', '_', tool)}"


def _in_vain(server: McpServer, found: Sequence[Listed] | None) -> dict[str, str]:
    """What the caller names read-only of a server that lists no such tool."""
    if found is None:
        return {}
    missing = set(server.read_only).difference(each.name for each in found)
    return {_full_name(server, name): "named read-only, but its server lists no such tool" for name in sorted(missing)}
