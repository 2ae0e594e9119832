"""The command line: one module a subcommand, each imported when it is asked for."""

from ._entry import main

__all__ = ["main"]
