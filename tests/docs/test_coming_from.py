"""The page for those who know other libraries: our names on it are there, and what is "not yet" is not."""

import importlib
import inspect
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, NamedTuple

import click
import pytest

import antiphon
from antiphon import Chat, Message, ToolCall, ToolPolicy, tool
from antiphon._model_names import _SCHEMES
from antiphon.chat import TurnOptions
from antiphon.cli._subcommands import antiphon as antiphon_command
from antiphon.context import View
from antiphon.journal._entries import TYPES
from antiphon.scratch import Router, Scratchpad
from antiphon.testing import ScriptedModel
from antiphon.tools import ToolOptions
from tests.docs.blocks import ROOT

pytestmark = pytest.mark.anyio

PAGE = ROOT / "docs" / "coming-from.md"
AT_LEAST = 250
"""Names that the page has of ours: a parser that finds fewer reads nothing."""

PUBLIC = ("context", "errors", "journal", "models", "providers", "scratch", "stores", "testing", "tools")

_CELLS = re.compile(r"(?<!\\)\|")
_NAME = re.compile(r"(?P<path>[A-Za-z_][\w.]*)(?:\((?P<given>.*)\))?")
_KEYWORD = re.compile(r"\b(\w+)=")
_UNPACKED = {"Unpack[TurnOptions]": TurnOptions, "Unpack[ToolOptions]": ToolOptions}


class Named(NamedTuple):
    """A name of ours on the page.

    Attributes:
        text: as it is written.
        line: where.
        modules: where it may stand: in `antiphon`, or what else the section says; for what is "not yet" anywhere.
        is_there: whether the page says so; else "not yet".
    """

    text: str
    line: int
    modules: tuple[str, ...]
    is_there: bool

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


def named(text: str) -> Iterator[Named]:
    """The names in the last column of every table."""
    number = 0
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        everywhere = ("antiphon", *(f"antiphon.{each}" for each in PUBLIC))
        said = tuple(each for each in everywhere if each == "antiphon" or f"`{each}`" in section)
        for line in section.splitlines():
            number += 1
            if not line.startswith("| "):
                continue
            cell = _CELLS.split(line)[-2]
            missing = " ".join(re.findall(r"not yet: ([^;]*)", cell))
            for found in re.findall(r"`([^`]+)`", cell):
                is_there = f"`{found}`" not in missing
                yield Named(found, number, said if is_there else everywhere, is_there)


NAMES = list(named(PAGE.read_text(encoding="utf-8")))


@pytest.fixture
async def objects() -> AsyncIterator[Mapping[str, object]]:
    """What the page calls by a small letter, each a real one."""

    @tool
    def look() -> str:
        """Look."""
        return ""

    views: list[View] = []

    def noted(view: View) -> list[Message]:
        views.append(view)
        return []

    call = Message("assistant", (ToolCall.of("c1", "look", arguments={}),))
    chat = Chat(ScriptedModel([call]), context=noted, tools=[look])
    session = await chat.create_session()
    turn = session.send("hi", limits=antiphon.Limits(model_calls=1))
    reply = await turn.result()
    shown = session.shown()
    yield {
        "chat": chat,
        "session": session,
        "turn": turn,
        "reply": reply,
        "shown": shown,
        "trace": reply.trace,
        "view": views[0],
        "pad": Scratchpad(),
        "router": Router(),
        "policy": ToolPolicy(),
        "tool": tool,
        "source": antiphon.source,
    }
    await chat.aclose()


def has(owner: Any, name: str) -> bool:
    """Whether an object, or each object of a class, has an attribute."""
    if hasattr(owner, name) or name in getattr(owner, "__annotations__", {}):
        return True
    # What a class sets when it is made stands in its docstring.
    return inspect.isclass(owner) and re.search(rf"^ +{name}: ", owner.__doc__ or "", re.MULTILINE) is not None


def resolved(path: str, modules: tuple[str, ...], objects: Mapping[str, object]) -> tuple[bool, Any]:
    """Whether a dotted name leads somewhere, and what stands there where that can be said."""
    first, *rest = path.split(".")
    if first in objects and rest:
        found: Any = objects[first]
    else:
        module, rest = parted(path.split("."))
        found = importlib.import_module(module)
        if module == "antiphon":
            found = next((m for m in map(importlib.import_module, modules) if has(m, rest[0])), found)
    for at, name in enumerate(rest):
        if not has(found, name):
            return False, None
        if not hasattr(found, name):
            return at == len(rest) - 1, None
        found = getattr(found, name)
    return True, found


def parted(names: list[str]) -> tuple[str, list[str]]:
    """The module that a dotted name begins with, `antiphon` where it names none, and the rest."""
    if names[0] != "antiphon":
        return "antiphon", names
    for end in range(len(names), 1, -1):
        try:
            importlib.import_module(".".join(names[:end]))
        except ModuleNotFoundError:
            continue
        return ".".join(names[:end]), names[end:]
    return "antiphon", names[1:]


def takes(function: Any, keywords: list[str]) -> bool:
    """Whether a function or class can be given all of these by name."""
    known: set[str] = set()
    for each in inspect.signature(function).parameters.values():
        known |= set(_UNPACKED[each.annotation].__annotations__) if each.annotation in _UNPACKED else {each.name}
    if function is tool:
        known |= set(ToolOptions.__annotations__)
    return known.issuperset(keywords)


def is_command(words: list[str]) -> bool:
    """Whether the command line has such a command, with these options."""
    command = antiphon_command.get_command(click.Context(antiphon_command), words[0])
    options = {option for each in getattr(command, "params", ()) for option in each.opts}
    return command is not None and options.issuperset(words[1:])


def is_there(name: Named, objects: Mapping[str, object]) -> bool:
    """Whether what the page calls so exists."""
    text = name.text
    if text.startswith("antiphon "):
        return is_command(text.split()[1:])
    if text.startswith("examples/"):
        return (ROOT / text).is_file()
    if text.startswith('"'):
        return text.strip('"').partition(":")[0] in _SCHEMES
    if text in TYPES or text == "antiphon":
        return True
    parts = _NAME.fullmatch(text)
    assert parts is not None, f"{name} is no name that this test can read"
    found, thing = resolved(parts["path"], name.modules, objects)
    keywords = _KEYWORD.findall(re.sub(r'"[^"]*"', "", parts["given"] or ""))
    return found and (not keywords or takes(thing, keywords))


async def test_names_are_there(objects: Mapping[str, object]) -> None:
    """What the page says is ours can be imported, is an attribute, or is a parameter, a command, or a file."""
    ours = [name for name in NAMES if name.is_there]
    assert len(ours) > AT_LEAST
    lost = [str(name) for name in ours if not is_there(name, objects)]
    assert not lost, "\n".join(["docs/coming-from.md names what is not there:", *lost])


async def test_what_is_not_yet_is_not_there(objects: Mapping[str, object]) -> None:
    """What the page calls "not yet" does not exist: once it does, the page must tell of it."""
    missing = [name for name in NAMES if not name.is_there]
    assert missing
    there = [str(name) for name in missing if is_there(name, objects)]
    assert not there, "\n".join(['docs/coming-from.md says "not yet" of what is there:', *there])


@pytest.mark.parametrize(
    "text",
    [
        "`Chat(no_such=)`",
        "`session.ask(no_such=)`",
        "`session.no_such()`",
        "`NoSuch`",
        "`antiphon.scratch.NoSuch`",
        "`antiphon nosuch`",
        "`antiphon chat --nosuch`",
        "`examples/nosuch.py`",
        "not yet: `Chat`; today",
        "not yet: `Chat(tools=)`; today",
        "not yet: `antiphon.scratch.Compactor`",
        "not yet: `antiphon chat --mcp`",
    ],
)
async def test_a_page_that_is_wrong_is_found(text: str, objects: Mapping[str, object]) -> None:
    """A name that leads nowhere, or is there although it is called "not yet", is seen as such."""
    [name] = named(f"| theirs | {text} |\n")
    assert is_there(name, objects) is not name.is_there
