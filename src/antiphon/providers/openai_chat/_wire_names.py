"""Names and ids as the wire takes them, each always mapped the same way. Pure."""

from __future__ import annotations

import hashlib
import re

from ..._messages import ToolCall

# https://platform.openai.com/docs/api-reference/chat/create: names of a-z, A-Z, 0-9, underscores and dashes, up to 64.
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# 40 is what the API says when an id is longer (firebase/genkit's compat plugin met it with ids of other providers).
_ID = re.compile(r"[!-~]{1,40}")


def call_id(id: str, *, occurrence: int = 0) -> str:
    """Give the id that a call is sent under: its own where that is 1 to 40 printable characters, else a digest.

    Args:
        id: as the journal keeps it.
        occurrence: how many calls of the same message have had this id before.
    """
    if occurrence == 0 and _ID.fullmatch(id):
        return id
    return derived_id(f"{id}#{occurrence}")


def derived_id(*seeds: str) -> str:
    """Give an id of 29 characters that these seeds always give."""
    return "call_" + _digest("\0".join(seeds))[:24]


def tool_name(name: str) -> str:
    """Give the name that a tool is sent under: its own where the wire takes it, else a readable part and a digest."""
    if _NAME.fullmatch(name):
        return name
    readable = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:55]
    return f"{readable}_{_digest(name)[:8]}"


def call_ids(calls: tuple[ToolCall, ...]) -> list[str]:
    """Give the ids that the calls of one message are sent under, each another."""
    seen: dict[str, int] = {}
    found = []
    for call in calls:
        occurrence = seen.get(call.id, 0)
        seen[call.id] = occurrence + 1
        found.append(call_id(call.id, occurrence=occurrence))
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
