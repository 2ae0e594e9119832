"""Identifiers: time-ordered ones for entries and turns, unguessable ones for sessions, derived ones for keys."""

from __future__ import annotations

import hashlib
import os
import time
import uuid

_KEYED_TURNS = uuid.UUID("8f3c8a0e-52a5-5f0e-9d63-2f0b6c1f7a11")
"""Namespace of turn ids derived from keys. Changing it would let a repeated key start a second turn."""


def new_id() -> str:
    """Give a UUID of version 7 (RFC 9562, section 5.7) as text: 48 bits of milliseconds, then random bits."""
    milliseconds = time.time_ns() // 1_000_000
    number = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10))
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    digits = f"{number:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def new_session_id() -> str:
    """Give a random UUID of version 4 as lower-case text: not guessable, and a file name everywhere."""
    return str(uuid.uuid4())


def keyed_turn_id(session_id: str, key: str) -> str:
    """Give the turn id that `key` always has in this session, in every process (UUID version 5)."""
    name = f"{session_id}\0{key}".encode(errors="surrogatepass")
    return str(uuid.UUID(bytes=hashlib.sha1(_KEYED_TURNS.bytes + name).digest()[:16], version=5))
