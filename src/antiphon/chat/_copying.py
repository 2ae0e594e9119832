"""Sessions made from others: a fork's entries, and those of messages that were kept elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from .._ids import new_id
from .._jsonable import Jsonable, freeze
from .._messages import Message, Text, ToolCall, ToolResult
from ..errors import Misuse, NotStorable
from ..journal import (
    ContextCleared,
    Entry,
    ModelReplied,
    SessionCreated,
    SessionRenamed,
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

    Entries of unknown types stay behind: what they say of a session may not hold of its copy. The state is that of
    then; what was said of a copied turn later, as feedback, comes along; the title is what `created` says. A turn
    that has no outcome there is canceled here.

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
        if not isinstance(entry, SessionCreated | SessionRenamed | UnknownEntry)
    ]
    return copied + _closed(copied, session_id, at=created.at)


def _until(entries: Sequence[Entry], up_to: str | None) -> Sequence[Entry]:
    if up_to is None:
        return entries
    turns = list(dict.fromkeys(entry.turn_id for entry in entries if isinstance(entry, TurnAccepted)))
    if up_to not in turns:
        raise Misuse(f"no turn {up_to!r} to fork at", "session.turns() lists them")
    copied = turns[: turns.index(up_to) + 1]
    begun = [isinstance(entry, TurnAccepted) and entry.turn_id not in copied for entry in entries]
    end = begun.index(True) if True in begun else len(entries)
    return [entry for n, entry in enumerate(entries) if getattr(entry, "turn_id", None) in copied or n < end]


def _closed(entries: Sequence[KnownEntry], session_id: str, *, at: str) -> list[KnownEntry]:
    transcript = Transcript(session_id)
    transcript.apply_all(entries)
    return [
        TurnCanceled(version=1, id=new_id(), session_id=session_id, at=at, turn_id=turn.id, reason=FORKED)
        for turn in transcript.turns()
        if turn.status in ("interrupted", "waiting")
    ]


class Told(NamedTuple):
    """A conversation that was kept elsewhere.

    Attributes:
        messages: in order.
        unfinished: for the place of each message of a turn that did not end in its reply, a name of that turn.
        cleared: how many messages stood before the context was last cleared.
    """

    messages: Sequence[Message]
    unfinished: Mapping[int, str] = {}
    cleared: int = 0


class _Group(NamedTuple):
    """The messages of one turn, and the place of the first."""

    messages: list[Message]
    first: int


def imported(told: Told, entry: Callable[..., Any]) -> tuple[list[KnownEntry], list[str]]:
    """The entries of turns that were kept elsewhere as messages, and what could not be carried over.

    A turn begins with a user's message behind a reply; further user messages in it are steering. Calls without a
    result get one that says so; a last turn without a reply is canceled, and so is an unfinished one, with what it
    had of a reply. System messages belong to no turn.

    Args:
        told: the messages.
        entry: makes an entry from a class and its fields.
    """
    lost: list[str] = []
    made: list[KnownEntry] = []
    groups = _groups(told, lost)
    before = [group for group in groups if group.first < told.cleared]
    for n, group in enumerate(groups):
        if told.cleared and n == len(before):
            made.append(entry(ContextCleared))
        made += _Turn(entry, lost).entries(group.messages, unfinished=group.first in told.unfinished)
    if told.cleared and len(before) == len(groups):
        made.append(entry(ContextCleared))
    return made, lost


def _groups(told: Told, lost: list[str]) -> list[_Group]:
    groups: list[_Group] = []
    turn: str | None = None
    for n, message in enumerate(told.messages):
        if message.role == "system":
            continue
        last, turn = turn, told.unfinished.get(n)
        another = turn != last or (turn is None and bool(groups) and _answered(groups[-1].messages))
        if message.role == "user" and (not groups or another):
            groups.append(_Group([message], n))
        elif groups:
            groups[-1].messages.append(message)
        else:
            lost.append(f"message {n + 1}: {message.role} before anyone asked")
    return groups


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

    def entries(self, messages: Sequence[Message], *, unfinished: bool) -> list[KnownEntry]:
        made = [self._made(TurnAccepted, input=_said(messages[0]))]
        for message in messages[1:-1]:
            made += self._step(message)
        if len(messages) > 1:
            made += self._last(messages[-1], unfinished=unfinished)
        else:
            made += [self._made(TurnCanceled, reason=NO_REPLY)]
        return made

    def _made(self, cls: type[Any], **fields: Any) -> KnownEntry:
        made: KnownEntry = self._entry(cls, turn_id=self._turn_id, **fields)
        return made

    def _last(self, message: Message, *, unfinished: bool) -> list[KnownEntry]:
        if unfinished:
            # Its calls may stay without a result, as they were.
            partial = message.text if _answered([message]) else None
            made = self._step(message) if partial is None else []
            return [*made, self._made(TurnCanceled, reason=NO_REPLY, partial=partial)]
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
        made = self._returned(message.results)
        others = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        if message.role == "tool" or (message.results and not others):
            return made
        message = Message(message.role, others)
        if message.role == "user":
            self._steered += 1
            return [*made, self._made(TurnSteered, input=_said(message))]
        made += self._unanswered()
        self._calls += 1
        self._open = {call.id: call for call in message.calls}
        if len(self._open) < len(message.calls):
            raise NotStorable("messages", f"a reply of which two calls share one id, of {sorted(self._open)}")
        return [*made, self._made(ModelReplied, call=self._calls, message=message, steered=self._steered)]

    def _returned(self, results: Sequence[ToolResult]) -> list[KnownEntry]:
        made = []
        for result in results:
            call = self._open.pop(result.call_id, None)
            if call is None:
                self._lost.append(f"a result of {result.name or 'a tool'} that answers no call")
                continue
            fields = {"output_json": result.output_json, "is_error": result.is_error, "media": result.media}
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
