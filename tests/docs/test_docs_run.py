"""Documentation that doesn't run is wrong: every block is run, every link followed."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.blocks import ROOT, Block, blocks, documents

PYTHON = [block for path in documents() for block in blocks(path) if block.language == "python"]
RUN = [block for block in PYTHON if block.not_run is None]
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)")
TESTS = re.compile(r"`(tests/[\w/.]+)`")
README_LINES = 150
SECONDS = 50


@pytest.mark.parametrize("block", RUN, ids=str)
def test_block_runs(block: Block, tmp_path: Path) -> None:
    """A block runs by itself, in an empty folder, with nothing but the library and without a network."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", "tests.docs.blocks", block.path, str(block.line)]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
        check=False,
    )
    assert ran.returncode == 0, f"{block} does not run:\n{ran.stderr[-4000:]}"


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_block_compiles(block: Block) -> None:
    """A block is valid Python, and one that is not run says why."""
    assert block.compiled()
    assert block.not_run != "", f"{block}: give the reason after `not run:`"


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link leads to a file of the project."""
    lost = []
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        for target in LINK.findall(line):
            path = unquote(target.split("#")[0])
            if path and not re.match(r"[a-z][a-z0-9+.-]*:", path) and not (document.parent / path).exists():
                lost.append(f"{document.relative_to(ROOT)}:{number}: {target} leads nowhere")
    assert not lost, "\n" + "\n".join(lost)


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_tests_that_are_named_are_there(document: Path) -> None:
    """A test that a document names as what holds a promise is there."""
    named = TESTS.findall(document.read_text(encoding="utf-8"))
    lost = [path for path in named if not (ROOT / path).exists()]
    assert not lost, f"{document.name} names tests that are not there: {lost}"


def test_readme_is_short() -> None:
    """The README has fewer than 150 lines: what is longer has a page of its own."""
    lines = len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    assert lines < README_LINES, f"README.md has {lines} lines: move a part to docs/"
