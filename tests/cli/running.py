"""Runs the command as a user does: here, or in a process of its own where signals, pipes and limits matter."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from antiphon.cli import main

UNSET = (
    *("ANTIPHON_STORE", "ANTIPHON_MODEL", "ANTIPHON_MODELS", "ANTIPHON_SYSTEM", "ANTIPHON_DEBUG"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "NO_COLOR"),
)

AS_INSTALLED = "import sys; from antiphon.cli import main; sys.exit(main())"
"""What the installed command does."""


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def refusal(self) -> str:
        """The one line of a command that refused; fails if it said anything else."""
        lines = self.err.splitlines()
        assert self.out == "", self.out
        assert len(lines) == 1, self.err
        assert lines[0].startswith("antiphon: "), self.err
        return lines[0].removeprefix("antiphon: ")


class Terminal:
    """A user with a home and a store of their own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = home / "chats"
        # Where Ollama is said to be, this machine is not asked whether it runs one.
        self.env: dict[str, str] = {"HOME": str(home), "ANTIPHON_STORE": str(self.store), "OLLAMA_HOST": "nowhere"}

    def run(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Ran:
        """Run the command in this process."""
        given: dict[str, str | None] = dict.fromkeys(UNSET) | self.env | dict(env or {})
        with CliRunner().isolation(input=stdin, env=given) as (out, err, _):
            code = main(list(args))
        return Ran(code, out.getvalue().decode(), err.getvalue().decode())

    def start(self, *args: str, program: str = AS_INSTALLED, cwd: Path | None = None) -> "subprocess.Popen[bytes]":
        """Start the command in a process of its own; `program` is what that does before or instead."""
        env = {name: value for name, value in os.environ.items() if name not in UNSET} | self.env
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", program, *args], stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=cwd
        )

    def run_apart(self, *args: str, program: str = AS_INSTALLED, cwd: Path | None = None, stdin: bytes = b"") -> Ran:
        """Run the command in a process of its own, to its end."""
        process = self.start(*args, program=program, cwd=cwd)
        out, err = process.communicate(stdin, timeout=50)
        return Ran(process.returncode, out.decode(), err.decode())

    def ask(self, text: str, *more: str) -> str:
        """Ask `echo:` in this process, and give the session."""
        ran = self.run("ask", "-m", "echo:", text, *more)
        assert ran.code == 0, ran.err
        return ran.err.rstrip("\n").rpartition(" ")[2]

    def journal(self, session_id: str) -> Path:
        """The file of a session."""
        return self.store / f"{session_id}.jsonl"

    def damage(self, session_id: str, *, line: int) -> None:
        """Overwrite a line of a session's journal, counted from 1."""
        lines = self.journal(session_id).read_bytes().split(b"\n")
        lines[line - 1] = b"?" * len(lines[line - 1])
        self.journal(session_id).write_bytes(b"\n".join(lines))
