"""What a turn gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, cast

from .._html import markdown
from .._messages import Message
from .._trace import Trace
from .._usage import Usage
from ..tools._policy import PendingCall
from ..transcript._turn import Turn
from ._open_calls import pending_calls

ReplyReason = Literal["stop", "length", "refusal", "limit", "waiting"]
"""Why a reply ended: it was done, it reached its length, the model declined, the turn reached a limit, or a person
must decide first."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a completed turn; `str(reply)` is its text.

    Attributes:
        text: the reply's text.
        message: the reply as a message.
        usage: tokens of all the turn's model calls; zeros where nothing was reported.
        finish_reason: stop, length, refusal, limit or waiting.
        turn_id: the turn.
        model: the model that answered, as it names itself, or None.
    """

    text: str
    message: Message
    usage: Usage
    finish_reason: ReplyReason
    turn_id: str
    model: str | None
    _turn: Turn = field(repr=False)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """What each of the turn's model calls was shown."""
        return self._turn.traces

    @property
    def pending(self) -> tuple[PendingCall, ...]:
        """The calls that wait for a person; none unless `finish_reason` is `waiting`."""
        return pending_calls(self._turn) if self.finish_reason == "waiting" else ()

    @property
    def trace(self) -> Trace:
        """What the last model call was shown.

        Raises:
            IndexError: if no model call was recorded, as in a turn from elsewhere.
        """
        return self.traces[-1]

    def __str__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        """The text as a notebook displays it: what in it would act on the page is only read."""
        return markdown(self.text)

    @classmethod
    def of(cls, turn: Turn) -> Reply:
        """Read the reply of a completed turn, or what there is of one that waits."""
        said = (message for message in reversed(turn.messages) if message.role == "assistant")
        message = turn.reply or next(said, Message("assistant"))
        waiting = turn.reply is None and bool(pending_calls(turn))
        return cls(
            text=message.text,
            message=message,
            usage=turn.usage or Usage(),
            finish_reason="waiting" if waiting else cast(ReplyReason, turn.finish_reason or "stop"),
            turn_id=turn.id,
            model=turn.model,
            _turn=turn,
        )
