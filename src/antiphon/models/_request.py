"""What a model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .._jsonable import Jsonable
from .._messages import Message
from .._tool_spec import ToolSpec


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call, in a form that belongs to no provider.

    Attributes:
        messages: user, assistant and tool messages in order; the last one holds the newest input or results.
        system: the system text, or empty.
        tools: what may be called, in order.
        max_output_tokens: most tokens of the reply, or None for the model's own limit.
        output_schema: JSON Schema that the reply's text must meet, or None.
        options: sent to the provider as given.
    """

    messages: Sequence[Message]
    system: str = ""
    tools: Sequence[ToolSpec] = ()
    max_output_tokens: int | None = None
    output_schema: Mapping[str, Jsonable] | None = None
    options: Mapping[str, Jsonable] = field(default_factory=dict)
