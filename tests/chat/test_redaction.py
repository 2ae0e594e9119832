"""What must not be kept is taken out before anything is written, and what was written is what is used."""

import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon import (
    Chat,
    FileStore,
    FullContext,
    Message,
    Reasoning,
    Session,
    SummaryContext,
    Text,
    ToolCall,
    ToolResult,
    View,
)
from antiphon._jsonable import freeze
from antiphon._messages import Image
from antiphon.chat._redaction import redacted
from antiphon.journal import (
    ContextCompacted,
    ToolAsked,
    ToolDecided,
    ToolReturned,
    TurnShown,
    decode,
    encode,
    heading,
)
from antiphon.models import TextPiece
from antiphon.testing import ScriptedModel
from tests.chat.fakes import AT, failure

pytestmark = pytest.mark.anyio

SECRET = "sk-4711-very-secret"


def redact(text: str) -> str:
    """Take keys out."""
    return re.sub(r"sk-\d+-[a-z-]+", "[key]", text)


CALL = ToolCall.of("c", "look_up", arguments={"key": SECRET, "deep": [{"in": f"x {SECRET}"}], SECRET: 1})


async def breaking(request: Any) -> AsyncIterator[str]:
    """Say half of it, then fail with it."""
    yield f"half {SECRET} of"
    raise ValueError(f"refused {SECRET}")


def talkative() -> ScriptedModel:
    """A model that says it in every way there is."""
    thought = Message("assistant", (Reasoning(f"hm {SECRET}"), Text(f"I know {SECRET}"), CALL))
    return ScriptedModel([thought, f"It is {SECRET}.", ValueError(f"no {SECRET}"), *["fine"] * 9])


async def everything(chat: Chat) -> Session:
    """A session in which the secret was said wherever it can be said."""
    metadata = {"note": SECRET, SECRET: [SECRET]}
    session = await chat.create_session("s", title=f"about {SECRET}", metadata=metadata)
    await session.rename(f"still about {SECRET}")
    await session.ask(f"my key is {SECRET}", metadata=metadata, instructions=f"Never say {SECRET}.")
    await failure(session.ask([Text(f"parts {SECRET}"), Image("image/png", data="aGk=")]))
    turn = session.send("steered")
    await turn.accepted()
    await turn.steer(f"quickly, {SECRET}")
    await turn.result()
    for n in (0, 1):
        await session.give_feedback(session.turns()[n].id, comment=SECRET, preferred=f"not {SECRET}", by="ana")
    await session.state.set("basket", {"a": [SECRET], SECRET: True})
    await session.record(input=SECRET, output=f"said {SECRET}", metadata=metadata)
    await session.record([*recorded()])
    await failure(session.ask("responder", model=talkative_responder()))
    turn = session.send("to be canceled")
    await turn.cancel(f"because of {SECRET}")
    return session


def recorded() -> list[Message]:
    """A finished turn from elsewhere, with a step."""
    result = ToolResult.of("c", "look_up", output={"found": SECRET, SECRET: None})
    return [
        Message.of("user", SECRET),
        Message("assistant", (CALL,)),
        Message("tool", (result,)),
        Message("assistant", (Reasoning(SECRET), Text(SECRET))),
    ]


def talkative_responder() -> ScriptedModel:
    """A model that breaks off behind some words."""
    return ScriptedModel([[TextPiece(f"half {SECRET} of"), ValueError(f"refused {SECRET}")]])


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below, by its name there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_nothing_of_it_is_ever_on_disk(tmp_path: Path) -> None:
    """In titles, inputs, steering, arguments, outputs, replies, partials, errors, feedback, state and metadata (F183).

    Copies and whatever is derived hold nothing of it either.
    """
    context = SummaryContext(lambda messages: "\n".join(map(str, messages)), keep_recent=0, compact_after=2)
    chat = Chat(talkative(), store=FileStore(tmp_path), redact=redact, keep_texts="all", context=context)
    session = await everything(chat)
    fork = await session.fork()
    await chat.restore({"messages": [{"role": "user", "content": SECRET}], "state": {"a": SECRET}})
    await chat.import_session(recorded())
    files = contents(tmp_path)
    assert len([name for name in files if name.endswith(".jsonl")]) == 4
    assert len([name for name in files if ".derived" in name]) == 2
    assert not [name for name, content in files.items() if b"very-secret" in content]
    assert files["s.jsonl"].count(b"[key]") > 25
    assert [turn.messages for turn in fork.turns()] == [turn.messages for turn in session.turns()]
    assert "very-secret" not in repr((session.title, session.metadata, session.snapshot(), session.state.get("basket")))


async def test_without_redaction_it_is_there(tmp_path: Path) -> None:
    """The same session without redaction holds it: what the test above looks for is really said."""
    await everything(Chat(talkative(), store=FileStore(tmp_path), keep_texts="all"))
    assert (tmp_path / "s.jsonl").read_bytes().count(b"very-secret") > 25


async def test_what_is_shown_is_the_redacted_text() -> None:
    """Contexts, models and responders are given what was written, in the same turn, too; a reply says the same."""
    views: list[View] = []

    def context(view: View) -> Any:
        views.append(view)
        return FullContext().build(view)

    model = talkative()
    session = await Chat(model, redact=redact, context=context).create_session()
    reply = await session.ask(f"my key is {SECRET}", metadata={"note": SECRET})
    shown = await session.preview(f"again {SECRET}")
    assert (reply.text, shown.messages[-1].text) == ("It is [key].", "again [key]")
    said = "".join(str(encode_all(request.messages)) for request in model.requests)
    assert ("very-secret" not in said, said.count("[key]") > 5) == (True, True)
    assert (views[0].input, views[0].query, views[0].metadata) == ("my key is [key]",) * 2 + ({"note": "[key]"},)
    assert "very-secret" not in str(encode_all(shown.messages))


def encode_all(messages: Any) -> list[Any]:
    """Messages as JSON."""
    return [message.to_json() for message in messages]


async def test_a_responder_is_given_the_redacted_text() -> None:
    """The request of a responder holds what was written as its input and its metadata."""
    requests = []

    async def responder(request: Any) -> str:
        requests.append(request)
        return f"{SECRET}!"

    session = await Chat(responder=responder, redact=redact).create_session()
    reply = await session.ask(SECRET, metadata={"note": SECRET})
    (request,) = requests
    assert (request.input, request.metadata, request.messages[-1].text) == ("[key]", {"note": "[key]"}, "[key]")
    assert (reply.text, session.turns()[0].output) == ("[key]!", "[key]!")


async def test_partials_and_errors_are_redacted() -> None:
    """What a broken reply had said, and the sentence of its error, are kept redacted; the caller's error is his own."""
    session = await Chat(responder=breaking, redact=redact).create_session()
    error = await failure(session.ask("hi"))
    (turn,) = session.turns()
    assert (turn.partial, turn.error) == ("half [key] of", "ValueError: refused [key]")
    assert str(error) == f"refused {SECRET}"


def upper(text: str) -> str:
    """Changes every text there is."""
    return text.upper()


async def test_names_ids_and_numbers_stay() -> None:
    """Even a function that changes every text leaves ids, digests, fates, models and names of tools readable."""
    chat = Chat(ScriptedModel([Message("assistant", (CALL,)), "fine"]), redact=upper, instructions="Be kind.")
    session = await chat.create_session("s", scope="ana")
    turn = session.send("hi", key="k", model=ScriptedModel([Message("assistant", (CALL,)), "fine"], name="mine"))
    await turn.result()
    (kept,) = session.turns()
    assert (kept.id, kept.key, kept.options, kept.metadata["responder"]) == (
        *(turn.id, "k", {"model": "mine"}),
        {"kind": "model", "name": "mine"},
    )
    assert [each.name for each in kept.messages[1].calls] == ["look_up"]
    trace = kept.traces[0]
    assert [(layer.id, layer.status) for layer in trace.layers][:2] == [
        ("instructions", "included"),
        ("history", "included"),
    ]
    assert (trace.model, trace.counter, kept.finish_reason) == ("mine", "estimate", "stop")
    assert [fate.layer for fate in session.why("be kind")] == ["instructions", "instructions"]
    reopened = await Chat("echo:", store=chat.store).open_session("s", scope="ana")
    assert reopened.turns() == session.turns()


async def test_reasons_and_warnings_in_traces_are_redacted() -> None:
    """What an error said stands in a trace's reasons and warnings redacted as everywhere."""

    def writer(messages: Any) -> str:
        raise ValueError(SECRET)

    context = SummaryContext(writer, keep_recent=0, compact_after=1, on_failure="full")
    session = await Chat(ScriptedModel(["fine"] * 3), redact=redact, context=context).create_session()
    for text in "abc":
        await session.ask(text)
    trace = session.turns()[2].traces[0]
    (line,) = [layer for layer in trace.layers if layer.id == "summary"]
    assert "it raised ValueError: [key]" in str(line.reason)
    assert any("[key]" in warning for warning in trace.warnings)


TURN: dict[str, Any] = heading("s", AT) | {"turn_id": "t"}
ENTRIES: dict[str, Callable[[], Any]] = {
    "asked": lambda: ToolAsked(**TURN, call_id="c", reason=SECRET),
    "decided": lambda: ToolDecided(
        **TURN,
        call_id="c",
        decision="allow",
        by="ana",
        arguments_json=freeze({"a": [SECRET]}, "a"),
        reason=SECRET,
    ),
    "returned": lambda: ToolReturned(**TURN, call_id="c", name="f", output_json=freeze([{SECRET: SECRET}], "o")),
    "compacted": lambda: ContextCompacted(**heading("s", AT), up_to="t", focus=SECRET),
    "texts": lambda: TurnShown(**TURN, call=1, model="m", texts_json=freeze({"abc": f"x {SECRET}"}, "t")),
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_entries_of_later_steps_are_redacted(kind: str) -> None:
    """Entries that only tools and people write go through it as well, free JSON inside them too."""
    data = encode(redacted(ENTRIES[kind](), redact)).data
    assert b"very-secret" not in data
    assert b"[key]" in data
    assert decode(data).id


async def test_keys_that_come_to_read_the_same_lose_nothing() -> None:
    """Two keys of an object that are equal once redacted keep both of their values."""
    session = await Chat("echo:", redact=redact).create_session()
    await session.state.set("basket", {"sk-1-a": 1, "sk-2-b": 2, "other": 3})
    kept = session.state.get("basket")
    assert (sorted(kept.values()), len(kept)) == ([1, 2, 3], 3)
    assert "sk-" not in str(kept)


async def test_a_redaction_that_raises_writes_nothing(tmp_path: Path) -> None:
    """Where redaction itself fails, nothing unredacted is written and the caller learns of it."""

    def broken(text: str) -> str:
        raise LookupError("no rules")

    chat = Chat("echo:", store=FileStore(tmp_path), redact=broken)
    session = await chat.create_session("s")
    before = (tmp_path / "s.jsonl").read_bytes()
    assert isinstance(await failure(session.ask(SECRET)), LookupError)
    assert isinstance(await failure(session.rename(SECRET)), LookupError)
    assert (tmp_path / "s.jsonl").read_bytes() == before
    assert session.live_turn is None
