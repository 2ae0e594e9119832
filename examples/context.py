"""A long conversation: the model is shown a summary and the recent turns, the transcript keeps every word.

python examples/context.py
"""

from __future__ import annotations

import asyncio

from antiphon import Chat, FileStore, Model, SummaryContext

TOPICS = ["bread", "rain", "clocks", "maps", "tea", "rope", "salt", "ink", "glass", "wool", "tin", "chalk"]


async def long_talk(model: str | Model, folder: str) -> tuple[int, int]:
    """Talk about every topic; give how many messages were said, and how many the last call was shown."""
    context = SummaryContext(keep_recent=3, compact_after=6)
    async with Chat(
        model, store=FileStore(folder), context=context, instructions="Answer in one short sentence."
    ) as chat:
        session = await chat.create_session()
        for topic in TOPICS:
            print(f"> Why {topic}?\n{await session.ask(f'Why {topic}?')}\n")
        print(session.traces()[-1])
        for summary in await session.summaries():
            print(f"\nsummary of {summary.turns} turns, by {summary.model}: {summary.text}")
        shown = session.shown()
        return len(session.messages()), 0 if shown is None else len(shown.messages)


if __name__ == "__main__":
    said, seen = asyncio.run(long_talk("local:smollm2", "chats"))
    print(f"\n{said} messages were said; the last call was shown {seen}")
