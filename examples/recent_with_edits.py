"""A context of one's own: the last four completed turns, each with the reply that a person preferred.

python examples/recent_with_edits.py
"""

from __future__ import annotations

import asyncio

from antiphon import Chat, Message, Model, Turn, View


def recent_with_edits(view: View) -> list[Message]:
    """What a model is shown before the newest input; the input itself is added behind it."""
    answered = [turn for turn in view.turns if turn.status == "completed"]
    return [message for turn in answered[-4:] for message in _edited(turn)]


def _edited(turn: Turn) -> list[Message]:
    preferred = [each.preferred for each in turn.feedback if each.preferred is not None]
    reply = Message.of("assistant", preferred[-1]) if preferred else turn.messages[-1]
    return [*turn.messages[:-1], reply]


async def corrected(model: str | Model) -> str:
    """Correct a reply, and give what the model was shown of it in the next turn."""
    async with Chat(model, context=recent_with_edits) as chat:
        session = await chat.create_session()
        reply = await session.ask("Greet me.")
        await session.give_feedback(reply.turn_id, preferred="Good morning, Ana.")
        await session.ask("Again, please.")
        shown = session.shown()
        return "" if shown is None else shown.messages[1].text


if __name__ == "__main__":
    print("the model was shown:", asyncio.run(corrected("local:smollm2")))
