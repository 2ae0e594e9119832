"""One turn told to its end: as text or as JSON, with what of it waits for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._usage import Usage
from ..chat import LiveTurn, Reply, Session
from ._as_json import reply_json
from ._deciding_plainly import decided_plainly, somebody_is_there
from ._endings import WAITING
from ._going_on import heading
from ._live_reply import Tell, as_json_lines, as_text, followed, result_in
from ._place import Place
from ._screen import errors, output
from ._tool_choice import Offer
from ._waiting_calls import WaitingCall, how_to_decide, must_be_offered, waiting_in, write_waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How the reply is told: as text, as one JSON object, or one event a line; and whether tokens are said."""

    as_json: bool
    as_jsonl: bool
    usage: bool

    @property
    def is_text(self) -> bool:
        """Whether a person reads it."""
        return not self.as_json and not self.as_jsonl

    @classmethod
    def of(cls, options: dict[str, Any]) -> Form:
        """Take it out of a command's options."""
        return cls(**{name: options.pop(name) for name in ("as_json", "as_jsonl", "usage")})


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Tells one turn after another of a session that is asked for one thing.

    Attributes:
        session: the session.
        place: where it is.
        form: how it is told.
        offer: the tools that are offered.
        asked_with: the options of the turn.
    """

    session: Session
    place: Place
    form: Form
    offer: Offer
    asked_with: dict[str, Any]

    async def told(self, turn: LiveTurn) -> int:
        """Tell a turn until it ends or waits, and give the command's exit code. On a terminal, a person is asked.

        Raises:
            Interrupted: after Ctrl-C.
            AntiphonError: whatever ended the turn.
        """
        session, form = self.session, self.form
        model = str(self.asked_with["model"])
        teller = _teller(form, session, about=heading(self.place, model=model, session_id=session.id))
        reply = await followed(turn, teller)
        asking = form.is_text and somebody_is_there()
        while asking and reply.finish_reason == "waiting":
            if not await decided_plainly(session, errors(), find=self.offer.find):
                break
            must_be_offered(session, self.offer.find)
            reply = await followed(session.resume(**self.asked_with), _teller(form, session, about=None))
        waiting = waiting_in(session) if reply.finish_reason == "waiting" else []
        self._say(reply, waiting, shown=asking)
        return WAITING if waiting else 0

    def _say(self, reply: Reply, waiting: Sequence[WaitingCall], *, shown: bool) -> None:
        form = self.form
        if form.as_json:
            model = str(self.asked_with["model"])
            found = reply_json(reply, session_id=self.session.id, model=model, store=self.place.folder)
            output().json(found | ({"pending": [each.to_json() for each in waiting]} if waiting else {}))
        elif reply.finish_reason not in ("stop", "waiting"):
            errors().sentence(f"the reply ended early: {reply.finish_reason}")
        if form.usage:
            errors().sentence(_took(reply))
        if form.is_text and not shown:
            for call in waiting:
                write_waiting(errors(), call)
        if waiting:
            errors().sentence(how_to_decide(waiting, again=self.place.again))


def _teller(form: Form, session: Session, *, about: str | None) -> Tell:
    if form.as_jsonl:
        return as_json_lines(output(), beside=errors(), heading=about)
    return as_text(
        None if form.as_json else output(),
        beside=errors(),
        heading=about,
        result=lambda call_id: result_in(session, call_id),
    )


def _took(reply: Reply) -> str:
    usage = reply.usage
    if usage == Usage():
        return "tokens: the model reported none"
    parts = [f"{usage.input:,} in", f"{usage.output:,} out"]
    parts += [f"{usage.cached:,} of those in from cache"] if usage.cached else []
    parts += [f"{usage.reasoning:,} of those out for reasoning"] if usage.reasoning else []
    return f"tokens: {', '.join(parts)}"
