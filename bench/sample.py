"""Sessions to measure: turns of 1.1 kB of text whose model call was shown six layers."""

from __future__ import annotations

from typing import Any

import msgspec

from antiphon import Assembled, Chat, FileStore, Layer, TurnRequest, View
from antiphon.journal import SessionCreated, TurnAccepted, TurnCompleted, TurnShown, encode, heading
from antiphon.stores import Store

QUESTION = "How do I return a parcel that came without its label, and who pays for it? " * 4
ANSWER = "Take it to any counter within thirty days; the carrier prints a label from your order number. " * 8
TEXT = len(QUESTION) + len(ANSWER)


async def answer(_: TurnRequest) -> str:
    """A responder that takes no time."""
    return ANSWER


def six_layers(view: View) -> Assembled:
    """A context whose trace has six lines: these four, the instructions and the overhead."""
    count = view.budget.counter
    memory = Layer("memory", "Prefers short answers.", kind="memory", pinned=True, placement="system")
    document = Layer("docs:1", "Labels can be printed at the counter.")
    lines = [layer.kept(count(layer.text), digest="0123456789ab") for layer in (memory, document)]
    return Assembled([], layers=[*lines, Layer("history", "", kind="history").kept(0)])


def chat(store: FileStore) -> Chat:
    """A chat that answers at once."""
    return Chat(responder=answer, store=store, context=six_layers, instructions="Be brief.", keep_texts="none")


async def fill(store: Store, session_id: str, *, turns: int) -> None:
    """Write a session of so many turns, in big appends: what is measured is reading it."""
    at = "2026-01-01T00:00:00.000Z"
    created = SessionCreated(**heading(session_id, at))
    await store.create(session_id, [encode(created)])
    shown = msgspec.Raw(
        b'{"layers":[["instructions",null,"included",3,null,"0123456789ab"],["memory",null,"included",5,null,'
        b'"0123456789ab"],["docs:1","custom","included",8,null,"0123456789ab"],["history",null,"included",4210],'
        b'["input",null,"included",62],["overhead",null,"included",84]],"window":8192,"reserve":1024,"margin":716}'
    )
    for first in range(0, turns, 500):
        lines = []
        for n in range(first, min(first + 500, turns)):
            turn: dict[str, Any] = {"turn_id": f"turn-{n}"}
            lines += [
                encode(TurnAccepted(**heading(session_id, at), **turn, input=QUESTION)),
                encode(TurnShown(**heading(session_id, at), **turn, call=1, model="m", trace_json=shown)),
                encode(TurnCompleted(**heading(session_id, at), **turn, output=ANSWER, steered=0)),
            ]
        await store.append(session_id, lines, if_last=None)


def typed_decoder() -> msgspec.json.Decoder[Any]:
    """The bare typed decode: msgspec's, of the entry classes these sessions hold."""
    return msgspec.json.Decoder(SessionCreated | TurnAccepted | TurnShown | TurnCompleted)
