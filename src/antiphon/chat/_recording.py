"""A finished turn from elsewhere, as entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._jsonable import NULL, Jsonable, freeze
from .._messages import Input, Message, stored_input
from ..errors import IllegalEntry, JournalMoved, Misuse
from ..journal._entries import KnownEntry, ModelReplied, TurnAccepted, TurnCompleted
from ..stores import Store
from ._hold import held
from ._recorder import Recorder
from ._returned import returned_entry
from ._taking_up import superseded_by_newer

RECORDED: Jsonable = {"kind": "recorded"}


def recorded_turn(
    entry: Callable[..., Any],
    turn_id: str,
    *,
    input: Input,
    steps: Sequence[Message] = (),
    reply: Message,
    metadata: dict[str, Jsonable] | None = None,
) -> list[KnownEntry]:
    """Give the entries of a completed turn.

    Args:
        entry: makes an entry from a class and its fields.
        turn_id: the turn.
        input: what the person said.
        steps: calls and results in between, in order.
        reply: the assistant's last message.
        metadata: kept with the input.

    Raises:
        NotStorable: if the input or the metadata cannot be kept.
        Misuse: if a step is no assistant or tool message.
    """
    kept = freeze(metadata, "metadata") if metadata else NULL
    found: list[KnownEntry] = [entry(TurnAccepted, turn_id=turn_id, input=stored_input(input), metadata_json=kept)]
    calls = 0
    for step in steps:
        if step.role == "assistant":
            calls += 1
            found.append(entry(ModelReplied, turn_id=turn_id, call=calls, message=step, steered=0))
        elif step.role == "tool":
            found += [returned_entry(entry, turn_id, result=result) for result in step.results]
        else:
            raise Misuse(
                f"a recorded step has the role {step.role!r}", "record one input, then assistant and tool messages"
            )
    message = None if reply == Message.of("assistant", reply.text) and reply.text else reply
    found.append(
        entry(
            TurnCompleted,
            turn_id=turn_id,
            output=reply.text if message is None else None,
            message=message,
            steered=0,
            metadata_json=freeze({"responder": RECORDED}, "metadata"),
        )
    )
    return found


def parted(messages: Sequence[Message]) -> tuple[Input, Sequence[Message], Message]:
    """Part one finished turn's messages into its input, its steps and its reply.

    Raises:
        Misuse: if it does not begin with one user message and end with an assistant's.
    """
    if len(messages) < 2 or messages[0].role != "user" or messages[-1].role != "assistant" or messages[-1].calls:
        raise Misuse(
            "these messages are not one finished turn",
            "begin with the user's message and end with the assistant's reply",
        )
    return messages[0].parts, messages[1:-1], messages[-1]


async def append_turn(recorder: Recorder, store: Store, *, entries: Sequence[KnownEntry]) -> None:
    """Commit a recorded turn, behind whatever others have written meanwhile.

    Raises:
        Misuse: if its calls and results do not belong together.
        SessionBusy: if a turn of the session runs.
        StoreError: if it could not be committed.
    """
    async with held(store, recorder.transcript.session_id, wait=False):
        try:
            await _append(recorder, entries)
        except IllegalEntry as refusal:
            advice = "give every call its one result"
            raise Misuse(f"these messages are not one finished turn: {refusal.why}", advice) from None


async def _append(recorder: Recorder, entries: Sequence[KnownEntry]) -> None:
    while True:
        await recorder.drain()
        superseded = superseded_by_newer(recorder.transcript, recorder.entry)
        try:
            return await recorder.write(*superseded, *entries)
        except JournalMoved:
            continue  # the recorder has read what came; only a turn that waits now has a say
