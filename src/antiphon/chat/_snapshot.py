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

VERSION = 1


def snapshot_of(turns: Sequence[Turn], transcript: Transcript, *, summaries: Sequence[Summary]) -> dict[str, Jsonable]:
    """The session as JSON; see `Session.snapshot`."""
    said = [message for turn in turns for message in turn.messages]
    active = dialogue(turns[transcript.cleared :])
    written = [asdict(summary) for summary in summaries]
    return {
        "version": VERSION,
        "sessionId": transcript.session_id,
        "messages": _plain(said),
        "activeMessages": _plain(active),
        "summary": written[-1]["text"] if written else None,
        "summaries": written,
        "tools": [],
        "state": {key: entry.value for key, entry in transcript.state.items()},
    }


def _plain(messages: Sequence[Message]) -> list[Jsonable]:
    return [single.to_json() for message in messages for single in one_result_each(message)]


def read_snapshot(given: Mapping[str, Any]) -> tuple[list[Message], dict[str, Jsonable]]:
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
    return [read_message(message) for message in messages], dict(state)
