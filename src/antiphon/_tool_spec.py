"""A tool as a model is told of it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ._jsonable import Jsonable


class ToolSpec(msgspec.Struct, frozen=True, dict=True):
    """A tool as a model is told of it: name, description, and the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Jsonable]
