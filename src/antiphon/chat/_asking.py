"""Asks a model once: its events become the turn's, its reply is checked before anything trusts it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Protocol, get_args

from .._messages import Message, check_part
from ..context._assembly import Shown
from ..errors import MalformedReply, Misuse, NotStorable
from ..journal import ModelReplied, heading
from ..models._events import FinishReason, ModelEvent, ReasoningPiece, Replied, Retry, TextPiece
from ..models._model import Model
from ..models._request import ModelRequest
from ..transcript import Transcript
from ._events import ReasoningDelta, Retrying, TextDelta
from ._hooks import called
from ._lines import readable_line
from ._log import EventLog
from ._plan import TurnPlan
from ._responder import Responding, TurnRequest, closing

_logger = logging.getLogger("antiphon")


class Hooked(Protocol):
    """Gives a reply with its calls as a hook would have them made."""

    async def __call__(self, reply: Replied, *, offered: Sequence[str]) -> Replied:
        """The reply; `offered`: names of the tools that its model was offered."""
        ...


class Asking:
    """The model calls of one turn."""

    def __init__(self, plan: TurnPlan, log: EventLog, *, transcript: Transcript, calls: Hooked) -> None:
        self._plan = plan
        self._log = log
        self._transcript = transcript
        self._session_id = transcript.session_id
        self._calls = calls
        self._pieces: list[str] = []

    async def ask(self, shown: Shown) -> Replied:
        """Make one call and read it to its end.

        Raises:
            ModelError: as the model raised it; MalformedReply if the stream ended without a reply.
            Exception: what an `after_receive` hook raised.
        """
        self._pieces = []
        model = self._model(shown)
        request = ModelRequest(shown.messages, system=shown.system, tools=shown.tools)
        reply: Replied | None = None
        try:
            async with closing(model.stream(request)) as stream:
                reply = await self._read(stream)
        except Exception:  # isolates: model, responder
            if reply is None:
                raise
            _logger.exception("model %s raised after its reply", model.name)
        if reply is None:
            raise MalformedReply(model.name, "the stream ended without a reply")
        self._check(reply, model.name)
        streamed = bool(self._pieces)
        reply = await self._received(reply, model.name)
        if not streamed and reply.message.text:
            self._log.emit(TextDelta(reply.message.text))
        self._pieces = [reply.message.text]
        return await self._calls(reply, offered=shown.tool_names)

    async def _received(self, reply: Replied, model: str) -> Replied:
        """The reply as `after_receive` would have it."""
        hook = self._plan.hooks.after_receive
        if hook is None:
            return reply
        self._pieces = []  # what the hook was to change is not kept as partial either
        message = await called(hook, reply.message)
        if message is None:
            return reply
        if not isinstance(message, Message):
            raise Misuse(f"after_receive gave a {type(message).__name__}", "give the Message, or None")
        received = replace(reply, message=message)
        self._check(received, f"after_receive of {model}")
        return received

    @property
    def said(self) -> str:
        """Text of the running call so far: what is kept as partial if it ends here."""
        return "".join(self._pieces)

    def _model(self, shown: Shown) -> Model:
        answers = self._plan.answers
        if answers.model is not None:
            return answers.model
        own = self._transcript.turn(self._plan.turn_id, live=(self._plan.turn_id,))
        assert own is not None  # a turn is accepted before anyone is asked
        request = TurnRequest(
            session_id=self._session_id,
            turn_id=self._plan.turn_id,
            messages=shown.messages,
            input=own.input,
            instructions=shown.system,
            trace=shown.trace,
            deps=self._plan.deps,
            metadata=own.metadata,
        )
        assert answers.responder is not None  # what answers is one of the two
        return Responding(answers.responder, request)

    async def _read(self, stream: AsyncIterator[ModelEvent]) -> Replied | None:
        async for event in stream:
            if isinstance(event, TextPiece):
                self._pieces.append(event.text)
                self._log.emit(TextDelta(event.text))
            elif isinstance(event, ReasoningPiece):
                self._log.emit(ReasoningDelta(event.text))
            elif isinstance(event, Retry):
                self._pieces = []
                self._log.emit(Retrying(attempt=event.attempt, delay=event.delay, reason=event.reason))
            elif isinstance(event, Replied):
                return event
        return None

    def _check(self, reply: Replied, model: str) -> None:
        if reply.message.role != "assistant":
            raise MalformedReply(model, f"its message has the role {reply.message.role!r}")
        if reply.finish not in get_args(FinishReason):
            raise MalformedReply(model, f"it ended for the reason {reply.finish!r}")
        ids = [call.id for call in reply.message.calls]
        if "" in ids or len(set(ids)) < len(ids):
            raise MalformedReply(model, "two of its calls have one id, or one has none")
        try:
            for i, part in enumerate(reply.message.parts):
                check_part(part, f"reply[{i}]")
            readable_line(self._as_entry(reply))
        except NotStorable as error:
            raise MalformedReply(model, str(error)) from None

    def _as_entry(self, reply: Replied) -> ModelReplied:
        begun = heading(self._session_id, "")
        turn_id = self._plan.turn_id
        return ModelReplied(
            **begun, turn_id=turn_id, call=1, message=reply.message, usage=reply.usage, model=reply.model
        )
