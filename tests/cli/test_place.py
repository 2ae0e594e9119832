"""Where sessions live."""

from pathlib import Path

import pytest

from antiphon.cli._place import Place, folder_of_chats, shortened
from tests.cli.running import Terminal


def test_an_option_goes_before_the_environment(tmp_path: Path) -> None:
    """--store decides, then ANTIPHON_STORE, whatever folders there are."""
    (tmp_path / ".antiphon").mkdir()
    environ = {"ANTIPHON_STORE": "b"}
    assert folder_of_chats("a", environ=environ, here=tmp_path) == Path("a")
    assert folder_of_chats(None, environ=environ, here=tmp_path) == Path("b")


def test_the_nearest_project_folder_is_used(tmp_path: Path) -> None:
    """The nearest `.antiphon` folder, here or above, holds the sessions."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / ".antiphon").mkdir()
    assert folder_of_chats(None, environ={}, here=inner) == tmp_path / ".antiphon" / "chats"
    (tmp_path / "a" / ".antiphon").mkdir()
    assert folder_of_chats(None, environ={}, here=inner) == tmp_path / "a" / ".antiphon" / "chats"


def test_a_file_of_that_name_is_no_project_folder(tmp_path: Path) -> None:
    """A file named `.antiphon` does not decide."""
    (tmp_path / ".antiphon").touch()
    found = folder_of_chats(None, environ={"XDG_DATA_HOME": str(tmp_path / "data")}, here=tmp_path)
    assert tmp_path / ".antiphon" not in found.parents


@pytest.mark.parametrize("value", ["", "relative"])
def test_else_the_data_directory_is_used(tmp_path: Path, value: str) -> None:
    """Without all that, the user's data directory; XDG_DATA_HOME counts only as an absolute path."""
    found = folder_of_chats(None, environ={"XDG_DATA_HOME": value}, here=tmp_path)
    assert found.is_absolute()
    assert found.parts[-2:] == ("antiphon", "chats")


@pytest.mark.parametrize("there", [True, False])
def test_a_project_folder_is_kept_out_of_version_control(terminal: Terminal, there: bool) -> None:
    """The first session in a `.antiphon` folder writes its .gitignore, whether the folder was there or not."""
    project = terminal.home / ".antiphon"
    if there:
        project.mkdir()
    ran = terminal.run("ask", "-m", "echo:", "Hi", "--store", str(project / "chats"))
    assert ran.code == 0
    assert (project / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert len(list((project / "chats").glob("*.jsonl"))) == 1


def test_a_gitignore_of_the_users_own_stays(tmp_path: Path) -> None:
    """A .gitignore that is there is not touched."""
    (tmp_path / ".antiphon").mkdir()
    (tmp_path / ".antiphon" / ".gitignore").write_text("chats\n", encoding="utf-8")
    Place(tmp_path / ".antiphon" / "chats").prepare()
    assert (tmp_path / ".antiphon" / ".gitignore").read_text(encoding="utf-8") == "chats\n"


def test_reading_makes_no_folder(terminal: Terminal) -> None:
    """Commands that read make nothing: no store, no project folder."""
    store = terminal.home / ".antiphon" / "chats"
    for command in ("sessions", "check", "show", "trace"):
        terminal.run(command, "--store", str(store))
    assert list(terminal.home.iterdir()) == []


def test_a_path_at_home_is_shortened() -> None:
    """A path inside the home folder is shown with ~, another as it is."""
    assert shortened(Path.home() / "a") == "~/a"
    assert shortened(Path("/elsewhere/a")) == "/elsewhere/a"


def test_a_subcommand_in_a_project_uses_it(terminal: Terminal) -> None:
    """Started inside a project, the command keeps sessions in its folder."""
    inner = terminal.home / "project" / "src"
    inner.mkdir(parents=True)
    (terminal.home / "project" / ".antiphon").mkdir()
    del terminal.env["ANTIPHON_STORE"]
    ran = terminal.run_apart("ask", "-m", "echo:", "Hi", cwd=inner)
    assert "store ~/project/.antiphon/chats" in ran.err
