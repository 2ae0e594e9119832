"""A conversation with a model that takes its time, so that there is some to do things in."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from antiphon import Chat
from antiphon._messages import Message
from antiphon.cli._conversation import Conversation
from antiphon.cli._edited_lines import EditedLines
from antiphon.cli._interruptible import run
from antiphon.cli._place import Place
from antiphon.cli.chat import converse
from antiphon.models import ModelEvent, ModelRequest, Replied, TextPiece

WORDS = 60
PROGRAM = "from tests.cli.slow import main; main()"


class SlowModel:
    """Counts to sixty, a word in thirty milliseconds; asked for less it is brief, asked for a fault it has one."""

    name = "slow:"
    window = 8_192

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer."""
        asked = request.messages[-1].text
        if "fault" in asked:
            raise ZeroDivisionError("a fault of its own")
        words = ["Brief."] if "brief" in asked else [f"word{number}" for number in range(1, WORDS + 1)]
        for word in words:
            yield TextPiece(f"{word} ")
            await asyncio.sleep(0.03)
        yield Replied(Message.of("assistant", "".join(f"{word} " for word in words)))


async def _talk(folder: Path) -> None:
    place = Place(folder)
    async with Chat(SlowModel(), store=place.store()) as chat:
        lines = EditedLines(sys.stdout, [])
        await converse(Conversation(chat, place, screen=lines.screen, session_id="slow", options={}), lines)


def main() -> None:
    """Talk."""
    run(_talk(Path(sys.argv[1])))
    print("left in order")
