"""`sessions`, `show`, `trace`, `check`, `models`: what is kept, read back."""

import json
import re

import pytest

from tests.cli.running import Terminal


def test_sessions_are_listed_newest_first(terminal: Terminal) -> None:
    """The list begins with what changed last, and gives turns, time, status and title."""
    for name in ("a", "b", "a"):
        terminal.ask(f"Hello {name}", "--session", name)
    _, *rows = terminal.run("sessions").out.splitlines()
    assert [" ".join(row.split()) for row in rows] == ["a 2 just now idle Hello a", "b 1 just now idle Hello b"]


def test_a_damaged_session_hides_no_other(terminal: Terminal) -> None:
    """A damaged session is listed and marked with its problem, and the others are listed as ever."""
    for name in ("a", "b", "c"):
        terminal.ask("Hello", "--session", name)
    terminal.damage("b", line=2)
    told = {each["id"]: each for each in json.loads(terminal.run("sessions", "--json").out)}
    assert [told[name]["status"] for name in "abc"] == ["idle", "damaged", "idle"]
    assert "line 2" in told["b"]["problem"]
    assert "damaged" in terminal.run("sessions").out


def test_a_limit_says_that_there_are_more(terminal: Terminal) -> None:
    """--limit gives at most so many, and says on standard error that older ones are there."""
    for name in ("a", "b"):
        terminal.ask("Hello", "--session", name)
    ran = terminal.run("sessions", "--limit", "1")
    assert len(ran.out.splitlines()) == 2
    assert "older ones" in ran.err


def test_only_an_owners_sessions_are_listed(terminal: Terminal) -> None:
    """--scope lists the sessions of that owner and no others."""
    terminal.ask("Hello", "--session", "a", "--scope", "ana")
    terminal.ask("Hello", "--session", "b")
    assert [each["id"] for each in json.loads(terminal.run("sessions", "--scope", "ana", "--json").out)] == ["a"]


def test_a_transcript_is_shown(terminal: Terminal) -> None:
    """`show` gives every turn of the last session: its status, what was said and what came of it."""
    terminal.ask("One\ntwo")
    terminal.ask("Three", "-c")
    lines = terminal.run("show").out.splitlines()
    assert lines[2].startswith("turn 1 · completed · echo")
    assert lines[3:6] == ["> One", "> two", 'I was shown 1 message, 7 characters; the last says: "One two"']
    assert lines[7].startswith("turn 2 · completed")


def test_a_transcript_as_json_is_an_array_of_turns(terminal: Terminal) -> None:
    """`show --json` gives one object a turn, with its messages, usage and options."""
    terminal.ask("One")
    [turn] = json.loads(terminal.run("show", "--json").out)
    assert (turn["status"], turn["input"], turn["finishReason"]) == ("completed", "One", "stop")
    assert [each["role"] for each in turn["messages"]] == ["user", "assistant"]


def test_an_escape_sequence_in_a_transcript_is_spelled_out(terminal: Terminal) -> None:
    """What was said cannot act on the terminal that shows it, in any command."""
    terminal.ask("\x1b]0;owned\x07 \u202eevil", "--session", "a")
    for args in (["show"], ["sessions"], ["trace"], ["show", "--json"], ["sessions", "--json"]):
        shown = terminal.run(*args).out
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "\\x1b]0;owned\\x07 \\u202eevil" in terminal.run("show").out


def test_the_trace_of_the_last_call_is_shown(terminal: Terminal) -> None:
    """`trace` shows the last call of the last turn; a turn may be named by its number or its id."""
    session = terminal.ask("One", "-s", "Be kind.")
    terminal.ask("Two", "-c")
    last = terminal.run("trace").out
    assert re.match(r"turn 2 \([0-9a-f-]{36}\), call 1 · echo:\n", last)
    assert "instructions" in last
    turns = json.loads(terminal.run("show", "--json").out)
    assert terminal.run("trace", session, "2").out == last
    first = terminal.run("trace", session, "1", "--call", "1").out
    assert first == terminal.run("trace", session, turns[0]["id"]).out != last


def test_a_trace_as_json_sums_up(terminal: Terminal) -> None:
    """`trace --json` gives totals and a row a piece, which sum to the total."""
    terminal.ask("One")
    told = json.loads(terminal.run("trace", "--json").out)
    assert sum(layer["tokens"] for layer in told["layers"]) == told["totals"]["total"]
    assert told["number"] == 1


@pytest.mark.parametrize("args", [("3",), ("0",), ("nope",), ("1", "--call", "9")])
def test_no_such_call_is_refused(terminal: Terminal, args: tuple[str, ...]) -> None:
    """A turn or a call that is not there is refused in a sentence that says which there are."""
    terminal.ask("One", "--session", "a")
    ran = terminal.run("trace", "a", *args)
    assert ran.code == 2
    assert "it has" in ran.refusal


def test_a_turn_without_a_trace_says_so(terminal: Terminal) -> None:
    """Where no model was asked in a turn, `trace` says that in a sentence."""
    terminal.ask("One", "--session", "a")
    lines = terminal.journal("a").read_bytes().splitlines(keepends=True)
    terminal.journal("a").write_bytes(b"".join(lines[:2]))
    ran = terminal.run("trace")
    assert ran.code == 2
    assert (
        ran.refusal
        == "turn 1 of chat session 'a' has no trace: no model was asked in it, or its process died while one was"
    )


def test_a_very_long_line_is_read_by_all(terminal: Terminal) -> None:
    """An input of 20 MB between two small ones is listed, shown and checked as any other."""
    terminal.ask("One", "--session", "a")
    assert terminal.run("ask", "-m", "echo:", "-c", stdin=b"x" * 20_000_000).code == 1  # larger than the window
    terminal.ask("Three", "-c")
    assert [each["status"] for each in json.loads(terminal.run("sessions", "--json").out)] == ["idle"]
    assert [len(turn["input"]) for turn in json.loads(terminal.run("show", "--json").out)] == [3, 20_000_000, 5]
    assert terminal.run("check").out.startswith("fine     a  3 turns")


def test_check_counts_what_is_fine(terminal: Terminal) -> None:
    """`check` reads every session wholly and says what each holds."""
    terminal.ask("One", "--session", "a")
    ran = terminal.run("check")
    assert (ran.code, ran.out) == (0, "fine     a  1 turn, 4 entries\n")
    [told] = json.loads(terminal.run("check", "--json", "a").out)
    assert told == {"session": "a", "ok": True, "turns": 1, "entries": 4, "interrupted": 0, "tornBytes": 0}


def test_check_names_file_and_line(terminal: Terminal) -> None:
    """One damaged session is told with file and line, the others as fine, and the code is 2."""
    for name in ("a", "b"):
        terminal.ask("One", "--session", name)
    terminal.damage("a", line=3)
    ran = terminal.run("check")
    assert ran.code == 2
    assert f"damaged  a  {terminal.journal('a')}, line 3: " in ran.out
    assert "fine     b  1 turn" in ran.out
    assert "1 damaged" in ran.err


def test_check_sees_what_a_crash_left(terminal: Terminal) -> None:
    """A turn without outcome and a write that was cut off are told, and are no damage."""
    terminal.ask("One", "--session", "a")
    lines = terminal.journal("a").read_bytes().splitlines(keepends=True)
    terminal.journal("a").write_bytes(b"".join(lines[:2]) + lines[2][:10])
    ran = terminal.run("check", "a")
    assert ran.code == 0
    assert "1 turn, 2 entries, 1 interrupted, 10 bytes of a write" in ran.out


def test_models_are_listed(terminal: Terminal) -> None:
    """`models` lists echo: and the model files that are here, with size, licence and place."""
    folder = terminal.home / "models"
    folder.mkdir()
    (folder / "mine.gguf").write_bytes(b"x" * 2_000_000)
    env = {"ANTIPHON_MODELS": str(folder)}
    told = {each["name"]: each for each in json.loads(terminal.run("models", "--json", env=env).out)}
    assert told["echo:"]["here"]
    assert (told["local:mine"]["path"], told["local:mine"]["size"]) == (str(folder / "mine.gguf"), 2_000_000)
    assert "local:mine" in terminal.run("models", env=env).out


def test_only_known_models_can_be_pulled(terminal: Terminal) -> None:
    """`models pull` of an unknown name is refused with the names that there are."""
    ran = terminal.run("models", "pull", "nope")
    assert ran.code == 2
    assert "smollm2" in ran.refusal
