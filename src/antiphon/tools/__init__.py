"""Tools: what a model is told of functions, whether a call may run, and running it."""

from .._tool_errors import InvalidArguments, ToolDenied, ToolError, ToolTimeout, UnknownTool
from ._arguments import Prepared, prepared
from ._execution import run_call, schedule
from ._mcp import McpServers
from ._mcp_config import McpHttpServer, McpServer, McpStdioServer
from ._mcp_errors import McpServerDown
from ._policy import Decision, PendingCall, ToolPolicy
from ._results import error_of, result_of
from ._tool import Tool, ToolOptions, tool, tools_of
from ._tool_context import ToolContext
from ._toolbox import Toolbox

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
