"""Where words were in every model call, and where they got lost."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from antiphon import (
    Assembled,
    Chat,
    FullContext,
    InMemoryStore,
    LayeredContext,
    Message,
    Session,
    SummaryContext,
    ToolCall,
    ToolResult,
    View,
    tool,
)
from antiphon._trace import Layer
from antiphon.context._assembly import digest
from antiphon.errors import Misuse
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure

pytestmark = pytest.mark.anyio

RULE = "answer in French"
NOWHERE = "nothing that was shown, as far as it is kept, holds the words"


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
    for words in ("träge häfen", "no tool 'look_up' is offered"):
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


# --- what contexts cut -------------------------------------------------------------------------------------------


def docs(text: str, **options: Any) -> Assembled:
    """A context that gives a document with the input."""
    line = Layer("docs", text).kept(len(text), digest=digest(text))
    return Assembled([], with_input=text, layers=[line], **options)


async def shown_docs(*builds: Assembled) -> Session:
    """A session whose turns were shown these, one after another, and whose texts are kept."""
    left = list(builds)
    return await asked(["one"] * len(builds), context=lambda view: left.pop(0), keep_texts="all")


async def test_words_in_a_layer_that_was_dropped_later() -> None:
    """A layer that held the words and is left out later says so, and why; one that fails says that."""
    session = await shown_docs(
        docs(f"Please {RULE}."),
        Assembled([], layers=[Layer("docs", "").dropped("no room left", original_tokens=9)]),
        Assembled([], layers=[Layer("docs", "").failed("it took too long")]),
    )
    assert told(session) == [
        ("docs", "included", "the words stand in docs"),
        ("docs", "dropped", "docs held the words in turn 1, and was left out here: no room left"),
        ("docs", "failed", "docs held the words in turn 1, and gave nothing here: it took too long"),
    ]


async def test_words_in_a_layer_that_was_dropped_at_once() -> None:
    """A layer that is left out, and whose text is kept all the same, is what held the words."""
    text = f"Please {RULE}."
    gone = Layer("docs", text).kept(1, digest=digest(text)).dropped("no room left")
    session = await shown_docs(Assembled([], layers=[gone]))
    assert told(session) == [("docs", "dropped", "docs, which holds the words, was left out: no room left")]


async def test_words_in_a_layer_that_was_cut() -> None:
    """In a layer that was cut, the words are in what is left of it, or got lost with the rest."""

    def cut(text: str) -> Assembled:
        line = Layer("docs", "").truncated(text, 5, original_tokens=9, digest=digest(text), reason="cut at the end")
        return Assembled([], with_input=text, layers=[line])

    session = await shown_docs(docs(f"Please {RULE}."), cut(f"Please {RULE}"), cut("Please an"))
    assert told(session)[1:] == [
        ("docs", "truncated", "the words stand in what is left of docs"),
        ("docs", "dropped", "docs held the words in turn 2, and was cut here: cut at the end"),
    ]


async def cut_history(*, since: str | None = None, stubbed: str | None = None) -> Session:
    """A session of a recorded turn with two rounds, and of one whose history begins there, or has stubs up to there.

    A place is as in traces, without the turn's id, as in `#2`; `@` is the second turn.
    """

    def build(view: View) -> Assembled:
        def placed(place: str | None) -> str | None:
            return None if place is None else view.turn_id if place == "@" else f"{view.turns[0].id}{place}"

        line = Layer("history", "", kind="history").kept(9)
        line = line.cut(since=placed(since), stubbed=placed(stubbed), original_tokens=99, reason="cut")
        return Assembled([Message.of("user", "word " * 9)], layers=[line])

    session = await asked([], context=build)
    result = ToolResult.of("c", "find", output="first " + "x" * 500 + " oyster")
    call = Message("assistant", (ToolCall.of("c", "find", arguments={"what": "herring"}),))
    said = [Message.of("user", "tench"), call, Message("tool", (result,)), Message.of("assistant", "perch")]
    await session.record(said)
    await session.ask("now?")
    return session


@pytest.mark.parametrize(
    ("words", "status"), [("tench", "dropped"), ("herring", "dropped"), ("oyster", "dropped"), ("perch", "included")]
)
async def test_words_before_a_boundary_within_a_turn(words: str, status: str) -> None:
    """Where the history begins with a turn's second reply, its input and first round are left out."""
    ((layer, found, reason),) = told(await cut_history(since="#2"), words)
    where = "which was left out" if status == "dropped" else "shown in full"
    assert (layer, found, reason) == ("history", status, f"said in turn 1, {where}")


async def test_steering_belongs_to_the_reply_that_saw_it() -> None:
    """What was said while a turn ran stands with the next reply to it, so a history that begins there shows it."""

    def build(view: View) -> Assembled:
        line = Layer("history", "", kind="history").kept(9)
        line = line.cut(since=f"{view.turns[0].id}#2", stubbed=None, original_tokens=99, reason="cut")
        return Assembled([Message.of("user", "word " * 9)], layers=[line])

    call = Message("assistant", (ToolCall.of("c", "find", arguments={}),))
    result = Message("tool", (ToolResult.of("c", "find", output="x"),))
    said = [Message.of("user", "tench"), call, result, Message.of("user", "herring"), Message.of("assistant", "perch")]
    session = await Chat("echo:", context=build).import_session(said)
    await session.ask("now?")
    assert [status for _, status, _ in told(session, "herring")] == ["included"]
    assert [status for _, status, _ in told(session, "tench")] == ["dropped"]


@pytest.mark.parametrize(
    ("words", "stubbed", "status"),
    [
        ("oyster", "@", "compacted"),
        ("oyster", "#2", "compacted"),
        ("oyster", "", "included"),
        ("first", "@", "included"),
        ("herring", "@", "included"),
        ("tench", "@", "included"),
    ],
)
async def test_words_in_what_is_a_stub_now(words: str, stubbed: str, status: str) -> None:
    """Words that stood only in a long result are lost where a stub stands for it; what stubs keep is not."""
    ((_, found, reason),) = told(await cut_history(stubbed=stubbed), words)
    assert found == status
    assert ("only shown as a stub" in reason) == (status == "compacted")


async def own_rounds(line: Callable[[View], Layer]) -> Session:
    """A session of one turn with three calls, for whose own rounds a context has this line."""

    def call(what: str) -> Message:
        return Message("assistant", (ToolCall.of("c", "find", arguments={"what": what}),))

    model = ScriptedModel([call("herring"), call("oyster"), "fine"])
    session = await Chat(model, context=lambda view: Assembled([], layers=[line(view)])).create_session()
    await session.ask("tench")
    return session


async def test_words_in_rounds_of_the_running_turn() -> None:
    """Rounds of the running turn that a call left out are told; its input and what came later are shown."""

    def cut(view: View) -> Layer:
        line = Layer("turn", "", kind="history")
        return line.cut(since=f"{view.turn_id}#2", stubbed=None, original_tokens=9, reason="1 earlier round left out")

    session = await own_rounds(cut)
    assert [status for _, status, _ in told(session, "tench")] == ["included"] * 3
    assert told(session, "herring")[1:] == [
        ("turn", "dropped", "said in this turn, in a round that was left out"),
        ("turn", "dropped", "said in this turn, in a round that was left out"),
    ]
    assert told(session, "oyster")[2] == ("turn", "included", "said in this turn")


async def test_words_in_rounds_of_which_some_are_not_shown() -> None:
    """Where a trace does not say which rounds were left out, the last one was not, and of others that is said."""

    def cut(view: View) -> Layer:
        return Layer("turn", "", kind="history").truncated("", 0, original_tokens=9, digest=None, reason="1 left out")

    session = await own_rounds(cut)
    unknown = ("turn", "truncated", "said in this turn, of which a part is not shown: 1 left out")
    assert told(session, "herring")[1:] == [("turn", "included", "said in this turn"), unknown]


async def test_words_in_the_middle_of_a_long_result() -> None:
    """Words in the part of a result that its tool's limit leaves out are in no call."""

    @tool(max_result_tokens=50)
    def find() -> str:
        """Find."""
        return f"oyster {'x' * 900} tench {'x' * 900} herring"

    call = Message("assistant", (ToolCall.of("c", "find", arguments={}),))
    session = await Chat(ScriptedModel([call, "fine", "fine"]), tools=[find]).create_session()
    await session.ask("a")
    await session.ask("b")
    assert [status for _, status, _ in told(session, "oyster")] == ["absent", "included", "included"]
    assert [status for _, status, _ in told(session, "herring")] == ["absent", "included", "included"]
    beyond = "in the middle of a long result, which no model is shown"
    assert told(session, "tench")[1:] == [
        ("turn", "dropped", f"said in this turn, {beyond}"),
        ("history", "dropped", f"said in turn 1, {beyond}"),
    ]


async def test_words_in_a_round_that_was_shortened() -> None:
    """Where the last round had to be shortened, it is not claimed that all of its words were sent."""

    def find(what: str) -> str:
        """Find."""
        return f"{what} {'fog and tide ' * 900}"

    call = Message("assistant", (ToolCall.of("c", "find", arguments={"what": "herring"}),))
    context = LayeredContext(window=900)
    session = await Chat(ScriptedModel([call, "fine"]), tools=[find], context=context).create_session()
    await session.ask("a")
    shortened = "said in this turn, of which a part is not shown: the last round is shortened"
    assert told(session, "herring")[1] == ("turn", "truncated", shortened)


async def test_words_in_the_last_turn_which_is_a_stub() -> None:
    """A stub that stands for the last turn's result, too, is told."""

    def find() -> str:
        """Find."""
        return f"{'fog and tide ' * 60} oyster {'fog and tide ' * 60}"

    def cut(view: View) -> Assembled:
        line = Layer("history", "", kind="history").kept(9)
        end = f"{view.turns[-1].id}#end" if view.turns else None
        return Assembled([], layers=[line.cut(since=None, stubbed=end, original_tokens=99, reason="stubs")])

    call = Message("assistant", (ToolCall.of("c", "find", arguments={}),))
    session = await Chat(ScriptedModel([call, "fine", "fine"]), tools=[find], context=cut).create_session()
    await session.ask("a")
    await session.ask("b")
    assert told(session, "oyster")[2][:2] == ("history", "compacted")


def replies_alone(view: View) -> list[Message]:
    """A context that shows replies and no inputs."""
    return [message for turn in view.turns for message in turn.messages[1:]]


@pytest.mark.parametrize("context", [replies_alone, FullContext(steps="none")])
async def test_words_in_a_history_that_a_context_chooses(context: Any) -> None:
    """Of a history whose context does not tell what it shows of it, nothing is claimed."""
    session = await asked([f"Please {RULE}.", "b"], context=context)
    reason = "said in turn 1, of which the context shows what it chooses"
    assert told(session) == [("input", "included", "said here"), ("history", "truncated", reason)]


async def steered(*after: Any, context: Any = None) -> Session:
    """A session of one turn in which a person says `oyster` while its first call is answered with a call."""

    async def first(request: Any) -> Any:
        await turn.steer("oyster")
        return after[0]

    def find() -> str:
        """Find."""
        return "fog " * 400

    session = await Chat(ScriptedModel([first, *after[1:]]), tools=[find], context=context).create_session()
    turn = session.send("a")
    await asyncio.gather(turn.result(), return_exceptions=True)
    return session


async def test_words_that_were_said_too_late_for_a_call() -> None:
    """What a person says while a call is answered was not in that call, also where no other one followed."""
    session = await steered(ValueError("no"))
    assert [turn.status for turn in session.turns()] == ["failed"]
    assert told(session, "oyster") == [("", "absent", NOWHERE)]


async def test_what_a_person_steered_with_stays() -> None:
    """Where rounds of the running turn are left out, what a person said meanwhile is still shown."""
    call = Message("assistant", (ToolCall.of("c", "find", arguments={}),))
    session = await steered(*[call] * 6, "fine", context=LayeredContext(window=900))
    assert "rounds left out" in (session.traces()[-1].layers[-2].reason or "")
    assert [status for _, status, _ in told(session, "oyster")] == ["absent", *["included"] * 6]
