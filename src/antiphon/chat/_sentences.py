"""What an error says, also one of a stranger whose own words cannot be had."""

from __future__ import annotations


def sentence_of(error: BaseException) -> str:
    """The error's words, or its class where they are none."""
    try:
        said = str(error)
    except Exception:  # isolates: responder, custom context
        said = ""
    return str.__str__(said) if said else type(error).__name__
