"""Free JSON: values of the caller's own shape, kept as the bytes they were written in.

`freeze` checks and encodes once; `thaw` decodes anew on each access, so that what was stored cannot be
changed through what was handed out. This module knows nothing of entries.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec

from .errors import CorruptJournal, NotStorable

Jsonable = Any
"""A value that JSON can hold: None, bool, int, finite float, str, list or tuple, dict with string keys."""

MAX_DEPTH = 200
"""Deeper values are refused: both JSON readers recurse, and a cycle would never end."""

_encode = msgspec.json.Encoder().encode
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


def encode(value: Jsonable) -> bytes:
    """Encode a checked value compactly; lone surrogates go out as `\\uXXXX`, which msgspec cannot write."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_plain)
        return text.encode()


def _plain(value: object) -> Jsonable:
    if isinstance(value, msgspec.Raw):
        return json.loads(bytes(value))
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def freeze(value: Jsonable, path: str) -> msgspec.Raw:
    """Check `value` and give the bytes to keep.

    Raises:
        NotStorable: see `check`.
    """
    check(value, path)
    return msgspec.Raw(encode(value))


def thaw(raw: msgspec.Raw) -> Jsonable:
    """Decode kept bytes to a fresh value.

    Raises:
        CorruptJournal: if the bytes hold a number beyond double range, which no JSON value of ours can.
    """
    data = bytes(raw)
    try:
        return _decode(data)
    except msgspec.DecodeError:
        return loads(data)


def loads(data: bytes) -> Jsonable:
    """Read JSON as the standard library does, lone surrogates included, but refuse what is not finite.

    Raises:
        CorruptJournal: for NaN, Infinity or a number beyond double range.
        ValueError: if the bytes are not JSON.
    """
    return json.loads(data, parse_constant=_refuse_number, parse_float=_finite)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse_number(text)
    return number


def _refuse_number(text: str) -> None:
    raise CorruptJournal(why=f"the number {text} is beyond double range")
