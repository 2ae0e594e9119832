"""The Python blocks of the documentation, and the program that runs one of them in a process of its own.

    python -m tests.docs.blocks FILE LINE

runs the block that starts there, in the current folder, away from the network, `await` at its top
level included. Its tracebacks name the document's own lines.
"""

import ast
import asyncio
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.offline import refuse_the_network

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)")
_NOT_RUN = re.compile(r"<!--\s*not run:(?P<reason>.*?)-->")


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is its first line of code."""

    path: str
    line: int
    language: str
    text: str
    not_run: str | None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"

    def compiled(self) -> object:
        """The block as code, with the document's line numbers."""
        padded = "\n" * (self.line - 1) + self.text
        return compile(padded, self.path, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def documents() -> list[Path]:
    """README.md and what lies under docs/."""
    return [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.is_file()]


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a document."""
    lines = path.read_text(encoding="utf-8").splitlines()
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
    start, opening, note = 0, None, None
    for number, line in enumerate(lines, 1):
        found = _FENCE.match(line)
        if opening is None:
            note = _NOT_RUN.search(line) or (note if found or not line.strip() else None)
            if found:
                opening, start = found, number + 1
        elif found:
            indent = len(opening["indent"])
            text = "\n".join(each[indent:] for each in lines[start - 1 : number - 1]) + "\n"
            yield Block(name, start, opening["language"], text, note["reason"].strip() if note else None)
            opening, note = None, None


def main(path: str, line: str) -> None:
    """Run one block."""
    [block] = [block for block in blocks(ROOT / path) if block.line == int(line)]
    refuse_the_network()
    code = block.compiled()
    result = eval(code, {"__name__": "__main__"})  # type: ignore[arg-type]
    if inspect.iscoroutine(result):
        asyncio.run(result)


if __name__ == "__main__":
    main(*sys.argv[1:])
