"""Which texts of what was shown the journal keeps, and what was asked for one turn alone."""

from pathlib import Path
from typing import Any

import pytest

from antiphon import Assembled, Chat, FileStore, InMemoryStore, Layer, Limits, Message, View
from antiphon.context._assembly import digest
from antiphon.errors import Misuse, SessionNotFound
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure

pytestmark = pytest.mark.anyio

RULES, MEMORY, BLOCK = "Be kind to everyone.", "Ana likes lamps.", "Basket: one lamp."


def context(view: View) -> Assembled:
    """System text and a block beside the input, no history."""
    return Assembled([], system=MEMORY, with_input=f"{BLOCK} {len(view.turns)} so far.")


async def journal(folder: Path, **options: Any) -> str:
    """The journal of a session of three turns."""
    chat = Chat(ScriptedModel(["a", "b", "c"]), store=FileStore(folder), context=context, **options)
    session = await chat.create_session("s")
    for text in ("one", "two", "three"):
        await session.ask(text)
    return (folder / "s.jsonl").read_text()


@pytest.mark.parametrize(("keep", "counts"), [("stable", (1, 1, 0)), ("all", (1, 1, 3)), ("none", (0, 0, 0))])
async def test_which_texts_are_kept(tmp_path: Path, keep: Any, counts: tuple[int, ...]) -> None:
    """`stable` keeps system texts once each, `all` what changes, too, and `none` nothing; digests stand everywhere."""
    written = await journal(tmp_path, keep_texts=keep, instructions=RULES)
    assert tuple(written.count(text) for text in (RULES, MEMORY, BLOCK)) == counts
    assert written.count(digest(RULES)) == 3 + counts[0]


async def test_texts_are_kept_once_in_every_process(tmp_path: Path) -> None:
    """A text that the journal holds is not written again, by another process or after other texts."""
    await journal(tmp_path, instructions=RULES)
    model = ScriptedModel(lambda request: "x")
    session = await Chat(model, store=FileStore(tmp_path), instructions=RULES).open_session("s")
    await session.ask("four", instructions="Something else.")
    await session.ask("five")
    assert (tmp_path / "s.jsonl").read_text().count(RULES) == 1
    assert [fate.layer for fate in session.why("to everyone")] == ["instructions"] * 3 + ["", "instructions"]


async def test_a_forks_texts_are_its_own(tmp_path: Path) -> None:
    """A fork carries the texts that its turns were shown, also where the first to be shown one was left out."""
    await journal(tmp_path, instructions=RULES)
    session = await Chat(ScriptedModel(lambda r: "x"), store=FileStore(tmp_path), instructions=RULES).open_session("s")
    fork = await session.fork(id="f")
    await fork.ask("four")
    assert (tmp_path / "f.jsonl").read_text().count(RULES) == 1
    assert len(fork.why("to everyone")) == 4


async def test_texts_of_layers_of_a_contexts_own(tmp_path: Path) -> None:
    """Under `none` no line of the journal holds what a context's own layers say, whatever they are called."""

    def own(view: View) -> Assembled:
        line = Layer("memory", MEMORY, kind="memory").kept(5, digest=digest(MEMORY))
        return Assembled([], system=MEMORY, layers=[line])

    for keep, times in (("none", 0), ("stable", 1), ("all", 1)):
        chat = Chat(ScriptedModel("x"), store=FileStore(tmp_path / keep), context=own, keep_texts=keep)  # type: ignore[arg-type]
        await (await chat.create_session("s")).ask("hi")
        assert (tmp_path / keep / "s.jsonl").read_text().count(MEMORY) == times


async def test_an_unknown_way_is_refused() -> None:
    """Which texts are kept is one of three words."""
    with pytest.raises(Misuse, match="use 'stable', 'all' or 'none'"):
        Chat("echo:", keep_texts="some")  # type: ignore[arg-type]


async def test_what_was_asked_for_one_turn_holds_for_it_alone() -> None:
    """Model, instructions, limits, deps and metadata of one turn leave the next as it was; deps are never kept."""
    usual, other = ScriptedModel(["a", "c"], name="usual"), ScriptedModel("b", name="other")
    views: list[View] = []

    def seeing(view: View) -> list[Message]:
        views.append(view)
        return []

    chat = Chat(usual, instructions=RULES, context=seeing)
    session = await chat.create_session()
    await session.ask("one")
    limits = Limits(model_calls=3)
    await session.ask(
        "two", model=other, instructions="Else.", limits=limits, deps={"db": "a connection"}, metadata={"n": 2}
    )
    await session.ask("three")
    assert [request.system for request in (*usual.requests, *other.requests)] == [RULES, RULES, "Else."]
    assert [view.deps for view in views] == [None, {"db": "a connection"}, None]
    first, second, third = session.turns()
    assert (first.options, third.options, list(third.metadata)) == ({}, {}, ["responder"])
    assert (second.options["model"], second.options["instructions"]) == ("other", "Else.")
    assert second.metadata["n"] == 2
    assert "a connection" not in repr([turn.entries for turn in session.turns()])


async def test_a_retry_may_ask_for_something_else() -> None:
    """A retry is a turn of its own: it takes options of its own, and has none of the turn that it tries again."""
    session = await Chat(ScriptedModel(["a", "b"]), instructions=RULES).create_session()
    await session.ask("one", instructions="Else.")
    reply = await session.retry(model=ScriptedModel("better", name="better")).result()
    assert reply.text == "better"
    assert [turn.options for turn in session.turns()] == [{"instructions": "Else."}, {"model": "better"}]


async def test_copies_belong_to_whom_they_are_made_for() -> None:
    """A fork has its original's owner; imported and restored sessions have the one they are given; others find none."""
    chat = Chat("echo:", store=InMemoryStore())
    session = await chat.create_session("s", scope="ana")
    fork = await session.fork()
    restored = await chat.restore(session.snapshot(), scope="bo")
    free = await chat.restore(session.snapshot())
    assert (fork.scope, restored.scope, free.scope) == ("ana", "bo", None)
    for id, owner in ((fork.id, "bo"), (restored.id, "ana"), (free.id, "ana")):
        assert isinstance(await failure(chat.open_session(id, scope=owner)), SessionNotFound)
    assert [each.id async for each in chat.sessions(scope="bo")] == [restored.id]
