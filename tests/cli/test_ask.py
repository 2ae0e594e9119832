"""`antiphon ask`: what is asked, who answers, where it is kept."""

import json
import sys

import pytest

from tests.cli.running import AS_INSTALLED, Terminal

WITHOUT_ENGINE = f"import sys; sys.modules['xllamacpp'] = None; {AS_INSTALLED}"
"""The command where the optional engine is not installed."""


def test_the_reply_and_nothing_else_is_output(terminal: Terminal) -> None:
    """The reply's text and a newline go to standard output; model, store and session once to standard error."""
    ran = terminal.run("ask", "-m", "echo:", "Hello")
    assert ran.code == 0
    assert ran.out == 'I was shown 1 message, 5 characters; the last says: "Hello"\n'
    session = next(terminal.store.glob("*.jsonl")).stem
    assert ran.err == f"model echo: · store ~/chats · session {session}\n"


def test_another_process_goes_on(terminal: Terminal) -> None:
    """`ask -c` in another process shows the model what was said before: three messages the second time."""
    first = terminal.run_apart("ask", "-m", "echo:", "One")
    second = terminal.run_apart("ask", "-m", "echo:", "-c", "Two")
    assert "shown 1 message," in first.out
    assert "shown 3 messages," in second.out
    assert second.err == first.err


def test_going_on_means_the_session_that_changed_last(terminal: Terminal) -> None:
    """`-c` goes on with the session of the chosen store that changed last, not the one that was begun last."""
    older = terminal.ask("One", "--session", "older")
    terminal.ask("One", "--session", "newer")
    terminal.ask("Two", "--session", older)
    assert terminal.ask("Three", "-c") == older


def test_going_on_needs_a_session_in_that_store(terminal: Terminal) -> None:
    """`-c` with another store goes on there or not at all, whatever other stores hold."""
    terminal.ask("One")
    ran = terminal.run("ask", "-m", "echo:", "-c", "Two", "--store", str(terminal.home / "other"))
    assert ran.code == 2
    assert ran.refusal == "there is no chat session in ~/other; `antiphon ask` begins one"
    assert not (terminal.home / "other").exists()


def test_a_session_keeps_model_and_instructions(terminal: Terminal) -> None:
    """What goes on is asked with the model and the instructions of its last turn unless others are given."""
    terminal.ask("One", "-s", "four")
    kept = terminal.run("ask", "-c", "Two", env={"ANTIPHON_MODEL": "nope:"})
    assert "model echo:" in kept.err
    turns = json.loads(terminal.run("show", "--json").out)
    assert [turn["options"] for turn in turns] == [{"instructions": "four", "model": "echo:"}] * 2


def test_a_pipe_stands_before_the_prompt(terminal: Terminal) -> None:
    """What comes through standard input, a blank line and the prompt make the input."""
    terminal.run("ask", "-m", "echo:", "Summarise", stdin=b"\xef\xbb\xbfone\r\ntwo\n\n")
    [turn] = json.loads(terminal.run("show", "--json").out)
    assert turn["input"] == "one\r\ntwo\n\nSummarise"


def test_json_is_one_object(terminal: Terminal) -> None:
    """--json gives one object in ASCII on one line and streams nothing."""
    ran = terminal.run("ask", "-m", "echo:", "--json", "é")
    told = json.loads(ran.out)
    assert (ran.out.count("\n"), ran.out.isascii()) == (1, True)
    assert list(told) == ["text", "session", "turn", "model", "finishReason", "usage", "store"]
    assert (told["model"], told["finishReason"], told["store"]) == ("echo:", "stop", str(terminal.store))
    assert told["usage"]["input"] > 0


def test_the_environment_names_a_model(terminal: Terminal) -> None:
    """ANTIPHON_MODEL answers where nothing else is said; a key in the environment chooses nothing."""
    ran = terminal.run("ask", "Hi", env={"ANTIPHON_MODEL": "echo:", "OPENAI_API_KEY": "sk-none"})
    assert "model echo: ·" in ran.err


def test_no_model_is_refused_with_the_choices(terminal: Terminal) -> None:
    """Without any model the choices are named and nothing is kept, with a key in the environment too."""
    terminal.env["OPENAI_API_KEY"] = "sk-none"
    ran = terminal.run_apart("ask", "Hi", program=WITHOUT_ENGINE)
    assert ran.code == 2
    assert all(choice in ran.refusal for choice in ("antiphon models pull smollm2", "ANTIPHON_MODEL", "-m echo:"))
    assert not terminal.store.exists()


def test_a_missing_extra_is_named(terminal: Terminal) -> None:
    """A model whose optional part is missing is refused with the command that installs it."""
    ran = terminal.run_apart("ask", "-m", "local:smollm2", "Hi", program=WITHOUT_ENGINE)
    assert ran.code == 2
    assert "pip install 'antiphon[local]'" in ran.refusal


@pytest.mark.parametrize("name", ["nope:x", "nope", "echo:x", "local:", "local:/nowhere.gguf"])
def test_an_unknown_model_is_refused(terminal: Terminal, name: str) -> None:
    """A model's name that leads nowhere is refused before a session is begun."""
    ran = terminal.run("ask", "-m", name, "Hi")
    assert ran.code == 2
    assert "is not known" in ran.refusal
    assert not terminal.store.exists()


@pytest.mark.parametrize("stdin", [b"", b" \n\t\n"])
def test_nothing_to_ask_is_refused(terminal: Terminal, stdin: bytes) -> None:
    """With neither a prompt nor anything but white space through the pipe, nothing is asked."""
    ran = terminal.run("ask", "-m", "echo:", stdin=stdin)
    assert ran.code == 2
    assert "there is nothing to ask" in ran.refusal


def test_a_pipe_that_is_not_utf8_is_refused(terminal: Terminal) -> None:
    """Bytes that are not UTF-8 are refused with the place of the first, and nothing is kept."""
    ran = terminal.run("ask", "-m", "echo:", "Hi", stdin=b"caf\xe9")
    assert ran.code == 2
    assert "not UTF-8 (byte 3)" in ran.refusal
    assert not terminal.store.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands a command words that are not UTF-8")
def test_a_prompt_that_is_not_utf8_is_refused(terminal: Terminal) -> None:
    """A prompt that is not UTF-8 is refused, and nothing is kept."""
    ran = terminal.run_apart("ask", "-m", "echo:", "caf\udce9")
    assert ran.code == 2
    assert "the prompt is not UTF-8" in ran.refusal
    assert not terminal.store.exists()


def test_two_ways_to_go_on_exclude_each_other(terminal: Terminal) -> None:
    """--continue and --session together are refused."""
    assert terminal.run("ask", "-c", "--session", "a", "Hi").code == 2
