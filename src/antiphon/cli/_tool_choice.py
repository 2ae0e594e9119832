"""Which tools a model is offered here, and which of them run unasked: options, and the configuration behind them."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import click

from ..chat import Chat
from ..context._stubs import READ_RESULT
from ..errors import UnknownTool
from ..tools import Decision, McpServers, PendingCall, Tool, Toolbox, ToolPolicy, tools_of
from ._configuration import Configuration, Setting
from ._place import Place
from ._screen import Screen
from ._tool_file import load_tools

P = ParamSpec("P")

NOT_READ_ONLY = "it is not read-only"
"""Why a call waits that no pattern names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChoice:
    """What the options and the configuration say of tools.

    Attributes:
        files: Python files that tools are loaded from.
        servers: configurations of MCP servers.
        allow, ask, deny: patterns of tools' names, as a ToolPolicy takes them.
    """

    files: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    @classmethod
    def of(cls, configured: Configuration, options: dict[str, Any]) -> ToolChoice:
        """Take the options out of those of a command.

        Files and servers of the configuration count where no option names any; patterns are added to its patterns,
        so that no option takes a `deny` away.
        """
        files, servers = options.pop("tools"), options.pop("mcp")
        none = options.pop("no_tools")
        if none and (files or servers):
            raise click.UsageError("--no-tools and --tools or --mcp exclude each other")
        own = none or files or servers
        servers = tuple(map(os.path.expanduser, servers))
        return cls(
            files=files if own else _values(configured.tools),
            servers=servers if own else _values(configured.mcp),
            allow=(*_values(configured.allow), *options.pop("allow")),
            ask=(*_values(configured.ask), *options.pop("ask")),
            deny=(*_values(configured.deny), *options.pop("deny")),
        )


def _values(settings: Sequence[Setting]) -> tuple[str, ...]:
    return tuple(each.value for each in settings)


def with_tools(command: Callable[Concatenate[Place, ToolChoice, P], int]) -> Callable[Concatenate[Place, P], int]:
    """Add the options that choose tools; the command gets the choice."""

    @functools.wraps(command)
    def choosing(place: Place, /, *args: P.args, **options: P.kwargs) -> int:
        given: Any = options
        return command(place, ToolChoice.of(place.configured, given), *args, **given)

    for option in (
        click.option("--no-tools", is_flag=True, help="Offer no tools, whatever the configuration says."),
        click.option("--deny", metavar="PATTERN", multiple=True, help="Never run these, as in 'mcp.files.*'."),
        click.option("--ask", metavar="PATTERN", multiple=True, help="Ask before these run, read-only or not."),
        click.option(
            "--allow",
            metavar="PATTERN",
            multiple=True,
            help="Run these unasked. Without it, all tools ask that are not read-only.",
        ),
        click.option("--mcp", metavar="FILE", multiple=True, help="Offer the tools of the MCP servers in a JSON file."),
        click.option("--tools", metavar="FILE.py", multiple=True, help="Run a Python file and offer its tools."),
    ):
        option(choosing)
    return choosing


class Offer:
    """The tools that a command offers, while it runs.

    Args:
        choice: what was chosen.
        files: the tools that were loaded from files.
        servers: MCP servers, started.
    """

    def __init__(self, choice: ToolChoice, *, files: Sequence[Tool] = (), servers: Sequence[McpServers] = ()) -> None:
        self._files, self._servers = tuple(files), tuple(servers)
        self.tools = self._found()
        self._box = Toolbox(self.tools)
        self.policy = ToolPolicy(
            allow=choice.allow, ask=choice.ask, deny=choice.deny, otherwise="tool", evaluate=self._evaluate
        )

    def _found(self) -> tuple[Tool, ...]:
        return tools_of([*self._files, *(each for servers in self._servers for each in servers.tools())])

    def find(self, name: str) -> Tool | None:
        """The tool that a model means by this name, or None."""
        try:
            return self._box.find(name)
        except UnknownTool:
            return None

    async def says_of(self, tool: Tool) -> str:
        """What becomes of a call of a tool, in a few words."""
        decision = await self.policy.judge(PendingCall("", "", tool.name), tool=tool)
        if callable(tool.needs_approval) and decision.rule.startswith("otherwise:"):
            return "asks, or not, by its arguments"
        return {"run": "runs", "ask": "asks", "deny": "is denied"}[decision.action]

    def _evaluate(self, call: PendingCall) -> Decision | None:
        """Let read-only tools say themselves whether they need approval; all others do."""
        found = self.find(call.name)
        if found is None and call.name == READ_RESULT.name:
            return None
        return None if found is not None and found.read_only else Decision("ask", NOT_READ_ONLY)

    async def refresh(self, chat: Chat) -> None:
        """Between two turns, read anew what MCP servers offer, where they say that it has changed."""
        changed = [each for each in self._servers if each.changed]
        for each in changed:
            await each.refresh()
        if changed:
            self.tools = self._found()
            self._box = Toolbox(self.tools)
            chat.tools = self._box


NO_TOOLS = Offer(ToolChoice())
"""What is offered where nobody chose any."""


@contextlib.asynccontextmanager
async def offered(choice: ToolChoice, *, beside: Screen) -> AsyncIterator[Offer]:
    """Load the files and run the MCP servers as long as the block lasts.

    Args:
        choice: what was chosen.
        beside: where it is said which servers cannot be reached.

    Raises:
        Refused: if a file cannot be loaded.
        Misuse: if a configuration of servers cannot be understood, or two tools have the same name.
        MissingExtra: if there are MCP servers, and what talks to them is not installed.
    """
    files = [each for file in choice.files for each in load_tools(Path(file))]
    async with contextlib.AsyncExitStack() as stack:
        configured = [McpServers.from_config(each) for each in choice.servers]
        servers = [await stack.enter_async_context(each) for each in configured]
        for each in servers:
            for name, why in each.failures.items():
                beside.sentence(f"warning: MCP server {name!r} cannot be used: {why}", style="yellow")
            for name, why in each.refused.items():
                beside.sentence(f"warning: tool {name!r} of an MCP server: {why}", style="yellow")
        yield Offer(choice, files=files, servers=servers)
