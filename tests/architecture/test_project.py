"""The project speaks of itself alone: nothing in it is true on one machine only."""

import re
import subprocess
from pathlib import Path

from tests.architecture.measure import ROOT

# Put together from halves, so that this file isn't what it finds.
FOLDERS = "|".join(["wo" + "rk", "ho" + "me", "ro" + "ot", "Us" + "ers"])
HOSTS = "|".join([r"py" + r"pi\.org", r"python" + r"hosted\.", r"registry\.np" + r"mjs\."])
FORBIDDEN = re.compile(rf"(?<![\w.~/])/({FOLDERS})/|{HOSTS}")
SKIPPED = {"node_modules", "__pycache__", "dist", "build"}


def project_files() -> list[Path]:
    """The files that are, or could be, committed; outside a checkout, all that aren't hidden."""
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(asked, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        listed = [
            path.relative_to(ROOT).as_posix()
            for path in ROOT.rglob("*")
            if not any(part.startswith(".") or part in SKIPPED for part in path.relative_to(ROOT).parts)
        ]
    return [ROOT / name for name in listed if name and (ROOT / name).is_file()]


def test_no_file_names_a_machine() -> None:
    """No file holds a path that exists on one developer's machine, or the name of a registry's host."""
    wrong = []
    for path in project_files():
        for number, line in enumerate(path.read_bytes().decode(errors="replace").splitlines(), 1):
            if found := FORBIDDEN.search(line):
                place = path.relative_to(ROOT).as_posix()
                wrong.append(f"{place}:{number}: {found.group()!r} is true on one machine only: take it out")
    assert not wrong, "\n" + "\n".join(wrong)


def test_no_lock_file_is_kept() -> None:
    """No uv.lock is kept: it names the hosts that one machine downloaded from."""
    assert not [path for path in project_files() if path.name == "uv.lock"]
