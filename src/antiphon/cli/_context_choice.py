"""Contexts by name, as options choose them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from ..chat._what_if import with_window
from ..context import Assembled, Context, FullContext, LayeredContext, SummaryContext, View
from ..context._assembly import read_built

CONTEXTS = ("layered", "full", "summary")


def contextual(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options `--context`, `--window` and `--keep-recent`."""
    for option in (
        click.option("--keep-recent", metavar="N", type=click.IntRange(min=1), help="Turns that stay word for word."),
        click.option("--window", metavar="N", type=click.IntRange(min=1), help="Tokens of request and reply together."),
        click.option("--context", "name", type=click.Choice(CONTEXTS), help="What decides what is shown."),
    ):
        command = option(command)
    return command


def chosen_context(name: str, *, keep_recent: int | None) -> Context:
    """Make the context of this name.

    Args:
        name: one of `CONTEXTS`.
        keep_recent: fewest turns that stay word for word; None leaves that to the context.

    Raises:
        click.UsageError: if the context keeps every turn anyway.
    """
    if name == "full":
        if keep_recent is not None:
            raise click.UsageError("--keep-recent says nothing to the full context, which keeps every turn")
        return FullContext()
    given: dict[str, Any] = {} if keep_recent is None else {"keep_recent": keep_recent}
    if name == "layered":
        return LayeredContext(**given)
    if keep_recent is not None:
        given["compact_after"] = keep_recent + 12  # as far apart as they are by default
    return SummaryContext(**given)


class Windowed:
    """A context as it is under another window than the model's."""

    def __init__(self, context: Context, window: int) -> None:
        self._context, self._window = context, window

    async def build(self, view: View) -> Assembled:
        """Give what the context gives where the view has that window."""
        other = replace(view, budget=with_window(view.budget, self._window))
        given: Any = self._context.build(other)
        built = read_built(await given if inspect.isawaitable(given) else given)
        return built._replace(budget=built.budget or other.budget)
