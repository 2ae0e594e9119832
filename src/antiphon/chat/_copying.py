"""Sessions made from others: a fork's entries, and those of messages that were kept elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from .._ids import new_id
from .._jsonable import Jsonable, freeze
from .._messages import Message, Text, ToolCall, ToolResult
from ..errors import Misuse
from ..journal import (
    Entry,
    ModelReplied,
    SessionCreated,
    ToolReturned,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnSteered,
    UnknownEntry,
)
from ..journal._entries import KnownEntry
from ..transcript import Transcript
from ._recording import RECORDED

FORKED = "forked while it was open"
NO_REPLY = "imported without a reply"
NO_RESULT = "no result of this call was kept"


def forked(
    entries: Sequence[Entry], session_id: str, *, up_to: str | None, created: SessionCreated
) -> list[KnownEntry]:
    """The entries of a fork: those of the original up to the end of a turn, under new ids.

    Entries of unknown types stay behind: what they say of a session may not hold of its copy. A turn that has no
    outcome there is canceled here.

    Args:
        entries: the original's, in order.
        session_id: the fork.
        up_to: the last turn that is copied; None copies all.
        created: the fork's first entry.

    Raises:
        Misuse: if no turn is `up_to`.
    """
    kept = _until(entries, up_to)
    copied: list[KnownEntry] = [created]
    copied += [
        msgspec.structs.replace(entry, id=new_id(), session_id=session_id)
        for entry in kept
        if not isinstance(entry, SessionCreated | UnknownEntry)
    ]
    return copied + _closed(copied, session_id, at=created.at)


def _until(entries: Sequence[Entry], up_to: str | None) -> Sequence[Entry]:
    if up_to is None:
        return entries
    turns = list(dict.fromkeys(entry.turn_id for entry in entries if isinstance(entry, TurnAccepted)))
    if up_to not in turns:
        raise Misuse(f"no turn {up_to!r} to fork at", "session.turns() lists them")
    left_out = set(turns[turns.index(up_to) + 1 :])
    return [entry for entry in entries if getattr(entry, "turn_id", None) not in left_out]


def _closed(entries: Sequence[KnownEntry], session_id: str, *, at: str) -> list[KnownEntry]:
    transcript = Transcript(session_id)
    transcript.apply_all(entries)
    return [
        TurnCanceled(version=1, id=new_id(), session_id=session_id, at=at, turn_id=turn.id, reason=FORKED)
        for turn in transcript.turns()
        if turn.status in ("interrupted", "waiting")
    ]


def imported(messages: Sequence[Message], entry: Callable[..., Any]) -> tuple[list[KnownEntry], list[str]]:
    """The entries of turns that were kept elsewhere as messages, and what could not be carried over.

    A turn begins with a user's message behind a reply; further user messages in it are steering. Calls without a
    result get one that says so; a last turn without a reply is canceled. System messages belong to no turn.

    Args:
        messages: in order.
        entry: makes an entry from a class and its fields.
    """
    lost: list[str] = []
    made: list[KnownEntry] = []
    for turn in _turns(messages, lost):
        made += _Turn(entry, lost).entries(turn)
    return made, lost


def _turns(messages: Sequence[Message], lost: list[str]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for n, message in enumerate(messages):
        if message.role == "system":
            continue
        begins = message.role == "user" and (not turns or _answered(turns[-1]))
        if begins:
            turns.append([message])
        elif turns:
            turns[-1].append(message)
        else:
            lost.append(f"message {n + 1}: {message.role} before anyone asked")
    return turns


def _answered(turn: Sequence[Message]) -> bool:
    return turn[-1].role == "assistant" and not turn[-1].calls


class _Turn:
    """Writes one imported turn."""

    def __init__(self, entry: Callable[..., Any], lost: list[str]) -> None:
        self._entry = entry
        self._lost = lost
        self._turn_id = new_id()
        self._open: dict[str, ToolCall] = {}
        self._steered = 0
        self._calls = 0

    def entries(self, messages: Sequence[Message]) -> list[KnownEntry]:
        made = [self._made(TurnAccepted, input=_said(messages[0]))]
        for message in messages[1:-1]:
            made += self._step(message)
        if len(messages) > 1:
            made += self._last(messages[-1])
        else:
            made += [self._made(TurnCanceled, reason=NO_REPLY)]
        return made

    def _made(self, cls: type[Any], **fields: Any) -> KnownEntry:
        made: KnownEntry = self._entry(cls, turn_id=self._turn_id, **fields)
        return made

    def _last(self, message: Message) -> list[KnownEntry]:
        if message.role != "assistant" or message.calls:
            return [*self._step(message), *self._unanswered(), self._made(TurnCanceled, reason=NO_REPLY)]
        only_text = len(message.parts) == 1 and isinstance(message.parts[0], Text)
        outcome = self._made(
            TurnCompleted,
            output=message.text if only_text else None,
            message=None if only_text else message,
            steered=self._steered,
            metadata_json=freeze({"responder": RECORDED}, "metadata"),
        )
        return [*self._unanswered(), outcome]

    def _step(self, message: Message) -> list[KnownEntry]:
        if message.role == "tool" or message.results:
            return self._returned(message.results)
        made = self._unanswered()
        if message.role == "user":
            self._steered += 1
            return [*made, self._made(TurnSteered, input=_said(message))]
        self._calls += 1
        self._open = {call.id: call for call in message.calls}
        return [*made, self._made(ModelReplied, call=self._calls, message=message, steered=self._steered)]

    def _returned(self, results: Sequence[ToolResult]) -> list[KnownEntry]:
        made = []
        for result in results:
            call = self._open.pop(result.call_id, None)
            if call is None:
                self._lost.append(f"a result of {result.name or 'a tool'} that answers no call")
                continue
            fields = {"output_json": result.output_json, "is_error": result.is_error}
            made.append(self._made(ToolReturned, call_id=call.id, name=result.name or call.name, **fields))
        return made

    def _unanswered(self) -> list[KnownEntry]:
        missing, self._open = self._open, {}
        kept: Jsonable = NO_RESULT
        return [
            self._made(ToolReturned, call_id=id, name=call.name, output_json=freeze(kept, "output"), is_error=True)
            for id, call in missing.items()
        ]


def _said(message: Message) -> Any:
    return message.text if all(isinstance(part, Text) for part in message.parts) else message.parts
