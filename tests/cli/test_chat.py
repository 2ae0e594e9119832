"""`antiphon chat`: a conversation in a terminal."""

import asyncio
import io
import json
import signal
from collections.abc import Sequence
from typing import Any

from antiphon import Chat
from antiphon.cli._conversation import Conversation
from antiphon.cli._place import Place
from antiphon.cli._screen import Screen
from antiphon.transcript import Turn
from tests.cli.running import Terminal
from tests.cli.slow import PROGRAM, WORDS
from tests.cli.talking import CTRL_C, CTRL_D, ENTER, UP, Talk

LAST = f"word{WORDS}"


def echo(terminal: Terminal, *args: str, **env: str) -> Talk:
    """A conversation with `echo:`."""
    return Talk(terminal, "chat", "-m", "echo:", *args, **env)


def slow(terminal: Terminal) -> Talk:
    """A conversation with the slow model, in the middle of its first reply."""
    talk = Talk(terminal, str(terminal.store), program=PROGRAM)
    talk.wait("> ")
    talk.type("Count", ENTER)
    talk.wait("word3 ")
    return talk


def turns(terminal: Terminal) -> list[dict[str, Any]]:
    """The turns of the last session."""
    found: list[dict[str, Any]] = json.loads(terminal.run("show", "--json").out)
    return found


def test_what_is_said_is_kept(terminal: Terminal) -> None:
    """Two lines are two turns; Ctrl-D ends with 0 and says how to go on."""
    with echo(terminal) as talk:
        talk.wait("model echo: · store ~/chats")
        for line in ("One", "Two"):
            talk.type(line, ENTER)
            talk.wait(f'the last says: "{line}"')
        talk.type(CTRL_D)
        talk.wait("kept in ~/chats; to go on: antiphon chat -c\n")
        assert talk.ended() == 0
    assert [(turn["input"], turn["status"]) for turn in turns(terminal)] == [("One", "completed"), ("Two", "completed")]


def test_a_conversation_goes_on(terminal: Terminal) -> None:
    """`chat -c` goes on with session and model of the last turn; the arrow keys offer what was said in it."""
    session = terminal.ask("Said before")
    with Talk(terminal, "chat", "-c", ANTIPHON_MODEL="nope:") as talk:
        talk.wait("goes on after 1 turn")
        talk.type(UP, "!", ENTER)
        talk.wait('shown 3 messages, 89 characters; the last says: "Said before!"')
        talk.type("/quit", ENTER)
        assert talk.ended() == 0
    assert [path.stem for path in terminal.store.glob("*.jsonl")] == [session]


def test_nothing_said_is_nothing_kept(terminal: Terminal) -> None:
    """A conversation that was left before anything was said leaves no session and no folder."""
    with echo(terminal) as talk:
        talk.wait("> ")
        talk.type("/trace", ENTER)
        talk.wait("nothing has been said in this session yet")
        talk.type(CTRL_D)
        assert talk.ended() == 0
    assert not terminal.store.exists()


def test_a_paste_is_one_message(terminal: Terminal) -> None:
    """Line breaks that are pasted stay in one message."""
    with echo(terminal) as talk:
        talk.wait("> ")
        talk.type("\x1b[200~one\n  two\nthree\x1b[201~", ENTER)
        talk.wait('the last says: "one two three"')
    assert turns(terminal)[0]["input"] == "one\n  two\nthree"


def test_escape_sequences_are_spelled_out(terminal: Terminal) -> None:
    """What was said acts on the terminal neither when it is answered nor when it is shown."""
    with echo(terminal) as talk:
        talk.wait("> ")
        talk.type("\x1b[200~a\x1b]0;owned\x07b\u202ec\x1b[201~", ENTER)
        talk.wait("the last says:")
        talk.wait("a\\x1b]0;owned\\x07b\\u202ec")
        talk.type("/show", ENTER)
        talk.wait("turn 1")
        talk.wait("a\\x1b]0;owned\\x07b\\u202ec")


def test_a_reply_is_shown_while_it_comes(terminal: Terminal) -> None:
    """The first words of a reply are shown before its last ones are there, and its lines are broken between words."""
    with slow(terminal) as talk:
        assert LAST not in talk.text
        talk.wait(LAST)
        talk.wait("> ")
        talk.type(CTRL_D)
        assert talk.ended() == 0
    said = "".join(f"word{number} " for number in range(1, WORDS + 1))
    assert turns(terminal)[0]["output"] == said
    assert all(f"word{number} word{number + 1} " in talk.text or f"word{number}\n" in talk.text for number in (1, 11))


def test_a_line_steers_the_running_turn(terminal: Terminal) -> None:
    """A line that is entered while a reply comes belongs to that turn, which is asked once more."""
    with slow(terminal) as talk:
        talk.type("be brief", ENTER)
        talk.wait("+ be brief\n")
        talk.wait("Brief.")
        talk.wait("> ")
        talk.type(CTRL_D)
        assert talk.ended() == 0
    [turn] = turns(terminal)
    assert (turn["steering"], turn["output"]) == (["be brief"], "Brief. ")


def test_nothing_that_was_typed_is_lost(terminal: Terminal) -> None:
    """A line that comes while a turn ends steers it or is the next turn, and is never dropped."""

    async def talk() -> Sequence[Turn]:
        place = Place(terminal.store)
        async with Chat("echo:", store=place.store()) as chat:
            conversation = Conversation(chat, place, screen=Screen(io.StringIO()), session_id="a", options={})
            for number in range(30):
                await conversation.say(f"line {number}")
                await asyncio.sleep(number / 10_000)
            await conversation.idle()
            return conversation.session.turns()

    found = asyncio.run(talk())
    assert [text for turn in found for text in (turn.input, *turn.steering)] == [f"line {n}" for n in range(30)]


def test_ctrl_c_stops_the_reply_alone(terminal: Terminal) -> None:
    """Ctrl-C keeps the turn as canceled with what had come, and the conversation goes on."""
    with slow(terminal) as talk:
        talk.type(CTRL_C)
        talk.wait("stopped: Ctrl-C")
        talk.type("be brief", ENTER)
        talk.wait("Brief.")
        talk.wait("> ")
        talk.type(CTRL_D)
        talk.wait("left in order")
        assert talk.ended() == 0
    first, second = turns(terminal)
    assert (first["status"], first["error"], first["partial"][:12]) == ("canceled", "Ctrl-C", "word1 word2 ")
    assert second["status"] == "completed"


def test_an_interrupt_from_elsewhere_does_the_same(terminal: Terminal) -> None:
    """SIGINT that another program sends stops the reply, as the key does."""
    with slow(terminal) as talk:
        talk.send_signal(signal.SIGINT)
        talk.wait("stopped: Ctrl-C")
        talk.send_signal(signal.SIGINT)
        talk.wait("Ctrl-D or /quit leaves")


def test_ctrl_c_with_nothing_to_stop(terminal: Terminal) -> None:
    """Ctrl-C forgets what was typed, and at an empty prompt says how to leave."""
    with echo(terminal) as talk:
        talk.wait("> ")
        talk.type("never", CTRL_C, CTRL_C)
        talk.wait("Ctrl-D or /quit leaves")
        talk.type("Said", ENTER)
        talk.wait('the last says: "Said"')


def test_leaving_cancels_what_runs(terminal: Terminal) -> None:
    """/quit while a reply comes keeps the turn as canceled and ends in order."""
    with slow(terminal) as talk:
        talk.type("/quit", ENTER)
        talk.wait("left in order")
        assert talk.ended() == 0
    [turn] = turns(terminal)
    assert (turn["status"], turn["error"]) == ("canceled", "the conversation was left")


def test_a_fault_is_one_sentence(terminal: Terminal) -> None:
    """What a model raises is said in a sentence, and the conversation goes on."""
    with slow(terminal) as talk:
        talk.type(CTRL_C)
        talk.wait("stopped")
        talk.type("a fault please", ENTER)
        talk.wait("a fault of its own")
        assert "Traceback" not in talk.text
        talk.type("be brief", ENTER)
        talk.wait("Brief.")


def test_commands_look_back(terminal: Terminal) -> None:
    """/trace, /why and /show give what the subcommands of those names give."""
    with echo(terminal, "-s", "Be kind.") as talk:
        talk.wait("> ")
        talk.type("Where is the harbour?", ENTER)
        talk.wait("the last says:")
        talk.type("/why HARBOUR", ENTER)
        talk.wait("turn 1    input  said here")
        talk.type("/trace", ENTER)
        talk.wait("turn 1 (")
        talk.wait("instructions")
        talk.type("/show", ENTER)
        talk.wait("turn 1 · completed")


def test_commands_write(terminal: Terminal) -> None:
    """/feedback, /retry, /rename and /clear are kept; a cleared context shows the model nothing of what was said."""
    with echo(terminal) as talk:
        for line, answer in (
            ("One", "shown 1 message,"),
            ("/feedback + just right", "kept beside turn 1"),
            ("/retry", "shown 3 messages,"),
            ("/feedback too short", "kept beside turn 2"),
            ("/rename A \x1b[200~title\x1b[201~", "it is called A title now"),
            ("/clear", "shown nothing of what was said"),
            ("Two", "shown 1 message,"),
        ):
            talk.type(line, ENTER)
            talk.wait(answer)
    found = turns(terminal)
    assert [(each["rating"], each["comment"]) for turn in found for each in turn["feedback"]] == [
        (1.0, "just right"),
        (None, "too short"),
    ]
    assert found[1]["retryOf"] == found[0]["id"]
    assert json.loads(terminal.run("sessions", "--json").out)[0]["title"] == "A title"


def test_what_a_slash_means(terminal: Terminal) -> None:
    """A slash and a word is a command; a path is not, and two slashes stand for one."""
    with echo(terminal) as talk:
        for line, answer in (
            ("/help", "/rename TITLE"),
            ("/nope", "there is no command /nope"),
            ("/retry", "nothing has been said"),
            ("/why", "say it as /why WORDS"),
            ("/steer x", "no turn is running"),
            ("//a", 'the last says: "/a"'),
            ("/etc/hosts?", 'the last says: "/etc/hosts?"'),
        ):
            talk.type(line, ENTER)
            talk.wait(answer)


def test_a_dumb_terminal_is_enough(terminal: Terminal) -> None:
    """Without any control of the cursor the conversation is plain text, Ctrl-C and the end of input included."""
    with echo(terminal, TERM="dumb") as talk:
        talk.wait("> ")
        talk.type("Hello\n")
        talk.wait('the last says: "Hello"')
        talk.wait("> ")
        talk.type(CTRL_C)
        talk.wait("Ctrl-D or /quit leaves")
        talk.type(CTRL_D)
        talk.wait("antiphon chat -c")
        assert talk.ended() == 0
    assert "\x1b" not in talk.text


def test_no_colour_is_heeded(terminal: Terminal) -> None:
    """With NO_COLOR nothing is coloured and nothing is suggested where one types."""
    with echo(terminal, NO_COLOR="1") as talk:
        talk.wait("leaves")
        talk.type("Hello", ENTER)
        talk.wait('the last says: "Hello"')
        assert not talk.colours


def test_without_a_terminal_it_is_refused(terminal: Terminal) -> None:
    """Where nobody types, `chat` refuses in one sentence that names `ask`."""
    ran = terminal.run("chat", "-m", "echo:", stdin=b"Hello\n")
    assert ran.code == 2
    assert "use `antiphon ask`" in ran.refusal


def test_who_answers_is_asked_once(terminal: Terminal) -> None:
    """Where several models can be asked here, a person chooses, and the choice is written down."""
    config = terminal.home / "config" / "antiphon" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('system = "Be kind."\n', encoding="utf-8")
    program = "from antiphon.cli.chat import asked_once; print('chosen', asked_once(['ollama:a', 'echo:']))"
    with Talk(terminal, program=program, XDG_CONFIG_HOME=str(terminal.home / "config")) as talk:
        talk.wait("which one?")
        talk.type("2\n")
        talk.wait("chosen echo:")
    assert config.read_text(encoding="utf-8") == 'model = "echo:"\nsystem = "Be kind."\n'


def test_ways_to_say_which_session_exclude_each_other(terminal: Terminal) -> None:
    """SESSION, --continue and --session are three ways, of which one may be used."""
    for args in (["a", "-c"], ["a", "--session", "b"], ["-c", "--session", "b"]):
        ran = terminal.run("chat", *args)
        assert ran.code == 2
        assert "exclude each other" in ran.refusal
