"""Calls that wait for a person, where nobody can be asked at once: listed, decided, and gone on with."""

import json
from typing import Any

import pytest

from tests.cli.calling import Asker
from tests.cli.running import Terminal
from tests.cli.talking import CTRL_C, ENTER, Talk

EVIL = "a\x1b]52;c;aGk=\x07b\x1b[2Jc\rd\u202ee\u200bf\x7f"
SEND = ("send", {"to": "ana", "text": "hi"})


def pending(asker: Asker, *args: str) -> list[dict[str, Any]]:
    """What waits."""
    found: list[dict[str, Any]] = json.loads(asker.terminal.run("pending", "--json", *args).out)
    return found


def has_no_control(text: str) -> bool:
    """Whether nothing in it acts on a terminal."""
    return not any(each in text for each in ("\x1b", "\x07", "\r", "\u202e", "\x7f"))


def test_what_only_reads_runs(asker: Asker) -> None:
    """A read-only tool runs unasked; call and result are said beside the reply, which alone is output."""
    ran = asker.ask(("look_up", {"order": "17"}))
    assert (ran.code, ran.out) == (0, "It gave 17: shipped\n")
    assert ran.err.splitlines()[1:] == ['@ look_up {"order": "17"}', "= look_up: 17: shipped"]


def test_what_has_effects_waits(asker: Asker) -> None:
    """Any other tool waits: what and why, how to decide, code 3; nothing ran, and nobody was asked anything."""
    ran = asker.ask(SEND)
    assert (ran.code, ran.out, asker.sent) == (3, "", [])
    assert ran.err.splitlines()[1:] == [
        "? send waits: it is not read-only",
        *("  {", '    "to": "ana",', '    "text": "hi"', "  }"),
        "to decide: antiphon approve c1, or deny, or answer; to go on then: antiphon resume s",
    ]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--allow", "s*"), 0),
        (("--allow", "s*", "--ask", "send"), 3),
        (("--allow", "s*", "--deny", "*"), 0),
        (("--allow", "x"), 3),
    ],
)
def test_patterns_decide(asker: Asker, options: tuple[str, ...], code: int) -> None:
    """`--allow` lets a tool run, unless `--ask` makes it wait or `--deny` forbids it."""
    assert asker.ask(SEND, options=options).code == code
    assert asker.sent == (["ana"] if options == ("--allow", "s*") else [])


def test_json_says_what_waits(asker: Asker) -> None:
    """`--json` gives the calls that wait with the reply; `--jsonl` ends in an event that holds them. The code is 3."""
    ran = asker.ask(SEND, options=("--json",))
    found = json.loads(ran.out)
    assert (ran.code, found["finishReason"]) == (3, "waiting")
    assert found["pending"] == pending(asker)
    assert found["pending"][0]["arguments"] == {"to": "ana", "text": "hi"}
    lines = asker.ask(SEND, session="t", options=("--jsonl",)).out.splitlines()
    assert json.loads(lines[-1])["type"] == "turn.waiting"


def test_an_approved_call_runs_once(asker: Asker) -> None:
    """What is approved runs when the turn is resumed, once, and the reply is streamed; who approved is kept."""
    asker.ask(SEND)
    ran = asker.terminal.run("approve", "c1", "--by", "max")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        '@ send {"to": "ana", "text": "hi"}',
        "call 'c1' of 'send' is approved by max",
        "to go on, with the --tools and --mcp that it was asked with: antiphon resume s",
    ]
    assert asker.sent == []
    resumed = asker.terminal.run("resume", *asker.options)
    assert (resumed.code, resumed.out, asker.sent) == (0, "It gave sent to ana\n", ["ana"])
    assert "… send: writing to ana (50%)" in resumed.err
    assert asker.terminal.run("resume", *asker.options).code == 2
    assert "? call c1 was allowed by max" in asker.terminal.run("show").out


def test_an_approval_may_change_the_arguments(asker: Asker) -> None:
    """`--arguments` stand in the place of the model's, and both can be seen afterwards."""
    asker.ask(SEND)
    asker.terminal.run("approve", "c1", "--arguments", '{"to": "bo", "text": "x"}', "--by", "max")
    asker.terminal.run("resume", "s", *asker.options)
    assert asker.sent == ["bo"]
    shown = asker.terminal.run("show", "s").out
    assert '@ send {"to": "ana", "text": "hi"}' in shown
    assert '? call c1 was allowed by max, with the arguments {"to": "bo", "text": "x"}' in shown


def test_a_denied_call_does_not_run(asker: Asker) -> None:
    """What is denied is answered with the reason, and needs no tools."""
    asker.ask(SEND)
    assert asker.terminal.run("deny", "c1", "--reason", "too late", "--by", "max").code == 0
    ran = asker.terminal.run("resume", "s", "-m", asker.model)
    assert (ran.code, asker.sent) == (0, [])
    assert "max refused it: too late" in ran.out


@pytest.mark.parametrize(("args", "gave"), [(("17",), "17"), (('{"a":[1]}', "--json"), '{"a":[1]}')])
def test_a_call_may_be_answered_by_hand(asker: Asker, args: tuple[str, ...], gave: str) -> None:
    """What a person says that a call gave is its result; it does not run."""
    asker.ask(SEND)
    assert asker.terminal.run("answer", "c1", *args).code == 0
    assert asker.terminal.run("resume", *asker.options).out == f"It gave {gave}\n"
    assert asker.sent == []


def test_the_user_of_the_system_decides(asker: Asker) -> None:
    """Where nobody is named, it is the system's user who decides."""
    asker.ask(SEND)
    ran = asker.terminal.run("approve", "c1", env={"LOGNAME": "eva"})
    assert "approved by eva" in ran.out


def test_what_still_waits_is_said(asker: Asker) -> None:
    """A decision on one of two calls says that the other still waits; resumed, the code is 3 again."""
    asker.ask(SEND, ("fail", {"why": "x"}))
    assert "'c2' (fail, session s) still waits" in asker.terminal.run("approve", "c1").out
    assert asker.terminal.run("resume", *asker.options).code == 3
    assert (asker.sent, [each["call"] for each in pending(asker)]) == (["ana"], ["c2"])


def test_an_id_in_several_sessions_needs_one(asker: Asker) -> None:
    """A call id that waits in two sessions is refused without `--session`, naming both."""
    asker.ask(SEND, session="s")
    asker.ask(SEND, session="t")
    ran = asker.terminal.run("approve", "c1")
    assert (ran.code, "waits in several sessions; say which with --session: t, s" in ran.refusal) == (2, True)
    assert asker.terminal.run("approve", "c1", "--session", "t").code == 0
    assert [each["session"] for each in pending(asker)] == ["s"]


@pytest.mark.parametrize("command", [("approve",), ("deny",), ("answer",)])
def test_a_wrong_id_lists_what_waits(asker: Asker, command: tuple[str, ...]) -> None:
    """An id that no call has is refused with a list of what waits."""
    asker.ask(SEND)
    ran = asker.terminal.run(*command, "nope", *(["x"] if command == ("answer",) else []))
    says = "no call 'nope' waits for a decision; those that wait: 'c1' (send, session s)"
    assert (ran.code, ran.refusal) == (2, says)


@pytest.mark.parametrize("given", ["[1]", "{", '{"a": NaN}', "x"])
def test_arguments_must_be_an_object(asker: Asker, given: str) -> None:
    """Arguments that are no JSON object are refused, and the call still waits."""
    asker.ask(SEND)
    assert asker.terminal.run("approve", "c1", "--arguments", given).code == 2
    assert len(pending(asker)) == 1


def test_going_on_needs_the_tools(asker: Asker) -> None:
    """An approved call whose tool is not offered is not answered away: the command refuses, and can be repeated."""
    asker.ask(SEND)
    asker.terminal.run("approve", "c1")
    ran = asker.terminal.run("resume", "-m", asker.model)
    assert (ran.code, "asks for the tool 'send', which is not offered here" in ran.refusal) == (2, True)
    assert asker.terminal.run("resume", *asker.options).code == 0


def test_sessions_that_wait_are_marked(asker: Asker) -> None:
    """A listing marks a session that waits, a long one too, and says how to see what waits."""
    said = [{"role": role, "content": "words " * 300} for role in ("user", "assistant") * 30]
    asker.terminal.run("import", "-", "--id", "s", stdin=json.dumps(said).encode())
    assert asker.ask(SEND).code == 3
    ran = asker.terminal.run("sessions")
    assert "waiting" in ran.out
    assert "`antiphon pending` shows what waits" in ran.err
    assert len(pending(asker)) == 1


def test_nothing_waits(terminal: Terminal) -> None:
    """Where nothing waits that is said, and is no error."""
    terminal.ask("One")
    assert terminal.run("pending").err.startswith("no call waits for a decision")
    assert terminal.run("pending", "--json").out == "[]\n"


def test_what_a_model_writes_cannot_act(asker: Asker) -> None:
    """Names, arguments, results, notes and errors are shown with every control character spelled out."""
    ran = asker.ask((f"no{EVIL}", {}), ("send", {"to": EVIL, "text": EVIL}), ("fail", {"why": EVIL}))
    listed = asker.terminal.run("pending")
    asker.terminal.run("approve", "c2")
    asker.terminal.run("approve", "c3")
    resumed = asker.terminal.run("resume", *asker.options)
    shown = [asker.terminal.run(*args) for args in (("show",), ("show", "--full"), ("trace", "s", "1", "--call", "1"))]
    assert all(has_no_control(each.out + each.err) for each in (ran, listed, resumed, *shown))
    assert '"to": "a\\u001b]52;c;aGk=\\u0007b\\u001b[2Jc\\rd\\u202ee\\u200bf\\u007f"' in listed.out
    assert f"no{EVIL[0]}\\x1b]52" in ran.err
    assert "x fail: ValueError: a\\x1b]52" in resumed.err


def test_what_is_no_json_is_not_approved_as_it_is(asker: Asker) -> None:
    """Arguments that are no JSON object are shown as the model wrote them, and need others to be approved."""
    asker.ask(("send", "{'to': 'ana', 'text': 'hi'"))
    assert pending(asker)[0]["raw"] == "{'to': 'ana', 'text': 'hi'"
    assert "the model wrote" in asker.terminal.run("pending").out
    assert "give them with --arguments" in asker.terminal.run("approve", "c1").refusal
    assert asker.terminal.run("approve", "c1", "--arguments", '{"to": "bo", "text": "x"}').code == 0


def test_long_results_are_shortened(asker: Asker) -> None:
    """Arguments and results are shortened in `show` and `trace`, and whole with `--full`."""
    asker.ask(("look_up", {"order": "x" * 500}))
    for command in (("show", "s"), ("trace", "s", "1", "--call", "1")):
        short, full = (asker.terminal.run(*command, *more).out.splitlines() for more in ((), ("--full",)))
        assert [len(line) for line in short if line[:2] in ("@ ", "= ")] == [2 + len("look_up ") + 200, 2 + 200]
        assert sum("x" * 500 in line for line in full if line[:2] in ("@ ", "= ")) == 2


def test_a_terminal_asks_at_once(asker: Asker) -> None:
    """`ask` on a terminal asks about the call, runs it when told so, and shows the reply."""
    question = json.dumps([SEND])
    with Talk(asker.terminal, "ask", *asker.options, "--session", "s", question) as talk:
        talk.wait("y/n/e/a/q? ")
        talk.type("maybe", ENTER)
        talk.wait("y/n/e/a/q? ")
        talk.type("y", ENTER)
        talk.wait("It gave sent to ana")
        assert talk.ended() == 0
    assert asker.sent == ["ana"]


def test_ctrl_c_leaves_it_waiting(asker: Asker) -> None:
    """Ctrl-C where `ask` asks leaves the call waiting: code 3, and how to decide later."""
    with Talk(asker.terminal, "ask", *asker.options, "--session", "s", json.dumps([SEND])) as talk:
        talk.wait("y/n/e/a/q? ")
        talk.type(CTRL_C)
        talk.wait("to decide: antiphon approve c1")
        assert talk.ended() == 3
    assert len(pending(asker)) == 1
