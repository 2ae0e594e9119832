"""The model that says what it was shown."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Sequence

from ..._messages import Message
from ..._usage import Usage
from ...models import FinishReason, ModelEvent, ModelRequest, Replied, TextPiece

WINDOW = 8_192
CHARACTERS_A_TOKEN = 4
PIECES = 4
QUOTED = 200
"""Characters of the last message that are quoted."""


class EchoModel:
    """Answers every request with one sentence about the request; no engine, no network, always the same.

    It lets every command and every part around a model be tried at once. Tools are counted and never called; an
    output schema is not met. Usage is an estimate, one token for four characters.

    Attributes:
        name: `echo:`.
        window: 8,192 tokens.
    """

    @property
    def name(self) -> str:
        """How traces and errors call this model: `echo:`."""
        return "echo:"

    @property
    def window(self) -> int:
        """Tokens of request and reply together; announced, not enforced."""
        return WINDOW

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Describe the request in a few pieces, cut at `request.max_output_tokens`. Never fails."""
        text, finish = _cut(_described(request), request.max_output_tokens)
        for piece in _pieces(text):
            yield TextPiece(piece)
        usage = Usage(input=_tokens(_characters(request)), output=_tokens(len(text)))
        yield Replied(Message.of("assistant", text), usage, finish, model="echo")


def _described(request: ModelRequest) -> str:
    shown = [_counted(len(request.messages), "message"), _counted(_characters(request), "character")]
    if request.tools:
        shown.append(_counted(len(request.tools), "tool"))
    said = f"I was shown {', '.join(shown)}"
    return f'{said}; the last says: "{_last_words(request.messages)}"' if request.messages else f"{said}."


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _last_words(messages: Sequence[Message]) -> str:
    words = " ".join(_words(messages[-1]).split())
    return words if len(words) <= QUOTED else words[: QUOTED - 1] + "…"


def _words(message: Message) -> str:
    return message.text + "".join(result.text for result in message.results)


def _characters(request: ModelRequest) -> int:
    return len(request.system) + sum(len(_words(message)) for message in request.messages)


def _tokens(characters: int) -> int:
    return math.ceil(characters / CHARACTERS_A_TOKEN)


def _cut(text: str, max_tokens: int | None) -> tuple[str, FinishReason]:
    if max_tokens is None or _tokens(len(text)) <= max_tokens:
        return text, "stop"
    return text[: max_tokens * CHARACTERS_A_TOKEN], "length"


def _pieces(text: str) -> list[str]:
    size = math.ceil(len(text) / PIECES) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]
