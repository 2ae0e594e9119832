"""Sizes of turns: bytes of what the journal holds, unit by unit, so that history can be cut without making messages.

A unit is an input with the first model reply to it and the results of that reply's calls, or one later reply with
its results: what is kept, made shorter or left out as one.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from .._messages import Image, Message, Part, Reasoning, StoredInput, Text, ToolCall, ToolResult
from ..journal._entries import (
    ModelReplied,
    ToolReturned,
    ToolStarted,
    TurnAccepted,
    TurnCompleted,
    TurnShown,
    TurnSteered,
)
from ._turn import Turn

LONG = 400
"""Bytes of JSON above which a result, or the arguments of a call, may be replaced by a stub."""

BYTES_PER_TOKEN = 4
"""For sizes only: they decide where history is cut, so they may depend on nothing but what the journal holds."""

_STUB = 240
_FRAME, _CALL, _IMAGE, _SMALL_IMAGE, _PAGE = 16, 32, 4_420, 340, 8_000


class Size(NamedTuple):
    """Bytes of a unit, as it is and with stubs in place of what is long."""

    full: int
    stubbed: int


class ToolsRun(NamedTuple):
    """Names of the tools that ran in a turn, each once, in the order of their calls.

    Attributes:
        gave: those that gave a result.
        in_doubt: those that were started and gave none, or an error: they may have taken effect.
    """

    gave: tuple[str, ...] = ()
    in_doubt: tuple[str, ...] = ()


def tools_run(turn: Turn) -> ToolsRun:
    """The tools that were started in a turn, and what became of them."""
    if len(turn.entries) < 3:  # accepted, replied and started come first
        return ToolsRun()
    gave: list[str] = []
    in_doubt: list[str] = []
    called: dict[str, str] = {}
    for entry in turn.entries:
        if isinstance(entry, ModelReplied):
            in_doubt += called.values()
            called = {}
            names = {call.id: call.name for call in entry.message.calls}
        elif isinstance(entry, ToolStarted):
            called |= {id: names[id] for id in entry.call_ids}
        elif isinstance(entry, ToolReturned) and not entry.is_error:
            gave.append(entry.name)
            called.pop(entry.call_id, None)
    in_doubt += called.values()
    return ToolsRun(tuple(dict.fromkeys(gave)), tuple(dict.fromkeys(in_doubt)))


def sizes_of(turn: Turn, *, note: bool) -> list[Size]:
    """Sizes of a turn's units, read from its entries, so that no message has to be made."""
    if turn.status != "completed":
        return [Size(_STUB, _STUB)] if note and any(tools_run(turn)) else []
    if (plain := _plain_size(turn)) is not None:
        return [Size(plain, plain)]
    found: list[Size] = []
    full = stubbed = waiting = 0
    replied = False
    for entry in turn.entries:
        kind = type(entry)
        if kind is TurnAccepted:
            full = stubbed = _FRAME + _input_size(entry.input)  # type: ignore[union-attr]
        elif kind is TurnSteered:
            waiting += _FRAME + _input_size(entry.input)  # type: ignore[union-attr]
        elif kind is ToolReturned:
            size = _returned_size(entry)  # type: ignore[arg-type]
            full, stubbed = full + size.full, stubbed + size.stubbed
        elif kind is ModelReplied or kind is TurnCompleted:
            if replied:
                found.append(Size(full, stubbed))
                full = stubbed = 0
            size = _reply_size(entry)  # type: ignore[arg-type]
            full, stubbed = full + waiting + size.full, stubbed + waiting + size.stubbed
            waiting, replied = 0, True
    found.append(Size(full + waiting, stubbed + waiting))
    return found


def _plain_size(turn: Turn) -> int | None:
    """The size of a turn that is a question and an answer, which most of them are; None of any other."""
    entries = turn.entries
    first, last = entries[0], entries[-1]
    if len(entries) > 3 or not isinstance(first, TurnAccepted) or not isinstance(last, TurnCompleted):
        return None
    if len(entries) == 3 and not isinstance(entries[1], TurnShown):
        return None
    said, output = first.input, last.output
    if not isinstance(said, str) or output is None:
        return None
    return 2 * _FRAME + _text_size(said) + _text_size(output)


def _reply_size(entry: ModelReplied | TurnCompleted) -> Size:
    if isinstance(entry, TurnCompleted) and entry.output is not None:
        size = _FRAME + _text_size(entry.output)
        return Size(size, size)
    message = entry.reply if isinstance(entry, TurnCompleted) else entry.message
    return message_size(message)


def _returned_size(entry: ToolReturned) -> Size:
    size = _json_size(entry.output_json)
    if entry.limit is not None:
        size = min(size, entry.limit + _STUB)
    media = sum(_part_size(part).full for part in entry.media)
    return Size(_FRAME + size + media, _FRAME + (_STUB if size > LONG or media else size))


def message_size(message: Message) -> Size:
    """Bytes of a message, framing included."""
    sizes = [_part_size(part) for part in message.parts]
    return Size(_FRAME + sum(size.full for size in sizes), _FRAME + sum(size.stubbed for size in sizes))


def _part_size(part: Part) -> Size:
    match part:
        case Text() | Reasoning():
            size = _text_size(part.text)
        case ToolCall():
            size = _json_size(part.arguments_json)
            rest = _CALL + len(part.name)
            return Size(size + rest, (_STUB if size > LONG else size) + rest)
        case ToolResult():
            size = _json_size(part.output_json)
            media = sum(_part_size(inside).full for inside in part.media)
            return Size(size + media, _STUB if size > LONG or media else size)
        case Image():
            size = _SMALL_IMAGE if part.detail == "low" else _IMAGE
        case _:
            size = _PAGE * (part.pages or 1)
    return Size(size, size)


def _input_size(given: StoredInput) -> int:
    return _text_size(given) if isinstance(given, str) else sum(_part_size(part).full for part in given)


def _text_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _json_size(raw: msgspec.Raw) -> int:
    return memoryview(raw).nbytes
