"""OpenAI's own client agrees: it takes what we encode, and reads from the strict server what we read."""

import asyncio
from contextlib import aclosing
from typing import Any

import openai
import pytest
from hypothesis import given
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

from antiphon._messages import Message
from antiphon.models import ModelRequest, Replied, TextPiece, ToolSpec
from antiphon.providers.openai_chat import OpenAIChatModel, encode
from tests.providers.openai_chat.histories import REQUESTS
from tests.providers.openai_chat.server import Answer, FakeOpenAI, calling, refusing, streamed

HI = ModelRequest([Message.of("user", "Hi")], tools=[ToolSpec("look_up", "", {})])
BODIES = TypeAdapter(CompletionCreateParamsStreaming)
MESSAGES = TypeAdapter(list[ChatCompletionMessageParam])
TOOLS = TypeAdapter(list[ChatCompletionToolParam])


@given(REQUESTS)
def test_what_is_encoded_has_the_sdks_types(request: ModelRequest) -> None:
    """Every body, message and tool is one by the types of OpenAI's own client."""
    body = encode(request, model="m", stream=True)
    BODIES.validate_python(body)
    assert len(MESSAGES.validate_python(body["messages"])) == len(body["messages"])
    TOOLS.validate_python(body.get("tools", []))


SCRIPTS = [
    streamed("It is ", "fine. 🎉"),
    calling(("call_1", "look_up", '{"city": "Oslo"}'), ("call_2", "look_up", "{}")),
]


@pytest.mark.parametrize("answer", SCRIPTS)
def test_both_read_the_same_reply(answer: Answer) -> None:
    """Text, calls, reason and usage are what OpenAI's client makes of the same stream, asked with the same body."""
    with FakeOpenAI(answer, answer) as server:
        ours = asyncio.run(_ours(server.url))
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        with client, client.chat.completions.stream(**_for_the_sdk()) as stream:
            theirs = stream.get_final_completion()
    assert server.seen[0].body == server.seen[1].body
    said = theirs.choices[0].message
    assert ours.message.text == (said.content or "")
    assert [(call.id, call.name) for call in ours.message.calls] == [
        (call.id, call.function.name) for call in said.tool_calls or ()
    ]
    assert theirs.usage is not None and ours.usage is not None
    assert (ours.usage.input, ours.usage.output) == (theirs.usage.prompt_tokens, theirs.usage.completion_tokens)
    assert ours.finish == {"tool_calls": "calls"}.get(theirs.choices[0].finish_reason, theirs.choices[0].finish_reason)


def _for_the_sdk() -> dict[str, Any]:
    body = encode(HI, model="m", compatible=True, stream=True)
    return {key: value for key, value in body.items() if key != "stream"}


async def _ours(url: str) -> Replied:
    model = OpenAIChatModel("m", base_url=url)
    async with aclosing(model.stream(HI)) as stream:
        events = [event async for event in stream]
    await model.aclose()
    assert isinstance(events[-1], Replied)
    assert "".join(each.text for each in events if isinstance(each, TextPiece)) == events[-1].message.text
    return events[-1]


def test_the_strict_server_answers_the_sdk() -> None:
    """OpenAI's client is answered by the strict server, and refused by it, in its own errors."""
    refused = {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": "bad"}}
    hi: ChatCompletionMessageParam = {"role": "user", "content": "Hi"}
    with FakeOpenAI(refusing(400, refused)) as server, openai.OpenAI(base_url=server.url, api_key="none") as client:
        with pytest.raises(openai.BadRequestError, match="no"):
            client.chat.completions.create(model="m", messages=[hi])
        with pytest.raises(openai.BadRequestError, match="must alternate"):
            client.chat.completions.create(model="m", messages=[hi, hi])
