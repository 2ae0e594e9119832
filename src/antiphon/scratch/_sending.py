"""From a scratchpad's messages to a request, and from a model's stream to its reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import aclosing, nullcontext
from typing import Any

from .._messages import Message
from ..context._cutting import pairs_of
from ..errors import MalformedReply, Misuse
from ..models import Model, ModelRequest, Replied, ToolSpec
from ._messages import adopted


def request_of(messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> ModelRequest:
    """The request that shows these messages, the system ones as its system text.

    Raises:
        Misuse: if no model would take them; it names the calls without a result, the results without a call, and
            says so if there is nothing to answer.
    """
    shown = [adopted(each) for each in messages]
    if all(message.role == "system" for message in shown):
        raise Misuse("the scratchpad holds nothing to answer", "append an input with pad.user(…)")
    if wrong := list(_wrong(shown)):
        raise Misuse(
            f"the messages cannot be sent: {'; '.join(wrong)}",
            "answer calls with pad.tool(id, output), and take results without a call out of pad.messages",
        )
    system = [message.text for message in shown if message.role == "system" and message.text]
    return ModelRequest(
        [message for message in shown if message.role != "system"], system="\n\n".join(system), tools=tools
    )


def _wrong(messages: Sequence[Message]) -> Iterator[str]:
    pairs = pairs_of(messages)
    for i, _, call in pairs.open:
        yield f"call {call.id!r} of {call.name!r} in message {i} has no result"
    for i, result in pairs.stray:
        yield f"the result of {result.call_id!r} in message {i} answers no call before it"
    for call_at, result_at in pairs.spans:
        if any(message.role == "assistant" for message in messages[call_at + 1 : result_at]):
            yield f"the result in message {result_at} stands behind a reply later than its call in message {call_at}"


async def ask(model: Model, request: ModelRequest) -> Replied:
    """Ask a model once and read to its reply.

    Raises:
        ModelError: as the model raised it; MalformedReply if there is no reply, or it is no assistant's.
    """
    stream: Any = model.stream(request)
    async with aclosing(stream) if hasattr(stream, "aclose") else nullcontext():
        async for event in stream:
            if isinstance(event, Replied):
                return _checked(event, model.name)
    raise MalformedReply(model.name, "the stream ended without a reply")


def _checked(reply: Replied, model: str) -> Replied:
    said: Any = reply.message
    if not isinstance(said, Message) or said.role != "assistant":
        raise MalformedReply(model, "it holds no message of an assistant")
    return reply
