"""Tools: what a model is told of functions, whether a call may run, and running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from .._tool_errors import InvalidArguments, McpServerDown, ToolDenied, ToolError, ToolTimeout, UnknownTool
    from ._arguments import Prepared, prepared
    from ._execution import run_call, schedule
    from ._mcp import McpServers
    from ._mcp_config import McpHttpServer, McpServer, McpStdioServer
    from ._policy import Decision, PendingCall, ToolPolicy
    from ._results import error_of, result_of
    from ._tool import Tool, ToolOptions, tool, tools_of
    from ._tool_context import ToolContext
    from ._toolbox import Toolbox

_HOMES = {
    "Decision": "._policy",
    "InvalidArguments": ".._tool_errors",
    "McpHttpServer": "._mcp_config",
    "McpServer": "._mcp_config",
    "McpServerDown": ".._tool_errors",
    "McpServers": "._mcp",
    "McpStdioServer": "._mcp_config",
    "PendingCall": "._policy",
    "Prepared": "._arguments",
    "Tool": "._tool",
    "ToolContext": "._tool_context",
    "ToolDenied": ".._tool_errors",
    "ToolError": ".._tool_errors",
    "ToolOptions": "._tool",
    "ToolPolicy": "._policy",
    "ToolTimeout": ".._tool_errors",
    "Toolbox": "._toolbox",
    "UnknownTool": ".._tool_errors",
    "error_of": "._results",
    "prepared": "._arguments",
    "result_of": "._results",
    "run_call": "._execution",
    "schedule": "._execution",
    "tool": "._tool",
    "tools_of": "._tool",
}

__all__ = [
    "Decision",
    "InvalidArguments",
    "McpHttpServer",
    "McpServer",
    "McpServerDown",
    "McpServers",
    "McpStdioServer",
    "PendingCall",
    "Prepared",
    "Tool",
    "ToolContext",
    "ToolDenied",
    "ToolError",
    "ToolOptions",
    "ToolPolicy",
    "ToolTimeout",
    "Toolbox",
    "UnknownTool",
    "error_of",
    "prepared",
    "result_of",
    "run_call",
    "schedule",
    "tool",
    "tools_of",
]

if not TYPE_CHECKING:  # A type checker would take any name for one of ours.
    __getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return list(__all__)
