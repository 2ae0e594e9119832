"""Entries by hand: one maker, and an example of every class beside the line that it is written as."""

from typing import Any, TypeVar

import msgspec

from antiphon import Image, Message, Text, ToolCall, Usage
from antiphon._jsonable import freeze
from antiphon.journal import (
    ContextCleared,
    ContextCompacted,
    Failure,
    FeedbackRecorded,
    ModelReplied,
    Origin,
    SessionCreated,
    SessionRenamed,
    StateChanged,
    ToolAsked,
    ToolDecided,
    ToolReturned,
    ToolStarted,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnFailed,
    TurnResumed,
    TurnShown,
    TurnSteered,
)

E = TypeVar("E", bound=msgspec.Struct)

SESSION = "ana-1"
AT = "2026-03-01T09:00:00.000Z"
CALL = ToolCall.of("c1", "weather", arguments={"city": "Köln"})


def made(cls: type[E], id: str = "e1", **fields: Any) -> E:
    """An entry of the session `ana-1`; entries of a turn belong to `t1` unless said otherwise."""
    if "turn_id" in cls.__struct_fields__:
        fields.setdefault("turn_id", "t1")
    return cls(version=1, id=id, session_id=SESSION, at=AT, **fields)


def written(type: str, rest: str = "", *, turn: bool = True) -> str:
    """A line by hand: what every entry begins with, and the rest as given."""
    head = f'"type":"{type}","version":1,"id":"e1","sessionId":"ana-1","at":"2026-03-01T09:00:00.000Z"'
    return "{" + head + (',"turnId":"t1"' if turn else "") + (f",{rest}" if rest else "") + "}"


WIRE: list[tuple[msgspec.Struct, str]] = [
    (made(SessionCreated), written("session.created", turn=False)),
    (
        made(
            SessionCreated,
            title="Köln",
            scope="ana",
            metadata_json=freeze({"tags": ["a"]}, "metadata"),
            forked_from=Origin("ben-2", "t9"),
        ),
        written(
            "session.created",
            '"title":"Köln","scope":"ana","metadata":{"tags":["a"]},"forkedFrom":{"sessionId":"ben-2","turnId":"t9"}',
            turn=False,
        ),
    ),
    (made(SessionRenamed), written("session.renamed", turn=False)),
    (made(SessionRenamed, title="Trip"), written("session.renamed", '"title":"Trip"', turn=False)),
    (made(TurnAccepted, input="hi"), written("turn.accepted", '"input":"hi"')),
    (
        made(
            TurnAccepted,
            input=(Text("see"), Image("image/png", data="aGk=", width=2, height=1, detail="low")),
            retry_of="t0",
            key="msg-81",
            options_json=freeze({"model": "echo:", "outputSchema": {"type": "object"}}, "options"),
            metadata_json=freeze({"ip": None}, "metadata"),
        ),
        written(
            "turn.accepted",
            '"input":[{"type":"text","text":"see"},{"type":"image","mediaType":"image/png","data":"aGk=","width":2,'
            '"height":1,"detail":"low"}],"retryOf":"t0","key":"msg-81","options":{"model":"echo:","outputSchema":'
            '{"type":"object"}},"metadata":{"ip":null}',
        ),
    ),
    (made(TurnResumed, by="worker-2"), written("turn.resumed", '"by":"worker-2"')),
    (made(TurnSteered, input="shorter", key="k2"), written("turn.steered", '"input":"shorter","key":"k2"')),
    (
        made(
            TurnShown,
            call=1,
            model="echo:",
            trace_json=freeze({"layers": [["input", None, "included", 3]]}, "trace"),
            texts_json=freeze({"0123456789ab": "Be brief."}, "texts"),
        ),
        written(
            "turn.shown",
            '"call":1,"model":"echo:","trace":{"layers":[["input",null,"included",3]]},'
            '"texts":{"0123456789ab":"Be brief."}',
        ),
    ),
    (
        made(
            ModelReplied,
            call=1,
            message=Message.of("assistant", [Text("let me look"), CALL]),
            usage=Usage(input=10, output=5, cached=4, cache_written=2, reasoning=1),
            model="gpt-x",
            steered=0,
        ),
        written(
            "model.replied",
            '"call":1,"message":{"role":"assistant","parts":[{"type":"text","text":"let me look"},{"type":"toolCall",'
            '"id":"c1","name":"weather","arguments":{"city":"Köln"}}]},"usage":{"input":10,"output":5,"cached":4,'
            '"cacheWritten":2,"reasoning":1},"model":"gpt-x","steered":0',
        ),
    ),
    (made(ToolAsked, call_id="c1", reason="refunds"), written("tool.asked", '"callId":"c1","reason":"refunds"')),
    (
        made(
            ToolDecided,
            call_id="c1",
            decision="allow",
            by="ana",
            arguments_json=freeze({"city": "Bonn"}, "arguments"),
            reason="fine",
        ),
        written(
            "tool.decided",
            '"callId":"c1","decision":"allow","by":"ana","arguments":{"city":"Bonn"},"reason":"fine"',
        ),
    ),
    (made(ToolStarted, call_ids=("c1", "c2")), written("tool.started", '"callIds":["c1","c2"]')),
    (
        made(ToolReturned, call_id="c1", name="weather", output_json=freeze([12, "°C"], "output"), is_error=True, ms=7),
        written("tool.returned", '"callId":"c1","name":"weather","output":[12,"°C"],"isError":true,"ms":7'),
    ),
    (made(TurnCompleted, output="yes"), written("turn.completed", '"output":"yes"')),
    (
        made(
            TurnCompleted,
            message=Message.of("assistant", [CALL]),
            finish="limit",
            usage=Usage(input=3),
            model="gpt-x",
            steered=2,
            metadata_json=freeze({"responder": {"kind": "model"}}, "metadata"),
        ),
        written(
            "turn.completed",
            '"message":{"role":"assistant","parts":[{"type":"toolCall","id":"c1","name":"weather","arguments":'
            '{"city":"Köln"}}]},"finish":"limit","usage":{"input":3},"model":"gpt-x","steered":2,'
            '"metadata":{"responder":{"kind":"model"}}',
        ),
    ),
    (
        made(TurnFailed, error=Failure("Overloaded", "model 'm' is overloaded"), partial="ye"),
        written("turn.failed", '"error":{"kind":"Overloaded","text":"model \'m\' is overloaded"},"partial":"ye"'),
    ),
    (made(TurnFailed, error="it broke"), written("turn.failed", '"error":"it broke"')),
    (made(TurnCanceled, reason="enough", partial="y"), written("turn.canceled", '"reason":"enough","partial":"y"')),
    (
        made(FeedbackRecorded, rating=0.5, comment="so so", preferred="Yes.", by="ana"),
        written("feedback.recorded", '"rating":0.5,"comment":"so so","preferred":"Yes.","by":"ana"'),
    ),
    (
        made(StateChanged, key="cart", value_json=freeze([1, {"a": None}], "value")),
        written("state.changed", '"key":"cart","value":[1,{"a":null}]', turn=False),
    ),
    (
        made(ContextCompacted, up_to="t1", focus="prices"),
        written("context.compacted", '"upTo":"t1","focus":"prices"', turn=False),
    ),
    (made(ContextCleared), written("context.cleared", turn=False)),
]
"""Entries and their lines, written by hand: what a journal of version 1 looks like for ever."""
