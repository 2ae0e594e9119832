"""How a command ends that does not end well: one sentence, and a code.

0 all is well · 1 the model or a turn failed, or something unexpected · 2 what was asked cannot be done: usage,
input, store · 3 a call waits for a person · 130 Ctrl-C · 141 nobody reads the output any more
"""

from __future__ import annotations

import click

from ..errors import (
    AntiphonError,
    BadCredentials,
    ContextError,
    MissingExtra,
    ModelError,
    TurnError,
    UnknownModel,
)

FAILED, REFUSED, WAITING, STOPPED, UNREAD = 1, 2, 3, 130, 141

_CHOSEN_WRONG = (UnknownModel, MissingExtra, BadCredentials)


class Refused(click.ClickException):
    """What was asked cannot be done; the sentence says why and what to do."""

    exit_code = REFUSED


class Interrupted(Exception):
    """A person pressed Ctrl-C; the sentence says what was left behind."""


def exit_code(error: BaseException) -> int:
    """Give the code of a command that this error ended."""
    if isinstance(error, click.ClickException):
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        return UNREAD
    if isinstance(error, Interrupted | KeyboardInterrupt | click.Abort):
        return STOPPED
    if isinstance(error, _CHOSEN_WRONG) and error.turn_id is None:
        return REFUSED  # A model that could not even be asked was chosen wrongly; it did not fail.
    if isinstance(error, ModelError | ContextError | TurnError):
        return FAILED
    return REFUSED if isinstance(error, AntiphonError | OSError | UnicodeError) else FAILED


def sentence(error: BaseException) -> str:
    """Say in one sentence what ended a command."""
    if isinstance(error, click.UsageError):
        return f"{_usage(error)}; see `{error.ctx.command_path if error.ctx else 'antiphon'} --help`"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "stopped"
    if isinstance(error, AntiphonError | UnicodeError | Interrupted):
        return str(error)
    if isinstance(error, OSError):
        return _of_the_system(error)
    return f"{type(error).__name__}: {error} (unexpected; with ANTIPHON_DEBUG=1 you see where it came from)"


def _usage(error: click.UsageError) -> str:
    message = error.format_message().strip().removesuffix(".")
    return message[:1].lower() + message[1:]


def _of_the_system(error: OSError) -> str:
    if error.strerror is None:
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    why = error.strerror[:1].lower() + error.strerror[1:]
    return why if error.filename is None else f"{error.filename}: {why}"
