"""The facade in a notebook: a kernel whose loop is running, displays, and the button that interrupts."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.blocking.notebook import WAITS
from tests.docs.blocks import ROOT


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    """The outputs of each cell of the notebook, which is run once."""
    folder = tmp_path_factory.mktemp("notebook")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), "IPYTHONDIR": str(folder / "ipython")}
    command = [sys.executable, "-m", "tests.blocking.notebook", "ran.ipynb"]
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=55, check=False
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    return [cell["outputs"] for cell in json.loads((folder / "ran.ipynb").read_text(encoding="utf-8"))["cells"]]


def display(cell: list[dict[str, Any]], kind: str) -> str:
    """What a cell displays, of one kind."""
    [output] = cell
    return "".join(output["data"][kind])


def test_cells_run(outputs: list[list[dict[str, Any]]]) -> None:
    """Cells ask and stream while the kernel's own loop is running, and top-level await works beside them."""
    assert outputs[0] == []
    assert "".join(outputs[1][0]["text"]).startswith("You said **streamed**")
    assert display(outputs[8], "text/plain") == "('top-level await too', 'stop')"


def test_values_are_displayed(outputs: list[list[dict[str, Any]]]) -> None:
    """A reply is displayed as Markdown; a trace, a preview and a session as HTML; none with a tag that was said."""
    reply = display(outputs[2], "text/markdown")
    assert reply.startswith("You said **Where is order 20?**")
    shown = [display(outputs[n], "text/html") for n in (3, 4, 6)]
    assert [each.count("<svg") for each in shown] == [1, 1, 0]
    assert not [each for each in (reply, *shown) if "<script" in each]
    assert "&lt;script&gt;" in shown[2]


def test_the_interrupt_button(outputs: list[list[dict[str, Any]]]) -> None:
    """Interrupting a cell cancels its turn, raises KeyboardInterrupt in it, and the next cell goes on."""
    assert outputs[WAITS][-1]["ename"] == "KeyboardInterrupt"
    assert display(outputs[7], "text/plain") == "'turn.canceled'"
    assert "canceled" in display(outputs[6], "text/html")
