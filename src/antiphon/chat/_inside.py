"""Which session's turn runs the code that is being run: a tool that waits for its own turn would wait for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..errors import Misuse

_SESSION: ContextVar[str] = ContextVar("antiphon_session", default="")


@contextmanager
def inside(session_id: str) -> Iterator[None]:
    """Mark what is called here, and every task and thread begun from it, as run by a turn of this session."""
    token = _SESSION.set(session_id)
    try:
        yield
    finally:
        _SESSION.reset(token)


def must_be_outside(session_id: str) -> None:
    """Refuse to wait for a running turn from within it.

    Raises:
        Misuse: if this is run by a turn of the session.
    """
    if _SESSION.get() == session_id:
        found = f"a tool of a running turn waits for that turn to end, in chat session {session_id!r}"
        raise Misuse(found, "use another session, or give what is to be said back as the tool's result")
