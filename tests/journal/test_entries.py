"""The shape of every entry: its fields, their names on the wire, and what stands in a line."""

from typing import Any, get_args

import msgspec
import pytest

from antiphon.errors import CorruptJournal
from antiphon.journal import (
    Entry,
    FeedbackRecorded,
    SessionCreated,
    SessionRenamed,
    StateChanged,
    ToolDecided,
    ToolReturned,
    TurnAccepted,
    TurnCompleted,
    UnknownEntry,
    commutes,
    decode,
    encode,
)
from antiphon.journal._entries import TYPES, KnownEntry, entry_type, heading
from tests.journal.sample import WIRE, made

HEAD = ["version", "id", "sessionId", "at"]

FIELDS: dict[str, list[str]] = {
    "session.created": ["title?", "scope?", "metadata?", "forkedFrom?"],
    "session.renamed": ["title?"],
    "turn.accepted": ["turnId", "input", "retryOf?", "key?", "options?", "metadata?"],
    "turn.resumed": ["turnId", "by?"],
    "turn.steered": ["turnId", "input", "key?"],
    "turn.shown": ["turnId", "call", "model", "trace?", "texts?"],
    "model.replied": ["turnId", "call", "message", "usage?", "model?", "steered?"],
    "tool.asked": ["turnId", "callId", "reason", "arguments?"],
    "tool.decided": ["turnId", "callId", "decision", "by", "arguments?", "reason?"],
    "tool.started": ["turnId", "callIds"],
    "tool.returned": ["turnId", "callId", "name", "output?", "isError?", "ms?", "media?", "limit?"],
    "turn.completed": ["turnId", "output?", "message?", "finish?", "usage?", "model?", "steered?", "metadata?"],
    "turn.failed": ["turnId", "error?", "partial?"],
    "turn.canceled": ["turnId", "reason?", "partial?"],
    "feedback.recorded": ["turnId", "rating?", "comment?", "preferred?", "by?"],
    "state.changed": ["key", "value?"],
    "context.compacted": ["upTo", "focus?"],
    "context.cleared": [],
}
"""The table of the journal format; a question mark is a field that a line may lack."""


def fields(cls: type[Any]) -> list[str]:
    """The fields of a class as they are written, with a question mark where a line may lack them."""
    return [each.encode_name + ("" if each.required else "?") for each in msgspec.structs.fields(cls)]


@pytest.mark.parametrize("type", sorted({*FIELDS, *TYPES}))
def test_entry_has_the_fields_of_the_format(type: str) -> None:
    """Each entry class has the fields of the format's table, in that order, after those of every entry."""
    assert fields(TYPES[type]) == HEAD + FIELDS[type]


def test_types_are_those_of_the_format() -> None:
    """There is one class a type, and the union of entries holds them all."""
    assert set(TYPES) == set(FIELDS)
    assert set(get_args(KnownEntry)) == set(TYPES.values())
    assert set(get_args(Entry)) == {*TYPES.values(), UnknownEntry}


@pytest.mark.parametrize("cls", TYPES.values(), ids=TYPES)
def test_entry_cannot_be_changed(cls: type[Any]) -> None:
    """Every entry class is frozen and knows its type."""
    assert cls.__struct_config__.frozen
    assert TYPES[entry_type(cls)] is cls


@pytest.mark.parametrize(("entry", "line"), WIRE, ids=lambda each: getattr(each, "type", ""))
def test_entry_is_written_as_this_line(entry: Any, line: str) -> None:
    """An entry is written as the line that stands in this test by hand, byte for byte."""
    assert encode(entry) == ("e1", entry.type, line.encode())


@pytest.mark.parametrize(("entry", "line"), WIRE, ids=lambda each: getattr(each, "type", ""))
def test_line_is_read_as_this_entry(entry: Any, line: str) -> None:
    """A line that stands in this test by hand is read as the entry beside it."""
    assert decode(line.encode()) == entry


def test_every_class_is_written_here() -> None:
    """The lines by hand hold an example of every entry class."""
    assert {type(entry) for entry, _ in WIRE} == set(TYPES.values())


def test_new_entries_have_their_own_id() -> None:
    """What every new entry begins with is the version, a fresh id, the session and the time."""
    first, second = (heading("ana-1", "2026-03-01T09:00:00.000Z") for _ in range(2))
    assert first | {"id": ""} == {"version": 1, "id": "", "session_id": "ana-1", "at": "2026-03-01T09:00:00.000Z"}
    assert first["id"] != second["id"]


def test_only_facts_without_order_commute() -> None:
    """Feedback, a title, state, a decision and a result mean the same behind entries of others; nothing else does."""
    unknown = UnknownEntry(version=1, id="e", session_id="s", at="t", type="x.y", data=b"{}")
    commuting = {type(entry) for entry, _ in WIRE if commutes(entry)}  # type: ignore[arg-type]
    assert commuting == {FeedbackRecorded, SessionRenamed, StateChanged, ToolDecided, ToolReturned}
    assert not commutes(unknown)


def test_free_json_is_decoded_anew() -> None:
    """What a caller does to metadata, options or state that were read changes nothing in the entry."""
    raw = msgspec.Raw(b'{"a":[1]}')
    accepted = made(TurnAccepted, input="hi", metadata_json=raw, options_json=raw)
    accepted.metadata["a"].append(2)
    accepted.options.clear()
    assert accepted.metadata == accepted.options == {"a": [1]}
    assert made(SessionCreated, metadata_json=raw).metadata == {"a": [1]}
    assert made(StateChanged, key="k", value_json=raw).value == {"a": [1]}
    assert made(TurnCompleted, output="x").metadata == {}


def test_free_json_of_the_wrong_shape_is_corrupt() -> None:
    """Metadata that is no object is reported when it is looked at, in a sentence and not as a TypeError."""
    with pytest.raises(CorruptJournal, match="a list stands where an object belongs"):
        _ = made(TurnAccepted, input="hi", metadata_json=msgspec.Raw(b"[1]")).metadata


def test_number_beyond_range_is_reported_on_access() -> None:
    """A line whose free JSON holds 1e999 is read; only looking at that value is an error."""
    line = encode(made(StateChanged, key="k")).data[:-1] + b',"value":1e999}'
    entry = decode(line)
    assert isinstance(entry, StateChanged)
    with pytest.raises(CorruptJournal, match="the number 1e999 is beyond double range"):
        _ = entry.value


def test_reply_is_a_message_either_way() -> None:
    """A reply reads as a message whether it is kept as text or as one; without either it is empty."""
    assert made(TurnCompleted, output="yes").reply.to_json() == {"role": "assistant", "content": "yes"}
    assert made(TurnCompleted).reply.parts == ()
