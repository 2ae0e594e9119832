"""A tool as a model is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ._jsonable import Jsonable


class ToolSpec(msgspec.Struct, frozen=True, dict=True):
    """A tool as a model is told of it: name, description, and the JSON Schema of its arguments.

    `note` stands in the system text while the tool is offered, once however many tools have the same.
    """

    name: str
    description: str
    parameters: Mapping[str, Jsonable]
    note: str = ""


def notes_of(tools: Sequence[ToolSpec]) -> str:
    """The notes of the tools, each once, with a blank line between."""
    return "\n\n".join(dict.fromkeys(tool.note for tool in tools if tool.note))
