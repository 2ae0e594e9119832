"""What would be shown, were it sent now: nobody is asked, nothing is written, and the truth is told."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from antiphon import Chat, FileStore, FullContext, Message, SummaryContext, Text, View
from antiphon.errors import Misuse, NotStorable, WindowTooSmall
from antiphon.testing import ScriptedModel
from tests.chat.fakes import failure, gated

pytestmark = pytest.mark.anyio


def kept(folder: Path) -> dict[str, bytes]:
    """Every file below, with its content; locks hold none."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def asked_thrice(store: FileStore, **options: Any) -> tuple[Chat, ScriptedModel]:
    """A Chat whose session `s` has three turns."""
    model = ScriptedModel(lambda request: f"answer {len(request.messages)}")
    chat = Chat(model, store=store, **options)
    session = await chat.create_session("s")
    for text in ("one", "two", "three"):
        await session.ask(text)
    return chat, model


@pytest.mark.parametrize("steered_to", [{}, {"instructions": "Be brief."}, {"deps": {"db": 1}}, {"metadata": {"a": 1}}])
async def test_a_preview_is_what_is_then_sent(tmp_path: Path, steered_to: dict[str, Any]) -> None:
    """The preview of an input with options is message for message, line for line what the model is then asked (P41)."""

    def context(view: View) -> Sequence[Message]:
        about = f"{view.deps} {dict(view.metadata)} {view.query}"
        return [*FullContext().build(view).before_input, Message.of("user", about)]  # type: ignore[list-item]

    chat, model = await asked_thrice(FileStore(tmp_path), context=context, instructions="Be kind.")
    session = await chat.open_session("s")
    shown = await session.preview("four", **steered_to)
    await session.ask("four", **steered_to)
    assert (shown.system, tuple(shown.messages)) == (model.requests[-1].system, tuple(model.requests[-1].messages))
    sent = session.shown()
    assert sent is not None
    assert shown.trace.layers == sent.trace.layers


async def test_a_preview_asks_nobody_and_writes_nothing(tmp_path: Path) -> None:
    """No model is asked, neither for an answer nor for a summary; every file is byte for byte as it was."""
    chat, model = await asked_thrice(FileStore(tmp_path), context=SummaryContext(keep_recent=0, compact_after=3))
    session = await chat.open_session("s")
    await session.ask("four")
    before, requests, turns = kept(tmp_path), len(model.requests), session.turns()
    for text in ("five", [Text("six")]):
        await session.preview(text)
        await session.preview(text, context=SummaryContext(ScriptedModel("never"), keep_recent=1, compact_after=2))
    assert (kept(tmp_path), len(model.requests), session.turns()) == (before, requests, turns)
    assert session.live_turn is None


@pytest.mark.parametrize("on_failure", ["fail", "trim"])
async def test_a_preview_says_why_the_summary_is_missing(tmp_path: Path, on_failure: Any) -> None:
    """A summary that would have to be written first is missing, and the trace says why, whatever a turn would do."""
    chat, _ = await asked_thrice(FileStore(tmp_path))
    session = await chat.open_session("s")
    context = SummaryContext(keep_recent=1, compact_after=2, on_failure=on_failure)
    shown = await session.preview("four", context=context)
    assert [message.text for message in shown.messages] == ["two", "answer 3", "three", "answer 5", "four"]
    (line,) = [layer for layer in shown.trace.layers if layer.id == "summary"]
    assert (line.status, "nobody is asked in a preview" in str(line.reason)) == ("failed", True)
    assert any("so 1 earlier turns are left out" in warning for warning in shown.trace.warnings)


async def test_a_preview_uses_a_summary_that_is_there(tmp_path: Path) -> None:
    """A summary that was written already is shown in a preview, too, in another process as well."""
    context = SummaryContext(lambda messages: "they met", keep_recent=0, compact_after=2)
    chat, _ = await asked_thrice(FileStore(tmp_path), context=context)
    await (await chat.open_session("s")).ask("four")
    again = Chat("echo:", store=FileStore(tmp_path), context=SummaryContext(None, keep_recent=0, compact_after=2))
    mine = Chat("echo:", store=FileStore(tmp_path), context=context)
    for chat, first in ((mine, "Summary of the earlier conversation:\nthey met"), (again, "three")):
        shown = await (await chat.open_session("s")).preview("five")
        assert shown.messages[0].text == first


async def test_a_preview_takes_another_model_and_context(tmp_path: Path) -> None:
    """Another context, another model and its window are tried out; what would not fit raises with the sizes."""
    chat, model = await asked_thrice(FileStore(tmp_path))
    session = await chat.open_session("s")
    small = ScriptedModel("never", name="small", window=70)
    assert (await session.preview("four", context=lambda view: [])).messages == (Message.of("user", "four"),)
    shown = await session.preview("four", model=ScriptedModel("never", name="large", window=99_999))
    assert (shown.trace.model, shown.trace.window) == ("large", 99_999)
    error = await failure(session.preview("word " * 90, model=small))
    assert isinstance(error, WindowTooSmall)
    assert len(model.requests) == 3


async def test_a_preview_refuses_what_send_refuses() -> None:
    """Options and inputs are checked as for `send`, and what the context raises is raised."""
    session = await Chat("echo:", context=lambda view: 1 / 0).create_session()  # type: ignore[arg-type]
    assert isinstance(await failure(session.preview("x", nonsense=1)), Misuse)  # type: ignore[call-arg]
    assert isinstance(await failure(session.preview(5)), NotStorable)  # type: ignore[arg-type]
    assert isinstance(await failure(session.preview("x")), ZeroDivisionError)
    assert isinstance(await failure(session.preview("x", context=5)), TypeError)  # type: ignore[arg-type]


async def test_a_preview_while_a_turn_runs() -> None:
    """A preview needs no turn to end; the running one is no part of the dialogue yet, and goes on undisturbed."""
    gate, _, session = await gated()
    turn = session.send("first")
    await gate.begun.wait()
    shown = await session.preview("second")
    assert [message.text for message in shown.messages] == ["second"]
    assert session.turns()[0].status == "running"
    gate.open()
    assert (await turn.result()).text == "answered"
    assert len((await session.preview("second")).messages) == 3
