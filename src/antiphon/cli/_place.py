"""Where sessions live, and the options that say so."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, ParamSpec

import click

from ..chat import Chat, Session
from ..stores import FileStore
from ._endings import Refused

P = ParamSpec("P")

PROJECT = ".antiphon"
"""A folder of this name keeps a project's sessions, in `chats`."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of sessions, and whose of them are meant.

    Attributes:
        folder: where they are.
        scope: only those of this owner; None means all.
    """

    folder: Path
    scope: str | None = None

    @property
    def shown(self) -> str:
        """The folder as a person writes it."""
        return shortened(self.folder)

    def store(self) -> FileStore:
        """A store for this folder."""
        return FileStore(self.folder)

    def chat(self, model: str | None = None) -> Chat:
        """A Chat that keeps its sessions here; without a model it only reads."""
        return Chat(model, store=self.store())

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
        return await chat.open_session(session_id or await self.last(chat), scope=self.scope)


def folder_of_chats(given: str | None, *, environ: Mapping[str, str], here: Path) -> Path:
    """Decide where sessions live.

    Args:
        given: what `--store` says; it decides alone.
        environ: `ANTIPHON_STORE` decides next.
        here: then the nearest `.antiphon` folder, here or above; then the user's own data directory.
    """
    chosen = given or environ.get("ANTIPHON_STORE")
    if chosen:
        return Path(chosen).expanduser()
    for folder in (here, *here.parents):
        if (folder / PROJECT).is_dir():
            return folder / PROJECT / "chats"
    return _data_directory(environ) / "antiphon" / "chats"


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
        store, scope = options.pop("store", None), options.pop("scope", None)
        folder = folder_of_chats(
            None if store is None else str(store), environ=os.environ, here=Path(os.path.abspath(os.curdir))
        )
        return command(Place(folder, None if scope is None else str(scope)), *args, **options)

    return placed
