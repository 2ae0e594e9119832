"""What a person asks: the words of the command, and what comes through a pipe."""

from __future__ import annotations

import sys
from typing import IO

from ._endings import Refused


def question(prompt: str | None, *, needed: bool = True) -> str:
    """Put together what came through standard input and the prompt: the text, a blank line, the prompt.

    Raises:
        Refused: if there is neither and words are needed, or one of them is not UTF-8.
    """
    said = (prompt or "").strip("\n")
    try:
        said.encode()
    except UnicodeEncodeError:
        raise Refused("the prompt is not UTF-8, and nothing else can be kept; convert it") from None
    piped = _piped(sys.stdin)
    if needed and not said.strip() and not piped.strip():
        raise Refused('there is nothing to ask: say it, as in `antiphon ask "Why is the sky blue?"`, or pipe it in')
    return "\n\n".join(text for text in (piped, said) if text.strip())


def _piped(stream: IO[str] | None) -> str:
    if stream is None or stream.closed or stream.isatty():
        return ""
    # Bytes, because the encoding of a terminal says nothing about that of a file.
    content = stream.buffer.read() if hasattr(stream, "buffer") else stream.read().encode()
    try:
        return str(content, "utf-8-sig").strip("\n")
    except UnicodeDecodeError as error:
        raise Refused(
            f"what came through standard input is not UTF-8 (byte {error.start}), and nothing else can be kept;"
            " convert it, as with `iconv -t UTF-8`"
        ) from None
