"""A person decides on calls in the middle of a command, with what the terminal itself offers."""

from __future__ import annotations

import signal
import sys

from ..chat import Session
from ..errors import AntiphonError
from ._deciding import Deciding, system_user
from ._endings import sentence
from ._screen import Screen
from ._waiting_calls import Find


def somebody_is_there() -> bool:
    """Whether a person can be asked: both what is typed and what is said go through a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


async def decided_plainly(session: Session, screen: Screen, *, find: Find) -> bool:
    """Ask about every call that waits; False leaves what is not decided waiting, as Ctrl-C and Ctrl-D do."""
    deciding = Deciding(session, screen, find=find, by=system_user())
    ended = await deciding.ask()
    while ended is None:
        if deciding.asks.draft:
            screen.line(deciding.asks.draft)
        line = _typed(screen, deciding.asks.sign)
        if line is None:
            if not deciding.back():
                return False
            continue
        try:
            ended = await deciding.take(line)
        except AntiphonError as error:
            screen.sentence(sentence(error), style="yellow")
    return ended == "decided"


def _typed(screen: Screen, sign: str) -> str | None:
    """The next line; None is Ctrl-C or Ctrl-D. Nothing else runs here that the standing loop could keep waiting."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        screen.piece(sign)
        # Not input(), which writes its line break to standard output.
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        line = ""
    finally:
        signal.signal(signal.SIGINT, before)
    if not line:
        screen.line()
    return line.rstrip("\n") if line else None
