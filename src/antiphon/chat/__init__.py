"""Chats, sessions and turns."""

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
    TurnAccepted,
)
from ._limits import Limits, TurnOptions
from ._listening import SessionEvents
from ._listing import SessionSummary
from ._live_turn import LiveTurn
from ._reply import Reply
from ._responder import Responder, TurnRequest
from ._session import Session
from ._state import State
from ._why import Fate

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
    "TurnAccepted",
    "TurnOptions",
    "TurnRequest",
]
