"""Entries as lines that can surely be read again.

Python does not hold callers and models to the declared types: a number as a key, a part whose text is None. Written
as it is, such a value would make the whole journal unreadable for ever.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from ..errors import CorruptJournal, NotStorable
from ..journal import Line, decode, encode
from ..journal._entries import KnownEntry

E = TypeVar("E", bound=KnownEntry)


def readable_line(entry: E) -> tuple[Line, E]:
    """Write an entry, and read it once to be sure.

    Returns:
        The line, and the entry as it will be read: what is used from then on, so that a live session and the same
        one opened again never differ. Two halves of a character side by side are that character there.

    Raises:
        NotStorable: if a value in it is not of the kind that its place takes.
    """
    try:
        line = encode(entry)
        read: Any = decode(line.data)
    except (TypeError, ValueError, CorruptJournal) as error:
        why = error.why if isinstance(error, CorruptJournal) else str(error)
        raise NotStorable(entry.type, f"a value of the wrong kind ({why})") from None
    if read != entry and not _same(entry, read):
        raise NotStorable(entry.type, "a value of the wrong kind (it would be read as another one)")
    return line, read


def _same(given: Any, read: Any) -> bool:
    """Whether a value is read as what was given, and not as what an encoder made of bytes, dates or enums."""
    if isinstance(given, str) and isinstance(read, str):
        return joined(given) == read
    if isinstance(given, msgspec.Raw):
        return isinstance(read, msgspec.Raw)
    if isinstance(given, msgspec.Struct):
        return type(given) is type(read) and all(
            _same(getattr(given, name), getattr(read, name)) for name in given.__struct_fields__
        )
    if isinstance(given, tuple | list):
        return isinstance(read, tuple) and len(given) == len(read) and all(map(_same, given, read))
    return bool(given == read)


def joined(text: str) -> str:
    """A text as JSON gives it back: two halves of a character side by side are that character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
