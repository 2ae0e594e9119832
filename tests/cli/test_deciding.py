"""A conversation in which a person decides on calls."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.cli.calling import Asker, wanting
from tests.cli.talking import CTRL_C, CTRL_D, ENTER, UP, Talk

ASKS = "y/n/e/a/q? "
SEND = ("send", {"to": "ana", "text": "hi"})


@contextmanager
def talking(asker: Asker, *calls: tuple[str, Any], options: tuple[str, ...] = ()) -> Iterator[Talk]:
    """A conversation whose model has made calls, if any are given."""
    with Talk(asker.terminal, "chat", *asker.options, "--session", "s", *options, LOGNAME="eva") as talk:
        talk.wait("> ")
        if calls:
            talk.type(wanting(*calls), ENTER)
        yield talk


def leave(talk: Talk) -> None:
    """Leave, in order."""
    talk.wait("> ")
    talk.type(CTRL_D)
    talk.wait("kept in")
    assert talk.ended() == 0


def turns(asker: Asker) -> list[dict[str, Any]]:
    """The turns of the session."""
    found: list[dict[str, Any]] = json.loads(asker.terminal.run("show", "s", "--json").out)
    return found


def test_yes_runs_and_goes_on(asker: Asker) -> None:
    """The call is shown with its whole arguments and the reason; `y` runs it, and the reply streams on."""
    with talking(asker, SEND) as talk:
        talk.wait('? send waits: it is not read-only\n  {\n    "to": "ana",\n    "text": "hi"\n  }\n')
        talk.wait(ASKS)
        assert asker.sent == []
        talk.type("y", ENTER)
        talk.wait('@ send {"to": "ana", "text": "hi"}')
        talk.wait("… send: writing to ana (50%)")
        talk.wait("= send: sent to ana")
        talk.wait("It gave sent to ana")
        leave(talk)
    assert asker.sent == ["ana"]


def test_no_refuses_with_a_reason(asker: Asker) -> None:
    """`n` and a reason refuse the call; `n` alone asks for the reason. The model is told who refused, and why."""
    with talking(asker, SEND, SEND) as talk:
        talk.wait(ASKS)
        talk.type("n too late", ENTER)
        talk.wait(ASKS)
        talk.type("n", ENTER)
        talk.wait("why (Enter for no reason)? ")
        talk.type("/much too late", ENTER)
        talk.wait("eva refused it: too late")
        talk.wait("eva refused it: /much too late")
        leave(talk)
    assert asker.sent == []


def test_arguments_can_be_edited(asker: Asker) -> None:
    """`e` edits the arguments as JSON; what is none is asked for again, what is one is shown again before it runs."""
    with talking(asker, ("send", {"to": "ana\x1b[2J", "text": "hi"})) as talk:
        talk.wait(ASKS)
        talk.type("e", ENTER)
        talk.wait('"to": "ana\\u001b[2J"')
        talk.type("x", ENTER)
        talk.wait("the arguments are not JSON: ")
        talk.wait("arguments: ")
        talk.type("\x15" + "\x7f" * 200, '{"to": "bo"}', ENTER)
        talk.wait("'text'")
        talk.wait("arguments: ")
        talk.type("\x7f", ', "text": "x"}', ENTER)
        talk.wait('  {\n    "to": "bo",\n    "text": "x"\n  }\n')
        talk.wait(ASKS)
        assert asker.sent == []
        talk.type("y", ENTER)
        talk.wait('@ send {"to": "bo", "text": "x"}')
        leave(talk)
    assert asker.sent == ["bo"]


def test_a_call_is_answered_by_hand(asker: Asker) -> None:
    """`a` takes what the call gave; it does not run. The answer may begin with a slash."""
    with talking(asker, SEND) as talk:
        talk.wait(ASKS)
        talk.type("a", ENTER)
        talk.wait("what it gave: ")
        talk.type("/tmp by hand", ENTER)
        talk.wait("It gave /tmp by hand")
        leave(talk)
    assert asker.sent == []


def test_a_call_is_left_waiting(asker: Asker) -> None:
    """`q`, Ctrl-C and Ctrl-D leave the call waiting, and the conversation goes on; `/pending` asks again."""
    with talking(asker, SEND) as talk:
        for keys in (["q", ENTER], [CTRL_C], [CTRL_D]):
            talk.wait(ASKS)
            talk.type(*keys)
            talk.wait("left waiting")
            talk.wait("> ")
            talk.type("/pending", ENTER)
        talk.wait(ASKS)
        talk.type("y", ENTER)
        talk.wait("It gave sent to ana")
        leave(talk)
    assert [turn["status"] for turn in turns(asker)] == ["completed"]


def test_another_process_decides(asker: Asker) -> None:
    """A conversation that is left with a call waiting says so when it is taken up, and `/pending` decides."""
    with talking(asker, SEND) as talk:
        talk.wait(ASKS)
        talk.type("/quit", ENTER)
        assert talk.ended() == 0
    with talking(asker) as talk:
        assert "the last turn waits for a decision on 1 call: /pending asks you" in talk.text
        talk.type("/pending", ENTER)
        talk.wait(ASKS)
        talk.type("y", ENTER)
        talk.wait("It gave sent to ana")
        leave(talk)


def test_a_turn_that_was_broken_off_is_resumed(asker: Asker) -> None:
    """A turn that is decided and not gone on with, as after a crash, says so; `/resume` goes on."""
    asker.ask(SEND)
    asker.terminal.run("approve", "c1")
    with talking(asker) as talk:
        assert "the last turn was broken off: /resume goes on with it" in talk.text
        talk.type("/resume", ENTER)
        talk.wait("It gave sent to ana")
        leave(talk)
    assert asker.sent == ["ana"]


def test_saying_something_else_puts_it_aside(asker: Asker) -> None:
    """A new message after `q` ends the turn that waited; its call never runs."""
    with talking(asker, SEND) as talk:
        talk.wait(ASKS)
        talk.type("q", ENTER)
        talk.wait("> ")
        talk.type("Hello", ENTER)
        talk.wait("Only words.")
        leave(talk)
    assert [turn["status"] for turn in turns(asker)] == ["canceled", "completed"]
    assert asker.sent == []


def test_an_answer_is_no_message(asker: Asker) -> None:
    """What is no answer is asked for again, and the arrow keys offer no answer as something to say."""
    with talking(asker, SEND) as talk:
        for line in ("", "Hello", "yes please"):
            talk.wait(ASKS)
            talk.type(line, ENTER)
            talk.wait("y run it")
        talk.wait(ASKS)
        talk.type("n no", ENTER)
        talk.wait("It gave")
        talk.wait("> ")
        talk.type(UP)
        talk.wait("send")
        talk.type(CTRL_C, CTRL_D)
        talk.wait("kept in")
    assert len(turns(asker)) == 1


def test_who_is_typing_has_not_answered(asker: Asker) -> None:
    """A line that was begun before something was asked is no answer, whatever its rest says; it comes back whole."""
    asker.gate.clear()
    with talking(asker, SEND) as talk:
        talk.wait("+ ")
        talk.type("say it to")
        talk.wait("say it to")
        asker.gate.set()
        talk.wait(ASKS)
        talk.type("y", ENTER)
        talk.wait("not taken for an answer")
        talk.wait(ASKS)
        talk.type("n no", ENTER)
        talk.wait("eva refused it: no")
        talk.wait("> say it toy")
    assert asker.sent == []


def test_tools_are_listed(asker: Asker) -> None:
    """`/tools` lists what is offered and what asks; `/help` lists it, `/compact`, `/pending` and `/resume`."""
    with talking(asker, options=("--deny", "fail")) as talk:
        talk.type("/tools", ENTER)
        talk.wait("look_up  runs         Look up an order.")
        talk.wait("send     asks         Send a message.")
        talk.wait("fail     is denied    Fail.")
        talk.type("/help", ENTER)
        for name in ("/pending", "/resume", "/tools", "/compact"):
            talk.wait(name)
        talk.type("/quit", ENTER)
        assert talk.ended() == 0


def test_turns_are_summarised_on_demand(asker: Asker) -> None:
    """`/compact` shows the summary that stands for the turns from now on; with nothing said it is refused."""
    with talking(asker) as talk:
        talk.type("/compact", ENTER)
        talk.wait("nothing has been said in this session yet")
        for line, answer in (("One", "Only words."), ("Two", "Only words.")):
            talk.wait("> ")
            talk.type(line, ENTER)
            talk.wait(answer)
        talk.wait("> ")
        talk.type("/compact the numbers", ENTER)
        talk.wait("shown to the model as this from now on")
        talk.wait("Only words.")
        leave(talk)
    assert '"focus":"the numbers"' in asker.terminal.journal("s").read_text(encoding="utf-8").replace(": ", ":")


def test_a_summary_can_be_stopped(asker: Asker) -> None:
    """While a summary is written nothing can be sent, and Ctrl-C stops it; nothing is changed."""
    asker.terminal.run("ask", *asker.options, "--session", "s", "One")
    asker.terminal.run("ask", *asker.options, "--session", "s", "Two")
    asker.gate.clear()
    with talking(asker) as talk:
        talk.type("/compact", ENTER)
        talk.wait("are being summarised")
        talk.type("Three", ENTER)
        talk.wait("wait for it, or stop it with Ctrl-C")
        talk.type(CTRL_C)
        talk.wait("stopped; nothing is changed")
        asker.gate.set()
        leave(talk)
    assert len(turns(asker)) == 2
    assert "context.compacted" not in asker.terminal.journal("s").read_text(encoding="utf-8")


def test_what_is_not_offered_cannot_be_approved(asker: Asker) -> None:
    """Where the call's tool is not offered `y` runs nothing and decides nothing; it can still be refused."""
    asker.ask(SEND)
    with Talk(asker.terminal, "chat", "-m", asker.model, "s", LOGNAME="eva") as talk:
        talk.wait("> ")
        talk.type("/pending", ENTER)
        talk.wait("its tool is not offered here")
        talk.wait(ASKS)
        talk.type("y", ENTER)
        talk.wait("it cannot be run")
        talk.wait(ASKS)
        talk.type("n no", ENTER)
        talk.wait("eva refused it: no")
        leave(talk)
    assert asker.sent == []


def test_a_plain_terminal_decides_too(asker: Asker) -> None:
    """A terminal without cursor keys is asked the same, line by line."""
    with Talk(asker.terminal, "chat", *asker.options, "--session", "s", TERM="dumb") as talk:
        talk.wait("> ")
        talk.type(wanting(SEND), ENTER)
        talk.wait(ASKS)
        talk.type("e", ENTER)
        talk.wait("arguments: ")
        talk.type('{"to": "bo", "text": "x"}', ENTER)
        talk.wait(ASKS)
        talk.type("y", ENTER)
        talk.wait("It gave sent to bo")
        leave(talk)
    assert asker.sent == ["bo"]
