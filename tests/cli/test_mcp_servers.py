"""Tools of MCP servers, on the command line."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.calling import Asker, wanting
from tests.cli.running import Ran
from tests.cli.talking import ENTER, Talk

SERVERS = Path(__file__).parents[1] / "tools" / "mcp_servers"


def ask(asker: Asker, *options: str, read_only: tuple[str, ...] = (), **servers: object) -> Ran:
    """Have the model greet through a server, where others may stand beside it."""
    shop = {"command": sys.executable, "args": [str(SERVERS / "workshop.py")], "readOnly": list(read_only)}
    file = asker.terminal.home / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"shop": shop, **servers}}), encoding="utf-8")
    said = wanting(("mcp.shop.greet", {"name": "ana"}))
    return asker.terminal.run("ask", "-m", asker.model, "--mcp", str(file), *options, said)


@pytest.mark.parametrize(
    ("options", "read_only", "code"),
    [((), (), 3), ((), ("greet",), 0), (("--allow", "mcp.shop.*"), (), 0)],
)
def test_tools_of_servers_ask(asker: Asker, options: tuple[str, ...], read_only: tuple[str, ...], code: int) -> None:
    """A server's tools ask, whatever it says of them, unless the configuration or an option lets them run."""
    ran = ask(asker, *options, read_only=read_only)
    assert ran.code == code, ran.err
    assert ran.out == ("" if code else "It gave hello ana\n")


def test_a_server_that_fails_is_one_line(asker: Asker) -> None:
    """A server that cannot be started is a warning of one line, and the others are offered."""
    broken = {"command": "/nowhere/\x1b[2J"}
    ran = ask(asker, "--allow", "*", broken=broken)
    assert (ran.code, ran.out) == (0, "It gave hello ana\n")
    [warning] = [line for line in ran.err.splitlines() if line.startswith("warning: ")]
    assert warning.startswith("warning: MCP server 'broken' cannot be used: ")
    assert "\x1b" not in ran.err


def test_servers_that_are_misspelled_are_refused(asker: Asker) -> None:
    """A configuration that cannot be understood is refused before anything is asked."""
    ran = ask(asker, broken={"comand": "x"})
    assert (ran.code, "comand" in ran.refusal) == (2, True)


def test_a_servers_new_tools_are_offered(asker: Asker) -> None:
    """In a conversation, what a server offers anew is offered from the next turn on."""
    ask(asker, "--deny", "*")
    servers = str(asker.terminal.home / "servers.json")
    with Talk(asker.terminal, "chat", "-m", asker.model, "--mcp", servers, "--allow", "*") as talk:
        talk.wait("> ", seconds=40)
        for call in ("grow", "grown"):
            talk.type(wanting((f"mcp.shop.{call}", {"name": "bo"} if call == "grown" else {})), ENTER)
            talk.wait("= mcp.shop.grow: grown" if call == "grow" else "hello bo")
            talk.wait("> ")
