"""A request as llama.cpp's chat completion endpoint takes it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..._jsonable import Jsonable
from ..._messages import File, Image, Message, Part, Reasoning, Text, ToolCall, ToolResult
from ...errors import InvalidRequest
from ...models import ModelRequest

MAX_OUTPUT_TOKENS = 512

SAMPLING: Mapping[str, Jsonable] = {
    "temperature": 0.2,
    "top_p": 0.9,
    "repeat_penalty": 1.0,
    "dry_multiplier": 0.8,
    "dry_allowed_length": 2,
}
"""What suits models of some hundred million parameters: warmer, and they wander; unhindered, and they loop.

The DRY sampler holds back repeated phrases only. A repeat penalty that stops loops as well would also hold back
single words of the question, and the answer with them.
"""

_STREAMED: Mapping[str, Jsonable] = {
    "stream": True,
    "stream_options": {"include_usage": True},
    # Progress is reported after every batch of the prompt: the only moments at which reading it can be stopped.
    "return_progress": True,
}


def encode(
    request: ModelRequest,
    *,
    model: str = "local",
    max_output_tokens: int = MAX_OUTPUT_TOKENS,
    options: Mapping[str, Jsonable] | None = None,
) -> dict[str, Jsonable]:
    """Give the body that the engine is asked with.

    Tool calls and results become inert text, and tools are not offered: small models have no template for them.
    Reasoning is left out. Neighbours of one role become one message, because many templates insist on turns.
    Options override the sampling defaults, the request's override those given here, and none can change how the
    reply is streamed.

    Args:
        request: what is asked; not changed.
        model: how errors call the model.
        max_output_tokens: most tokens of the reply, where the request does not say.
        options: fields of the body, as in `{"seed": 7}`.

    Raises:
        InvalidRequest: for an image or a file, named by its place.
    """
    body: dict[str, Jsonable] = {**SAMPLING, **(options or {}), **request.options, **_STREAMED}
    body["messages"] = _joined(_spoken(request, model))
    limit = request.max_output_tokens
    body["max_tokens"] = max_output_tokens if limit is None else limit
    if request.output_schema is not None:
        schema = {"name": "reply", "schema": dict(request.output_schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _spoken(request: ModelRequest, model: str) -> Iterator[tuple[str, str]]:
    if request.system:
        yield "system", _sendable(request.system)
    for i, message in enumerate(request.messages):
        role = "user" if message.role == "tool" else message.role
        yield role, _sendable(_words(message, f"messages[{i}]", model=model))


def _words(message: Message, place: str, *, model: str) -> str:
    said = ""
    for j, part in enumerate(message.parts):
        if isinstance(part, Text):
            said += part.text
        elif isinstance(part, ToolCall | ToolResult):
            said += f"{_own_line(said)}{_inert(part)}\n"
        elif not isinstance(part, Reasoning):
            raise InvalidRequest(model, f"{place}.parts[{j}] is {_named(part)}, and this model reads only text")
    return said


def _own_line(said: str) -> str:
    return "" if not said or said.endswith("\n") else "\n"


def _inert(part: ToolCall | ToolResult) -> str:
    if isinstance(part, ToolCall):
        arguments = bytes(part.arguments_json).decode() if part.raw is None else part.raw
        return f"[called {part.name} with {arguments}]"
    return f"[{part.name} {'failed' if part.is_error else 'gave'}: {part.text}]"


def _named(part: Part) -> str:
    if isinstance(part, File):
        return f"the file {part.name!r}" if part.name else f"a file ({part.media_type})"
    return f"an image ({part.media_type})" if isinstance(part, Image) else f"a {type(part).__name__}"


def _joined(spoken: Iterator[tuple[str, str]]) -> list[dict[str, Jsonable]]:
    turns: list[tuple[str, list[str]]] = []
    for role, words in spoken:
        if turns and turns[-1][0] == role:
            turns[-1][1].append(words)
        elif words or role == "user":
            turns.append((role, [words]))
    return [{"role": role, "content": _paragraphs(said)} for role, said in turns]


def _paragraphs(said: Sequence[str]) -> str:
    return "\n\n".join(words for words in said if words)


def _sendable(text: str) -> str:
    """Replace lone surrogates, which journals keep and the engine's JSON reader refuses."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
