"""The engine's chunks as events."""

from typing import Any

import pytest

from antiphon._messages import Message, Reasoning, Text
from antiphon._usage import Usage
from antiphon.errors import ContextTooLong, InvalidRequest, MalformedReply, ModelError, Overloaded
from antiphon.models import ReasoningPiece, Replied, TextPiece
from antiphon.providers.local import Decoder


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """A chunk as llama.cpp writes it."""
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "finish_reason": finish, "delta": delta}]}


USAGE = {
    "choices": [],
    "usage": {"prompt_tokens": 39, "completion_tokens": 12, "prompt_tokens_details": {"cached_tokens": 30}},
}


def test_a_stream_becomes_pieces_and_a_reply() -> None:
    """Content becomes text pieces; the reply joins them and carries usage, finish and the model's name."""
    decoder = Decoder(answered_by="smollm2")
    chunks = [chunk(role="assistant", content=None), chunk(content="Hel"), chunk(content="lo"), chunk("stop"), USAGE]
    events = [event for each in chunks for event in decoder.feed(each)]
    assert events == [TextPiece("Hel"), TextPiece("lo")]
    expected = Usage(input=39, output=12, cached=30)
    assert decoder.reply() == Replied(Message.of("assistant", "Hello"), expected, "stop", "smollm2", USAGE)


def test_a_reply_cut_at_its_limit_says_so() -> None:
    """`length` stays `length`."""
    decoder = Decoder()
    decoder.feed(chunk("length"))
    assert decoder.reply().finish == "length"


def test_reasoning_comes_apart() -> None:
    """Reasoning is given in pieces of its own, and stands before the text in the message."""
    decoder = Decoder(answered_by="thinker")
    events = [*decoder.feed(chunk(reasoning_content="hm")), *decoder.feed(chunk("stop", content="Yes"))]
    assert events == [ReasoningPiece("hm"), TextPiece("Yes")]
    assert decoder.reply().message.parts == (Reasoning("hm", provider="local", model="thinker"), Text("Yes"))


def test_progress_is_no_event() -> None:
    """Reading the prompt is told in chunks that say nothing."""
    progress = chunk(role="assistant", content=None) | {"prompt_progress": {"total": 100, "processed": 64}}
    assert Decoder().feed(progress) == []


@pytest.mark.parametrize(
    ("told", "error", "sentence"),
    [
        (
            {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9180, "n_ctx": 8192},
            ContextTooLong,
            "9,180 tokens, but it holds 8,192",
        ),
        ({"code": 400, "message": "Field 'seed'"}, InvalidRequest, "Field 'seed'"),
        ({"code": 500, "message": "decode failed"}, Overloaded, "decode failed"),
        ("broken", Overloaded, "broken"),
    ],
)
def test_errors_are_ours(told: Any, error: type[ModelError], sentence: str) -> None:
    """What the engine reports as an error becomes one of our classes, with its figures."""
    with pytest.raises(error, match=sentence):
        Decoder("local:x").feed({"error": told})


def test_a_stream_that_breaks_off_is_no_reply() -> None:
    """Without a reason for stopping there is no reply."""
    decoder = Decoder("local:x")
    decoder.feed(chunk(content="Hel"))
    with pytest.raises(MalformedReply, match="broke off"):
        decoder.reply()


@pytest.mark.parametrize("wrong", [{}, {"choices": 5}, {"choices": [5]}, {"choices": [{"delta": 5}]}])
def test_a_chunk_of_another_form_is_refused(wrong: dict[str, Any]) -> None:
    """What does not have the promised form is our error, not an accident of Python's."""
    with pytest.raises(MalformedReply):
        Decoder("local:x").feed(wrong)
