"""Writes src/antiphon/blocking.py: the surface of the async classes, without await.

What each method takes, gives and says is read from the source of the async class; `tests/docs` fails when the file is
not what this program gives.
"""

import ast
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from antiphon.chat import Chat, LiveTurn, Session, State

ROOT = Path(__file__).resolve().parents[1]
PATH = ROOT / "src" / "antiphon" / "blocking.py"
CLASSES: tuple[type[Any], ...] = (LiveTurn, State, Session, Chat)
NAMES = [cls.__name__ for cls in CLASSES]

RENAMED = {
    "aclose": "close",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "AsyncIterator": "Iterator",
}
KEPT = ("__repr__", "_repr_html_")
"""Names with an underscore that belong to the surface, besides the renamed ones."""
DIRECT = ("id", "store", "place", "__repr__")
"""What nothing changes while others read it: no trip to the loop is needed."""
ENDING = ("aclose", "__aexit__")

HEAD = '''\
# Generated from the source of the async classes by `./dev generate`: change it there, or in tools/blocking.py.
"""The same classes without await, for scripts, notebooks and threads.

Each method does what its twin in `antiphon` does, on a thread of the Chat's own, in a copy of the caller's context.
"""

from __future__ import annotations

{imports}

__all__ = {names}
'''

SAID: dict[str, str] = {
    "Opens sessions and runs their turns.\n": """Opens sessions and runs their turns.

    Every call runs on one thread of this Chat's own, which starts with the first call and ends with `close()`. It may
    be used from several threads, and where an event loop runs already, as in a notebook. KeyboardInterrupt cancels
    the turn that is waited for, and is raised again once that is committed. A call from the Chat's own thread, as an
    async responder would make it, or in a process forked off after the first call, is `Misuse`. A responder that is
    not async runs in a thread of its own: it may wait, and call this Chat.
""",
    "`async with session.send(…) as turn:`": "`with session.send(…) as turn:`",
    "Cancelling this wait leaves the turn running.": "KeyboardInterrupt cancels the turn.",
    "Cancelling this call cancels the turn.": "KeyboardInterrupt cancels the turn.",
    "then they are canceled.\n": "then they are canceled. Its thread ends.\n",
}
"""What docstrings say of await, and what is said here in its place."""


@dataclass
class Facade:
    """The file as it grows.

    Attributes:
        imports: each name with the module it is taken from.
        unsaid: words of `SAID` that no docstring has had yet.
    """

    imports: dict[str, str] = field(default_factory=dict)
    unsaid: set[str] = field(default_factory=lambda: set(SAID))

    def text(self) -> str:
        """The whole file."""
        bodies = [self._class(cls) for cls in CLASSES]
        if self.unsaid:
            raise SystemExit(f"tools/blocking.py: no docstring says any more: {sorted(self.unsaid)}")
        lines = [f"from {module} import {name}" for name, module in self.imports.items()]
        lines += ["from . import chat", "from ._loop_thread import LoopThread"]
        lines += ["from ._sync_responder import SyncResponder, awaited"]
        head = HEAD.format(imports="\n".join(lines), names=sorted(NAMES))
        return formatted("\n\n".join([head, *bodies]))

    def _class(self, cls: type[Any]) -> str:
        members = [Member(cls, home, node) for home, node in members_of(cls)]
        lines = [f"class {cls.__name__}:", docstring(self._said(inspect.getdoc(cls) or "", "    "), "    ")]
        lines += constructor(cls, self) if cls is Chat else [wrapping(cls)]
        for member in members:
            self.need(member.home, member.node.args, member.node.returns)
            said = self._said(ast.get_docstring(member.node) or "", "        ")
            lines += ["", *member.written(docstring(said, "        ") if said else "")]
        return "\n".join(lines)

    def _said(self, text: str, indent: str) -> str:
        for before, after in SAID.items():
            if before in text:
                self.unsaid.discard(before)
                text = text.replace(before, after.replace("\n" + indent, "\n"))
        return text

    def need(self, home: type[Any], *parts: ast.AST | None) -> None:
        """Import what a signature names, from where the class's own module has it."""
        names = {
            node.id
            for part in parts
            if part is not None
            for node in ast.walk(part)
            if isinstance(node, ast.Name) and node.id not in NAMES
        }
        origins = origins_in(home)
        for name in sorted(names & set(origins)):
            self.imports[RENAMED.get(name, name)] = origins[name]


@dataclass
class Member:
    """One method or property of an async class, and its twin."""

    cls: type[Any]
    home: type[Any]
    node: ast.FunctionDef | ast.AsyncFunctionDef

    def written(self, doc: str) -> Iterator[str]:
        """The twin's lines."""
        node = self.node
        returns = renamed(ast.unparse(node.returns)) if node.returns is not None else "None"
        if self._is_property:
            yield "    @property"
        name = RENAMED.get(node.name, node.name)
        yield f"    def {name}({ast.unparse(node.args)}) -> {returns}:"
        if doc:
            yield doc
        yield from self._body(returns)

    @property
    def _is_property(self) -> bool:
        return any(isinstance(each, ast.Name) and each.id == "property" for each in self.node.decorator_list)

    def _body(self, returns: str) -> Iterator[str]:
        name, twin = self.node.name, f"self._async.{self.node.name}"
        if name == "__aenter__":
            yield "        return self"
            return
        asked = twin if self._is_property else f"{twin}({', '.join(forwarded(self.node.args))})"
        turn = ", turn=self._async" if self.cls is LiveTurn else ""
        if name in DIRECT:
            yield f"        return {'repr(self._async)' if name == '__repr__' else asked}"
        elif self.cls is Chat and name in ENDING:
            yield f"        self._loop.end(lambda: {asked})"
        elif returns.startswith("Iterator["):
            yield f"        return self._loop.iterate(lambda: {asked}{turn})"
        else:
            verb = "run" if isinstance(self.node, ast.AsyncFunctionDef) else "call"
            yield from given(returns, f"self._loop.{verb}(lambda: {asked}{turn})")


def given(returns: str, asked: str) -> Iterator[str]:
    """The end of a twin: what the async one gave, as the blocking one gives it."""
    wrapped = returns.removesuffix(" | None")
    if returns == "None":
        yield f"        {asked}"
    elif returns == "Self":
        yield from (f"        {asked}", "        return self")
    elif wrapped not in NAMES:
        yield f"        return {asked}"
    elif wrapped == returns:
        yield f"        return self._loop.one({wrapped}, {asked})"
    else:
        yield f"        found = {asked}"
        yield f"        return None if found is None else self._loop.one({wrapped}, found)"


def constructor(cls: type[Any], facade: Facade) -> list[str]:
    """The constructor of the class that users construct: the async one's, and a thread."""
    node = next(node for node in tree_of(cls).body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    facade.need(cls, node.args)
    taken = ast.unparse(node.args).replace("responder: Responder |", "responder: Responder | SyncResponder |")
    passed = ", ".join(forwarded(node.args)).replace("responder=responder", "responder=awaited(responder)")
    return [
        f"    def __init__({taken}) -> None:",
        f"        self._async = chat.{cls.__name__}({passed})",
        "        self._loop = LoopThread(self._async.aclose)",
    ]


def wrapping(cls: type[Any]) -> str:
    """The constructor of a class that users are given, with the async one's public attributes."""
    lines = [
        f"    def __init__(self, loop: LoopThread, wrapped: chat.{cls.__name__}) -> None:",
        "        self._loop = loop",
        "        self._async = wrapped",
    ]
    for node in ast.walk(tree_of(cls)):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(target, ast.Attribute) or target.attr.startswith("_"):
            continue
        assert isinstance(node, ast.Assign)
        made = ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else ""
        value = f"wrapped.{target.attr}"
        lines.append(f"        self.{target.attr} = {f'{made}(loop, {value})' if made in NAMES else value}")
    return "\n".join(lines)


def members_of(cls: type[Any]) -> Iterator[tuple[type[Any], ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The public methods and properties of a class with the class that defines each, its own first."""
    seen: set[str] = set()
    for home in cls.__mro__[:-1]:
        for node in tree_of(home).body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name in seen:
                continue
            seen.add(node.name)
            if not node.name.startswith("_") or node.name in (*RENAMED, *KEPT):
                yield home, node


def tree_of(cls: type[Any]) -> ast.ClassDef:
    """A class as syntax."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(tree, ast.ClassDef)
    return tree


def origins_in(cls: type[Any]) -> dict[str, str]:
    """The names that a class's module imports or gives itself, each with its module as blocking.py would name it."""
    module = sys.modules[cls.__module__]
    package = (module.__package__ or "").split(".")
    found = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom):
            start = "." + ".".join(package[1 : len(package) - node.level + 1]) if node.level else ""
            name = f"{start}{'.' if start.strip('.') and node.module else ''}{node.module or ''}"
            found.update({alias.name: name for alias in node.names})
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = "." + ".".join(module.__name__.split(".")[1:])
    return found


def forwarded(args: ast.arguments) -> Iterator[str]:
    """The arguments of a call that hands on what was taken."""
    yield from (each.arg for each in [*args.posonlyargs, *args.args] if each.arg != "self")
    if args.vararg is not None:
        yield f"*{args.vararg.arg}"
    yield from (f"{each.arg}={each.arg}" for each in args.kwonlyargs)
    if args.kwarg is not None:
        yield f"**{args.kwarg.arg}"


def renamed(annotation: str) -> str:
    """An annotation as it reads here."""
    for before, after in RENAMED.items():
        annotation = annotation.replace(before, after)
    return annotation


def docstring(text: str, indent: str) -> str:
    """A docstring as source."""
    ending = f"\n{indent}" if "\n" in text else ""
    body = textwrap.indent(text.replace("\\", "\\\\"), indent).lstrip()
    return f'{indent}"""{body}{ending}"""'


def formatted(text: str) -> str:
    """The source, sorted and laid out as the project's own."""
    ruff = [sys.executable, "-m", "ruff"]
    name = ["--quiet", "--stdin-filename", str(PATH), "-"]
    for command in (["check", "--select", "I,F401", "--fix"], ["format"]):
        ran = subprocess.run([*ruff, *command, *name], cwd=ROOT, input=text, capture_output=True, encoding="utf-8")
        if not ran.stdout:
            raise SystemExit(f"ruff {command[0]} refused what tools/blocking.py wrote: {ran.stderr}")
        text = ran.stdout
    return text


def generated() -> str:
    """The file as the async classes would have it now."""
    return Facade().text()
