"""A long talk in a small window: a summary, the recent turns, and what three sources add, all within one budget.

python examples/layered.py
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from antiphon import Chat, FileStore, Layer, LayeredContext, Message, Model, Trace, View, source

QUESTIONS = [
    "Who keeps the table of the tides?",
    "Where do the ferries leave?",
    "How old is the lighthouse?",
    "What was salt used for?",
    "What does the pilot do?",
    "Why do ferries wait in fog?",
    "What is a pier?",
    "Who built the lighthouse?",
    "Where are the salt pans?",
    "When do the ferries leave?",
    "Why is granite good for building?",
    "What does the tower do?",
    "When does the tide turn?",
    "And in the harbour, on a day of fog?",
]
GUIDE = """\
The tide turns in the harbour every six hours and a quarter. The pilots keep a table of it in their office at the foot
of the tower, and chalk the day's figures on the board beside its door.

Ferries leave from the east pier at six, at noon and at six again. In fog they wait until the tower gives them leave by
a green lamp; whoever has a ticket for that day may take any later boat.

The lighthouse was built in 1871 of granite from the quarry behind the town. Its lamp has been electric since 1932 and
is seen from eighteen miles.

Salt was the town's trade until the railway came. The pans north of the pier are dry today, and the last salt works is
a museum, open from May to October.
"""


@source("guide", timeout=1)
def guide(view: View) -> Layer:
    """Paragraphs of the guide, best match first; where room is short the last ones fall."""
    asked = set(view.query.lower().strip("?").split())
    ranked = sorted(GUIDE.split("\n\n"), key=lambda paragraph: -len(asked & set(paragraph.lower().split())))
    return Layer("guide", ranked, kind="documents", priority=600)


@source("today", placement="system", pinned=True)
def today(_: View) -> str:
    """A rule of the day: it is never cut."""
    return "The east pier is closed today."


@source("weather", timeout=0.05)
async def weather(_: View) -> str:
    """A service that does not answer: it costs itself alone."""
    await asyncio.sleep(60)
    return "Fog until noon."


def questions_so_far(messages: Sequence[Message]) -> str:
    """A summary without a model: what was asked last, as far as it fits."""
    return " ".join(message.text for message in messages if message.role == "user")[-240:]


async def long_talk(model: str | Model, folder: str) -> tuple[int, Trace]:
    """Ask all the questions; give how many turns were kept, and what the last call was shown."""
    context = LayeredContext(
        window=1_536,
        keep_recent=4,
        sources=[today, guide, weather],
        shares={"documents": 0.12},
        summarizer=questions_so_far,
    )
    rules = "You are a harbour guide. Answer in two sentences."
    async with Chat(model, store=FileStore(folder), context=context, instructions=rules) as chat:
        session = await chat.create_session()
        for question in QUESTIONS:
            print(f"> {question}\n{await session.ask(question)}\n")
        return len(session.turns()), session.traces()[-1]


if __name__ == "__main__":
    kept, shown = asyncio.run(long_talk("local:smollm2", "chats"))
    print(f"all {kept} turns are kept; the last call was shown this:\n{shown}")
