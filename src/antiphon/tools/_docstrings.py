"""Docstrings in the three styles that people write: Google's, NumPy's and Sphinx'."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_PARAMETERS = r"(?:Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters)"
_OTHERS = r"(?:Returns?|Raises|Yields?|Examples?|Notes?|Attributes|Warnings?|Warns|See Also|References|Todo)"
_GOOGLE = re.compile(rf"(?:{_PARAMETERS}|{_OTHERS}):\s*")
_GOOGLE_PARAMETERS = re.compile(rf"{_PARAMETERS}:\s*")
_GOOGLE_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*:\s*(.*)")
_NUMPY = re.compile(rf"{_PARAMETERS}|{_OTHERS}")
_NUMPY_PARAMETERS = re.compile(_PARAMETERS)
_NUMPY_ENTRY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_SPHINX = re.compile(r":(?:param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|yields?)\b.*:")
_SPHINX_ENTRY = re.compile(r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)")

_Entries = Iterator[tuple[str, str]]


class Described(NamedTuple):
    """What a docstring says.

    Attributes:
        text: all that stands before the first section.
        parameters: what it says of each parameter, in one line.
    """

    text: str
    parameters: dict[str, str]


def described(doc: str | None) -> Described:
    """Read a docstring; what is in no style that is known belongs to the text."""
    lines = inspect.cleandoc(doc or "").splitlines()
    first = next((at for at in range(len(lines)) if _begins_section(lines, at)), len(lines))
    found: dict[str, list[str]] = {}
    for name, line in (*_google(lines), *_numpy(lines), *_sphinx(lines)):
        found.setdefault(name, []).append(line.strip())
    text = "\n".join(lines[:first]).strip()
    return Described(text, {name: " ".join(filter(None, said)) for name, said in found.items()})


def _begins_section(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    return bool(_GOOGLE.fullmatch(line) or _SPHINX.match(line) or _underlined(lines, at, wanted=_NUMPY))


def _underlined(lines: Sequence[str], at: int, *, wanted: re.Pattern[str]) -> bool:
    below = lines[at + 1].strip() if at + 1 < len(lines) else ""
    return bool(wanted.fullmatch(lines[at].strip())) and len(below) > 2 and set(below) == {"-"}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _google(lines: Sequence[str]) -> _Entries:
    for at, line in enumerate(lines):
        if _GOOGLE_PARAMETERS.fullmatch(line):
            yield from _google_entries(_until_dedent(lines[at + 1 :]))


def _until_dedent(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.strip() and _indent(line) == 0:
            return
        yield line


def _google_entries(block: Iterable[str]) -> _Entries:
    depth, name = 0, ""
    for line in filter(str.strip, block):
        depth = depth or _indent(line)
        entry = _GOOGLE_ENTRY.fullmatch(line.strip()) if _indent(line) <= depth else None
        if entry:
            name = entry[1]
        if name:
            yield name, entry[2] if entry else line


def _numpy(lines: Sequence[str]) -> _Entries:
    for at in range(len(lines)):
        if _underlined(lines, at, wanted=_NUMPY_PARAMETERS):
            end = next((to for to in range(at + 2, len(lines)) if _underlined(lines, to, wanted=_NUMPY)), len(lines))
            yield from _numpy_entries(lines[at + 2 : end])


def _numpy_entries(block: Iterable[str]) -> _Entries:
    names: list[str] = []
    for line in filter(str.strip, block):
        if _indent(line) == 0:
            entry = _NUMPY_ENTRY.fullmatch(line.rstrip())
            names = [each.strip(" *") for each in entry[1].split(",")] if entry else []
        else:
            yield from ((name, line) for name in names)


def _sphinx(lines: Sequence[str]) -> _Entries:
    name = ""
    for line in lines:
        entry = _SPHINX_ENTRY.fullmatch(line)
        if entry:
            name = entry[1]
            yield name, entry[2]
        elif line.strip() and _indent(line):
            yield from ((each, line) for each in (name,) if each)
        else:
            name = ""
