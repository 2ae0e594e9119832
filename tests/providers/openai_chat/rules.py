"""What OpenAI's chat completions, and servers like it, refuse: one function a rule, with the words on record.

The words and their sources (probes of the API, recorded replies, threads) are those that OpenAI and these servers are
known to answer with; variable parts are filled in.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Body = Mapping[str, Any]
PARTS = {
    "system": ("text",),
    "developer": ("text",),
    "tool": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
}
KNOWN = {
    *("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "max_tokens", "max_completion_tokens"),
    *("stream", "stream_options", "response_format", "temperature", "top_p", "n", "stop", "seed", "logprobs"),
    *("top_logprobs", "presence_penalty", "frequency_penalty", "logit_bias", "user", "metadata", "store"),
    *("reasoning_effort", "prediction", "modalities", "service_tier", "prompt_cache_options", "verbosity"),
}
NO_REASONERS = ("max_tokens", "stop", "logit_bias", "presence_penalty", "frequency_penalty", "logprobs", "prediction")


@dataclass(frozen=True)
class Broken:
    """A broken rule, and what is answered."""

    rule: str
    message: str
    status: int = 400
    code: str | None = None

    def body(self) -> dict[str, Any]:
        """The answer's body."""
        found = {"message": self.message, "type": "invalid_request_error", "param": None, "code": self.code}
        return {"error": found}


def reasons(body: Body) -> bool:
    """Whether the model is one that reasons."""
    return str(body.get("model", "")).startswith(("gpt-5", "o3", "o4"))


def model_required(body: Body) -> Iterator[Broken]:
    """openai.model.required."""
    if not body.get("model"):
        yield Broken("openai.model.required", "you must provide a model parameter")


def field_required(body: Body) -> Iterator[Broken]:
    """openai.field.required."""
    missing = [] if "messages" in body else ["messages"]
    for i, message in enumerate(body.get("messages") or ()):
        missing += [] if "role" in message else [f"messages[{i}].role"]
        optional = message.get("role") == "assistant" and (message.get("tool_calls") or message.get("function_call"))
        missing += [] if "content" in message or optional else [f"messages[{i}].content"]
        missing += [] if message.get("role") != "tool" or "tool_call_id" in message else [f"messages[{i}].tool_call_id"]
        for j, call in enumerate(message.get("tool_calls") or ()):
            missing += [f"messages[{i}].tool_calls[{j}].{key}" for key in ("id", "type", "function") if key not in call]
    for path in missing:
        message_text = f"Missing required parameter: '{path}'."
        yield Broken("openai.field.required", message_text, code="missing_required_parameter")


def field_unknown(body: Body) -> Iterator[Broken]:
    """openai.field.unknown."""
    for key in body.keys() - KNOWN:
        yield Broken("openai.field.unknown", f"Unknown parameter: '{key}'.", code="unknown_parameter")


def field_type(body: Body) -> Iterator[Broken]:
    """openai.field.type."""
    wanted: list[tuple[str, Any, type[Any] | tuple[type[Any], ...]]] = [
        ("messages", body.get("messages"), list),
        ("tools", body.get("tools"), list),
        ("stream", body.get("stream"), bool),
        ("max_tokens", body.get("max_tokens"), int),
        ("max_completion_tokens", body.get("max_completion_tokens"), int),
    ]
    for i, message in enumerate(body.get("messages") or ()):
        wanted.append((f"messages[{i}].content", message.get("content"), (str, list)))
        for j, call in enumerate(message.get("tool_calls") or ()):
            path = f"messages[{i}].tool_calls[{j}].function.arguments"
            wanted.append((path, call.get("function", {}).get("arguments"), str))
    for path, value, kind in wanted:
        if value is not None and not isinstance(value, kind):
            found = type(value).__name__
            says = f"Invalid type for '{path}': expected {kind}, but got {found} instead."
            yield Broken("openai.field.type", says, code="invalid_type")


def field_value(body: Body) -> Iterator[Broken]:
    """openai.field.value."""
    for message in body["messages"]:
        if message["role"] not in (*PARTS, "function"):
            says = f"Invalid value: '{message['role']}'. Supported values are: {', '.join(map(repr, PARTS))}."
            yield Broken("openai.field.value", says, code="invalid_value")


def number_range(body: Body) -> Iterator[Broken]:
    """openai.field.min, openai.field.max, openai.output.too_large."""
    for key in ("max_tokens", "max_completion_tokens"):
        value = body.get(key)
        if value is not None and value < 1:
            says = f"Invalid '{key}': integer below minimum value. Expected a value >= 1, but got {value} instead."
            yield Broken("openai.field.min", says, code="integer_below_min_value")
        if value is not None and value > 128_000:
            says = (
                f"max_tokens is too large: {value}. This model supports at most 128000 completion tokens, "
                f"whereas you provided {value}."
            )
            yield Broken("openai.output.too_large", says, code="invalid_value")
    if (body.get("temperature") or 0) > 2:
        says = "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead."
        yield Broken("openai.field.max", says, code="decimal_above_max_value")


def arrays(body: Body) -> Iterator[Broken]:
    """openai.array.empty, openai.array.long."""
    found = [("messages", body.get("messages"), None), ("tools", body.get("tools"), 128)]
    found.append(("stop", body["stop"] if isinstance(body.get("stop"), list) else None, 4))
    for i, message in enumerate(body.get("messages") or ()):
        found.append((f"messages[{i}].tool_calls", message.get("tool_calls"), None))
    for path, value, most in found:
        if value == []:
            says = (
                f"Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array "
                "instead."
            )
            yield Broken("openai.array.empty", says, code="empty_array")
        if most is not None and value is not None and len(value) > most:
            says = (
                f"Invalid '{path}': array too long. Expected an array with maximum length {most}, but got an "
                f"array with length {len(value)} instead."
            )
            yield Broken("openai.array.long", says, code="array_above_max_length")


def named(body: Body) -> Iterator[tuple[str, str, int]]:
    """Every name and id, with its place and the characters that it may have."""
    for j, tool in enumerate(body.get("tools") or ()):
        yield f"tools[{j}].function.name", tool["function"]["name"], 64
    for i, message in enumerate(body["messages"]):
        for j, call in enumerate(message.get("tool_calls") or ()):
            yield f"messages[{i}].tool_calls[{j}].function.name", call["function"]["name"], 64
            yield f"messages[{i}].tool_calls[{j}].id", call["id"], 40
        if "tool_call_id" in message:
            yield f"messages[{i}].tool_call_id", message["tool_call_id"], 40


def strings(body: Body) -> Iterator[Broken]:
    """openai.string.empty, openai.string.long, openai.name.pattern, openai.tools.duplicate."""
    seen: set[str] = set()
    for path, value, most in named(body):
        if not value:
            says = (
                f"Invalid '{path}': empty string. Expected a string with minimum length 1, but got an empty "
                "string instead."
            )
            yield Broken("openai.string.empty", says, code="empty_string")
        if len(value) > most:
            says = (
                f"Invalid '{path}': string too long. Expected a string with maximum length {most}, but got a "
                f"string with length {len(value)} instead."
            )
            yield Broken("openai.string.long", says, code="string_above_max_length")
        if path.endswith("name") and not re.fullmatch("[a-zA-Z0-9_-]*", value):
            says = (
                f"Invalid '{path}': string does not match pattern. Expected a string that matches the pattern "
                "'^[a-zA-Z0-9_-]+$'."
            )
            yield Broken("openai.name.pattern", says, code="invalid_value")
        if path.startswith("tools") and value in seen:
            yield Broken("openai.tools.duplicate", f"Invalid '{path}': duplicate function name '{value}'.")
        seen |= {value} if path.startswith("tools") else set()


def schemas(body: Body) -> Iterator[Broken]:
    """openai.tools.schema, openai.tools.strict_schema."""
    for tool in body.get("tools") or ():
        name, schema = (
            tool["function"]["name"],
            tool["function"].get("parameters", {"type": "object", "properties": {}}),
        )
        begins = f"Invalid schema for function '{name}': "
        code = "invalid_function_parameters"
        if schema.get("type") != "object":
            says = f"""schema must be a JSON Schema of 'type: "object"', got 'type: "{schema.get("type")}"'."""
            yield Broken("openai.tools.schema", begins + says, code=code)
        elif "properties" not in schema:
            yield Broken("openai.tools.schema", begins + "In context=(), object schema missing properties.", code=code)
        if tool["function"].get("strict") and schema.get("additionalProperties") is not False:
            says = "In context=(), 'additionalProperties' is required to be supplied and to be false."
            yield Broken("openai.tools.strict_schema", begins + says, code=code)


def belongings(body: Body) -> Iterator[Broken]:
    """What needs another field: openai.tool_choice.*, openai.parallel.*, openai.stream_options.*, chat.top_logprobs."""
    choice = body.get("tool_choice")
    if choice and not body.get("tools"):
        says = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        yield Broken("openai.tool_choice.without_tools", says)
    names = [tool["function"]["name"] for tool in body.get("tools") or ()]
    if isinstance(choice, dict) and names and choice["function"]["name"] not in names:
        says = (
            f"Invalid value for 'function_call': no function named '{choice['function']['name']}' was "
            "specified in the 'functions' parameter."
        )
        yield Broken("openai.tool_choice.unknown", says)
    if "parallel_tool_calls" in body and not names:
        says = (
            "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified."
        )
        yield Broken("openai.parallel.without_tools", says)
    if "stream_options" in body and not body.get("stream"):
        says = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        yield Broken("openai.stream_options.without_stream", says)
    if "top_logprobs" in body and not body.get("logprobs"):
        says = "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled."
        yield Broken("chat.top_logprobs", says)


def by_model(body: Body) -> Iterator[Broken]:
    """openai.param.unsupported, openai.value.unsupported, chat.tools.reasoning, chat.role.unsupported."""
    if not reasons(body):
        if "reasoning_effort" in body:
            says = "Unsupported parameter: 'reasoning_effort' is not supported with this model."
            yield Broken("openai.param.unsupported", says, code="unsupported_parameter")
        return
    for key in NO_REASONERS:
        if key in body:
            hint = " Use 'max_completion_tokens' instead." if key == "max_tokens" else ""
            says = f"Unsupported parameter: '{key}' is not supported with this model.{hint}"
            yield Broken("openai.param.unsupported", says, code="unsupported_parameter")
    if body.get("temperature", 1) != 1:
        says = (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) "
            "value is supported."
        )
        yield Broken("openai.value.unsupported", says, code="unsupported_value")
    if body.get("model") == "gpt-5.6" and body.get("tools") and body.get("reasoning_effort") != "none":
        says = (
            "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To "
            "use function tools, use /v1/responses or set reasoning_effort to 'none'."
        )
        yield Broken("chat.tools.reasoning", says)
    if body.get("model") == "gpt-5.6" and any(message["role"] == "function" for message in body["messages"]):
        says = "Unsupported value: 'messages[0].role' does not support 'function' with this model."
        yield Broken("chat.role.unsupported", says, code="unsupported_value")


def both_limits(body: Body) -> Iterator[Broken]:
    """chat.max_tokens.both."""
    if {"max_tokens", "max_completion_tokens"} <= body.keys():
        says = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        yield Broken("chat.max_tokens.both", says, code="invalid_parameter_combination")


def json_word(body: Body) -> Iterator[Broken]:
    """openai.format.json_word."""
    asked = (body.get("response_format") or {}).get("type") == "json_object"
    if asked and "json" not in json.dumps(body["messages"]).lower():
        says = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        yield Broken("openai.format.json_word", says)


def contents(body: Body) -> Iterator[Broken]:
    """chat.content.null, chat.message.name, chat.part.role, chat.image.role, chat.image.data."""
    for i, message in enumerate(body["messages"]):
        silent = message["role"] == "assistant" and any(
            message.get(key) for key in ("tool_calls", "function_call", "refusal")
        )
        if message.get("content") is None and not silent:
            yield Broken("chat.content.null", "Invalid value for 'content': expected a string, got null.")
        if not re.fullmatch(r"[^\s<|\\/>]+", message.get("name", "x")):
            says = (
                f"Invalid 'messages[{i}].name': string does not match pattern. Expected a string that matches "
                "the pattern '^[^\\s<|\\\\/>]+$'."
            )
            yield Broken("chat.message.name", says, code="invalid_value")
        parts = message["content"] if isinstance(message.get("content"), list) else []
        for j, part in enumerate(parts):
            yield from part_rules(part, message["role"], path=f"messages[{i}].content[{j}]")


def part_rules(part: Body, role: str, *, path: str) -> Iterator[Broken]:
    """What a part may be in a message of this role."""
    if part["type"] == "image_url" and role != "user":
        says = (
            f"Invalid '{path}'. Image URLs are only allowed for messages with role 'user', but this message "
            f"with role '{role}' contains an image URL."
        )
        yield Broken("chat.image.role", says, code="invalid_value")
    elif part["type"] not in PARTS.get(role, ("text",)):
        says = f"Invalid value: '{part['type']}'. Supported values are: {', '.join(map(repr, PARTS[role]))}."
        yield Broken("chat.part.role", says, code="invalid_value")
    elif part["type"] == "image_url" and not is_picture(part["image_url"]["url"]):
        says = (
            f"Invalid '{path}.image_url.url'. Expected a valid URL or a base64-encoded data URL with an "
            "image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got a value without "
            "one."
        )
        yield Broken("chat.image.data", says, code="invalid_value")


def is_picture(url: str) -> bool:
    """Whether an address is one of a picture that models see."""
    if url.startswith(("http://", "https://")):
        return True
    found = re.fullmatch(r"data:image/(png|jpeg|gif|webp);base64,(.+)", url)
    return found is not None and base64.b64decode(found[2], validate=True) is not None


def tool_rounds(body: Body) -> Iterator[Broken]:
    """chat.tool.orphan, chat.tool.unknown_id, chat.tool.unanswered, chat.tool.duplicate."""
    open_ids: list[str] = []
    asked: list[str] = []
    for i, message in enumerate([*body["messages"], {"role": "end"}]):
        if message["role"] == "tool":
            yield from answering(message["tool_call_id"], open_ids, asked=asked, i=i)
            continue
        if open_ids:
            says = (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: "
                f"{', '.join(open_ids)}"
            )
            yield Broken("chat.tool.unanswered", says)
        asked = [call["id"] for call in message.get("tool_calls") or ()]
        open_ids = list(asked)
        if len(set(asked)) < len(asked):
            yield Broken("chat.tool.duplicate", f"Duplicate value for 'tool_call_id' of {asked[0]} in message[{i}]")


def answering(id: str, open_ids: list[str], *, asked: Sequence[str], i: int) -> Iterator[Broken]:
    """What is wrong with a tool message that answers this id."""
    if not asked:
        says = (
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        )
        yield Broken("chat.tool.orphan", says)
    elif id in open_ids:
        open_ids.remove(id)
    elif id in asked:
        yield Broken("chat.tool.duplicate", f"Duplicate value for 'tool_call_id' of {id} in message[{i}]")
    else:
        says = f"Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message."
        yield Broken("chat.tool.unknown_id", says)


def llama_cpp(body: Body) -> Iterator[Broken]:
    """compat.llamacpp.content, compat.llamacpp.prefill."""
    for message in body["messages"]:
        if message["role"] == "assistant" and not message.get("content") and not message.get("tool_calls"):
            yield Broken("compat.llamacpp.content", "Assistant message must contain either 'content' or 'tool_calls'!")
    if [message["role"] for message in body["messages"][-2:]] == ["assistant"] * 2:
        yield Broken("compat.llamacpp.prefill", "Cannot have 2 or more assistant messages at the end of the list.")


def ollama(body: Body) -> Iterator[Broken]:
    """compat.ollama.image_url, compat.ollama.arguments."""
    for message in body["messages"]:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if part["type"] == "image_url" and not part["image_url"]["url"].startswith("data:"):
                says = "image URLs are not currently supported, please use base64 encoded data instead"
                yield Broken("compat.ollama.image_url", says)
        for call in message.get("tool_calls") or ():
            if not is_object(call["function"]["arguments"]):
                yield Broken("compat.ollama.arguments", "invalid tool call arguments")


def is_object(text: str) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def templates(body: Body) -> Iterator[Broken]:
    """compat.template.*, and no blank text, which servers that stand before others refuse."""
    roles = [message["role"] for message in body["messages"] if message["role"] != "system"]
    if any(message["role"] == "system" for message in body["messages"][1:]):
        yield Broken("compat.template.system", "System message must be at the beginning.")
    if "user" not in roles:
        yield Broken("compat.template.user", "No user query found in messages.")
    if any(first == second != "tool" for first, second in pairwise(roles)):
        yield Broken("compat.template.alternate", "Conversation roles must alternate user/assistant/user/assistant/...")
    texts = [message.get("content") for message in body["messages"] if "content" in message]
    if any(isinstance(text, str) and not text.strip() for text in texts):
        yield Broken("blank", "text content blocks must contain non-whitespace text")


OPENAI: Sequence[Callable[[Body], Iterator[Broken]]] = (
    model_required, field_required, field_unknown, field_type, field_value, number_range, arrays, strings, schemas,
    by_model, belongings, both_limits, json_word, contents, tool_rounds,
)  # fmt: skip
COMPATIBLE: Sequence[Callable[[Body], Iterator[Broken]]] = (
    model_required, field_required, field_type, field_value, arrays, strings, contents, tool_rounds,
    llama_cpp, ollama, templates,
)  # fmt: skip


def too_long(body: Body, window: int, *, compatible: bool) -> Broken | None:
    """chat.context_length, chat.context_plus_output, chat.input_limit, compat.llamacpp.context."""
    tokens = len(json.dumps(body["messages"])) // 4
    output = body.get("max_completion_tokens", 0)
    if tokens + output <= window:
        return None
    if compatible:
        says = f"request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it"
        return Broken("compat.llamacpp.context", says)
    code = "context_length_exceeded"
    if reasons(body):
        says = (
            f"Input tokens exceed the configured limit of {window} tokens. Your messages resulted in {tokens} tokens."
        )
        return Broken("chat.input_limit", says + " Please reduce the length of the messages.", code=code)
    says = f"This model's maximum context length is {window} tokens. However, "
    if tokens <= window:
        says += f"you requested {tokens + output} tokens ({tokens} in the messages, {output} in the completion). "
        says += "Please reduce the length of the messages or completion."
        return Broken("chat.context_plus_output", says, code=code)
    says += f"your messages resulted in {tokens} tokens. Please reduce the length of the messages."
    return Broken("chat.context_length", says, code=code)


def broken(body: Body, *, compatible: bool = False) -> Broken | None:
    """The first rule that a body breaks, in about the order in which they are reported, or None."""
    for rule in COMPATIBLE if compatible else OPENAI:
        for found in rule(body):
            return found
    return None
