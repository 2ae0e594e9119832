"""Where sessions live, and the options that say so."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, ParamSpec

import click

from ..chat import Chat, Session
from ..context import LayeredContext
from ..stores import FileStore
from ..tools import Tool, ToolPolicy
from ._configuration import NOTHING, PROJECT, Configuration, configuration, project_folder
from ._endings import Refused

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of sessions, and whose of them are meant.

    Attributes:
        folder: where they are.
        scope: only those of this owner; None means all.
        configured: what the configuration says.
        again: the options that mean this place, to be written behind another command; empty where none was given.
    """

    folder: Path
    scope: str | None = None
    configured: Configuration = NOTHING
    again: str = ""

    @property
    def shown(self) -> str:
        """The folder as a person writes it."""
        return shortened(self.folder)

    def store(self) -> FileStore:
        """A store for this folder."""
        return FileStore(self.folder)

    def chat(self, model: str | None = None, *, tools: Sequence[Tool] = (), policy: ToolPolicy | None = None) -> Chat:
        """A Chat that keeps its sessions here; without a model it only reads."""
        return Chat(model, store=self.store(), context=LayeredContext(), tools=tools, policy=policy)

    def journal(self, session_id: str) -> Path:
        """The file of a session."""
        return self.folder / f"{session_id}.jsonl"

    def prepare(self) -> None:
        """Before something is kept here: a project's sessions stay out of its version control.

        Raises:
            OSError: if the project's folder cannot be written.
        """
        whole = Path(os.path.abspath(self.folder))
        inside = [folder for folder in (whole, *whole.parents) if folder.name == PROJECT]
        if not inside or whole.is_dir():
            return
        inside[0].mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), (inside[0] / ".gitignore").open("x", encoding="utf-8") as file:
            file.write("*\n")

    async def last(self, chat: Chat) -> str:
        """The session that changed last.

        Raises:
            Refused: if there is none.
            StoreError: if the folder cannot be read.
        """
        found = [each async for each in chat.sessions(scope=self.scope, limit=1)]
        if not found:
            whose = "" if self.scope is None else f" of {self.scope!r}"
            raise Refused(f"there is no chat session{whose} in {self.shown}; `antiphon ask` begins one")
        return found[0].id

    async def open(self, chat: Chat, *, session_id: str | None) -> Session:
        """Open a session; None is the one that changed last.

        Raises:
            Refused: if there is none.
            StoreError: if it is not there, or cannot be read.
        """
        if session_id is None:
            session_id = await self.last(chat)
        return await chat.open_session(session_id, scope=self.scope)


def folder_of_chats(
    given: str | None, *, environ: Mapping[str, str], here: Path, configured: Configuration = NOTHING
) -> Path:
    """Decide where sessions live.

    Args:
        given: what `--store` says; it decides alone.
        environ: `ANTIPHON_STORE` decides next.
        here: then the nearest `.antiphon` folder, here or above, and what its configuration says.
        configured: then the user's own configuration; then the user's own data directory.

    Raises:
        Refused: if `--store` is empty, as an unset variable is.
    """
    if given is not None and not given.strip():
        raise Refused("--store names no folder; give one, or leave it out")
    chosen = given or environ.get("ANTIPHON_STORE")
    if chosen:
        return Path(chosen).expanduser()
    project, said = project_folder(here), configured.store
    if project is not None and (said is None or said.file.parent != project):
        return project / "chats"
    return _data_directory(environ) / "antiphon" / "chats" if said is None else Path(said.value)


def _data_directory(environ: Mapping[str, str]) -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"])
    shared = Path(environ.get("XDG_DATA_HOME", ""))
    # A relative path is to be ignored: XDG Base Directory Specification, "Basics".
    return shared if shared.is_absolute() else Path.home() / ".local" / "share"


def shortened(path: Path) -> str:
    """Write a path as a person does, with `~` for the home folder."""
    with contextlib.suppress(ValueError, RuntimeError):
        return str(Path("~") / path.relative_to(Path.home()))
    return str(path)


def at_a_place(command: Callable[Concatenate[Place, P], int]) -> Callable[P, int]:
    """Add the options `--store` and `--scope`; the command gets the place that they mean."""

    @click.option("--store", metavar="DIR", help="Where the sessions are. [env: ANTIPHON_STORE]")
    @click.option("--scope", metavar="OWNER", help="Only sessions of this owner.")
    @functools.wraps(command)
    def placed(*args: P.args, **options: P.kwargs) -> int:
        store, scope = _text(options.pop("store", None)), _text(options.pop("scope", None))
        here = Path(os.path.abspath(os.curdir))
        configured = configuration(environ=os.environ, here=here)
        folder = folder_of_chats(store, environ=os.environ, here=here, configured=configured)
        given = {"--store": store, "--scope": scope}
        again = "".join(f" {name} {shlex.quote(value)}" for name, value in given.items() if value)
        return command(Place(folder, scope, configured, again), *args, **options)

    return placed


def _text(given: object) -> str | None:
    return None if given is None else str(given)
