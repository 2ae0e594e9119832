"""The head of a GGUF file, read far enough to know the context that a model was trained with."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_STRING, _ARRAY = 8, 9
_WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of each plain value type."""
_MOST_FIELDS = 1_000
_LONGEST = 1 << 20
"""Bytes of a string; longer ones before the field that we look for mean that the file is damaged."""


def trained_window(path: Path) -> int | None:
    """Give the tokens of context that the model in this file was trained with, or None where it does not say.

    Raises:
        ValueError: if the file is not a GGUF file, or its head is damaged.
        OSError: if it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ValueError("it is not a GGUF file")
        _version, _tensors, fields = struct.unpack("<IQQ", _exactly(file, 20))
        for _ in range(min(fields, _MOST_FIELDS)):
            key, kind = _text(file), _number(file, 4)
            if key.endswith(".context_length") and _WIDTHS.get(kind, 0) > 2:
                return _number(file, _WIDTHS[kind]) or None
            _skip(file, kind)
    return None


def _exactly(file: BinaryIO, count: int) -> bytes:
    found = file.read(count)
    if len(found) != count:
        raise ValueError("it ends in the middle of its head")
    return found


def _number(file: BinaryIO, width: int) -> int:
    return int.from_bytes(_exactly(file, width), "little")


def _text(file: BinaryIO) -> str:
    length = _number(file, 8)
    if length > _LONGEST:
        raise ValueError("its head is damaged")
    return _exactly(file, length).decode("utf-8", "replace")


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _STRING:
        _text(file)
        return
    if kind != _ARRAY:
        _exactly(file, _width(kind))
        return
    inner, count = _number(file, 4), _number(file, 8)
    if inner != _STRING:
        file.seek(count * _width(inner), 1)
        return
    for _ in range(count):
        _text(file)


def _width(kind: int) -> int:
    if kind not in _WIDTHS:
        raise ValueError("its head is damaged")
    return _WIDTHS[kind]
