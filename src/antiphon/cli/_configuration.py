"""What files say about models, instructions and where sessions are: the project's file, then the user's own.

Flags and the environment decide before them. Secrets are never read from them.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
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
    """

    model: Setting | None = None
    store: Setting | None = None
    system: Setting | None = None


NOTHING = Configuration()
"""What is said where there is no file."""
KEYS = tuple(each.name for each in fields(Configuration))


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
    files = [users_file(environ), *([] if project is None else [project / NAME])]
    found: dict[str, Setting] = {}
    for file in files:
        found |= _settings(file)
    return Configuration(**found)


def _settings(file: Path) -> dict[str, Setting]:
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
        _check(name, value, said=said, where=f"{file}, line {_line(text, name)}")
    return {name: Setting(_whole(name, value, file=file), file) for name, value in said.items()}


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
    if not isinstance(value, str) or not value.strip():
        raise Refused(f'{where}: {name!r} must be text in quotes, as in {name} = "…"')


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
    return str(file.parent / Path(value).expanduser()) if name == "store" else value


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
