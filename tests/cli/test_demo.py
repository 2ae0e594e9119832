"""`antiphon demo`: it runs anywhere, checks what it claims, and says so if a claim does not hold."""

import asyncio
import io
import signal
from pathlib import Path

from antiphon import Chat
from antiphon.cli._demo_store import AcknowledgingStore
from antiphon.cli._demo_telling import Telling
from antiphon.cli._screen import Screen
from tests.cli.running import Terminal


def test_the_demo_holds_what_it_claims(terminal: Terminal) -> None:
    """With the bundled script the demo kills a process, loses nothing, and ends with 0."""
    terminal.env["TMPDIR"] = str(terminal.home)
    ran = terminal.run_apart("demo", "--script")
    assert ran.code == 0, ran.out
    assert "✂ kill -9" in ran.out
    assert ran.out.count("✓") == 6
    assert "✗" not in ran.out
    assert list(terminal.home.iterdir()) == []


def test_the_demo_can_be_kept(terminal: Terminal) -> None:
    """With --keep its session stays, where the demo says, and any command can read it."""
    terminal.env["TMPDIR"] = str(terminal.home)
    ran = terminal.run_apart("demo", "--script", "--keep")
    [store] = terminal.home.iterdir()
    assert f"antiphon show --store {store}" in ran.out
    checked = terminal.run("check", "--store", str(store))
    assert (checked.code, "5 turns" in checked.out, "1 interrupted" in checked.out) == (0, True, True)


def test_ctrl_c_leaves_nothing_of_the_demo(terminal: Terminal) -> None:
    """Ctrl-C while the other process runs ends that process too, and erases the demo's store."""
    terminal.env["TMPDIR"] = str(terminal.home)
    process = terminal.start("demo", "--script")
    assert process.stdout is not None
    while b"Once" not in process.stdout.readline(15):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, b"antiphon: stopped\n")
    assert list(terminal.home.iterdir()) == []


def test_a_claim_that_does_not_hold_is_said() -> None:
    """A claim that does not hold is marked, and remembered for the exit code."""
    stream = io.StringIO()
    telling = Telling(Screen(stream))
    telling.claim("water is dry", False)
    telling.claim("water is wet", True)
    assert (telling.broken, telling.held) == (["water is dry"], 1)
    assert stream.getvalue() == "  ✗ NOT SO: water is dry\n  ✓ water is wet\n"


def test_a_text_is_set_between_margins() -> None:
    """Words that come in pieces are set to the width, each line under the first."""
    stream = io.StringIO()
    paragraph = Telling(Screen(stream)).said("model")
    for piece in ("ab", "c " * 40, "\x1b de", "f\n", "ghi"):
        paragraph.add(piece)
    paragraph.end("…")
    lines = stream.getvalue().splitlines()
    assert all(len(line) <= 88 for line in lines)
    assert (lines[0][:13], lines[-1][:9]) == ("  model  abc ", " " * 9)
    assert stream.getvalue().endswith("\\x1b def ghi …\n")


def test_the_demos_store_tells_of_what_is_kept(tmp_path: Path) -> None:
    """Every entry on disk was told, in order, and none before it was there."""
    told: list[str] = []
    found: list[str] = []

    async def talk() -> None:
        async with Chat("echo:", store=AcknowledgingStore(tmp_path, told.append)) as chat:
            session = await chat.create_session("a")
            await session.ask("Hi")
            found.extend([entry.id async for entry in session.journal()])

    asyncio.run(talk())
    assert told == found
