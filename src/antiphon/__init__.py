"""Antiphon keeps LLM conversations on disk, fits each model call into a token budget, and says what was shown.

Public names are resolved when they are first used: `import antiphon` alone loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Assembled": "context",
    "Budget": "context",
    "Canceled": "chat",
    "Chat": "chat",
    "Compacted": "chat",
    "Compacting": "chat",
    "Completed": "chat",
    "Context": "context",
    "ContextBuilt": "chat",
    "Decision": "tools",
    "Event": "chat",
    "Failed": "chat",
    "Fate": "chat",
    "File": "_messages",
    "FileStore": "stores",
    "FullContext": "context",
    "Hooks": "chat",
    "Image": "_messages",
    "InMemoryStore": "stores",
    "Layer": "_trace",
    "LayeredContext": "context",
    "Limits": "chat",
    "Line": "journal",
    "LiveTurn": "chat",
    "Message": "_messages",
    "Model": "models",
    "ModelReplied": "chat",
    "PendingCall": "tools",
    "Reasoning": "_messages",
    "ReasoningDelta": "chat",
    "Replied": "models",
    "Reply": "chat",
    "Retrying": "chat",
    "Session": "chat",
    "SessionSummary": "chat",
    "Shown": "context",
    "Source": "context",
    "StateChanged": "chat",
    "Steered": "chat",
    "Store": "stores",
    "Summary": "context",
    "SummaryContext": "context",
    "Text": "_messages",
    "TextDelta": "chat",
    "Tool": "tools",
    "ToolCall": "_messages",
    "ToolCalled": "chat",
    "ToolContext": "tools",
    "ToolPolicy": "tools",
    "ToolProgress": "chat",
    "ToolResult": "_messages",
    "ToolReturned": "chat",
    "Toolbox": "tools",
    "Trace": "_trace",
    "Turn": "transcript",
    "TurnAccepted": "chat",
    "TurnOptions": "chat",
    "TurnRequest": "chat",
    "Usage": "_usage",
    "View": "context",
    "Waiting": "chat",
    "WhatIf": "chat",
    "WhatIfCall": "chat",
    "errors": "errors",
    "estimate_tokens": "context",
    "source": "context",
    "tool": "tools",
    "what_if": "chat",
}

if TYPE_CHECKING:
    from . import errors
    from ._messages import File, Image, Message, Reasoning, Text, ToolCall, ToolResult
    from ._trace import Layer, Trace
    from ._usage import Usage
    from .chat import (
        Canceled,
        Chat,
        Compacted,
        Compacting,
        Completed,
        ContextBuilt,
        Event,
        Failed,
        Fate,
        Hooks,
        Limits,
        LiveTurn,
        ModelReplied,
        ReasoningDelta,
        Reply,
        Retrying,
        Session,
        SessionSummary,
        StateChanged,
        Steered,
        TextDelta,
        ToolCalled,
        ToolProgress,
        ToolReturned,
        TurnAccepted,
        TurnOptions,
        TurnRequest,
        Waiting,
        WhatIf,
        WhatIfCall,
        what_if,
    )
    from .context import (
        Assembled,
        Budget,
        Context,
        FullContext,
        LayeredContext,
        Shown,
        Source,
        Summary,
        SummaryContext,
        View,
        estimate_tokens,
        source,
    )
    from .journal import Line
    from .models import Model, Replied
    from .stores import FileStore, InMemoryStore, Store
    from .tools import Decision, PendingCall, Tool, Toolbox, ToolContext, ToolPolicy, tool
    from .transcript import Turn

__version__ = "0.1.0"

__all__ = [
    "Assembled",
    "Budget",
    "Canceled",
    "Chat",
    "Compacted",
    "Compacting",
    "Completed",
    "Context",
    "ContextBuilt",
    "Decision",
    "Event",
    "Failed",
    "Fate",
    "File",
    "FileStore",
    "FullContext",
    "Hooks",
    "Image",
    "InMemoryStore",
    "Layer",
    "LayeredContext",
    "Limits",
    "Line",
    "LiveTurn",
    "Message",
    "Model",
    "ModelReplied",
    "PendingCall",
    "Reasoning",
    "ReasoningDelta",
    "Replied",
    "Reply",
    "Retrying",
    "Session",
    "SessionSummary",
    "Shown",
    "Source",
    "StateChanged",
    "Steered",
    "Store",
    "Summary",
    "SummaryContext",
    "Text",
    "TextDelta",
    "Tool",
    "ToolCall",
    "ToolCalled",
    "ToolContext",
    "ToolPolicy",
    "ToolProgress",
    "ToolResult",
    "ToolReturned",
    "Toolbox",
    "Trace",
    "Turn",
    "TurnAccepted",
    "TurnOptions",
    "TurnRequest",
    "Usage",
    "View",
    "Waiting",
    "WhatIf",
    "WhatIfCall",
    "errors",
    "estimate_tokens",
    "source",
    "tool",
    "what_if",
]


if not TYPE_CHECKING:  # A type checker would take any name for one of ours.

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'antiphon' has no attribute {name!r}")
        module = import_module(f".{home}", __name__)
        found = module if home == name else getattr(module, name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
