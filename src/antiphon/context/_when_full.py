"""What is done when not everything fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from ..errors import Misuse

FullAnswer = Literal["compact", "trim", "error", "send"]
WhenFull = FullAnswer | Callable[[int, int], str]
"""An answer, or a function of the tokens there would be and of the most that fit."""

_ANSWERS: dict[str, FullAnswer] = {"compact": "compact", "trim": "trim", "truncate": "trim", "error": "error"}


def check_when_full(given: object) -> None:
    """Refuse what is no answer and gives none.

    Raises:
        Misuse: naming what was given.
    """
    if not callable(given) and given not in get_args(FullAnswer):
        raise Misuse(f"when_full={given!r} is not known", "use 'compact', 'trim', 'error', 'send' or a function")


def answer_of(when_full: WhenFull, *, size: Callable[[], int], limit: int) -> FullAnswer:
    """What is to be done with history in this build.

    Args:
        when_full: the context's option.
        size: counts what there would be if everything were sent; a function is asked only where that is too much.
        limit: the most that fits.

    Raises:
        Misuse: if a function gives what is no answer.
    """
    if not callable(when_full):
        return when_full
    wanted = size()
    if wanted <= limit:
        return "compact"
    given: object = when_full(wanted, limit)
    if not isinstance(given, str) or given not in _ANSWERS:
        raise Misuse(f"when_full gave {given!r}", "give 'compact', 'trim' or 'error'")
    return _ANSWERS[given]
