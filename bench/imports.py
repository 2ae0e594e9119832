"""What it takes to begin: imports and `--help`, beyond an interpreter that does nothing."""

from __future__ import annotations

import subprocess
import sys
import time

from bench.claims import Claim

ROUNDS = 15

STARTS = (
    ("import antiphon", ["-c", "import antiphon"], 60),
    ("from antiphon import Chat, FileStore", ["-c", "from antiphon import Chat, FileStore"], 150),
    ("antiphon --help", ["-m", "antiphon", "--help"], 250),
)


def claims() -> list[Claim]:
    """Measure each start, the best of some rounds, beyond a bare interpreter's best."""
    bare = _best(["-c", "pass"])
    return [Claim(what, (_best(arguments) - bare) * 1e3, limit, bare * 1e3, "ms") for what, arguments, limit in STARTS]


def _best(arguments: list[str]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    return min(times)
