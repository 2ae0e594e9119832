"""Chats, sessions and turns."""

from ._chat import Chat
from ._events import (
    Canceled,
    Completed,
    ContextBuilt,
    Event,
    Failed,
    ModelReplied,
    ReasoningDelta,
    Retrying,
    Steered,
    TextDelta,
    TurnAccepted,
)
from ._limits import Limits, TurnOptions
from ._listing import SessionSummary
from ._live_turn import LiveTurn
from ._reply import Reply
from ._responder import Responder, TurnRequest
from ._session import Session

__all__ = [
    "Canceled",
    "Chat",
    "Completed",
    "ContextBuilt",
    "Event",
    "Failed",
    "Limits",
    "LiveTurn",
    "ModelReplied",
    "ReasoningDelta",
    "Reply",
    "Responder",
    "Retrying",
    "Session",
    "SessionSummary",
    "Steered",
    "TextDelta",
    "TurnAccepted",
    "TurnOptions",
    "TurnRequest",
]
