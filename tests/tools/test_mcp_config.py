"""The configuration of MCP servers: what is read, and one clear sentence for each thing that is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from antiphon.errors import Misuse
from antiphon.tools import McpHttpServer, McpServers, McpStdioServer
from antiphon.tools._mcp_config import servers_of

THE = "the MCP configuration"
NAMES = {"KEY": "k-1", "EMPTY": ""}


def read(**servers: Any) -> Any:
    """What a configuration with these servers gives."""
    return servers_of({"mcpServers": servers}, environ=NAMES)


def test_both_kinds_of_servers_are_read() -> None:
    """A program has command, args, env and cwd, an address url and headers; readOnly is the caller's word."""
    found = read(
        files={"command": "npx", "args": ["-y", "files"], "env": {"A": "1"}, "cwd": "/tmp", "readOnly": ["read"]},
        hub={"type": "http", "url": "https://host/mcp", "headers": {"X": "1"}},
    )
    assert found == [
        McpStdioServer("files", "npx", args=["-y", "files"], env={"A": "1"}, cwd="/tmp", read_only=["read"]),
        McpHttpServer("hub", "https://host/mcp", headers={"X": "1"}, read_only=[]),
    ]


def test_a_disabled_server_is_left_out_and_foreign_keys_are_passed_over() -> None:
    """What other programs approve is no approval here."""
    [found] = read(
        off={"command": "x", "disabled": True}, on={"command": "x", "autoApprove": ["*"], "timeout": 5, "envFile": "e"}
    )
    assert found == McpStdioServer("on", "x", args=[], env={}, read_only=[])


def test_variables_are_put_in() -> None:
    """`${NAME}` is the environment's, `${NAME:-default}` has a default, and an empty value is a value."""
    [found] = read(hub={"url": "https://${HOST:-host}/", "headers": {"Authorization": "Bearer ${KEY}${EMPTY:-x}"}})
    assert (found.url, found.headers) == ("https://host/", {"Authorization": "Bearer k-1"})


def test_no_secret_is_shown() -> None:
    """The repr of a server has neither arguments nor variables, nor an address or headers."""
    found = read(a={"command": "x", "args": ["s3cret"], "env": {"A": "s3cret"}}, b={"url": "https://h/?k=s3cret"})
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ([], "mcpServers.x is a list; give an object with names as keys"),
        ({}, "mcpServers.x has neither 'command' nor 'url'; give one: a program to start, or an address"),
        ({"command": "a", "url": "b"}, "mcpServers.x has both 'command' and 'url'; give one: a program to start, or"),
        ({"command": 1}, "mcpServers.x.command is a number; give text"),
        ({"command": " "}, "mcpServers.x.command is empty; give text"),
        ({"command": "a", "args": "b"}, "mcpServers.x.args is text; give a list of texts"),
        ({"command": "a", "args": ["b", 2]}, "mcpServers.x.args[1] is a number; give text"),
        ({"command": "a", "env": {"A": True}}, "mcpServers.x.env.A is true; give text"),
        ({"command": "a", "env": {"A": "${NO}"}}, "mcpServers.x.env.A names the environment variable 'NO', which is"),
        ({"command": "a", "arg": []}, "mcpServers.x has the key 'arg'; did you mean 'args'?"),
        ({"command": "a", "read_only": []}, "mcpServers.x has the key 'read_only'; did you mean 'readOnly'?"),
        ({"command": "a", "readOnly": True}, "mcpServers.x.readOnly is true; give a list of texts"),
        ({"command": "a", "disabled": "no"}, "mcpServers.x.disabled is text; give true or false"),
        ({"url": "u", "type": "sse"}, "mcpServers.x.type is 'sse' beside 'url'; give 'http' or 'streamable-http' or"),
    ],
)
def test_what_is_wrong_with_a_server_is_said(said: Any, sentence: str) -> None:
    """A sentence names the configuration, the key, what was found and what to give."""
    with pytest.raises(Misuse) as raised:
        read(x=said)
    assert str(raised.value).startswith(f"{THE}: {sentence}")


@pytest.mark.parametrize(
    ("servers", "sentence"),
    [
        ({"a.b": {"command": "x"}}, f"{THE}: the name of a server is 'a.b'; use 1 to 64 letters, digits, '_' and '-'"),
        ({"a": {"url": "host/mcp"}}, "the url of MCP server 'a' is no address; give one such as https://host/mcp"),
    ],
)
def test_names_and_addresses_are_checked(servers: Any, sentence: str) -> None:
    """A dot in a server's name would leave in doubt where its tools' names begin."""
    with pytest.raises(Misuse) as raised:
        read(**servers)
    assert str(raised.value) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot be read: No such file or directory; give the path of an MCP configuration"),
        ("{", "is not JSON: line 1, column 2: "),
        ("\udcff", "is not JSON in UTF-8; "),
        ("[]", "is a list; give an object with names as keys"),
        ('{"servers": {}}', "has no 'mcpServers', it holds 'servers'; "),
        ('{"mcpServers": {"a": {}, "a": {}}}', "has the key 'a' twice in one object; keep one of them"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str | None, sentence: str) -> None:
    """A sentence begins with the file's path."""
    path = tmp_path / "mcp.json"
    if text is not None:
        path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(Misuse) as raised:
        McpServers.from_config(path)
    assert str(raised.value).startswith(f"{path} {sentence}")


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Some editors write one."""
    path = tmp_path / "mcp.json"
    path.write_text("\ufeff" + json.dumps({"mcpServers": {"a": {"command": "x"}}}), encoding="utf-8")
    assert servers_of(path, environ={})[0].name == "a"


def test_two_servers_of_one_name_are_refused() -> None:
    """By name, before anything is started."""
    with pytest.raises(Misuse, match="two MCP servers are named 'a'; give one another name"):
        McpServers([McpStdioServer("a", "x"), McpHttpServer("a", "https://host/mcp")])


def test_tools_are_there_once_started() -> None:
    """Before, there are none to give, which is said instead of giving none."""
    with pytest.raises(Misuse, match="not started"):
        McpServers([]).tools()
