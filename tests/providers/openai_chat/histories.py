"""Histories as trimming, crashes and other providers leave them, for property tests."""

from typing import Any

from hypothesis import strategies as st

from antiphon._messages import File, Image, Message, Part, Reasoning, Text, ToolCall, ToolResult
from antiphon.models import ModelRequest, ToolSpec

TEXTS = st.one_of(
    st.sampled_from(["", " ", "\n\t", "\u200b", "hello", "a\ud800b", "\x00", "日本 🎉", "Error: x"]),
    st.text(max_size=12),
)
IDS = st.sampled_from(["a", "b", "c", "", "x" * 40, "y" * 43, "z" * 200, "f.x:0", "é", "with space", "\ud800"])
NAMES = st.sampled_from(["look_up", "mcp.git.log", "", "n" * 80, "ö", "a b"])
PICTURE = "aW1nIGJ5dGVzIGhlcmU="
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(TEXTS, inner, max_size=2)),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(TEXTS, VALUES, max_size=2)

CALLS = st.builds(
    lambda id, name, arguments, raw: ToolCall.of(id, name, arguments=arguments, raw=raw),
    IDS, NAMES, ARGUMENTS, st.one_of(st.none(), st.just('{"cut": ')),
)  # fmt: skip
RESULTS = st.builds(
    lambda id, name, output, wrong: ToolResult.of(id, name, output=output, is_error=wrong),
    IDS, NAMES, VALUES, st.booleans(),
)  # fmt: skip
MEDIA: st.SearchStrategy[Part] = st.sampled_from(
    [
        Image("image/png", data=PICTURE, detail="low"),
        Image("image/bmp", data=PICTURE),
        Image("image/png", file_id="file-1"),
        Image("image/png", blob="sha256:00"),
        File("application/pdf", data="JVBERi0=", name="a.pdf"),
        File("application/pdf", file_id="file-2"),
        File("application/pdf", url="https://example.com/a.pdf"),
    ]
)
PARTS: st.SearchStrategy[Part] = st.one_of(
    TEXTS.map(Text), CALLS, RESULTS, MEDIA, TEXTS.map(lambda text: Reasoning(text, provider="elsewhere"))
)
MESSAGES = st.builds(
    lambda role, parts: Message(role, tuple(parts)),
    st.sampled_from(["user", "assistant", "assistant", "tool", "tool", "system"]),
    st.lists(PARTS, max_size=4),
)
TOOLS = st.lists(
    st.builds(
        ToolSpec,
        NAMES,
        TEXTS,
        st.sampled_from([{}, {"type": "object"}, {"type": "object", "properties": {"a": {"type": "string"}}}]),
    ),
    max_size=3,
)
LAST = Message.of("user", "And now?")
REQUESTS = st.builds(
    lambda messages, system, tools, most, schema: ModelRequest(
        [*messages, LAST], system, tools, max_output_tokens=most, output_schema=schema
    ),
    st.lists(MESSAGES, max_size=7),
    TEXTS,
    TOOLS,
    st.sampled_from([None, 1, 500]),
    st.sampled_from([None, {"type": "object", "properties": {}, "additionalProperties": False}]),
)
