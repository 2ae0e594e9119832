"""Reads what other programs keep of their sessions, as messages. Test code: none of it is part of the library.

A file is told by its content and not by its name. What is no conversation in a known form gives nothing.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from antiphon import Image, Message, Reasoning, Text, ToolCall, ToolResult
from antiphon._messages import Part, read_message

Json = Mapping[str, Any]
ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "AI": "assistant"}


def conversations(path: Path) -> list[list[Message]]:
    """The conversations in a file, each as messages; none if it holds none in a form that is known."""
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    try:
        found = json.loads(content)
        lines = found if isinstance(found, list) else [found]
    except ValueError:
        lines = list(_lines(content))
    objects = [each for each in lines if isinstance(each, dict)]
    read = [list(distinct(messages)) for messages in _read(objects)]
    return [messages for messages in read if any(message.role == "user" for message in messages)]


def _lines(content: str) -> Iterator[Any]:
    for line in content.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue  # A torn line costs itself: writers of such files die in the middle of one.


def _read(objects: Sequence[Json]) -> Iterator[Iterable[Message]]:
    for applies, reader in SINGLE:
        whole = [each for each in objects if applies(each)]
        if whole:
            yield from (reader(each) for each in whole)
            return
    for applies, line_reader in LINES:
        if any(applies(each) for each in objects):
            yield merged(message for each in objects if applies(each) for message in line_reader(each))
            return


# --- one object a conversation -----------------------------------------------------------------------------------


def sharegpt(given: Json) -> Iterator[Message]:
    """ShareGPT: `{"conversations": [{"from", "value"}]}`."""
    for said in given["conversations"]:
        if said.get("from") in ROLES:
            yield Message.of(ROLES[said["from"]], str(said.get("value") or ""))  # type: ignore[arg-type]


def swe_agent(given: Json) -> Iterator[Message]:
    """SWE-agent: OpenAI's objects, with the ids of calls in a list."""
    for said in given["history"]:
        ids = said.get("tool_call_ids")
        yield read_message({**said, "tool_call_id": ids[0]} if ids else said)


def chatgpt(given: Json) -> Iterator[Message]:
    """An export of ChatGPT: a tree, of which the branch that was last looked at counts."""
    nodes = given["mapping"]
    at = given.get("current_node") if given.get("current_node") in nodes else None
    branch: list[Json] = []
    at = at or next((id for id, node in reversed(list(nodes.items())) if not node.get("children")), None)
    while at in nodes and nodes[at] not in branch:
        branch.append(nodes[at])
        at = nodes[at].get("parent")
    for node in reversed(branch):
        said = node.get("message") or {}
        role = ROLES.get((said.get("author") or {}).get("role", ""))
        parts = (said.get("content") or {}).get("parts") or ()
        text = "\n".join(part for part in parts if isinstance(part, str))
        if role and text:
            yield Message.of(role, text)  # type: ignore[arg-type]


def claude_ai(given: Json) -> Iterator[Message]:
    """An export of claude.ai: `{"chat_messages": [{"sender", "text"}]}`."""
    for said in given["chat_messages"]:
        yield Message.of(ROLES[said["sender"]], str(said.get("text") or ""))  # type: ignore[arg-type]


def gemini(given: Json) -> Iterator[Message]:
    """The Gemini command line: calls and their results lie in the message that asks for them."""
    for said in given["messages"]:
        text = said["content"] if isinstance(said.get("content"), str) else ""
        if said.get("type") != "gemini":
            if said.get("type") == "user" and text:
                yield Message.of("user", text)
            continue
        calls, results = list[Part](), list[Part]()
        for n, call in enumerate(said.get("toolCalls") or ()):
            id, name = str(call.get("id") or f"{said.get('id')}-{n}"), str(call.get("name"))
            calls.append(ToolCall.of(id, name, arguments=call.get("args") or {}))
            results.append(ToolResult.of(id, name, output=call.get("result") or call.get("status")))
        yield Message.of("assistant", [*([Text(text)] if text else []), *calls])
        if results:
            yield Message("tool", tuple(results))


def loglines(given: Json) -> Iterator[Message]:
    """An export of Claude Code's lines in one object."""
    return merged(message for line in given["loglines"] for message in claude_code(line))


# --- one object a line -------------------------------------------------------------------------------------------


def pi(line: Json) -> Iterator[Message]:
    """Pi: a message a line, results as messages of their own."""
    said = line["message"]
    if said["role"] == "toolResult":
        output = "\n".join(part.get("text", "") for part in said["content"])
        result = ToolResult.of(
            said["toolCallId"], said["toolName"], output=output, is_error=bool(said.get("isError", False))
        )
        yield Message("tool", (result,))
        return
    yield Message(said["role"], tuple(_parts(said["content"])))


def claude_code(line: Json) -> Iterator[Message]:
    """Claude Code: Anthropic's messages; results stand in the user's."""
    said = line.get("message", line)
    role = said.get("role", line.get("type")) if isinstance(said, dict) else None
    if role not in ("user", "assistant") or line.get("isSidechain"):
        return
    parts = tuple(_parts(said.get("content")))
    only_results = bool(parts) and all(isinstance(part, ToolResult) for part in parts)
    if parts:
        yield Message("tool" if only_results else role, parts)


def codex(line: Json) -> Iterator[Message]:
    """Codex: items of a response."""
    item = line["payload"]
    match item.get("type", "message"):
        case "message" if item.get("role") in ("user", "assistant"):
            yield Message(item["role"], tuple(_parts(item.get("content"))))
        case "function_call":
            call = {"id": item["call_id"], "name": item["name"], "arguments": item.get("arguments")}
            yield read_message({"role": "assistant", "tool_calls": [call]})
        case "function_call_output":
            yield Message("tool", (ToolResult.of(item["call_id"], "", output=item.get("output")),))
        case _:
            return


def _parts(content: Any) -> Iterator[Part]:
    if isinstance(content, str):
        yield from [Text(content)] if content else []
        return
    for part in (each for each in content or () if isinstance(each, dict)):
        kind, text = part.get("type"), part.get("text")
        if kind in ("text", "input_text", "output_text") and text:
            yield Text(text)
        elif kind == "thinking":
            yield Reasoning(str(part.get("thinking") or ""))
        elif kind in ("tool_use", "toolCall"):
            arguments = part.get("input") or part.get("arguments") or {}
            yield ToolCall.of(part["id"], part["name"], arguments=arguments if isinstance(arguments, dict) else {})
        elif kind == "tool_result":
            given = part.get("content")
            texts = (
                [each.get("text", "") for each in given if isinstance(each, dict)] if isinstance(given, list) else []
            )
            output = "\n".join(texts) if isinstance(given, list) else given
            yield ToolResult.of(part["tool_use_id"], "", output=output, is_error=bool(part.get("is_error")))
        elif kind == "image":
            source = part.get("source") or {}
            yield Image(str(source.get("media_type", "image/png")), data=str(source.get("data") or "aGk="))


# --- both --------------------------------------------------------------------------------------------------------


def merged(messages: Iterable[Message]) -> Iterator[Message]:
    """A reply whose calls were written a line each is one reply again, as long as no result stands between."""
    last: Message | None = None
    for message in messages:
        if (
            last is not None
            and last.role == message.role
            and (last.calls if last.role == "assistant" else last.results)
        ):
            last = Message(last.role, (*last.parts, *message.parts))
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def distinct(messages: Iterable[Message]) -> Iterator[Message]:
    """A call that was written twice in one reply counts once."""
    for message in messages:
        seen, parts = set[str](), list[Part]()
        for part in message.parts:
            if isinstance(part, ToolCall):
                if part.id in seen:
                    continue
                seen.add(part.id)
            parts.append(part)
        yield Message(message.role, tuple(parts))


def _has(*names: str) -> Callable[[Json], bool]:
    return lambda given: all(name in given for name in names)


SINGLE: tuple[tuple[Callable[[Json], bool], Callable[[Json], Iterable[Message]]], ...] = (
    (_has("conversations"), sharegpt),
    (_has("history", "trajectory"), swe_agent),
    (_has("mapping"), chatgpt),
    (_has("chat_messages"), claude_ai),
    (_has("loglines"), loglines),
    (lambda given: isinstance(given.get("messages"), list) and "sessionId" in given, gemini),
)
LINES: tuple[tuple[Callable[[Json], bool], Callable[[Json], Iterable[Message]]], ...] = (
    (lambda given: given.get("type") == "message" and "content" in given.get("message", {}), pi),
    (lambda given: given.get("type") == "response_item" and isinstance(given.get("payload"), dict), codex),
    (lambda given: given.get("type") in ("user", "assistant") and "message" in given, claude_code),
    (lambda given: given.get("role") in ("user", "assistant") and "content" in given, claude_code),
)
