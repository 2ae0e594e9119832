"""A server that misbehaves when it is asked to.

Written by hand, for it starts in no time and speaks the older protocol.

Arguments: `--fail` ends it at once with a word on standard error, `--mute` has it never answer, `--chatty` has it
write what is no message.
What it notes for the tests goes into the file that ROUGH_NOTES names.
"""

import json
import os
import sys
from typing import Any

OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
TOOLS: list[dict[str, Any]] = [
    {"name": name, "description": name, "inputSchema": OBJECT}
    for name in ("die", "hang", "count", "environment", "grow", "a/b", "a_b")
]
TOOLS.append({"name": "wrong", "inputSchema": OBJECT, "outputSchema": {"type": "object", "required": ["x"]}})
TOOLS.append({"name": "odd", "inputSchema": {"type": "object", "properties": {"x": {"type": "strange"}}}})
SLOW = {"type": "string", "pattern": "^(a+)+$"}
TOOLS.append({"name": "slow", "inputSchema": {"type": "object", "properties": {"x": SLOW}}})
TOOLS.append({"name": "bare", "inputSchema": {"type": "object", "$comment": "kept", "x-own": 1, "properties": {}}})


def send(**message: Any) -> None:
    """Write a message."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def note(words: str) -> None:
    """Leave a note for the test."""
    with open(os.environ["ROUGH_NOTES"], "a", encoding="utf-8") as notes:
        notes.write(words + "\n")


def called(request: dict[str, Any], calls: int) -> str | None:
    """What a tool says; None for no answer at all."""
    match request["params"]["name"]:
        case "die":
            print("I am dying", file=sys.stderr, flush=True)
            os._exit(3)
        case "hang":
            note("hanging")
            return None
        case "wrong":
            return "wrong"
        case "environment":
            return " ".join(sorted(os.environ))
        case "grow":
            TOOLS.append({"name": "grown", "inputSchema": OBJECT})
            send(method="notifications/tools/list_changed")
    return f"call {calls} with {json.dumps(request['params'].get('arguments'))}"


def main() -> None:
    """Answer until the input ends."""
    print("rough is up", file=sys.stderr, flush=True)
    if "--fail" in sys.argv:
        sys.exit("no such workshop")
    if "--chatty" in sys.argv:
        sys.stdout.buffer.write(b"Welcome to \xff!\n\n{}\n[1]\n")
    calls = 0
    for line in sys.stdin:
        request = json.loads(line)
        if "--mute" in sys.argv:
            continue
        match request.get("method"):
            case "initialize":
                version = request["params"]["protocolVersion"]
                info = {"name": "rough", "version": "1"}
                able = {"tools": {"listChanged": True}}
                send(id=request["id"], result={"protocolVersion": version, "capabilities": able, "serverInfo": info})
            case "tools/list":
                # Two pages, so that both must be read.
                first = "cursor" not in (request.get("params") or {})
                page = {"tools": TOOLS[:2], "nextCursor": "2"} if first else {"tools": TOOLS[2:]}
                send(id=request["id"], result=page)
            case "tools/call":
                calls += 1
                said = called(request, calls)
                if said is not None:
                    wrong: dict[str, Any] = {"structuredContent": {}} if said == "wrong" else {}
                    send(id=request["id"], result={"content": [{"type": "text", "text": said}], **wrong})
            case "notifications/cancelled":
                note("cancelled")
            case other if "id" in request:
                send(id=request["id"], error={"code": -32601, "message": f"no method {other}"})


if __name__ == "__main__":
    main()
