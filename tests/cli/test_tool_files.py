"""Tools from Python files, and which of them the configuration may name."""

from pathlib import Path

import pytest

from antiphon.cli._configuration import configuration
from antiphon.cli._endings import Refused
from antiphon.cli._tool_choice import ToolChoice
from antiphon.cli._tool_file import load_tools
from tests.cli.running import Terminal


def names(folder: Path, text: str) -> list[str]:
    """The names of the tools of a file."""
    file = folder / "mine.py"
    file.write_text(text, encoding="utf-8")
    return [each.name for each in load_tools(file)]


def test_tools_of_a_file_are_its_tools(tmp_path: Path) -> None:
    """A file with Tools offers those, once each, and no function beside them or behind an underscore."""
    text = "from antiphon.tools import tool\n@tool\ndef a(): ...\nb = a\n@tool\ndef _c(): ...\ndef d(): ...\n"
    assert names(tmp_path, text) == ["a"]


def test_a_file_without_tools_offers_its_functions(tmp_path: Path) -> None:
    """Without a Tool its public functions are offered, async ones too; not classes, and not what it imports."""
    text = "from os.path import join\ndef a(): ...\nasync def b(): ...\ndef _c(): ...\nclass D: ...\n"
    assert names(tmp_path, text) == ["a", "b"]


def test_all_says_which(tmp_path: Path) -> None:
    """`__all__` names what is offered, imported functions too."""
    text = "from os.path import basename\n__all__ = ['b', 'basename']\ndef a(): ...\ndef b(): ...\n"
    assert names(tmp_path, text) == ["b", "basename"]


def test_a_file_imports_what_stands_beside_it(tmp_path: Path) -> None:
    """A file may import its neighbours, but none of them stands for a module of the library."""
    (tmp_path / "neighbour_of_mine.py").write_text("X = 1\n", encoding="utf-8")
    (tmp_path / "json.py").write_text("raise ValueError\n", encoding="utf-8")
    assert names(tmp_path, "import json, neighbour_of_mine\ndef a(): ...\n") == ["a"]


def test_annotations_that_are_texts_are_resolved(tmp_path: Path) -> None:
    """Dataclasses and annotations of a file that imports annotations from the future are understood."""
    text = """from __future__ import annotations
from dataclasses import dataclass
@dataclass
class Order:
    number: int
def a(order: Order) -> str:
    '''A.'''
    return str(order.number)
"""
    assert names(tmp_path, text) == ["a"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\ndef a(:\n", ", line 2: SyntaxError: "),
        ("x = 1\n\n1 / 0\n", ", line 3: ZeroDivisionError: division by zero"),
        ("import nothing_of_this_name\n", ", line 1: ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("import sys\nsys.exit(3)\n", ", line 2: SystemExit: 3"),
        ("\n\ndef a(*x): ...\n", ", line 3: "),
        ("from antiphon.tools import tool\n\n@tool(name='a b')\ndef a(): ...\n", ", line 3: no provider takes"),
        ("__all__ = ['b']\n", ": __all__ names 'b', which is not in the file"),
        ("x = 1\n", " has no tools: "),
        ("x = '\x1b]52;c;aGk=\x07'\nraise ValueError(x)\n", "ValueError: \\x1b]52;c;aGk=\\x07"),
    ],
)
def test_a_fault_in_a_file_is_one_sentence(terminal: Terminal, text: str, says: str) -> None:
    """What is wrong with a file is said in one sentence that names it and the line; nothing is kept."""
    file = terminal.home / "mine.py"
    file.write_text(text, encoding="utf-8")
    ran = terminal.run("ask", "-m", "echo:", "--tools", str(file), "Hi")
    assert ran.code == 2
    assert says in ran.refusal
    assert str(file) in ran.refusal
    assert not terminal.store.exists()


@pytest.mark.parametrize("command", ["ask", "preview"])
def test_a_file_that_is_not_there_is_refused(terminal: Terminal, command: str) -> None:
    """A file of tools or of MCP servers that is not there is named."""
    for option in ("--tools", "--mcp"):
        ran = terminal.run(command, "-m", "echo:", option, "/nowhere/x.py", "Hi")
        assert (ran.code, "/nowhere/x.py" in ran.refusal) == (2, True)


def test_two_tools_of_one_name_are_refused(terminal: Terminal) -> None:
    """Two files with a tool of the same name are refused, naming it."""
    file = terminal.home / "mine.py"
    file.write_text("def a(): ...\n", encoding="utf-8")
    ran = terminal.run("ask", "-m", "echo:", "--tools", str(file), "--tools", str(file), "Hi")
    assert "two tools are named 'a'" in ran.refusal


def test_a_preview_shows_the_tools(terminal: Terminal) -> None:
    """What a file offers is in the preview of a call."""
    file = terminal.home / "mine.py"
    file.write_text("def a(): ...\n", encoding="utf-8")
    ran = terminal.run("preview", "-m", "echo:", "--tools", str(file), "Hi")
    assert (ran.code, "1 schema" in ran.out) == (0, True)


def chosen(folder: Path, **options: object) -> ToolChoice:
    """What is chosen where the user's own configuration says something, and options say more."""
    own = folder / "antiphon" / "config.toml"
    own.parent.mkdir(exist_ok=True)
    own.write_text('tools = "a.py"\nmcp = ["b.json"]\ndeny = ["x", "y"]\nallow = "z"\n', encoding="utf-8")
    found = configuration(environ={"XDG_CONFIG_HOME": str(folder)}, here=folder / "p")
    none: dict[str, object] = {"tools": (), "mcp": (), "allow": (), "ask": (), "deny": (), "no_tools": False}
    return ToolChoice.of(found, none | options)


def test_the_configuration_names_tools_and_patterns(tmp_path: Path) -> None:
    """The user's own file names files, meant from it on, and patterns; an option replaces files and adds patterns."""
    folder = tmp_path / "antiphon"
    plain, given = chosen(tmp_path), chosen(tmp_path, tools=("c.py",), deny=("w",))
    assert (plain.files, plain.servers) == ((str(folder / "a.py"),), (str(folder / "b.json"),))
    assert (given.files, given.servers, given.deny) == (("c.py",), (), ("x", "y", "w"))
    assert chosen(tmp_path, no_tools=True).files == ()


def test_a_projects_file_adds_what_is_denied(tmp_path: Path) -> None:
    """What a project's file denies is denied beside what the user's own denies."""
    project = tmp_path / "p" / ".antiphon"
    project.mkdir(parents=True)
    (project / "config.toml").write_text('deny = ["v"]\nask = "q"\n', encoding="utf-8")
    found = chosen(tmp_path)
    assert (found.deny, found.ask) == (("x", "y", "v"), ("q",))


@pytest.mark.parametrize("name", ["tools", "mcp", "allow"])
def test_a_projects_file_runs_nothing(tmp_path: Path, name: str) -> None:
    """A project's file that would run code, or let it run unasked, is refused with its line."""
    (tmp_path / ".antiphon").mkdir()
    (tmp_path / ".antiphon" / "config.toml").write_text(f'\n{name} = ["x"]\n', encoding="utf-8")
    with pytest.raises(Refused, match=rf"config\.toml, line 2: '{name}' runs code"):
        configuration(environ={"XDG_CONFIG_HOME": str(tmp_path / "own")}, here=tmp_path)


def test_a_list_of_other_things_is_refused(tmp_path: Path) -> None:
    """A list that holds anything but text is refused."""
    (tmp_path / ".antiphon").mkdir()
    (tmp_path / ".antiphon" / "config.toml").write_text("deny = [1]\n", encoding="utf-8")
    with pytest.raises(Refused, match=r"must be text in quotes, as in deny = .*, or a list"):
        configuration(environ={"XDG_CONFIG_HOME": str(tmp_path / "own")}, here=tmp_path)
