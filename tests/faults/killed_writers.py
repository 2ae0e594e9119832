"""Kills a writer at every file call of a scenario, each time in a process of its own.

Run as a program: `killed_writers.py DIRECTORY HOW`. For each call it leaves a directory `<number>` with the store in
it and a file `acknowledged`, in which the writer noted each step that was acknowledged before it died.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import cast

from antiphon.stores import FileStore
from antiphon.testing._failing_disk import FailingDisk, When
from antiphon.testing._store_hooks import lines


async def scenario(place: Path, disk: FailingDisk) -> None:
    """Create, append, derive, append; note what was acknowledged."""
    store = FileStore(place / "chats", disk=disk)
    os.mkdir(place)
    with (place / "acknowledged").open("a") as notes:
        await store.create("ana-1", lines(1, 2))
        print(1, 2, file=notes, flush=True)
        await store.append("ana-1", lines(3), if_last="entry-2")
        print(3, file=notes, flush=True)
        await store.put_derived("ana-1", "summary", content=b"short")
        await store.append("ana-1", lines(4, 5), if_last="entry-3")
        print(4, 5, file=notes, flush=True)


def main(directory: Path, how: When) -> int:
    """Run the scenario once for each of its calls, killed there; give how many these are."""
    dry = FailingDisk()
    if (child := os.fork()) == 0:
        # In a child, so that no thread is running when the next one is forked.
        asyncio.run(scenario(directory / "0", dry))
        (directory / "calls").write_text(str(len(dry.calls)))
        os._exit(0)
    os.waitpid(child, 0)
    calls = int((directory / "calls").read_text())
    for at in range(1, calls + 1):
        if (child := os.fork()) == 0:
            asyncio.run(scenario(directory / str(at), FailingDisk(at=at, how=how, kill=True)))
            os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), (at, status)
    return calls


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), cast(When, sys.argv[2])))
