"""Which MCP servers are to be connected, and the usual configuration that says so. Pure, but for reading the file."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import Misuse

# No dot, so that where a tool's full name goes from server to tool is never in doubt.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_KEYS = ("command", "args", "env", "cwd", "url", "headers", "readOnly", "disabled", "type")
_TYPES = {"stdio": "command", "http": "url", "streamable-http": "url", "streamableHttp": "url"}


@dataclass(frozen=True)
class McpStdioServer:
    """An MCP server that is started as a program and spoken to through its standard input and output.

    Attributes:
        name: what its tools' names begin with: `mcp.<name>.<tool>`; 1 to 64 letters, digits, `_` and `-`.
        command: the program.
        args: what it is given.
        env: variables it gets beside PATH, HOME and the like; nothing else of this process's environment reaches it.
        cwd: the folder it runs in; None is this process's.
        read_only: its own names of the tools that run unasked. What a server says of itself grants nothing.

    Raises:
        Misuse: if the name will not do.
    """

    name: str
    command: str
    _: KW_ONLY
    args: Sequence[str] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | Path | None = None
    read_only: Collection[str] = ()

    def __post_init__(self) -> None:
        _check_name(self.name, "an MCP server's name")


@dataclass(frozen=True)
class McpHttpServer:
    """An MCP server that is spoken to through streamable HTTP.

    Attributes:
        name: what its tools' names begin with; see `McpStdioServer`.
        url: where it is, as in `https://example.com/mcp`.
        headers: what every request carries, such as Authorization.
        read_only: its own names of the tools that run unasked.

    Raises:
        Misuse: if the name or the address will not do.
    """

    name: str
    url: str = field(repr=False)
    _: KW_ONLY
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    read_only: Collection[str] = ()

    def __post_init__(self) -> None:
        _check_name(self.name, "an MCP server's name")
        if not re.match(r"https?://[^/\s]", self.url):
            raise Misuse(f"the url of MCP server {self.name!r} is no address", "give one such as https://host/mcp")


McpServer = McpStdioServer | McpHttpServer
"""An MCP server of either kind."""


def servers_of(given: Mapping[str, Any] | str | Path, *, environ: Mapping[str, str]) -> list[McpServer]:
    """Read a configuration; see `McpServers.from_config`.

    Raises:
        Misuse: at the first thing that is wrong, named by file and key.
    """
    where, found = ("the MCP configuration", given) if isinstance(given, Mapping) else (str(given), _read(Path(given)))
    reader = _Reader(where, environ)
    listed = reader.entries(found, "it", required=True).get("mcpServers")
    if listed is None:
        keys = ", ".join(map(repr, found)) or "nothing"
        raise Misuse(f"{where} has no 'mcpServers', it holds {keys}", 'give {"mcpServers": {"name": {"command": …}}}')
    made = [reader.server(name, said) for name, said in reader.entries(listed, "mcpServers").items()]
    return [server for server in made if server is not None]


def _check_name(name: object, what: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Misuse(f"{what} is {name!r}", "use 1 to 64 letters, digits, '_' and '-'")


def _read(path: Path) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise Misuse(f"{path} has the key {twice!r} twice in one object", "keep one of them")
        return dict(pairs)

    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=once)
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror}", "give the path of an MCP configuration") from None
    except json.JSONDecodeError as error:
        raise Misuse(f"{path} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError):
        raise Misuse(f"{path} is not JSON in UTF-8", "give the path of an MCP configuration") from None


class _Reader:
    """Reads the values of one configuration, each named by its place where it is wrong."""

    def __init__(self, where: str, environ: Mapping[str, str]) -> None:
        self._where, self._environ = where, environ

    def server(self, name: str, said: Any) -> McpServer | None:
        """One server; None for one that is disabled."""
        at = f"mcpServers.{name}"
        _check_name(name, f"{self._where}: the name of a server")
        found = self.entries(said, at)
        self._check_keys(found, at)
        if self._typed(found.get("disabled", False), bool, at=f"{at}.disabled", asked="true or false"):
            return None
        read_only = self._texts(found.get("readOnly", []), f"{at}.readOnly", expand=False)
        if self._way(found, at) == "url":
            headers = self._named_texts(found.get("headers", {}), f"{at}.headers")
            return McpHttpServer(name, self._text(found["url"], f"{at}.url"), headers=headers, read_only=read_only)
        return McpStdioServer(
            name,
            self._text(found["command"], f"{at}.command"),
            args=self._texts(found.get("args", []), f"{at}.args"),
            env=self._named_texts(found.get("env", {}), f"{at}.env"),
            cwd=self._text(found["cwd"], f"{at}.cwd") if found.get("cwd") is not None else None,
            read_only=read_only,
        )

    def entries(self, given: Any, at: str, *, required: bool = False) -> Mapping[str, Any]:
        """An object; `required` says that it is the whole file."""
        place = self._where if required else f"{self._where}: {at}"
        if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
            raise Misuse(f"{place} is {_kind(given)}", "give an object with names as keys")
        return given

    def _way(self, found: Mapping[str, Any], at: str) -> str:
        """Which of `command` and `url` says how to reach the server."""
        ways = [key for key in ("command", "url") if found.get(key) is not None]
        if len(ways) != 1:
            has = "both 'command' and 'url'" if ways else "neither 'command' nor 'url'"
            raise Misuse(f"{self._where}: {at} has {has}", "give one: a program to start, or an address")
        kind = found.get("type", "stdio" if ways == ["command"] else "http")
        if not isinstance(kind, str) or _TYPES.get(kind) != ways[0]:
            fitting = " or ".join(repr(name) for name, way in _TYPES.items() if way == ways[0])
            raise Misuse(f"{self._where}: {at}.type is {kind!r} beside {ways[0]!r}", f"give {fitting}, or leave it out")
        return ways[0]

    def _check_keys(self, found: Mapping[str, Any], at: str) -> None:
        """Refuse what is misspelled; what only other programs know, such as their timeouts, is none of ours."""
        plain = {_bare(key): key for key in _KEYS}
        for key in found:
            near = difflib.get_close_matches(_bare(key), plain, n=1, cutoff=0.8)
            if near and plain[near[0]] != key:
                raise Misuse(f"{self._where}: {at} has the key {key!r}", f"did you mean {plain[near[0]]!r}?")

    def _typed(self, given: Any, kind: type | tuple[type, ...], *, at: str, asked: str) -> Any:
        if not isinstance(given, kind):
            raise Misuse(f"{self._where}: {at} is {_kind(given)}", f"give {asked}")
        return given

    def _text(self, given: Any, at: str) -> str:
        text: str = self._typed(given, str, at=at, asked="text")
        if not text.strip():
            raise Misuse(f"{self._where}: {at} is empty", "give text")
        return self._expanded(text, at)

    def _texts(self, given: Any, at: str, *, expand: bool = True) -> list[str]:
        listed = self._typed(given, (list, tuple), at=at, asked="a list of texts")
        found = [self._typed(each, str, at=f"{at}[{number}]", asked="text") for number, each in enumerate(listed)]
        return [self._expanded(each, f"{at}[{number}]") if expand else each for number, each in enumerate(found)]

    def _named_texts(self, given: Any, at: str) -> dict[str, str]:
        found = self.entries(given, at)
        texts = {key: self._typed(each, str, at=f"{at}.{key}", asked="text") for key, each in found.items()}
        return {key: self._expanded(text, f"{at}.{key}") for key, text in texts.items()}

    def _expanded(self, text: str, at: str) -> str:
        def value(match: re.Match[str]) -> str:
            name: str = match[1]
            default: str | None = match[2]
            found = self._environ.get(name, default)
            if found is None:
                advice = f"set it, or give a default as in ${{{name}:-…}}"
                raise Misuse(f"{self._where}: {at} names the environment variable {name!r}, which is not set", advice)
            return found

        return _VARIABLE.sub(value, text)


def _bare(key: str) -> str:
    return re.sub(r"[-_ ]", "", key).lower()


def _kind(given: object) -> str:
    if given is None or isinstance(given, bool):
        return json.dumps(given)
    kinds = ((str, "text"), ((int, float), "a number"), ((list, tuple), "a list"), (Mapping, "an object"))
    named = next((words for kind, words in kinds if isinstance(given, kind)), None)
    return named or f"a {type(given).__name__}"
