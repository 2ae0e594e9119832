"""Tools from a Python file, which is run to get them."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ..errors import AntiphonError, Misuse
from ..tools import Tool, tool
from ._endings import Refused, sentence


def load_tools(file: Path) -> tuple[Tool, ...]:
    """Run a Python file and give its tools: the Tools in it or, if it has none, its public functions.

    Names that begin with an underscore are not looked at. If the file has `__all__`, only what that names counts.
    What stands beside the file can be imported.

    Raises:
        Refused: if it cannot be read or run, or has no tools; with the line where there is one.
    """
    path = Path(file).expanduser().absolute()
    module = _ran(path, _compiled(path, _read(path)))
    found = dict(_public(path, vars(module)))
    tools = list({id(each): each for each in found.values() if isinstance(each, Tool)}.values())
    if tools:
        return tuple(tools)
    named = "__all__" in vars(module)
    functions = [
        each for each in found.values() if inspect.isfunction(each) and (named or each.__module__ == module.__name__)
    ]
    if not functions:
        raise Refused(f"{path} has no tools: give it a public function, or one with @tool from antiphon.tools")
    return tuple(_made(path, each) for each in functions)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Refused(f"no tools can be read from {sentence(error)}") from None


def _compiled(path: Path, source: bytes) -> CodeType:
    try:
        return compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        place = f"{path}, line {error.lineno}" if error.lineno else str(path)
        raise Refused(f"{place}: {type(error).__name__}: {error.msg}") from None
    except ValueError as error:  # zero bytes
        raise Refused(f"{path} is not Python: {error}") from None


def _ran(path: Path, code: CodeType) -> ModuleType:
    module = ModuleType(str(path))
    module.__file__ = str(path)
    # Dataclasses and type hints look up the module that they stand in.
    sys.modules[module.__name__] = module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # Last, so that no file beside it stands for a library's module.
    try:
        exec(code, vars(module))
    except (Exception, SystemExit) as error:  # isolates: the file of tools
        line = _line(path, error)
        place = f"{path}, line {line}" if line else str(path)
        raise Refused(f"{place}: {_said(error)}") from None
    return module


def _line(path: Path, error: BaseException) -> int | None:
    """The last line of the file itself on the way to an error."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None


def _said(error: BaseException) -> str:
    if isinstance(error, AntiphonError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _public(path: Path, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    listed = names.get("__all__")
    if listed is None:
        yield from ((name, value) for name, value in names.items() if not name.startswith("_"))
        return
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise Refused(f"{path}: __all__ is no list of names")
    for name in listed:
        if name not in names:
            raise Refused(f"{path}: __all__ names {name!r}, which is not in the file")
        yield name, names[name]


def _made(path: Path, function: Any) -> Tool:
    try:
        return tool(function)
    except Misuse as error:
        code = function.__code__
        place = f"{path}, line {code.co_firstlineno}" if code.co_filename == str(path) else str(path)
        raise Refused(f"{place}: {error}") from None
