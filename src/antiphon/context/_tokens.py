"""Estimating: how many tokens a text costs, without a tokenizer.

An estimate is a sum of 24 features of the text, each times a number fitted for a tokenizer family: letters, digits
and punctuation, characters beyond ASCII by script, and runs of these. Against o200k its mean error is 8.5 % a text
over forty classes of text, where a quarter of the characters is 29 % off.
"""

from __future__ import annotations

import importlib.resources
import json
import re
from collections.abc import Callable
from functools import lru_cache

TokenCounter = Callable[[str], int]
"""Counts the tokens of a text, unbiased: caution is the budget's margin."""

_CLASSES = bytearray(b"p" * 256)
for _first, _last, _letter in (
    (0x30, 0x39, "0"),
    (0x41, 0x5A, "A"),
    (0x61, 0x7A, "a"),
    (0xC0, 0xCB, "x"),
    (0xCC, 0xCF, "g"),
    (0xD0, 0xD3, "c"),
    (0xD4, 0xD7, "h"),
    (0xD8, 0xDF, "r"),
    (0xE0, 0xE0, "i"),
    (0xE1, 0xE1, "j"),
    (0xE2, 0xE2, "u"),
    (0xE3, 0xE3, "k"),
    (0xE4, 0xE9, "z"),
    (0xEA, 0xED, "o"),
    (0xEE, 0xEF, "f"),
    (0xF0, 0xFF, "e"),
):
    _CLASSES[_first : _last + 1] = _letter.encode() * (_last - _first + 1)
for _blank in b" \t\v\f":
    _CLASSES[_blank] = ord("s")
for _newline in b"\r\n":
    _CLASSES[_newline] = ord("n")
_TABLE = bytes(_CLASSES)
_CONTINUATION = bytes(range(0x80, 0xC0))

_LETTERS = "aA0pxgchrijukzofe"
_WORDS = re.compile(rb"[aA]+")
_LONG_WORDS = re.compile(rb"[aA]{7,}")
_CAMEL = re.compile(rb"aA")
_RUNS = {
    "drun": re.compile(rb"0+"),
    "srun": re.compile(rb"s{2,}"),
    "nrun": re.compile(rb"n+"),
    "prun": re.compile(rb"p+"),
}

_REMEMBERED = 20_000
"""Characters of the longest text whose count is remembered: 256 of them stay within some megabytes."""

UNKNOWN = ("o200k_base", "gemma3", "claude3")
"""A model of no known family costs what the dearest of these would."""


@lru_cache(maxsize=1)
def families() -> dict[str, dict[str, float]]:
    """The fitted numbers, by tokenizer family."""
    text = importlib.resources.files(__package__).joinpath("token_families.json").read_text("utf-8")
    found: dict[str, dict[str, float]] = json.loads(text)
    return found


def _features(text: str) -> dict[str, int]:
    classes = text.encode("utf-8", "replace").translate(_TABLE, _CONTINUATION)
    counts = {letter: classes.count(letter.encode()) for letter in _LETTERS}
    counts["word"] = len(_WORDS.findall(classes))
    counts["longword"] = sum(len(word) - 6 for word in _LONG_WORDS.findall(classes))
    counts["camel"] = len(_CAMEL.findall(classes))
    return counts | {name: len(pattern.findall(classes)) for name, pattern in _RUNS.items()}


def estimate_tokens(text: str, *, family: str | None = None) -> int:
    """Estimate the tokens of a text.

    Args:
        text: any text; lone surrogates count like a replacement character.
        family: a key of `families()`, or None for the dearest of three common ones.

    Returns:
        Whole tokens, at least 1 for any text that is not empty.
    """
    if not text:
        return 0
    return _remembered(text, family) if len(text) <= _REMEMBERED else _estimated(text, family)


def _estimated(text: str, family: str | None) -> int:
    features = _features(text)
    vectors = [families()[name] for name in ((family,) if family else UNKNOWN)]
    best = max(sum(vector[name] * count for name, count in features.items()) for vector in vectors)
    return max(1, round(best))


_remembered = lru_cache(maxsize=256)(_estimated)
"""Instructions and the like are counted anew for every call; short texts are remembered, so that this costs nothing."""
