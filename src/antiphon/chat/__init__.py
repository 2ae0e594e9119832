"""Chats, sessions and turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from ._chat import Chat
    from ._events import (
        Canceled,
        Compacted,
        Compacting,
        Completed,
        ContextBuilt,
        Event,
        Failed,
        ModelReplied,
        ReasoningDelta,
        Retrying,
        StateChanged,
        Steered,
        TextDelta,
        ToolCalled,
        ToolProgress,
        ToolReturned,
        TurnAccepted,
        Waiting,
    )
    from ._hooks import Hooks
    from ._limits import Limits, TurnOptions
    from ._listening import SessionEvents
    from ._listing import SessionSummary
    from ._live_turn import LiveTurn
    from ._reply import Reply
    from ._responder import Responder, TurnRequest
    from ._session import Session
    from ._state import State
    from ._what_if import what_if
    from ._what_if_result import WhatIf, WhatIfCall
    from ._why import Fate

_HOMES = {
    "Canceled": "._events",
    "Chat": "._chat",
    "Compacted": "._events",
    "Compacting": "._events",
    "Completed": "._events",
    "ContextBuilt": "._events",
    "Event": "._events",
    "Failed": "._events",
    "Fate": "._why",
    "Hooks": "._hooks",
    "Limits": "._limits",
    "LiveTurn": "._live_turn",
    "ModelReplied": "._events",
    "ReasoningDelta": "._events",
    "Reply": "._reply",
    "Responder": "._responder",
    "Retrying": "._events",
    "Session": "._session",
    "SessionEvents": "._listening",
    "SessionSummary": "._listing",
    "State": "._state",
    "StateChanged": "._events",
    "Steered": "._events",
    "TextDelta": "._events",
    "ToolCalled": "._events",
    "ToolProgress": "._events",
    "ToolReturned": "._events",
    "TurnAccepted": "._events",
    "TurnOptions": "._limits",
    "TurnRequest": "._responder",
    "Waiting": "._events",
    "WhatIf": "._what_if_result",
    "WhatIfCall": "._what_if_result",
    "what_if": "._what_if",
}

__all__ = [
    "Canceled",
    "Chat",
    "Compacted",
    "Compacting",
    "Completed",
    "ContextBuilt",
    "Event",
    "Failed",
    "Fate",
    "Hooks",
    "Limits",
    "LiveTurn",
    "ModelReplied",
    "ReasoningDelta",
    "Reply",
    "Responder",
    "Retrying",
    "Session",
    "SessionEvents",
    "SessionSummary",
    "State",
    "StateChanged",
    "Steered",
    "TextDelta",
    "ToolCalled",
    "ToolProgress",
    "ToolReturned",
    "TurnAccepted",
    "TurnOptions",
    "TurnRequest",
    "Waiting",
    "WhatIf",
    "WhatIfCall",
    "what_if",
]

if not TYPE_CHECKING:  # A type checker would take any name for one of ours.
    __getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return list(__all__)
