"""What goes wrong with a whole MCP server, and not with one call."""

from __future__ import annotations

from .._tool_errors import ToolError


class McpServerDown(ToolError):
    """An MCP server could not be reached, or went away.

    Attributes:
        name: the server.
        why: what is known of the reason.
        during_call: whether a call had been sent, so that it may have taken effect.
    """

    def __init__(self, name: str, why: str, *, during_call: bool = False) -> None:
        self.name, self.why, self.during_call = name, why, during_call
        if during_call:
            told = "went away during the call"
            advice = "it may have taken effect, so look before calling it again"
        else:
            told, advice = "cannot be reached, nothing was run", "go on without its tools, or try again later"
        super().__init__(f"MCP server {name!r} {told}: {why}; {advice}")
