"""Where model files are."""

from pathlib import Path

import pytest

from antiphon.errors import UnknownModel
from antiphon.providers.local import LocalFile, find_model, local_models
from antiphon.providers.local._files import KNOWN, models_folder


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    """A name with a slash, or ending in .gguf, is a path."""
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF")
    assert find_model(str(path)) == path


@pytest.mark.parametrize(("name", "found"), [("absent.gguf", "is not there"), ("folder.gguf", "is a folder")])
def test_a_path_to_no_file_is_unknown(tmp_path: Path, name: str, found: str) -> None:
    """A path to nothing, or to a folder, is named with what is wrong."""
    (tmp_path / "folder.gguf").mkdir()
    with pytest.raises(UnknownModel, match=found):
        find_model(str(tmp_path / name))


def test_the_folder_of_the_user_comes_first(tmp_path: Path) -> None:
    """A file in the user's folder is found by its stem, before any package's."""
    path = tmp_path / "smollm2.gguf"
    path.write_bytes(b"GGUF")
    assert find_model("smollm2", folder=tmp_path) == path


def test_a_name_of_no_file_says_what_to_do(tmp_path: Path) -> None:
    """The sentence names the command that gets a model."""
    with pytest.raises(UnknownModel, match=r"antiphon models pull smollm2"):
        find_model("mine", folder=tmp_path)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [({"ANTIPHON_MODELS": "/m", "XDG_DATA_HOME": "/x"}, Path("/m")), ({"XDG_DATA_HOME": "/x"}, None), ({}, None)],
)
def test_the_folder_can_be_chosen(environ: dict[str, str], folder: Path | None) -> None:
    """ANTIPHON_MODELS decides; without it the system's own place for data does."""
    found = models_folder(environ)
    assert found == folder if folder else found.parts[-2:] == ("antiphon", "models")


def test_files_are_listed_by_name(tmp_path: Path) -> None:
    """What is in the folder is listed beside what can be pulled; unfinished files are not."""
    (tmp_path / "mine.gguf").write_bytes(b"GGUF")
    (tmp_path / ".half.gguf").write_bytes(b"GG")
    listed = local_models(folder=tmp_path)
    assert [row.name for row in listed] == ["mine", "smollm2"]
    assert listed[0] == LocalFile("mine", tmp_path / "mine.gguf", 4, None)
    assert (listed[1].size, listed[1].licence) == (KNOWN["smollm2"].size, "Apache-2.0")


def test_a_missing_folder_is_empty(tmp_path: Path) -> None:
    """The user's folder need not exist."""
    assert [row.name for row in local_models(folder=tmp_path / "absent")] == ["smollm2"]
