"""Every error makes its sentence from its facts, and stays itself wherever it travels."""

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from antiphon import errors
from antiphon.errors import AntiphonError

ERRORS: list[tuple[AntiphonError, str]] = [
    (errors.AntiphonError("it broke"), "it broke"),
    (errors.StoreError("it broke"), "it broke"),
    (
        errors.SessionExists("ab12", "chats"),
        "chat session 'ab12' already exists in chats; open it, or choose another id",
    ),
    (errors.SessionNotFound("ab12", "chats"), "no chat session 'ab12' in chats"),
    (errors.UnknownCursor("ab12", "e9"), "no entry 'e9' in chat session 'ab12'; read it from the start"),
    (
        errors.InvalidSessionId("../x", "it begins with a dot"),
        "'../x' is not a session id that this store can hold: it begins with a dot",
    ),
    (
        errors.UnsupportedVersion(2),
        "the journal: journal version 2, but this antiphon reads version 1; upgrade antiphon",
    ),
    (
        errors.UnsupportedVersion(2, where="chats/ab12.jsonl", line=7),
        "chats/ab12.jsonl, line 7: journal version 2, but this antiphon reads version 1; upgrade antiphon",
    ),
    (errors.CorruptJournal(why="not an entry: not JSON"), "the journal: not an entry: not JSON"),
    (
        errors.CorruptJournal("chats/ab12.jsonl", 1, why="not an entry: not JSON"),
        "chats/ab12.jsonl, line 1: not an entry: not JSON; nothing before it is readable",
    ),
    (
        errors.CorruptJournal("chats/ab12.jsonl", 2, why="not UTF-8 at byte 4"),
        "chats/ab12.jsonl, line 2: not UTF-8 at byte 4; the line before it is readable",
    ),
    (
        errors.CorruptJournal("chats/ab12.jsonl", 51, why="not UTF-8 at byte 4"),
        "chats/ab12.jsonl, line 51: not UTF-8 at byte 4; the 50 lines before it are readable",
    ),
    (
        errors.JournalMoved("ab12", expected="e1", found="e2"),
        "chat session 'ab12' has moved on: its last entry is 'e2', not 'e1'; read what came and try again",
    ),
    (
        errors.AppendFailed("ab12", "no space left on device"),
        "chat session 'ab12' could not be written, nothing was kept: no space left on device",
    ),
    (
        errors.AppendUncertain("ab12", "the sync failed"),
        "chat session 'ab12' may or may not have been written: the sync failed; read the journal to find out",
    ),
    (
        errors.StoreUnreadable("chats", "permission denied"),
        "the store chats cannot be used: permission denied",
    ),
    (errors.SessionError("it broke"), "it broke"),
    (
        errors.SessionBusy("ab12", turn_id="t1"),
        "chat session 'ab12' is busy: turn 't1' is running; wait for it, or steer or cancel it",
    ),
    (
        errors.SessionBusy("ab12"),
        "chat session 'ab12' is busy: another writer holds it; wait for it, or steer or cancel it",
    ),
    (errors.TurnOver("t1"), "turn 't1' is over and cannot be steered; send a new turn"),
    (errors.TurnOver("t1", "canceled"), "turn 't1' is over and cannot be canceled; send a new turn"),
    (errors.SessionClosed(), "the Chat is closed; make a new Chat and open the session again"),
    (
        errors.SessionClosed("ab12"),
        "the Chat of session 'ab12' is closed; make a new Chat and open the session again",
    ),
    (errors.ModelError("m"), "model 'm' failed"),
    (
        errors.RateLimited("m", "requests a minute", status=429, retry_after=2.5),
        "model 'm' is rate limited (HTTP 429): requests a minute; try again later",
    ),
    (errors.Overloaded("m", status=529), "model 'm' is overloaded (HTTP 529); try again later"),
    (
        errors.Unreachable("m", "connection refused"),
        "model 'm' could not be reached: connection refused; check that the server is running and the address is right",
    ),
    (
        errors.BadCredentials("m", status=401),
        "model 'm' refused the credentials (HTTP 401); check the key and what it may use",
    ),
    (errors.Refused("m", "content filter"), "model 'm' refused to answer: content filter"),
    (
        errors.InvalidRequest("m", "temperature is out of range", status=400),
        "model 'm' says the request is invalid (HTTP 400): temperature is out of range",
    ),
    (
        errors.ContextTooLong("m", status=400),
        "model 'm' says the request is longer than its window (HTTP 400); use a smaller window or a shorter input",
    ),
    (errors.MalformedReply("m", "no choices"), "model 'm' gave a reply that cannot be read: no choices"),
    (errors.PullFailed("local:m", "offline"), "model 'local:m' could not be pulled: offline"),
    (errors.UnknownModel("m"), "model 'm' is not known; `antiphon models` lists what can be used here"),
    (
        errors.MissingExtra("local", needed_for="local:smollm2"),
        "local:smollm2 needs an optional part; install it: pip install 'antiphon[local]'",
    ),
    (errors.ToolError("it broke"), "it broke"),
    (
        errors.UnknownTool("serch", ["search", "order"]),
        "no tool 'serch' is offered, nothing was run; did you mean 'search'?",
    ),
    (
        errors.InvalidArguments("search", ["'limit' is missing"]),
        "the arguments of 'search' do not fit, nothing was run: 'limit' is missing; put that right and call again",
    ),
    (
        errors.McpServerDown("git", "it exited with 1"),
        (
            "MCP server 'git' cannot be reached, nothing was run: it exited with 1; go on without its tools,"
            " or try again later"
        ),
    ),
    (errors.ToolDenied("pay", "deny: 'pay'"), "tool 'pay' may not be run: deny: 'pay'; go on without it"),
    (
        errors.ToolTimeout("pay", 2.5),
        (
            "tool 'pay' gave nothing within 2.5 s and was left; it may still take effect,"
            " so look before calling it again"
        ),
    ),
    (errors.ContextError("it broke"), "it broke"),
    (
        errors.WindowTooSmall(1_000, 1_250, sizes={"instructions": 250, "input": 900, "reply": 100}),
        (
            "the window holds 1,000 tokens, but 1,250 are needed (instructions 250, input 900, reply 100);"
            " use a larger window, or send less"
        ),
    ),
    (errors.SummaryFailed("m", "it gave no text"), "summarizer 'm' wrote no summary: it gave no text"),
    (errors.TurnError("it broke"), "it broke"),
    (errors.TurnFailed("t1", "Refused", text="no"), "turn 't1' failed: Refused: no"),
    (errors.TurnCanceled("t1"), "turn 't1' was canceled"),
    (errors.TurnCanceled("t1", "changed my mind"), "turn 't1' was canceled: changed my mind"),
    (errors.TurnInterrupted("t1"), "turn 't1' was interrupted before it had an outcome; retry it"),
    (errors.Misuse("it broke"), "it broke"),
    (errors.Misuse("a name was given twice", "give it once"), "a name was given twice; give it once"),
    (
        errors.IllegalEntry("turn.completed", "turn 't1' is completed"),
        "entry 'turn.completed' cannot be written here: turn 't1' is completed; this is a bug in antiphon, report it",
    ),
    (
        errors.NotStorable("metadata.price", "nan"),
        (
            "metadata.price holds nan, which a journal cannot keep; give text, finite numbers, booleans, None, lists,"
            " and dicts with text keys"
        ),
    ),
]

CLASSES: set[type[AntiphonError]] = {
    cls for cls in vars(errors).values() if inspect.isclass(cls) and issubclass(cls, AntiphonError)
}
TRAVELS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda error: pickle.loads(pickle.dumps(error)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def facts(error: AntiphonError) -> dict[str, object]:
    """What an error carries, but for what it keeps to build itself again."""
    return {name: value for name, value in vars(error).items() if name != "_call"}


@pytest.mark.parametrize(("error", "sentence"), ERRORS, ids=lambda each: type(each).__name__)
def test_error_makes_its_sentence(error: AntiphonError, sentence: str) -> None:
    """An error is one sentence made of its facts, in `str` and in its arguments alike."""
    assert str(error) == sentence
    assert error.args == (sentence,)


def test_every_class_has_a_sentence_here() -> None:
    """The table above holds every class of the tree, so that a new one cannot come without its sentence."""
    missing = CLASSES - {type(error) for error, _ in ERRORS}
    assert not missing, f"add to ERRORS in {__file__}: {sorted(cls.__name__ for cls in missing)}"


@pytest.mark.parametrize("travel", TRAVELS.values(), ids=TRAVELS)
@pytest.mark.parametrize("error", [error for error, _ in ERRORS], ids=lambda error: type(error).__name__)
def test_error_survives_travel(error: AntiphonError, travel: Callable[[Any], Any]) -> None:
    """A copied or pickled error has the same class, sentence, facts, turn id and notes."""
    own = copy.copy(error)
    own.turn_id = "t-7"
    own.add_note("while answering")
    there = travel(own)
    assert type(there) is type(own)
    assert (str(there), there.args) == (str(own), own.args)
    assert facts(there) == facts(own)
    assert (there.turn_id, there.__notes__) == ("t-7", ["while answering"])


@pytest.mark.parametrize("error", [error for error, _ in ERRORS], ids=lambda error: type(error).__name__)
def test_error_says_where_it_belongs(error: AntiphonError) -> None:
    """An error knows no turn until it ended one, unless a turn is what it is about."""
    about_a_turn = errors.TurnFailed | errors.TurnCanceled | errors.TurnInterrupted | errors.TurnOver
    assert error.turn_id == (None if not isinstance(error, about_a_turn | errors.SessionBusy) else error.turn_id)
    if isinstance(error, about_a_turn):
        assert error.turn_id == "t1"


def test_only_what_may_pass_is_retryable() -> None:
    """A limit, an overload and a lost connection may pass by themselves; nothing else is tried again."""
    passing = {cls.__name__ for cls in CLASSES if getattr(cls, "retryable", False)}
    assert passing == {"RateLimited", "Overloaded", "Unreachable"}


def test_tree_stands_in_the_docstring() -> None:
    """The module's docstring draws the tree with every class below the one it extends."""
    drawn = inspect.getdoc(errors) or ""
    for cls in CLASSES - {AntiphonError}:
        [group] = [each.__name__ for each in cls.__mro__ if each.__base__ is AntiphonError]
        block = drawn.split(group, 1)[1]
        assert cls.__name__ == group or cls.__name__ in block.split("├")[0].split("└")[0], cls.__name__


@pytest.mark.parametrize("name", sorted(cls.__name__ for cls in CLASSES))
def test_error_takes_no_text_of_a_message(name: str) -> None:
    """No error has a parameter for a key, a header or what was said; only a failed turn's own sentence is `text`."""
    names = set(inspect.signature(getattr(errors, name).__init__).parameters)
    spoken = {"key", "api_key", "headers", "message", "messages", "input", "output", "prompt", "content"}
    assert not names & spoken
    assert "text" not in names or name == "TurnFailed"


def test_not_found_does_not_tell_a_scope() -> None:
    """A session of another scope reads exactly as one that does not exist: its error takes no scope."""
    assert set(inspect.signature(errors.SessionNotFound).parameters) == {"session_id", "where"}
