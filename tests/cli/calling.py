"""A model on this machine that asks for the tools that it is told to, and tools for it to ask for."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.running import Ran, Terminal

TOOLS = '''
"""Orders."""

from antiphon.tools import ToolContext, tool


@tool(read_only=True)
def look_up(order: str) -> str:
    """Look up an order."""
    return f"{order}: shipped"


@tool
def send(to: str, text: str, ctx: ToolContext[object]) -> str:
    """Send a message."""
    ctx.progress(f"writing to {to}", fraction=0.5)
    with open(__file__ + ".sent", "a", encoding="utf-8") as file:
        file.write(f"{to}\\n")
    return f"sent to {to}"


@tool
def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)
'''


def wanting(*calls: tuple[str, Any]) -> str:
    """What is said to the model so that it makes these calls; arguments that are text are given as they are."""
    return json.dumps(calls)


def _offered(name: str, tools: list[dict[str, Any]]) -> str:
    """The name under which a tool was sent: some are sent under others, for the wire takes no dots."""
    sent = [each["function"]["name"] for each in tools]
    return next((each for each in sent if each.startswith(name.replace(".", "_"))), name)


def _message(messages: list[dict[str, Any]], *, tools: list[dict[str, Any]]) -> dict[str, Any]:
    """A call for each that the person names; the results in words, once they are there."""
    results = [each["content"] for each in messages[-8:] if each["role"] == "tool"]
    if messages[-1]["role"] == "tool":
        return {"content": f"It gave {results[-1]}"}
    try:
        asked = json.loads(messages[-1]["content"])
    except ValueError:
        return {"content": "Only words."}
    calls = [
        {
            "index": n,
            "id": f"c{n + 1}",
            "type": "function",
            "function": {
                "name": _offered(name, tools),
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for n, (name, given) in enumerate(asked)
    ]
    return {"content": None, "tool_calls": calls}


class _Answering(http.server.BaseHTTPRequestHandler):
    """Speaks as OpenAI's chat completions do (https://platform.openai.com/docs/api-reference/chat-streaming)."""

    def do_POST(self) -> None:
        """Answer."""
        assert isinstance(self.server, _Server)
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.gate.wait(20)
        said = _message(asked["messages"], tools=asked.get("tools", []))
        finish = "tool_calls" if "tool_calls" in said else "stop"
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for delta, reason in (({"role": "assistant", **said}, None), ({}, finish)):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            self.wfile.write(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing beside it."""


class _Server(http.server.ThreadingHTTPServer):
    """Holds every answer back while its gate is closed."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.gate = threading.Event()
        self.gate.set()


@contextmanager
def calling_model() -> Iterator[tuple[str, threading.Event]]:
    """A model that makes the calls of `wanting`; gives its name, and what holds its answers back once it is cleared."""
    server = _Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1#m", server.gate
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Asker:
    """A user who asks that model, with those tools.

    Attributes:
        model: the model's name.
        gate: holds its answers back once it is cleared.
        options: what a command is given to offer the tools.
    """

    def __init__(self, terminal: Terminal, model: str, *, gate: threading.Event) -> None:
        self.terminal = terminal
        self.model, self.gate = model, gate
        self.file = terminal.home / "tools.py"
        self.file.write_text(TOOLS, encoding="utf-8")
        self.options = ("-m", model, "--tools", str(self.file))

    def ask(self, *calls: tuple[str, Any], session: str = "s", options: tuple[str, ...] = ()) -> Ran:
        """Have the model make calls."""
        return self.terminal.run("ask", *self.options, *options, "--session", session, wanting(*calls))

    @property
    def sent(self) -> list[str]:
        """To whom messages were sent."""
        file = Path(f"{self.file}.sent")
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
