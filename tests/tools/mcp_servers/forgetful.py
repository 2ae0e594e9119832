"""A server of the older protocol over HTTP that forgets its sessions, and refuses, when it is asked to."""

from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("whoami", "refuse")]


class Forgetful:
    """The server.

    Attributes:
        sessions: the ids of the sessions that were begun, in order.
        forgotten: the ids that it knows no more.
        headers: those of the last request.
    """

    def __init__(self) -> None:
        self.sessions: list[str] = []
        self.forgotten: set[str] = set()
        self.headers: dict[str, str] = {}

    def app(self) -> Starlette:
        """What answers at `/mcp`."""
        return Starlette(routes=[Route("/mcp", self.answer, methods=["POST"])])

    async def answer(self, request: Request) -> Response:
        """Answer one message."""
        message = await request.json()
        self.headers = dict(request.headers)
        session = request.headers.get("mcp-session-id", "")
        if session in self.forgotten:
            return Response(status_code=404)
        if message.get("params", {}).get("name") == "refuse":
            return Response(status_code=503)
        if "id" not in message:
            return Response(status_code=202)
        if message["method"] == "initialize":
            session = f"session-{len(self.sessions) + 1}"
            self.sessions.append(session)
        return self.said(message, session)

    def said(self, message: dict[str, Any], session: str) -> Response:
        """What a message is answered with."""
        info = {"name": "forgetful", "version": "1"}
        version = message.get("params", {}).get("protocolVersion")
        results: dict[str, Any] = {
            "initialize": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info},
            "tools/list": {"tools": TOOLS},
            "tools/call": {"content": [{"type": "text", "text": session}]},
        }
        found = results.get(message["method"])
        answer = {"error": {"code": -32601, "message": "no such method"}} if found is None else {"result": found}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], **answer}, headers={"mcp-session-id": session})
