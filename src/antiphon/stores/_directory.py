"""The directory of a `FileStore`: what it keeps where, and which session ids can be file names everywhere."""

from __future__ import annotations

import hashlib
import os
import re

from ..errors import InvalidSessionId
from ._disk import Disk

SUFFIX = ".jsonl"

RULE = (
    "use 1 to 128 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit, not ending in '.',"
    " and no device name of Windows such as con or nul"
)

_ID = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9_-])?", re.ASCII)

# Microsoft, "Naming Files, Paths, and Namespaces": reserved also with an extension behind.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")


def is_session_id(text: object) -> bool:
    """Say whether a session of this id can be kept in a file."""
    return isinstance(text, str) and bool(_ID.fullmatch(text)) and not _DEVICE.fullmatch(text)


class Directory:
    """The directory of one store: its file calls and its paths.

    Attributes:
        disk: makes the file calls.
        shown: the directory as the caller wrote it, for errors.
        root: its absolute path, so that a later change of the working directory changes nothing.
        fresh: where journals are written before they get their name.
    """

    def __init__(self, path: str | os.PathLike[str], disk: Disk) -> None:
        self.disk = disk
        self.shown = os.fspath(path)
        self.root = os.path.abspath(self.shown)
        self.fresh = os.path.join(self.root, ".new")
        self._locks = os.path.join(self.root, ".locks")
        self._derived = os.path.join(self.root, ".derived")

    @staticmethod
    def check(session_id: str) -> None:
        """Refuse an id before any path is made of it.

        Raises:
            InvalidSessionId
        """
        if not is_session_id(session_id):
            raise InvalidSessionId(session_id, RULE)

    def journal(self, session_id: str) -> str:
        """Give the path of a session's journal."""
        return os.path.join(self.root, session_id + SUFFIX)

    def shown_journal(self, session_id: str) -> str:
        """Give the journal's path as the caller would write it."""
        return os.path.join(self.shown, session_id + SUFFIX)

    def new_journal(self, session_id: str) -> str:
        """Give a path that no other creator uses, for a journal that has no name yet."""
        return os.path.join(self.fresh, f"{os.urandom(8).hex()}-{session_id}")

    @staticmethod
    def creator_of(name: str) -> str:
        """Give the session for which a file in `fresh` was made."""
        return name.partition("-")[2]

    def lock(self, session_id: str) -> str:
        """Give the path of a session's lease."""
        return os.path.join(self._locks, session_id)

    def derived(self, session_id: str) -> str:
        """Give the directory of a session's derived content."""
        return os.path.join(self._derived, session_id)

    def derived_file(self, session_id: str, key: str) -> str:
        """Give the path of what is derived under `key`, which may be any text."""
        name = hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()[:32]
        return os.path.join(self.derived(session_id), name)

    @staticmethod
    def session_of(name: str) -> str | None:
        """Give the session whose journal has this file name, or None."""
        session_id = name.removesuffix(SUFFIX)
        return session_id if session_id != name and is_session_id(session_id) else None
