"""Conversations that other programs wrote: OpenAI-style messages as JSON, or one a line."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._messages import Message, check_part, read_message
from ..errors import NotStorable
from ._endings import Refused

_ROLES = ("system", "user", "assistant", "tool")


def read_messages(name: str) -> list[Message]:
    """Read the messages of a file; `-` is standard input.

    The file holds a list of messages, an object with `messages`, or one message a line.

    Raises:
        Refused: naming the place of what cannot be read, or that no person says anything in it.
        OSError: if there is no such file, or it cannot be opened.
    """
    content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    shown = "standard input" if name == "-" else name
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"{shown} is not UTF-8: byte {error.start + 1} cannot be read") from None
    found = [_message(each, f"message {n} of {shown}") for n, each in enumerate(_listed(text, shown), 1)]
    if not any(message.role == "user" for message in found):
        raise Refused(f"{shown} holds no message of a user, so there is no turn in it")
    return found


def _listed(text: str, shown: str) -> Sequence[Any]:
    if not text.strip():
        raise Refused(f"{shown} is empty")
    try:
        whole = _parsed(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and lines[0].lstrip().startswith("{") and lines[0].rstrip().endswith("}"):
            return _lines(text, shown)
        raise Refused(f"{shown} is not JSON: {error}") from None
    if isinstance(whole, Mapping) and "messages" not in whole:
        if "role" in whole:
            return [whole]
        raise Refused(f"{shown} is an object without `messages`; it has {_keys(whole)}")
    messages = whole["messages"] if isinstance(whole, Mapping) else whole
    if not isinstance(messages, list):
        what = "`messages`" if isinstance(whole, Mapping) else "what it holds"
        raise Refused(f"{shown} has no list of messages: {what} is {_kind(messages)}")
    return messages


def _lines(text: str, shown: str) -> list[Any]:
    found = []
    for n, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            each = _parsed(line)
        except ValueError as error:
            raise Refused(f"line {n} of {shown} is not JSON: {error}") from None
        if isinstance(each, Mapping) and "messages" in each and "role" not in each:
            raise Refused(f"line {n} of {shown} is a whole conversation; put each into a file of its own")
        found.append(each)
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _message(given: Any, place: str) -> Message:
    if not isinstance(given, Mapping):
        raise Refused(f"{place} is {_kind(given)}, not an object with `role` and `content`")
    if "role" not in given:
        raise Refused(f"{place} has no `role`; it has {_keys(given)}")
    # OpenAI's newer models call the system's role the developer's.
    role = "system" if given["role"] == "developer" else given["role"]
    if role not in _ROLES:
        raise Refused(f"{place}: `role` is {json.dumps(role)}, none of {', '.join(_ROLES)}")
    calls = given.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise Refused(f"{place}: `tool_calls` is {_kind(calls)}, not a list")
    try:
        message = read_message({**given, "role": role})
        for n, part in enumerate(message.parts):
            check_part(part, f"part {n + 1}")
    except NotStorable as error:
        raise Refused(f"{place}: {error.path} holds {error.found}") from None
    twice = [id for id, times in Counter(call.id for call in message.calls).items() if times > 1]
    if twice:
        raise Refused(f"{place}: `tool_calls` has the id {json.dumps(twice[0])} more than once")
    return message


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds: dict[type[Any], str] = {str: "text", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number")


def _keys(value: Mapping[str, Any]) -> str:
    return ", ".join(f"`{key}`" for key in list(value)[:8]) or "no key"
