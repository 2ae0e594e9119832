"""From what a tool gives to the one result of its call. Whatever it gives, there is one."""

from __future__ import annotations

import base64
import math
from collections import deque
from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

import msgspec

from .._jsonable import MAX_DEPTH, Jsonable, encode, freeze
from .._messages import MAX_MEDIA, File, Image, Text, ToolCall, ToolResult, check_part
from ..errors import NotStorable
from ._kinds import is_pydantic

MAX_TEXT = 20_000_000
"""Bytes of UTF-8 that an output may have; what a model is shown of it is bounded elsewhere."""

_IN_ORDER = (list, tuple, deque, range, KeysView, ValuesView, ItemsView)
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


def result_of(call: ToolCall, given: object) -> ToolResult:
    """The result of a call that gave something. Never fails.

    JSON stays as it is; dataclasses, Structs, pydantic models, dates and the like become what JSON has for them;
    bytes and Image and File parts become media, with a mark in their place. What JSON has nothing for is told by its
    repr, and an output of more than 20 MB is cut, both with a note. A ToolResult keeps its output and its media.
    """
    if isinstance(given, ToolResult):
        return msgspec.structs.replace(given, call_id=call.id, name=call.name)
    plain = _Plain()
    try:
        output = plain.of(given)
        return _result(call, output, media=plain.media)
    except Exception:  # isolates: what a tool gave: its properties, its length, its serializer
        return _result(call, _told(given))


def error_of(call: ToolCall, error: BaseException) -> ToolResult:
    """The result of a call that raised: the error's class and what it says. Never fails, never empty."""
    return _result(call, error_text(error), is_error=True)


def error_text(error: BaseException) -> str:
    """An error's class and its words, those of a group's errors too."""
    try:
        said = str(error).strip()
    except Exception:  # isolates: an error's own __str__
        said = ""
    told = f"{type(error).__name__}: {said or 'it says nothing more'}"
    if not isinstance(error, BaseExceptionGroup):
        return told
    return f"{told}: {'; '.join(map(error_text, error.exceptions))}"


def _result(
    call: ToolCall, output: Jsonable, *, media: list[Image | File] | None = None, is_error: bool = False
) -> ToolResult:
    written = freeze(output, f"output of {call.name}")
    if len(bytes(written)) > MAX_TEXT:
        written = freeze(_cut(output if isinstance(output, str) else bytes(written).decode()), "output")
    return ToolResult(call.id, call.name, written, is_error, tuple(media or ()))


def _cut(text: str) -> str:
    whole = text.encode(errors="surrogatepass")
    if len(whole) <= MAX_TEXT:
        return text
    left = len(whole) - MAX_TEXT
    return whole[:MAX_TEXT].decode(errors="ignore") + f"\n[cut here: {left:,} bytes of {len(whole):,} left out]"


def _told(value: object) -> str:
    kind = type(value).__name__
    try:
        shown = repr(value)
    except Exception:  # isolates: the __repr__ of what a tool gave
        return f"[a {kind}, which is not JSON and has no repr]"
    return f"{shown} [the repr of a {kind}, which is not JSON]"


class _Plain:
    """Turns values into JSON.

    Attributes:
        media: the pictures and documents that were found.
    """

    def __init__(self) -> None:
        self.media: list[Image | File] = []

    def of(self, value: Any, depth: int = 0) -> Jsonable:
        """A value as JSON."""
        if value is None or isinstance(value, bool):
            return value
        if depth > MAX_DEPTH:
            raise NotStorable("output", "a value nested too deeply")
        if isinstance(value, Enum):
            return self.of(value.value, depth + 1)
        if isinstance(value, str | int | float):
            return self._scalar(value)
        if isinstance(value, Text):
            return value.text
        if isinstance(value, Image | File):
            return self._medium(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return self._bytes(bytes(value))
        return self._composed(value, depth + 1)

    def _scalar(self, value: str | float) -> Jsonable:
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int.__int__(value) if -(2**1024) < value < 2**1024 else _told(value)
        return float.__float__(value) if math.isfinite(value) else float.__repr__(value)

    def _composed(self, value: Any, depth: int) -> Jsonable:
        if isinstance(value, Mapping):
            return {self._key(key): self.of(each, depth) for key, each in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return self._composed(value._asdict(), depth)
        if isinstance(value, _IN_ORDER):
            return [self.of(each, depth) for each in value]
        if isinstance(value, set | frozenset):
            # In an order that does not change from process to process.
            return sorted((self.of(each, depth) for each in value), key=encode)
        if isinstance(value, type):
            return _told(value)
        if isinstance(value, PurePath):
            return str(value)
        if is_dataclass(value):
            return {each.name: self.of(getattr(value, each.name), depth) for each in fields(value)}
        if is_pydantic(type(value)):
            return self.of(value.model_dump(mode="json"), depth)
        return self._foreign(value, depth)

    def _key(self, key: object) -> str:
        plain = key if isinstance(key, str) else self.of(key, MAX_DEPTH - 1)
        return str.__str__(plain) if isinstance(plain, str) else encode(plain).decode()

    def _foreign(self, value: Any, depth: int) -> Jsonable:
        """What msgspec knows: Structs, dates, UUIDs, decimals; and arrays, which know it themselves."""
        try:
            found = msgspec.to_builtins(value, builtin_types=(bytes, bytearray, memoryview), enc_hook=_refuse)
        except (TypeError, ValueError, RecursionError):
            listed = getattr(value, "tolist", None)
            return self.of(listed(), depth) if callable(listed) else _told(value)
        return self.of(found, depth)

    def _bytes(self, given: bytes) -> str:
        kind = next((kind for magic, kind in _MAGIC if given.startswith(magic)), None)
        if given[:4] == b"RIFF" and given[8:12] == b"WEBP":
            kind = "image/webp"
        # Whether it is small enough is seen before it is written out a third larger.
        data = base64.b64encode(given).decode() if len(given) <= MAX_MEDIA else None
        if data is None or len(data) > MAX_MEDIA:
            return f"[{kind or 'application/octet-stream'} of {len(given):,} bytes, too large to be kept]"
        if kind is None or not kind.startswith("image/"):
            return self._medium(File(kind or "application/octet-stream", data=data))
        return self._medium(Image(kind, data=data))

    def _medium(self, part: Image | File) -> str:
        try:
            check_part(part, "media")
        except NotStorable as error:
            return f"[{part.media_type}, not kept: {error}]"
        self.media.append(part)
        return f"[media {len(self.media)}: {part.media_type}]"


def _refuse(value: object) -> Any:
    raise TypeError(f"a {type(value).__name__} is not JSON")
