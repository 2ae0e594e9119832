"""The table of subcommands. Their modules are imported when they are asked for, so that `--help` costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

import click

from .. import __version__


class Subcommand(NamedTuple):
    """A subcommand: the module that holds its `command`, and what `antiphon --help` says of it."""

    module: str
    says: str


SUBCOMMANDS: Mapping[str, Subcommand] = {
    "demo": Subcommand("demo", "See it work: talk, kill -9, reopen, nothing lost. No key, no network."),
    "chat": Subcommand("chat", "Talk with a model; a line typed while it answers steers it."),
    "ask": Subcommand("ask", "Ask a model; what is said is kept in a session."),
    "pending": Subcommand("pending", "List the calls of tools that wait for a decision."),
    "approve": Subcommand("approve", "Let a call run that waits."),
    "deny": Subcommand("deny", "Refuse a call that waits."),
    "answer": Subcommand("answer", "Say what a call gave that waits, without running it."),
    "resume": Subcommand("resume", "Go on with a turn that waited, or was broken off."),
    "sessions": Subcommand("sessions", "List the sessions, last changed first."),
    "show": Subcommand("show", "Show what was said in a session."),
    "trace": Subcommand("trace", "Show what a model was shown, piece by piece."),
    "why": Subcommand("why", "Show where words were in every model call, and where they got lost."),
    "what-if": Subcommand("what_if", "Show what each call would have been shown under another context."),
    "preview": Subcommand("preview", "Show what a model would be shown, without asking it."),
    "import": Subcommand("import_", "Begin a session with a conversation that was kept elsewhere."),
    "fork": Subcommand("fork", "Begin another session with the turns of one."),
    "check": Subcommand("check", "Read sessions wholly and say what is damaged."),
    "delete": Subcommand("delete", "Erase a session for good."),
    "models": Subcommand("models", "List the models that can be used here, or get one."),
}


class Subcommands(click.Group):
    """The group of all subcommands; knows their names and one line of each without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order of the table."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a subcommand's module and give its command."""
        found = SUBCOMMANDS.get(cmd_name)
        if found is None:
            return None
        command: click.Command = import_module(f".{found.module}", __package__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write the list of subcommands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.says) for name, each in SUBCOMMANDS.items()])


@click.command(
    cls=Subcommands,
    name="antiphon",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Begin with `antiphon demo`. `antiphon COMMAND --help` says more of each.",
)
@click.version_option(__version__, prog_name="antiphon")
def antiphon() -> None:
    """Keep LLM conversations on disk, fit each model call into its window, and see what was shown."""
