"""Starts a conversation and prints its id; give the id back to go on with it, in any later process.

python examples/persistent.py
python examples/persistent.py 3f0c…
"""

from __future__ import annotations

import asyncio
import sys

from antiphon import Chat, FileStore, Model


async def talk(model: str | Model, folder: str, session_id: str | None, text: str) -> str:
    """Say one thing in a session, and give the session's id."""
    async with Chat(model, store=FileStore(folder)) as chat:
        session = await (chat.create_session() if session_id is None else chat.open_session(session_id))
        for turn in session.turns():
            print(f"> {turn.input}\n{turn.output}\n")
        print(f"> {text}\n{await session.ask(text)}\n")
        return session.id


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else None
    question = "What is the capital of France?" if given is None else "And of Italy?"
    print("to go on: python examples/persistent.py", asyncio.run(talk("local:smollm2", "chats", given, question)))
