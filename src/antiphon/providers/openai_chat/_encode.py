"""A request as the chat completions endpoint takes it. Pure.

Written from https://platform.openai.com/docs/api-reference/chat and from what servers that call themselves compatible
refuse: the body is in the smallest form that all of them take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol

from ..._jsonable import Jsonable, freeze
from ..._jsonable import encode as as_json
from ..._messages import File, Image, Message, Part, Text, ToolCall, ToolResult
from ...errors import CorruptJournal
from ...models import ModelRequest, ToolSpec
from .._surrogates import whole_texts
from ._rounds import repaired
from ._wire_names import call_ids, tool_name

NO_OUTPUT = "(no output)"
SHOWN_BELOW = "(shown below)"
EMPTY = "(empty)"
# Whitespace, and what takes no room at all: refused like nothing (anomalyco/opencode#31259).
_BLANK = re.compile(r"[\s\u00ad\u180e\u200b-\u200f\u2060\ufeff]*")


class ShownContext(Protocol):
    """What a context built for a call: `antiphon.context.Shown` is one."""

    @property
    def system(self) -> str:
        """The system text."""
        ...

    @property
    def messages(self) -> Sequence[Message]:
        """What stands behind it, in order."""
        ...


class AskedResponder(Protocol):
    """What a responder is given: `antiphon.TurnRequest` is one."""

    @property
    def instructions(self) -> str:
        """The system text."""
        ...

    @property
    def messages(self) -> Sequence[Message]:
        """What stands behind it, in order."""
        ...


def encode(
    request: ModelRequest | ShownContext | AskedResponder,
    *,
    model: str,
    options: Mapping[str, Jsonable] | None = None,
    compatible: bool = False,
    stream: bool = False,
) -> dict[str, Any]:
    """Give the body that `POST /chat/completions` takes.

    For a client of your own: `client.chat.completions.create(**encode(request, model="gpt-5-mini"))`.

    What a server would refuse is never built. System text stands first, in one message. Histories are `repaired`.
    Neighbours of one role are one message, for many chat templates insist on turns. Text that is empty, or nothing but
    spaces, is not sent; where something must stand, `(empty)` or `(no output)` does. Pictures and documents of a
    result stand in a user message behind the round. Reasoning is left out. Ids of calls and names of tools are changed
    where the wire does not take them, always the same way. A call whose arguments were no JSON object is sent
    with `{}` (MoonshotAI/kimi-cli#2165). Halves of characters are replaced.

    Args:
        request: what is asked; not changed. What a context showed, or a responder was given, holds no tools and no
            limits: these are then yours to add.
        model: the model as the server calls it.
        options: fields of the body, as in `{"temperature": 0}`; a request's own come over them. They are sent as
            given, and win over what is made here.
        compatible: whether the server is another than OpenAI's: these know `max_tokens` and not
            `max_completion_tokens`.
        stream: whether the reply is to come in pieces, with usage at the end.
    """
    given = dict(options or {})
    body: dict[str, Any] = {"model": model, "messages": _messages(_system_of(request), request.messages)}
    if isinstance(request, ModelRequest):
        given |= request.options
        body |= _asked_for(request, given, compatible=compatible)
    if stream:
        body["stream"] = True
    if stream and given.get("stream", True):
        body["stream_options"] = {"include_usage": True}
    made: dict[str, Any] = whole_texts(body | given)
    return made


def _system_of(request: Any) -> str:
    found: str = request.system if hasattr(request, "system") else request.instructions
    return found


def _asked_for(request: ModelRequest, given: Mapping[str, Jsonable], *, compatible: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if request.tools:
        # A name may stand there once; the first of two is the one that answers.
        named: dict[str, ToolSpec] = {}
        for tool in request.tools:
            named.setdefault(tool.name, tool)
        found["tools"] = [_tool(tool) for tool in named.values()]
    # The two names of one limit exclude each other, so a caller's own takes ours away.
    if request.max_output_tokens is not None and not {"max_tokens", "max_completion_tokens"} & given.keys():
        found["max_tokens" if compatible else "max_completion_tokens"] = request.max_output_tokens
    if request.output_schema is not None:
        schema = {"name": "reply", "schema": dict(request.output_schema)}
        found["response_format"] = {"type": "json_schema", "json_schema": schema}
    return found


def _tool(tool: ToolSpec) -> dict[str, Any]:
    # The root must be an object that says its properties, even where there are none.
    parameters = {"type": "object", "properties": {}} | dict(tool.parameters)
    function = {"name": tool_name(tool.name), "parameters": parameters}
    if not is_blank(tool.description):
        function["description"] = tool.description
    return {"type": "function", "function": function}


def _messages(system: str, messages: Sequence[Message]) -> list[dict[str, Any]]:
    fixed = repaired([each for message in messages for each in _media_beside(message)]).messages
    lifted = [system, *(message.text for message in fixed if message.role == "system")]
    said = [message for message in fixed if message.role != "system" and not _says_nothing(message)]
    first = _paragraphs(lifted)
    encoded: list[dict[str, Any]] = [{"role": "system", "content": first}] if first else []
    calls: tuple[ToolCall, ...] = ()
    for role, group in groupby(said, key=lambda message: message.role):
        together = list(group)
        if role == "user":
            encoded.append({"role": "user", "content": _user_content(together)})
        elif role == "assistant":
            calls = together[-1].calls
            encoded.append(_assistant(together, calls))
        else:
            encoded += _results(calls, together[0].results)
    return encoded


def _media_beside(message: Message) -> list[Message]:
    """The message, with the media of its results as parts of their own: these then go behind the round."""
    if not any(result.media for result in message.results):
        return [message]
    return [Message(message.role, _parted(part)) for part in message.parts]


def _parted(part: Part) -> tuple[Part, ...]:
    if not isinstance(part, ToolResult) or not part.media:
        return (part,)
    output = freeze(SHOWN_BELOW, "output") if is_blank(part.text) else part.output_json
    return (ToolResult(part.call_id, part.name, output, part.is_error), *part.media)


def _says_nothing(message: Message) -> bool:
    """Whether a model's message holds neither words nor calls, as one with reasoning alone does."""
    return message.role == "assistant" and not message.calls and is_blank(message.text)


def is_blank(text: str) -> bool:
    """Whether a text counts as empty."""
    return _BLANK.fullmatch(text) is not None


def _paragraphs(texts: Sequence[str]) -> str:
    return "\n\n".join(text for text in texts if not is_blank(text))


def _assistant(together: Sequence[Message], calls: tuple[ToolCall, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {"role": "assistant"}
    text = _paragraphs([message.text for message in together])
    if text:
        found["content"] = text
    if calls:
        found["tool_calls"] = [_call(call, id) for call, id in zip(calls, call_ids(calls), strict=True)]
    return found


def _call(call: ToolCall, id: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": tool_name(call.name), "arguments": _arguments(call)}}


def _arguments(call: ToolCall) -> str:
    if call.raw is not None:
        return "{}"
    try:
        # Written anew: a half character inside would be an escape that strict JSON readers refuse.
        return as_json(whole_texts(call.arguments)).decode()
    except CorruptJournal:
        return "{}"


def _results(calls: tuple[ToolCall, ...], results: tuple[ToolResult, ...]) -> Iterator[dict[str, Any]]:
    for id, result in zip(call_ids(calls), results, strict=True):
        yield {"role": "tool", "tool_call_id": id, "content": _result_text(result)}


def _result_text(result: ToolResult) -> str:
    text = NO_OUTPUT if is_blank(result.text) else result.text
    # The wire has no flag for it: an error is ordinary text, and must read as one.
    return f"Error: {text}" if result.is_error and not text.lower().startswith("error") else text


def _user_content(together: Sequence[Message]) -> str | list[dict[str, Any]]:
    parts = [part for message in together for part in message.parts if _is_said(part)]
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) == len(parts):
        return "\n\n".join(texts) or EMPTY
    return [_user_part(part) for part in parts]


def _is_said(part: Part) -> bool:
    return isinstance(part, Image | File) or (isinstance(part, Text) and not is_blank(part.text))


def _user_part(part: Part) -> dict[str, Any]:
    if isinstance(part, Image):
        address = part.url or f"data:{part.media_type};base64,{part.data or ''}"
        detail = {} if part.detail is None else {"detail": part.detail}
        return {"type": "image_url", "image_url": {"url": address, **detail}}
    if isinstance(part, File):
        if part.file_id is not None:
            return {"type": "file", "file": {"file_id": part.file_id}}
        address = f"data:{part.media_type};base64,{part.data or ''}"
        return {"type": "file", "file": {"filename": part.name or "file", "file_data": address}}
    return {"type": "text", "text": part.text if isinstance(part, Text) else ""}
