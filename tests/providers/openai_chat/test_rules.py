"""The strict server refuses what it should: what it lets pass was looked at."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.providers.openai_chat.rules import broken

HI = {"role": "user", "content": "Hi"}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ASKS = {"role": "assistant", "tool_calls": [CALL]}
GAVE = {"role": "tool", "tool_call_id": "a", "content": "1"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
PNG = "data:image/png;base64,aW1n"


def tool(**fields: Any) -> dict[str, Any]:
    """A tool with these fields changed."""
    return {"type": "function", "function": {**TOOL["function"], **fields}}  # type: ignore[dict-item]


def picture(url: str) -> list[dict[str, Any]]:
    """A content with a picture."""
    return [{"type": "image_url", "image_url": {"url": url}}]


def asks(**fields: Any) -> dict[str, Any]:
    """A call with these fields changed."""
    return {"role": "assistant", "tool_calls": [{**CALL, **fields}]}


OPENAI: list[tuple[str, Mapping[str, Any]]] = [
    ("openai.model.required", {"model": ""}),
    ("openai.field.required", {"messages": [{"role": "user"}]}),
    ("openai.field.required", {"messages": [HI, ASKS, {"role": "tool", "content": "1"}]}),
    ("openai.field.unknown", {"max_output_tokens": 1}),
    ("openai.field.type", {"messages": [{"role": "user", "content": 1}]}),
    ("openai.field.type", {"messages": [HI, asks(function={"name": "f", "arguments": {}}), GAVE]}),
    ("openai.field.value", {"messages": [{"role": "person", "content": "Hi"}]}),
    ("openai.field.min", {"max_completion_tokens": 0}),
    ("openai.field.max", {"temperature": 3}),
    ("openai.output.too_large", {"max_completion_tokens": 1_000_000}),
    ("openai.array.empty", {"messages": []}),
    ("openai.array.empty", {"tools": []}),
    ("openai.array.empty", {"messages": [{"role": "assistant", "content": "x", "tool_calls": []}]}),
    ("openai.array.long", {"stop": list("abcde")}),
    ("openai.string.empty", {"tools": [tool(name="")]}),
    ("openai.string.long", {"tools": [tool(name="f" * 65)]}),
    ("openai.string.long", {"messages": [HI, asks(id="a" * 41), {**GAVE, "tool_call_id": "a" * 41}]}),
    ("openai.name.pattern", {"tools": [tool(name="a.b")]}),
    ("openai.tools.duplicate", {"tools": [TOOL, TOOL]}),
    ("openai.tools.schema", {"tools": [tool(parameters={})]}),
    ("openai.tools.schema", {"tools": [tool(parameters={"type": "object"})]}),
    ("openai.tools.strict_schema", {"tools": [tool(strict=True)]}),
    ("openai.tool_choice.without_tools", {"tool_choice": "auto"}),
    ("openai.tool_choice.unknown", {"tools": [TOOL], "tool_choice": {"function": {"name": "g"}}}),
    ("openai.parallel.without_tools", {"parallel_tool_calls": True}),
    ("openai.param.unsupported", {"model": "gpt-5-mini", "max_tokens": 5}),
    ("openai.param.unsupported", {"reasoning_effort": "low"}),
    ("openai.value.unsupported", {"model": "gpt-5-mini", "temperature": 0}),
    ("openai.stream_options.without_stream", {"stream_options": {}}),
    ("openai.format.json_word", {"response_format": {"type": "json_object"}}),
    ("chat.content.null", {"messages": [{"role": "assistant", "content": None}]}),
    ("chat.role.unsupported", {"model": "gpt-5.6", "messages": [{"role": "function", "content": "x"}]}),
    ("chat.message.name", {"messages": [{**HI, "name": "a b"}]}),
    ("chat.part.role", {"messages": [{"role": "tool", "tool_call_id": "a", "content": [{"type": "file"}]}]}),
    ("chat.image.role", {"messages": [HI, ASKS, {**GAVE, "content": picture(PNG)}]}),
    ("chat.image.data", {"messages": [{"role": "user", "content": picture("data:image/bmp;base64,aW1n")}]}),
    ("chat.tool.orphan", {"messages": [HI, GAVE]}),
    ("chat.tool.unknown_id", {"messages": [HI, ASKS, {**GAVE, "tool_call_id": "b"}]}),
    ("chat.tool.unanswered", {"messages": [HI, ASKS]}),
    ("chat.tool.unanswered", {"messages": [HI, ASKS, HI, GAVE]}),
    ("chat.tool.duplicate", {"messages": [HI, ASKS, GAVE, GAVE]}),
    ("chat.tool.duplicate", {"messages": [HI, {"role": "assistant", "tool_calls": [CALL, CALL]}, GAVE, GAVE]}),
    ("chat.max_tokens.both", {"max_tokens": 1, "max_completion_tokens": 1}),
    ("chat.tools.reasoning", {"model": "gpt-5.6", "tools": [TOOL]}),
    ("chat.top_logprobs", {"top_logprobs": 2}),
]
COMPATIBLE: list[tuple[str, list[Mapping[str, Any]]]] = [
    ("compat.llamacpp.content", [HI, {"role": "assistant", "content": ""}]),
    ("compat.llamacpp.prefill", [HI, *[{"role": "assistant", "content": "x"}] * 2]),
    ("compat.ollama.image_url", [{"role": "user", "content": picture("https://example.com/a.png")}]),
    ("compat.ollama.arguments", [HI, asks(function={"name": "f", "arguments": "{cut"}), GAVE]),
    ("compat.template.alternate", [HI, HI]),
    ("compat.template.system", [HI, {"role": "system", "content": "x"}]),
    ("compat.template.user", [{"role": "system", "content": "x"}]),
    ("blank", [{"role": "user", "content": " "}]),
]


@pytest.mark.parametrize(("rule", "wrong"), OPENAI)
def test_openai_refuses(rule: str, wrong: Mapping[str, Any]) -> None:
    """Each rule of OpenAI's is broken by a request that is wrong in this alone, and mostly fine else."""
    found = broken({"model": "m", "messages": [HI], **wrong})
    assert found is not None and found.rule == rule


@pytest.mark.parametrize(("rule", "messages"), COMPATIBLE)
def test_compatible_servers_refuse(rule: str, messages: list[Mapping[str, Any]]) -> None:
    """So is each rule of the servers that are compatible."""
    found = broken({"model": "m", "messages": messages}, compatible=True)
    assert found is not None and found.rule == rule


@pytest.mark.parametrize("compatible", [True, False])
def test_what_is_right_passes(compatible: bool) -> None:
    """A round of tools with a picture before it breaks nothing."""
    seen = {"role": "user", "content": [{"type": "text", "text": "See"}, *picture(PNG)]}
    said = {"role": "assistant", "content": "One."}
    assert (
        broken({"model": "m", "messages": [seen, ASKS, GAVE, said, HI], "tools": [TOOL]}, compatible=compatible) is None
    )
