"""Free JSON: values of the caller's own shape, kept as the bytes they were written in.

`freeze` checks and encodes once; `thaw` decodes anew on each access, so that what was stored cannot be
changed through what was handed out. This module knows nothing of entries.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from .errors import CorruptJournal, NotStorable

Jsonable = Any
"""A value that JSON can hold: None, bool, int, finite float, str, list or tuple, dict with string keys."""

MAX_DEPTH = 200
"""Deeper values are refused: both JSON readers recurse, and a cycle would never end."""

_decode = msgspec.json.Decoder().decode
NULL = msgspec.Raw(b"null")


def check(value: Jsonable, path: str) -> None:
    """Refuse what JSON cannot hold without changing it.

    msgspec by itself would turn NaN into null, integer keys into strings and sets into lists.

    Args:
        value: what is to be stored.
        path: where it stands, for the error's sentence, as in `metadata.price`.

    Raises:
        NotStorable: at the first value that is not JSON, named by its path.
    """
    pending: list[tuple[Any, str, int]] = [(value, path, 0)]
    while pending:
        item, where, depth = pending.pop()
        if item is None or isinstance(item, str | bool | int | msgspec.Raw):
            continue
        if depth > MAX_DEPTH:
            raise NotStorable(path, f"a value nested deeper than {MAX_DEPTH} levels")
        if isinstance(item, float):
            if not math.isfinite(item):
                raise NotStorable(where, repr(item))
        elif isinstance(item, Mapping):
            pending += [(each, _key_path(where, key), depth + 1) for key, each in item.items()]
        elif isinstance(item, list | tuple):
            pending += [(each, f"{where}[{i}]", depth + 1) for i, each in enumerate(item)]
        else:
            raise NotStorable(where, f"a {type(item).__name__}")


def _key_path(where: str, key: object) -> str:
    if not isinstance(key, str):
        raise NotStorable(where, f"the key {key!r}, a {type(key).__name__}")
    return f"{where}.{key}"


def _plain(value: object) -> Jsonable:
    """What an encoder does not know by itself: other mappings, and a caller's own kinds of text and number."""
    for kind, plainly in _PLAINLY.items():
        if isinstance(value, kind):
            return plainly(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_PLAINLY: dict[type[Any], Callable[[Any], Jsonable]] = {
    msgspec.Raw: lambda raw: json.loads(bytes(raw)),
    Mapping: dict,
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
}
_encode = msgspec.json.Encoder(enc_hook=_plain).encode


def encode(value: Jsonable) -> bytes:
    """Encode a checked value compactly; lone surrogates go out as `\\uXXXX`, which msgspec cannot write."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_plain)
        return text.encode()


def freeze(value: Jsonable, path: str) -> msgspec.Raw:
    """Check `value` and give the bytes to keep.

    Raises:
        NotStorable: see `check`.
    """
    check(value, path)
    try:
        return msgspec.Raw(encode(value))
    except ValueError:  # sys.get_int_max_str_digits()
        raise NotStorable(path, "a whole number of thousands of digits") from None


def thaw(raw: msgspec.Raw) -> Jsonable:
    """Decode kept bytes to a fresh value.

    Raises:
        CorruptJournal: if the bytes hold what no JSON value of ours can: a number beyond double range, or of
            thousands of digits, or a value nested too deeply.
    """
    data = bytes(raw)
    try:
        return _decode(data)
    except msgspec.DecodeError:
        return loads(data)
    except RecursionError:
        raise CorruptJournal(why="a value is nested too deeply") from None


def thaw_object(raw: msgspec.Raw) -> dict[str, Jsonable]:
    """Decode kept bytes that hold an object, or null for an empty one.

    Raises:
        CorruptJournal: if they hold anything else; see also `thaw`.
    """
    found = thaw(raw)
    if found is None or isinstance(found, dict):
        return found or {}
    raise CorruptJournal(why=f"a {type(found).__name__} stands where an object belongs")


def loads(data: bytes) -> Jsonable:
    """Read JSON as the standard library does, lone surrogates included, but only UTF-8 and only what is finite.

    Raises:
        CorruptJournal: for NaN, Infinity, a number beyond double range or one of thousands of digits.
        ValueError: if the bytes are not JSON in UTF-8.
    """
    # Decoded here, for the library would guess at UTF-16 and take a byte order mark.
    return json.loads(data.decode(), parse_constant=_refuse_number, parse_float=_finite, parse_int=_whole)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse_number(text)
    return number


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:  # sys.get_int_max_str_digits()
        raise CorruptJournal(why=f"a whole number of {len(text):,} digits cannot be read") from None


def _refuse_number(text: str) -> None:
    raise CorruptJournal(why=f"the number {text} is beyond double range")
