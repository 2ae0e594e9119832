"""Reading JSON as models really write it. Valid JSON is read as what it says; else only what has one meaning."""

from __future__ import annotations

import re

from .._jsonable import MAX_DEPTH, Jsonable, loads
from ..errors import CorruptJournal

_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)\n?[ \t]*```", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"[A-Za-z]+")
_WORDS: dict[str, Jsonable] = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_SPACE = " \t\r\n"
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Unreadable(ValueError):
    """The text has no one meaning. Its message says where it stops having one."""


def read_json_text(text: str) -> tuple[Jsonable, bool]:
    """Read a text as JSON, and say whether it had to be repaired.

    Repaired are code fences, trailing commas, single quotes, Python's words, line breaks inside texts, brackets that
    are missing at the end, and words around one object.

    Raises:
        Unreadable: if nothing, or more than one thing, can be meant.
    """
    try:
        return loads(text.encode()), False
    except (ValueError, CorruptJournal):
        bare = text.strip("\ufeff" + _SPACE)
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    fence = _FENCE.search(bare)
    if fence and _is_prose(bare[: fence.start()]) and _is_prose(bare[fence.end() :]):
        return read_json_text(fence[1])[0], True
    return _Reader(bare).whole(), True


def _is_prose(text: str) -> bool:
    return not any(mark in text for mark in '{}[]"`')


class _Reader:
    """Reads one value, forgiving what can be meant in one way only."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def whole(self) -> Jsonable:
        """The value that the text is, or the one object that stands among words."""
        try:
            found = self._value(0)
            self._end()
            return found
        except Unreadable:
            start = self._text.find("{")
            if start < 1 or not _is_prose(self._text[:start]):
                raise
        self._at = start
        found = self._value(0)
        if not _is_prose(self._text[self._at :]):
            raise Unreadable("it holds more than one object")
        return found

    def _end(self) -> None:
        self._skip()
        if self._at < len(self._text):
            raise self._stuck()

    def _skip(self) -> None:
        while self._peek() and self._peek() in _SPACE:
            self._at += 1

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _stuck(self) -> Unreadable:
        if self._at >= len(self._text):
            return Unreadable("it ends in the middle")
        return Unreadable(f"it is no JSON from character {self._at + 1:,} on")

    def _value(self, depth: int) -> Jsonable:
        self._skip()
        first = self._peek()
        if depth > MAX_DEPTH:
            raise Unreadable("it is nested too deeply")
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._array(depth)
        return self._string() if first and first in "\"'" else self._atom()

    def _atom(self) -> Jsonable:
        if number := _NUMBER.match(self._text, self._at):
            self._at = number.end()
            # A number at the very end may have lost digits, and 017 or 1_000 is none.
            if self._at == len(self._text) or self._text[self._at] not in _SPACE + ",]}":
                raise self._stuck()
            return self._number(number[0])
        word = _WORD.match(self._text, self._at)
        if word is None or word[0] not in _WORDS:
            raise self._stuck()
        self._at = word.end()
        return _WORDS[word[0]]

    def _number(self, written: str) -> Jsonable:
        try:
            return loads(written.encode())
        except CorruptJournal as error:
            raise Unreadable(str(error)) from None

    def _object(self, depth: int) -> dict[str, Jsonable]:
        found: dict[str, Jsonable] = {}
        self._at += 1
        while not self._closed("}"):
            if self._peek() not in ('"', "'"):
                raise self._stuck()
            key = self._string()
            self._skip()
            if self._peek() != ":":
                raise self._stuck()
            self._at += 1
            if key in found:
                raise Unreadable("it gives one name twice")
            found[key] = self._value(depth + 1)
            self._separated("}")
        return found

    def _array(self, depth: int) -> list[Jsonable]:
        found: list[Jsonable] = []
        self._at += 1
        while not self._closed("]"):
            found.append(self._value(depth + 1))
            self._separated("]")
        return found

    def _closed(self, bracket: str) -> bool:
        """Whether the bracket closes here, or is missing at the end behind something whole."""
        self._skip()
        if self._peek() == bracket:
            self._at += 1
            return True
        if self._at < len(self._text):
            return False
        # Behind a comma, a colon or an opening bracket more was to come.
        if self._text.rstrip()[-1] in ",:{[":
            raise self._stuck()
        return True

    def _separated(self, bracket: str) -> None:
        self._skip()
        if self._peek() == ",":
            self._at += 1
        elif self._peek() not in ("", bracket):
            raise self._stuck()

    def _string(self) -> str:
        quote, found = self._peek(), []
        self._at += 1
        while (char := self._peek()) != quote:
            if not char:
                raise self._stuck()
            self._at += 1
            found.append(self._escaped() if char == "\\" else char)
        self._at += 1
        self._skip()
        # A quote inside a text, unescaped, would end it early: what follows then fits no JSON.
        if self._peek() not in ("", ",", ":", "}", "]"):
            raise self._stuck()
        return "".join(found)

    def _escaped(self) -> str:
        char = self._peek()
        self._at += 1
        if char == "u":
            return self._unicode()
        if not char or char not in "\"'\\/bfnrt":
            raise self._stuck()
        return _ESCAPES.get(char, char)

    def _unicode(self) -> str:
        digits = re.compile(r"[0-9a-fA-F]{4}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?").match(self._text, self._at)
        if digits is None:
            raise self._stuck()
        pair = digits[0][:1] in "dD" and digits[0][1:2] in "89abAB"
        written = digits[0] if pair else digits[0][:4]
        self._at += len(written)
        found = loads(f'"\\u{written}"'.encode())
        return str(found)
