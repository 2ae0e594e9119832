"""Between entries and lines. A line is one JSON object in UTF-8 without a line feed.

msgspec reads and writes first. What it refuses though JSON allows it (lone surrogates, written as `\\uXXXX`) goes
through the standard library and then through the same classes with the same checks. Only what neither reads is
corrupt.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Union, cast, get_args, get_origin

import msgspec

from .. import _jsonable
from ..errors import CorruptJournal, UnsupportedVersion
from ._entries import TYPES, VERSION, Entry, KnownEntry, UnknownEntry


class Line(NamedTuple):
    """One entry as stores move it: `data` is a JSON object without LF, whose `id` and `type` stand beside it."""

    id: str
    type: str
    data: bytes


class _Head(msgspec.Struct):
    id: str
    type: str
    version: Any = None


class _UnknownHead(msgspec.Struct, rename="camel"):
    id: str
    type: str
    session_id: str
    at: str


_decode_known: Callable[[bytes], KnownEntry] = msgspec.json.Decoder(KnownEntry).decode
_decode_head = msgspec.json.Decoder(_Head).decode
_decode_unknown = msgspec.json.Decoder(_UnknownHead).decode
_encode = msgspec.json.Encoder().encode


def encode(entry: KnownEntry) -> Line:
    """Write an entry.

    Free JSON inside it was checked when it was frozen; text may hold anything, lone surrogates included.
    """
    try:
        data = _encode(entry)
    except UnicodeEncodeError:
        data = _jsonable.encode(msgspec.to_builtins(entry, enc_hook=_jsonable.thaw))
    if b"\n" in data or b"\r" in data:
        # Free JSON read from an editor's pretty-printed line may carry line breaks between its tokens.
        data = _jsonable.encode(_jsonable.loads(data))
    return Line(entry.id, entry.type, data)


def decode(data: bytes) -> Entry:
    """Read a line.

    Args:
        data: the line's bytes, without LF.

    Raises:
        UnsupportedVersion: if the entry is of a newer format, whatever its type.
        CorruptJournal: if it is no entry; the caller adds where it stands.
    """
    try:
        if not data.isascii():
            data.decode()  # msgspec does not look at the bytes of text that it passes over
        return _decode_known(data)
    except msgspec.DecodeError:
        return _decode_slowly(data)
    except UnicodeDecodeError as error:
        raise CorruptJournal(why=f"not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise CorruptJournal(why="not an entry: nested too deeply") from None


def decode_all(lines: Sequence[bytes]) -> list[Entry]:
    """Read many lines, with or without their LF, at less than what `decode` costs for each.

    Raises:
        UnsupportedVersion, CorruptJournal: see `decode`; which line it was is not said.
    """
    if all(map(bytes.isascii, lines)):
        try:
            return list(map(_decode_known, lines))
        except (msgspec.DecodeError, RecursionError):
            pass  # one of them wants the longer way
    return [decode(data.removesuffix(b"\n")) for data in lines]


def _decode_slowly(data: bytes) -> Entry:
    head = decode_head(data)
    if head.version is None:
        raise CorruptJournal(why="not an entry: it has no version")
    if type(head.version) is not int or head.version != VERSION:
        raise UnsupportedVersion(head.version)
    try:
        if head.type not in TYPES:
            return _unknown(data)
        return cast(KnownEntry, _typed(_jsonable.loads(data), TYPES[head.type]))
    except (msgspec.ValidationError, TypeError, UnicodeEncodeError) as error:
        raise CorruptJournal(why=f"not a {head.type} entry: {error}") from None
    except RecursionError:
        raise CorruptJournal(why="not an entry: nested too deeply") from None


def decode_head(data: bytes) -> _Head:
    """Read only id, type and version of a line.

    Raises:
        CorruptJournal: if the line is not a JSON object with an id and a type.
    """
    try:
        return _decode_head(data)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return cast(_Head, _typed(_jsonable.loads(data), _Head))
    except msgspec.ValidationError as error:
        raise CorruptJournal(why=f"not an entry: {error}") from None
    except RecursionError:
        raise CorruptJournal(why="not an entry: nested too deeply") from None
    except ValueError:
        raise CorruptJournal(why="not an entry: not JSON") from None


def _unknown(data: bytes) -> UnknownEntry:
    try:
        head = _decode_unknown(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        head = _typed(_jsonable.loads(data), _UnknownHead)
    return UnknownEntry(version=1, id=head.id, session_id=head.session_id, at=head.at, type=head.type, data=bytes(data))


def line_of(data: bytes) -> Line:
    """Make a line from its bytes.

    Raises:
        CorruptJournal: see `decode_head`.
    """
    head = decode_head(data)
    return Line(head.id, head.type, data)


# The slow path builds the same classes: free JSON is put back into bytes where a class wants bytes.


def _typed(value: Any, cls: type[Any]) -> Any:
    return msgspec.convert(_with_raw(value, cls), cls)


def _with_raw(value: Any, wanted: Any) -> Any:
    if wanted is msgspec.Raw:
        return msgspec.Raw(_jsonable.encode(value))
    if isinstance(value, list):
        return [_with_raw(item, _item_type(wanted)) for item in value]
    cls = _struct_for(value, wanted)
    if cls is None:
        return value
    fields = {field.encode_name: field.type for field in _fields(cls)} | {"type": str}
    # Fields that a class lacks are left out here, for msgspec cannot pass over a key with a lone surrogate.
    return {name: _with_raw(item, fields[name]) for name, item in value.items() if name in fields}


def _fields(cls: type[Any]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(cls)


def _item_type(wanted: Any) -> Any:
    for option in _options(wanted):
        if get_origin(option) in (tuple, list):
            return get_args(option)[0]
    return None


def _struct_for(value: Any, wanted: Any) -> type[Any] | None:
    if not isinstance(value, dict):
        return None
    structs = [option for option in _options(wanted) if isinstance(option, type) and issubclass(option, msgspec.Struct)]
    tagged = [cls for cls in structs if cls.__struct_config__.tag == value.get("type")]
    return next(iter(tagged or structs), None)


def _options(wanted: Any) -> tuple[Any, ...]:
    return get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)
