"""A well-behaved server, made with the official SDK: `python workshop.py` speaks over standard input and output."""

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import EmbeddedResource, ResourceLink, TextResourceContents, ToolAnnotations

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 16


def add(x: int, y: int = 1) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": x + y}


def greet(name: str) -> str:
    """Greet somebody."""
    return f"hello {name}"


def draw() -> list[Image | str]:
    """Draw a picture."""
    return ["here it is", Image(data=PNG, format="png")]


def look() -> list[EmbeddedResource | ResourceLink]:
    """Look at what there is."""
    note = TextResourceContents(uri="memo://note", mime_type="text/plain", text="buy nails")
    return [EmbeddedResource(resource=note), ResourceLink(name="plan", uri="memo://plan", mime_type="text/plain")]


def fail() -> str:
    """Fail."""
    raise ToolError("no wood left")


async def grow(ctx: Context) -> str:
    """Grow a tool."""
    ctx.mcp_server.add_tool(greet, name="grown")
    await ctx.notify_tools_changed()
    return "grown"


def made() -> MCPServer:
    """The server; it says of all its tools that they change nothing."""
    server = MCPServer("workshop")
    for tool in (add, greet, draw, look, fail, grow):
        server.add_tool(tool, structured_output=tool is add, annotations=ToolAnnotations(read_only_hint=True))
    return server


if __name__ == "__main__":
    made().run("stdio")
