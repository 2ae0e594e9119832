"""The process that the demo kills: it sends one turn, and prints what was acknowledged and what was said.

Each line that it prints is a JSON object: `{"kept": ENTRY}` or `{"said": TEXT}`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from ..chat import Chat
from ._demo_store import AcknowledgingStore
from ._demo_story import INSTRUCTIONS, STORY, storyteller


def _print(**told: str) -> None:
    print(json.dumps(told), flush=True)


async def _send(folder: Path, session_id: str, *, embedded: bool) -> None:
    store = AcknowledgingStore(folder, lambda entry: _print(kept=entry))
    async with Chat(storyteller(embedded=embedded, long=True), store=store, instructions=INSTRUCTIONS) as chat:
        session = await chat.open_session(session_id)
        async for piece in session.send(STORY).text_stream:
            _print(said=piece)


if __name__ == "__main__":
    asyncio.run(_send(Path(sys.argv[1]), sys.argv[2], embedded=sys.argv[3] == "embedded"))
