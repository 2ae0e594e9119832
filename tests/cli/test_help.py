"""Help: there for every subcommand, and quick."""

import pytest

from antiphon.cli._subcommands import SUBCOMMANDS
from tests.cli.running import Terminal


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_has_help(terminal: Terminal, name: str) -> None:
    """Every subcommand explains itself, its options included, and ends with 0."""
    ran = terminal.run(name, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"antiphon {name}" in ran.out
    assert "--help" in ran.out


@pytest.mark.parametrize("args", [(), ("--help",), ("-h",)])
def test_help_lists_every_subcommand(terminal: Terminal, args: tuple[str, ...]) -> None:
    """`antiphon` alone, and with --help, lists every subcommand with its line."""
    ran = terminal.run(*args)
    assert ran.code == 0
    shown = " ".join(ran.out.split())
    assert all(f"{name} {each.says}" in shown for name, each in SUBCOMMANDS.items())


def test_help_imports_nothing_else(terminal: Terminal) -> None:
    """`antiphon --help` imports no part of the library but the command line and the errors."""
    program = """
import sys
from antiphon.cli import main
main(["--help"])
print(*sorted(name for name in sys.modules if name.startswith("antiphon.")), "asyncio" in sys.modules)
"""
    *_, last = terminal.run_apart(program=program).out.splitlines()
    *modules, asyncio_too = last.split()
    allowed = ("antiphon.cli", "antiphon.cli.", "antiphon.errors", "antiphon._errors", "antiphon._tool_errors")
    assert [name for name in modules if not f"{name}.".startswith(allowed)] == []
    assert not {f"antiphon.cli.{each.module}" for each in SUBCOMMANDS.values()} & set(modules)
    assert asyncio_too == "False"


def test_the_version_is_told(terminal: Terminal) -> None:
    """--version gives the version on standard output."""
    ran = terminal.run("--version")
    assert (ran.code, ran.out.startswith("antiphon, version ")) == (0, True)


@pytest.mark.parametrize("args", [("nope",), ("--nope",), ("ask", "--nope"), ("sessions", "--limit", "0")])
def test_wrong_usage_is_one_sentence(terminal: Terminal, args: tuple[str, ...]) -> None:
    """An unknown subcommand or option, or a value out of range, is refused in one line that names the help."""
    ran = terminal.run(*args)
    assert ran.code == 2
    assert "--help" in ran.refusal
