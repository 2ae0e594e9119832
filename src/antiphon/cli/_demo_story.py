"""What is said in the demo, and by whom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from .._messages import Message
from .._usage import Usage
from ..models import Model, ModelEvent, ModelRequest, Replied, TextPiece
from ..providers.local import LocalModel
from ._model_choice import EMBEDDED

INSTRUCTIONS = "Answer in one short sentence."

CAPITAL = "What is the capital of France?"
ANOTHER = "And of Italy?"
STORY = "Tell me a story about a lighthouse keeper."
TITLE = "Give the story a title."

REPLY_TOKENS = 56
"""Most tokens of a reply, so that the demo stays short on a slow machine."""
LONG_REPLY_TOKENS = 400
"""Most tokens of the reply that is killed: it must not end by itself before."""

_SCRIPT = {
    CAPITAL: "Paris. (This is a bundled script and no model; it knows four questions.)",
    ANOTHER: "Rome.",
    STORY: (
        "Once there was a keeper who lit the lamp every evening and wrote one line about it in a book. One night a"
        " storm put out the lamp, the stove and every light in the bay, and the keeper could not remember which ships"
        " were still out. So the keeper opened the book, read the last line, and knew: two had come home, one had not."
        " Then the keeper lit the lamp again, and went on writing where the book had stopped, until the third ship"
        " came in at dawn with its sails torn and nobody missing."
    ),
    TITLE: "The Keeper Who Wrote It Down.",
}


class Script:
    """The bundled script in a model's place, word by word. Its name is `script:`."""

    @property
    def name(self) -> str:
        """How traces call it."""
        return "script:"

    @property
    def window(self) -> int:
        """Tokens of request and reply together."""
        return 8_192

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Give the line that follows the last message."""
        text = _SCRIPT.get(request.messages[-1].text, "I have no line for that.")
        for i, word in enumerate(text.split(" ")):
            await asyncio.sleep(0.03)
            yield TextPiece(f" {word}" if i else word)
        yield Replied(Message.of("assistant", text), Usage(), "stop", model="script")


def storyteller(*, embedded: bool, long: bool = False) -> Model:
    """Give who answers: the embedded model, or the script."""
    if not embedded:
        return Script()
    most = LONG_REPLY_TOKENS if long else REPLY_TOKENS
    # Always the same story: a demo is no place for luck.
    return LocalModel(EMBEDDED, max_output_tokens=most, options={"temperature": 0.0, "seed": 1})
