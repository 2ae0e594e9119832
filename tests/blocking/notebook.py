"""A notebook that talks through the facade, and the program that runs it in a kernel.

    python -m tests.blocking.notebook FILE

runs the cells in the current folder, interrupts the one that waits for ever, and writes the notebook with its
outputs to FILE.
"""

import json
import sys
from pathlib import Path
from typing import Any

import nbclient
import nbformat

CELLS = (
    """
import asyncio
from antiphon import FileStore, FullContext
from antiphon.blocking import Chat

async def answer(request):
    if "for ever" in request.messages[-1].text:
        await asyncio.sleep(3600)
    return f"You said **{request.messages[-1].text}** <script>document.title = 'acted'</script>"

chat = Chat(responder=answer, store=FileStore("study"), instructions="Answer in one sentence.", context=FullContext())
session = chat.open_session("run-1", create=True)
assert asyncio.get_running_loop().is_running()
""",
    """
for question in ("Where is order 17?", "And 18? <script>document.title = 'acted'</script>", "And 19?"):
    session.ask(question)
print("".join(session.send("streamed").text_stream))
""",
    "session.ask('Where is order 20?')",
    "session.traces()[-1]",
    "session.preview('And August?', model='echo:')",
    "session.ask('wait for ever')",
    "session",
    "[entry.type for entry in session.journal()][-1]",
    "(await asyncio.sleep(0, 'top-level await too'), session.ask('and on').finish_reason)",
)
WAITS = 5
"""Which of the cells waits for ever."""


def notebook() -> nbformat.NotebookNode:
    """The cells as a notebook."""
    new_cell: Any = nbformat.v4.new_code_cell
    new_notebook: Any = nbformat.v4.new_notebook
    cells = [new_cell(text.strip(), id=f"cell-{n}") for n, text in enumerate(CELLS)]
    cells[WAITS].metadata["tags"] = ["raises-exception"]
    made: nbformat.NotebookNode = new_notebook(cells=cells)
    return made


def seconds(cell: nbformat.NotebookNode) -> int:
    """How long a cell may take."""
    return 1 if cell["id"] == f"cell-{WAITS}" else 30


def main(path: str) -> None:
    """Run all cells."""
    cells = notebook()
    nbclient.NotebookClient(cells, timeout_func=seconds, interrupt_on_timeout=True, kernel_name="python3").execute()
    Path(path).write_text(json.dumps(cells), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
