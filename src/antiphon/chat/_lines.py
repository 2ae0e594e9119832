"""Entries as lines that can surely be read again.

Python does not hold callers and models to the declared types: a number as a key, a part whose text is None. Written
as it is, such a value would make the whole journal unreadable for ever.
"""

from __future__ import annotations

from ..errors import CorruptJournal, NotStorable
from ..journal import Line, decode, encode
from ..journal._entries import KnownEntry


def readable_line(entry: KnownEntry) -> Line:
    """Write an entry, and read it once to be sure.

    Raises:
        NotStorable: if a value in it is not of the kind that its place takes.
    """
    try:
        line = encode(entry)
        decode(line.data)
    except (TypeError, ValueError, CorruptJournal) as error:
        why = error.why if isinstance(error, CorruptJournal) else str(error)
        raise NotStorable(entry.type, f"a value of the wrong kind ({why})") from None
    return line
