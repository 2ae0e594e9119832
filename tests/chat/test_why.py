"""Where words were in every model call, and where they got lost."""

from collections.abc import Sequence
from typing import Any

import pytest

from antiphon import Chat, FullContext, InMemoryStore, Message, Session, SummaryContext, ToolCall, View
from antiphon.errors import Misuse
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure

pytestmark = pytest.mark.anyio

RULE = "answer in French"


async def asked(inputs: Sequence[str], **options: Any) -> Session:
    """A session in which this was said, answered with `fine`."""
    session = await Chat(ScriptedModel(lambda request: "fine"), **options).create_session("s")
    for text in inputs:
        await session.ask(text)
    await session.summaries()
    return session


def told(session: Session, words: str = RULE, **options: Any) -> list[tuple[str, str, str]]:
    """Layer, status and reason of each fate."""
    return [(fate.layer, fate.status, fate.reason) for fate in session.why(words, **options)]


async def test_words_in_the_instructions() -> None:
    """Words of the instructions are included in every call, at what the instructions cost, in turn order."""
    session = await asked(["a", "b"], instructions=f"Always {RULE}.")
    assert told(session) == [("instructions", "included", "the words stand in instructions")] * 2
    assert [(fate.turn_id, fate.call) for fate in session.why(RULE)] == [(turn.id, 1) for turn in session.turns()]
    assert session.why(RULE)[0].tokens == session.traces()[0].layers[0].tokens > 0


async def test_words_in_the_input_and_then_in_the_history() -> None:
    """Words said in an input are there, then in the history of every later call, by the turn that said them."""
    session = await asked([f"Please {RULE}.", "b", "c"])
    assert told(session) == [
        ("input", "included", "said here"),
        ("history", "included", "said in turn 1, shown in full"),
        ("history", "included", "said in turn 1, shown in full"),
    ]


async def test_words_nowhere() -> None:
    """Words that nobody said, or said only later, are absent, at no cost."""
    session = await asked(["a", f"Please {RULE}."])
    assert [(fate.layer, fate.status, fate.tokens) for fate in session.why("herring")] == [("", "absent", 0)] * 2
    assert [fate.status for fate in session.why(RULE)] == ["absent", "included"]


async def test_case_does_not_matter() -> None:
    """Upper and lower case are the same, in every script; no words at all are refused."""
    session = await asked(["Straße NACH Παρίσι"], instructions="ANSWER in FRENCH")
    for words in ("answer in french", "STRASSE", "παρίσι", "nach"):
        assert [fate.status for fate in session.why(words)] == ["included"]
    for nothing in ("", " \n"):
        with pytest.raises(Misuse, match="about no words"):
            session.why(nothing)


def summarised(text: str, **options: Any) -> dict[str, Any]:
    """Options of a Chat that summarises all but the last turn, with this text."""
    return {"context": SummaryContext(lambda messages: text, keep_recent=1, compact_after=2, **options)}


async def test_words_in_a_summarised_turn_and_in_its_summary() -> None:
    """Words of a summarised turn that are in the summary, too, are included, in the summary."""
    session = await asked([f"Please {RULE}.", "b", "c", "d"], **summarised(f"He wants to have an {RULE}."))
    assert told(session)[3] == ("summary", "included", "the words stand in summary")


async def test_words_in_a_summarised_turn_and_not_in_its_summary() -> None:
    """Words that the summary left out are compacted away: here they got lost."""
    session = await asked([f"Please {RULE}.", "b", "c", "d"], **summarised("He had wishes."))
    assert [status for _, status, _ in told(session)] == ["included"] * 3 + ["compacted"]
    assert told(session)[3] == ("summary", "compacted", "said in turn 1; the words are not in the summary")


async def test_words_in_a_summary_that_is_not_at_hand() -> None:
    """Where the summary's text is not at hand, that is what is said, and nothing is guessed."""
    store = InMemoryStore()
    await asked([f"Please {RULE}.", "b", "c", "d"], store=store, **summarised(RULE))
    session = await Chat("echo:", store=store).open_session("s")
    assert told(session)[3] == ("summary", "compacted", "said in turn 1; the summary's text is not at hand")
    await session.summaries()
    assert told(session)[3] == ("summary", "included", "the words stand in summary")


async def test_words_in_a_turn_that_was_left_out() -> None:
    """Words of a turn that a failing summary left out are dropped, and under `full` they are shown."""
    said = [f"Please {RULE}.", "b", "c", "d"]
    for on_failure, status in (("trim", "dropped"), ("full", "included")):
        session = await asked(said, **summarised(" ", on_failure=on_failure))
        assert [status for _, status, _ in told(session)] == ["included"] * 3 + [status]
    dropped = await asked(said, **summarised(" ", on_failure="trim"))
    assert told(dropped)[3] == ("history", "dropped", "said in turn 1, which was left out")


async def test_words_after_clear_context() -> None:
    """What was said before the context was cleared is not shown any more; said again, it is."""
    store = InMemoryStore()
    session = await asked([f"Please {RULE}.", "b"], store=store)
    await session.clear_context()
    for text in ("c", "d", f"I said: {RULE}!", "e"):
        await session.ask(text)
    gone = ("history", "dropped", "said in turn 1, before the context was cleared")
    assert told(session)[2:] == [
        gone,
        gone,
        ("input", "included", "said here"),
        ("history", "included", "said in turn 5, shown in full"),
    ]
    reopened = await Chat("echo:", store=store).open_session("s")
    assert told(reopened) == told(session)


async def test_words_of_a_turn_that_did_not_complete() -> None:
    """What was said in a failed turn is in that turn's calls, and in no later one's."""
    model = ScriptedModel(["x", ValueError("no"), "y"])
    session = await Chat(model).create_session()
    await session.ask("a")
    await failure(session.ask(f"Please {RULE}."))
    await session.ask("c")
    assert [fate.status for fate in session.why(RULE)] == ["absent", "included", "absent"]


async def test_words_of_steps() -> None:
    """Words in a call's arguments or its result are in the next call of the turn, and later in the history."""
    call = Message("assistant", (ToolCall.of("c", "look_up", arguments={"what": "träge Häfen"}),))
    session = await Chat(ScriptedModel([call, "found", "fine"])).create_session()
    await session.ask("a")
    await session.ask("b")
    for words in ("träge häfen", "no tool of this name"):
        assert told(session, words)[1:] == [
            ("turn", "included", "said in this turn"),
            ("history", "included", "said in turn 1, shown in full"),
        ]
        assert told(session, words)[0][1] == "absent"


async def test_words_where_the_context_shows_nothing() -> None:
    """A context that shows no history drops what was said earlier."""
    session = await asked([f"Please {RULE}.", "b"], context=lambda view: [])
    assert told(session)[1] == ("history", "dropped", "said in turn 1, which was left out")


async def test_one_turn_alone() -> None:
    """A turn's id narrows the answer to its calls; an unknown one is refused; nothing is written by asking."""
    session = await asked([f"Please {RULE}.", "b"], instructions="Be kind.")
    turn = session.turns()[1]
    assert [fate.turn_id for fate in session.why(RULE, turn_id=turn.id)] == [turn.id]
    with pytest.raises(Misuse, match="no turn 'x'"):
        session.why(RULE, turn_id="x")


async def test_words_of_texts_that_are_not_kept() -> None:
    """Where no texts are kept, words of the instructions cannot be found, and the answer says how far it looked."""
    session = await asked(["a"], instructions=f"Always {RULE}.", keep_texts="none")
    (fate,) = session.why(RULE)
    assert (fate.status, "as far as it is kept" in fate.reason) == ("absent", True)


async def test_a_long_session_is_answered_quickly() -> None:
    """Looking for words in a thousand turns takes no more than reading them."""

    def context(view: View) -> Any:
        return FullContext().build(view) if len(view.turns) < 3 else []

    messages = [{"role": role, "content": RULE} for _ in range(1_000) for role in ("user", "assistant")]
    session = await Chat("echo:", context=context).import_session(messages)
    await session.ask("b")
    assert len(session.why(RULE)) == 1
