"""A session as one JSON value, and back: for hosts that keep conversations themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from .._jsonable import Jsonable
from .._messages import Message, one_result_each, read_message
from ..context import Summary
from ..errors import Misuse
from ..transcript import Transcript, Turn, dialogue
from ._copying import Told

VERSION = 1


def snapshot_of(turns: Sequence[Turn], transcript: Transcript, *, summaries: Sequence[Summary]) -> dict[str, Jsonable]:
    """The session as JSON; see `Session.snapshot`."""
    said = [message for turn in turns for message in _said(turn)]
    active = dialogue(turns[transcript.cleared :])
    written = [asdict(summary) for summary in summaries]
    return {
        "version": VERSION,
        "sessionId": transcript.session_id,
        "messages": said,
        "activeMessages": _plain(active),
        "summary": written[-1]["text"] if written else None,
        "summaries": written,
        "tools": [],
        "state": {key: entry.value for key, entry in transcript.state.items()},
    }


def _plain(messages: Sequence[Message]) -> list[Jsonable]:
    return [single.to_json() for message in messages for single in one_result_each(message)]


def _said(turn: Turn) -> list[Jsonable]:
    said = _plain(turn.messages)
    # Marked, for restored without it half a reply would pass for a whole one.
    return said if turn.status == "completed" else [{**message, "unfinished": turn.id} for message in said]


def read_snapshot(given: Mapping[str, Any]) -> tuple[Told, dict[str, Jsonable]]:
    """The messages and the state of a snapshot; one without version, as other libraries write, is read too.

    Raises:
        Misuse: if it is of another version, or no snapshot.
        NotStorable: if a message cannot be read.
    """
    version = given.get("version", VERSION)
    if version != VERSION:
        raise Misuse(f"a snapshot of version {version!r}", f"this antiphon reads version {VERSION}")
    messages, state = given.get("messages"), given.get("state") or {}
    if not isinstance(messages, Sequence) or isinstance(messages, str) or not isinstance(state, Mapping):
        raise Misuse("this is no snapshot", "give what session.snapshot() gave: an object with messages and state")
    marks = [message.get("unfinished") if isinstance(message, Mapping) else None for message in messages]
    unfinished = {n: str(mark) for n, mark in enumerate(marks) if mark is not None}
    read = [read_message(message) for message in messages]
    return Told(read, unfinished, cleared=_cleared(given, unfinished)), dict(state)


def _cleared(given: Mapping[str, Any], unfinished: Mapping[int, str]) -> int:
    """How many messages stood before the dialogue that contexts start from; others' snapshots do not say it."""
    active, total = given.get("activeMessages"), len(given["messages"])
    if "version" not in given or not isinstance(active, Sequence):
        return 0
    finished = [n for n in range(total) if n not in unfinished]
    before = len(finished) - len(active)
    return 0 if before <= 0 else [*finished, total][before]
