"""`import`: conversations that were kept elsewhere."""

import json
from typing import Any

import pytest

from tests.cli.running import Terminal

CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
SAID: list[dict[str, Any]] = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "found"},
    {"role": "assistant", "content": "two"},
]


def written(terminal: Terminal, content: str, name: str = "a.json") -> str:
    """A file of the user's."""
    path = terminal.home / name
    path.write_text(content, encoding="utf-8", errors="surrogatepass")
    return str(path)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(SAID),
        json.dumps({"model": "m", "messages": SAID}, indent=2),
        "\n".join(map(json.dumps, SAID)),
        "\ufeff" + "\n\n".join(map(json.dumps, SAID)) + "\n",
    ],
)
def test_forms_of_files(terminal: Terminal, content: str) -> None:
    """A list, an object with messages, and a message a line all give the same session, whose id is printed."""
    ran = terminal.run("import", written(terminal, content), "--title", "Old")
    assert (ran.code, ran.err) == (0, "imported 1 turn, 4 messages\n")
    session = ran.out.strip()
    (turn,) = json.loads(terminal.run("show", session, "--json").out)
    assert (turn["status"], turn["output"], len(turn["messages"])) == ("completed", "two", 4)
    assert "Old" in terminal.run("sessions").out


def test_standard_input_and_a_chosen_id(terminal: Terminal) -> None:
    """`-` reads the standard input; `--id` names the session, once."""
    given = json.dumps(SAID).encode()
    assert terminal.run("import", "-", "--id", "a", stdin=given).out == "a\n"
    ran = terminal.run("import", "-", "--id", "a", stdin=given)
    assert (ran.code, "already exists" in ran.refusal) == (2, True)
    assert terminal.run("import", "-", "--id", "../b", stdin=given).code == 2


def test_what_was_lost_is_said(terminal: Terminal) -> None:
    """What a session cannot hold is named, each in a line, and many of a kind are counted."""
    early = [{"role": "assistant", "content": "hello"}] * 12
    system = [{"role": "system", "content": "Be kind."}, {"role": "developer", "content": "Be brief."}]
    said = [*system, *early, *SAID, {"role": "user", "content": "three"}]
    ran = terminal.run("import", written(terminal, json.dumps(said)))
    first, unanswered, left, *lost = ran.err.splitlines()
    assert first == "imported 2 turns, 5 messages"
    assert unanswered == "without a reply, so no model is shown it: 1 turn"
    assert left == "left out: 2 system messages; give instructions with `antiphon ask -s`"
    assert lost[0] == "left out: message 3: assistant before anyone asked"
    assert (len(lost), lost[-1]) == (11, "left out: 2 more")


TWICE = [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [CALL, CALL]}]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("[1, 2", "is not JSON: Expecting ',' delimiter: line 1 column 6"),
        ("[" * 100_000, "is not JSON: it is nested too deep"),
        ("[1]", "message 1 of FILE is a number, not an object"),
        ('"x"', "has no list of messages: what it holds is text"),
        ('{"messages": {}}', "has no list of messages: `messages` is an object"),
        ('{"a": 1}', "is an object without `messages`; it has `a`"),
        ("[]", "holds no message of a user"),
        ('[{"content": "x"}]', "message 1 of FILE has no `role`; it has `content`"),
        ('[{"role": "user", "content": "x"}, {"role": "bot"}]', 'message 2 of FILE: `role` is "bot", none of'),
        ('[{"role": ["user"]}]', 'message 1 of FILE: `role` is ["user"]'),
        ('[{"role": "user", "content": 5}]', "message 1 of FILE: content holds"),
        ('[{"role": "user", "content": [{"type": "audio"}]}]', "message 1 of FILE: content[0] holds"),
        ('[{"role": "assistant", "tool_calls": 5}]', "message 1 of FILE: `tool_calls` is a number, not a list"),
        ('[{"role": "assistant", "tool_calls": [5]}]', "message 1 of FILE: tool_calls[0] holds"),
        (json.dumps(TWICE), 'message 2 of FILE: `tool_calls` has the id "c" more than once'),
        ('{"role": "user"}\n{"role": "user",\n', "line 2 of FILE is not JSON"),
        ('{"messages": []}\n{"messages": []}', "line 1 of FILE is a whole conversation"),
    ],
)
def test_bad_files_are_refused_with_the_place(terminal: Terminal, content: str, says: str) -> None:
    """Whatever cannot be read is named with its place in one sentence, and no session begins."""
    path = written(terminal, content)
    ran = terminal.run("import", path)
    assert ran.code == 2
    assert says.replace("FILE", path) in ran.refusal
    assert not terminal.store.exists()


def test_files_that_are_no_text(terminal: Terminal) -> None:
    """A file that is not UTF-8, or not there, is refused."""
    path = terminal.home / "a.json"
    path.write_bytes(b"[\xff]")
    assert terminal.run("import", str(path)).refusal.endswith("a.json is not UTF-8: byte 2 cannot be read")
    assert terminal.run("import", str(terminal.home / "nope")).refusal.endswith("nope: no such file or directory")
