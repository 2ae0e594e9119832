"""What files say about models, instructions, tools and where sessions are: the project's file, then the user's own.

Flags and the environment decide before them. Secrets are never read from them. What runs code or grants anything is
read from the user's own file alone: a project's may have come with the project.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from ._endings import Refused

PROJECT = ".antiphon"
"""A folder of this name keeps what belongs to a project: its sessions, in `chats`, and its `config.toml`."""
NAME = "config.toml"

_SECRET = re.compile(r"(^|_|-)(key|token|secret|password|credential)s?$|api[_-]?key", re.IGNORECASE)
_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
_PLACE = re.compile(r" \(at line (\d+), column \d+\)| \(at end of document\)")


class Setting(NamedTuple):
    """A value, and the file that says it."""

    value: str
    file: Path


@dataclass(frozen=True, slots=True)
class Configuration:
    """What the files say; None where neither says anything.

    Attributes:
        model: who answers where nobody says otherwise.
        store: where sessions are.
        system: instructions for new sessions.
        tools: Python files whose tools are offered.
        mcp: configurations of MCP servers.
        allow, ask, deny: patterns of tools' names that run unasked, wait, never run; those of both files count.
    """

    model: Setting | None = None
    store: Setting | None = None
    system: Setting | None = None
    tools: tuple[Setting, ...] = ()
    mcp: tuple[Setting, ...] = ()
    allow: tuple[Setting, ...] = ()
    ask: tuple[Setting, ...] = ()
    deny: tuple[Setting, ...] = ()


NOTHING = Configuration()
"""What is said where there is no file."""
KEYS = tuple(each.name for each in fields(Configuration))
_LISTS = ("tools", "mcp", "allow", "ask", "deny")
_OWN = ("tools", "mcp", "allow")
_PATHS = ("store", "tools", "mcp")


def project_folder(here: Path) -> Path | None:
    """Give the nearest `.antiphon` folder, here or above."""
    return next((folder / PROJECT for folder in (here, *here.parents) if (folder / PROJECT).is_dir()), None)


def users_file(environ: Mapping[str, str]) -> Path:
    """Give where the user's own file is, whether it is there or not."""
    given = Path(environ.get("XDG_CONFIG_HOME", ""))
    if not given.is_absolute():
        roaming = environ.get("APPDATA") if sys.platform == "win32" else None
        given = Path(roaming) if roaming else Path.home() / ".config"
    return given / "antiphon" / NAME


def configuration(*, environ: Mapping[str, str], here: Path) -> Configuration:
    """Read the project's file and the user's own; what the first says goes before.

    Raises:
        Refused: if one of them cannot be understood, holds an unknown key, or a secret.
        OSError: if one of them is there and cannot be read.
    """
    project = project_folder(here)
    own = users_file(environ)
    found = Configuration(**_settings(own, own=True))
    if project is None or project / NAME == own:
        return found
    said = _settings(project / NAME, own=False)
    # Patterns of both count, so that none takes another's away.
    both = {name: getattr(found, name) + value for name, value in said.items() if name in _LISTS}
    return replace(found, **(said | both))


def _settings(file: Path, *, own: bool) -> dict[str, Any]:
    try:
        content = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    try:
        text = str(content, "utf-8-sig")
        said = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise Refused(f"{file}, line {1 + content[: error.start].count(10)}: not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise Refused(_not_toml(file, str(error), lines=1 + content.count(10))) from None
    for name, value in said.items():
        where = f"{file}, line {_line(text, name)}"
        _check(name, value, said=said, where=where)
        if name in _OWN and not own:
            raise Refused(
                f"{where}: {name!r} runs code or lets it run, and a project's file may not: say --{name}, or put it"
                " into your own configuration"
            )
    return {name: _setting(name, value, file=file) for name, value in said.items()}


def _setting(name: str, value: Any, *, file: Path) -> Any:
    if name not in _LISTS:
        return Setting(_whole(name, value, file=file), file)
    listed = [value] if isinstance(value, str) else value
    return tuple(Setting(_whole(name, each, file=file), file) for each in listed)


def _not_toml(file: Path, problem: str, *, lines: int) -> str:
    place = _PLACE.search(problem)
    line = place[1] if place is not None and place[1] else lines
    what = _PLACE.sub("", problem)
    return f"{file}, line {line}: not TOML: {what[:1].lower()}{what[1:]}"


def _check(name: str, value: Any, *, said: Mapping[str, Any], where: str) -> None:
    if secret := _secret(name, value):
        raise Refused(
            f"{where}: {secret!r} looks like a secret, and none is read from a file: take it out and set it in the"
            f" environment, as {_variable(secret, said)}"
        )
    if name not in KEYS:
        raise Refused(f"{where}: {name!r} is not known; known are {', '.join(KEYS)}")
    listed = value if name in _LISTS and isinstance(value, list) else [value]
    if not all(isinstance(each, str) and each.strip() for each in listed):
        as_list = f', or a list, as in {name} = ["…", "…"]' if name in _LISTS else ""
        raise Refused(f'{where}: {name!r} must be text in quotes, as in {name} = "…"{as_list}')


def _secret(name: str, value: Any) -> str | None:
    """The name of a secret: this one's, or that of one inside."""
    if isinstance(value, dict):
        return next((found for inner, held in value.items() if (found := _secret(inner, held))), None)
    return name if _SECRET.search(name) else None


def _variable(secret: str, said: Mapping[str, Any]) -> str:
    """The variable of the environment that a key belongs in: by its own name, else by the model beside it."""
    about = secret.lower() + " " + str(said.get("model", "")).partition(":")[0]
    named = [variable for provider, variable in _VARIABLES.items() if provider in about]
    return named[0] if named else "OPENAI_API_KEY (or what the provider's is called)"


def _line(text: str, name: str) -> int:
    """The first line that names a key; tomllib does not tell."""
    pattern = re.compile(rf"\s*(\[\s*)?[\"']?{re.escape(name)}[\"']?\s*[=.\]]")
    return next((number for number, line in enumerate(text.split("\n"), 1) if pattern.match(line)), 1)


def _whole(name: str, value: str, *, file: Path) -> str:
    # A path in a file means the same wherever the command is started.
    return str(file.parent / Path(value).expanduser()) if name in _PATHS else value


def write_model(model: str, file: Path) -> None:
    """Write which model answers from now on, as the file's first line.

    Raises:
        OSError: if the file cannot be written; it is as it was then.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    before = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_text(f"model = {json.dumps(model, ensure_ascii=False)}\n{before}", encoding="utf-8")
    new.replace(file)
