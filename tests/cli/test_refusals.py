"""What cannot be done is said in one line, with the code that belongs to it."""

import asyncio
import os

import pytest

from antiphon import FileStore
from antiphon.cli._endings import exit_code, sentence
from antiphon.errors import ModelError, TurnFailed, UnknownModel
from tests.cli.running import AS_INSTALLED, Terminal

OF_ONE_SESSION = (["show"], ["trace"], ["check"], ["delete", "--yes"])
BAD_IDS = (
    "",
    "../x",
    "/abs",
    "a/b",
    "a\\b",
    ".",
    "..",
    "a" * 129,
    "-a",
    ".a",
    "a.",
    "a ",
    "con",
    "aux.txt",
    "a:b",
    "A",
)


@pytest.mark.parametrize("args", OF_ONE_SESSION)
def test_an_unknown_session_is_refused(terminal: Terminal, args: list[str]) -> None:
    """No command makes up a session that is not there."""
    terminal.ask("One")
    ran = terminal.run(*args, "nope")
    assert ran.code == 2
    assert ran.refusal.startswith("no chat session 'nope' in ")


@pytest.mark.parametrize("args", [["show"], ["trace"], ["ask", "-m", "echo:", "-c", "Hi"]])
def test_an_empty_store_has_no_last_session(terminal: Terminal, args: list[str]) -> None:
    """Commands that mean the last session refuse where there is none."""
    ran = terminal.run(*args)
    assert ran.code == 2
    assert "there is no chat session" in ran.refusal


@pytest.mark.parametrize("session", BAD_IDS)
def test_a_bad_id_is_refused_everywhere(terminal: Terminal, session: str) -> None:
    """An id that could leave the store, or cannot be a file name everywhere, is refused in every command."""
    for args in (*OF_ONE_SESSION, ["ask", "-m", "echo:", "Hi"]):
        option = ["--session", session] if args[0] == "ask" else ["--", session]
        ran = terminal.run(*args, *option)
        assert ran.code == 2, args
        assert "is not a session id" in ran.refusal
    assert list(terminal.home.iterdir()) == []


@pytest.mark.parametrize("args", [["show"], ["trace"], ["ask", "-m", "echo:", "-c", "Hi"]])
def test_a_damaged_journal_is_refused_with_its_place(terminal: Terminal, args: list[str]) -> None:
    """A damaged journal is never read up to the damage as if it were whole; the file and the line are named."""
    terminal.ask("One", "--session", "a")
    terminal.damage("a", line=3)
    ran = terminal.run(*args)
    assert ran.code == 2
    assert "a.jsonl, line 3: " in ran.refusal


@pytest.mark.parametrize("args", [["sessions"], ["check"], ["show", "a"], ["ask", "-m", "echo:", "Hi"]])
def test_a_store_that_is_a_file_is_refused(terminal: Terminal, args: list[str]) -> None:
    """A file in the place of the store is named and left as it is."""
    terminal.store.write_bytes(b"mine")
    ran = terminal.run(*args)
    assert ran.code == 2
    assert str(terminal.store) in ran.refusal
    assert terminal.store.read_bytes() == b"mine"


def test_a_full_disk_is_refused(terminal: Terminal) -> None:
    """Where nothing can be written, the question is refused and no session is left."""
    full = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); {AS_INSTALLED}"
    ran = terminal.run_apart("ask", "-m", "echo:", "Hi", program=full)
    assert ran.code == 2
    assert "nothing was kept" in ran.refusal
    assert list(terminal.store.glob("*.jsonl")) == []


@pytest.mark.parametrize(
    "args", [["show", "a"], ["delete", "a", "--yes"], ["ask", "Hi", "-m", "echo:", "--session", "a"]]
)
def test_anothers_session_is_not_there(terminal: Terminal, args: list[str]) -> None:
    """With another owner's --scope a session reads as not there."""
    terminal.ask("One", "--session", "a", "--scope", "ana")
    ran = terminal.run(*args, "--scope", "bob")
    assert ran.code == 2
    assert ran.refusal.startswith("no chat session 'a' in ")
    assert terminal.journal("a").exists()


def test_a_busy_session_is_refused(terminal: Terminal) -> None:
    """While another process runs a turn of a session, nothing is asked in it."""
    terminal.ask("One", "--session", "a")

    async def meanwhile() -> None:
        async with FileStore(terminal.store).lease("a"):
            ran = await asyncio.to_thread(terminal.run_apart, "ask", "-c", "Two")
            assert ran.code == 2
            assert "chat session 'a' is busy" in ran.refusal

    asyncio.run(meanwhile())


def test_a_failed_model_has_a_code_of_its_own() -> None:
    """A model that failed ends with 1, one that was chosen wrongly with 2, and so does what the system refuses."""
    asked = UnknownModel("local:x", "damaged")
    asked.turn_id = "t"
    codes = [exit_code(each) for each in (ModelError("m"), TurnFailed("t", "k", text="x"), asked, ValueError("x"))]
    assert codes == [1, 1, 1, 1]
    assert [exit_code(each) for each in (UnknownModel("x"), OSError(28, "full"), KeyboardInterrupt())] == [2, 2, 130]


def test_what_the_system_says_becomes_a_sentence() -> None:
    """An error of the system is told without its number, and with the file if there is one."""
    assert sentence(PermissionError(13, "Permission denied", "/a")) == "/a: permission denied"
    assert sentence(OSError(28, "No space left on device")) == "no space left on device"


def test_the_unexpected_is_one_sentence_too(terminal: Terminal) -> None:
    """An error that nobody expected, as of a broken installation, is one line; ANTIPHON_DEBUG=1 shows its traceback."""
    broken = f"import sys; sys.modules['msgspec'] = None; {AS_INSTALLED}"
    ran = terminal.run_apart("sessions", program=broken)
    assert ran.code == 1
    assert "ModuleNotFoundError" in ran.refusal
    assert "ANTIPHON_DEBUG=1" in ran.refusal
    terminal.env["ANTIPHON_DEBUG"] = "1"
    assert "Traceback" in terminal.run_apart("sessions", program=broken).err


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="only /dev/full, which Linux has, is an output that is always full"
)
def test_output_that_cannot_be_written_is_said(terminal: Terminal) -> None:
    """Where standard output is full, the command says so and fails."""
    full = f"import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1); {AS_INSTALLED}"
    ran = terminal.run_apart("sessions", "--json", program=full)
    assert ran.code == 2
    assert ran.refusal == "no space left on device"


def test_deleting_asks_first(terminal: Terminal) -> None:
    """Without --yes, and with nobody to ask, nothing is erased."""
    terminal.ask("One", "--session", "a")
    ran = terminal.run("delete", "a")
    assert ran.code == 2
    assert "--yes" in ran.refusal
    assert terminal.journal("a").exists()


@pytest.mark.parametrize("damaged", [False, True])
def test_deleting_says_what_was_erased(terminal: Terminal, damaged: bool) -> None:
    """`delete --yes` erases a session, a damaged one too, and names what is gone."""
    terminal.ask("One", "--session", "a")
    if damaged:
        terminal.damage("a", line=1)
    ran = terminal.run("delete", "a", "--yes")
    assert (ran.code, ran.out) == (0, "erased from ~/chats: a.jsonl\n")
    assert not terminal.journal("a").exists()


def test_an_empty_store_is_refused(terminal: Terminal) -> None:
    """An unset variable in the place of the store is refused, and never the store of somebody else's choice."""
    ran = terminal.run("ask", "-m", "echo:", "--store", "", "hi")
    assert ran.refusal == "--store names no folder; give one, or leave it out"
