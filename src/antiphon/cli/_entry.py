"""Where the command begins, and where every way of ending becomes one sentence and a code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from ._endings import exit_code, sentence
from ._screen import errors, leave_output
from ._subcommands import antiphon


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code.

    Args:
        args: the words after `antiphon`; by default those of this process.
    """
    if "_ANTIPHON_COMPLETE" in os.environ:
        antiphon.main(prog_name="antiphon")  # Completion in a shell is click's; this does not return.
    given = list(sys.argv[1:] if args is None else args)
    try:
        code = _invoked(given or ["--help"])
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as end:
        return end.exit_code
    except (Exception, KeyboardInterrupt) as error:  # isolates: request
        return _ended_by(error)


def _invoked(given: list[str]) -> int:
    with antiphon.make_context("antiphon", given) as context:
        return int(antiphon.invoke(context) or 0)


def _ended_by(error: BaseException) -> int:
    if os.environ.get("ANTIPHON_DEBUG") == "1":
        sys.excepthook(type(error), error, error.__traceback__)
    if isinstance(error, BrokenPipeError):
        leave_output()
    else:
        if isinstance(error, OSError):
            leave_output()  # It may have been the output that failed: what is left in its buffer would fail again.
        errors().sentence(f"antiphon: {sentence(error)}")
    return exit_code(error)
