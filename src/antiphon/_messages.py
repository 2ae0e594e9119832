"""Messages and their parts: what people, models and tools said, in a form that belongs to no provider.

Parts are frozen. Free JSON inside them (arguments, outputs, a provider's opaque data) is kept as bytes and decoded
anew on each access. The journal's form of a message is the codec's; `Message.to_json` is the OpenAI-style object
that imports, exports and hand-held histories speak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from ._jsonable import NULL, Jsonable, encode, freeze, loads, thaw
from .errors import CorruptJournal, NotStorable

Role = Literal["system", "user", "assistant", "tool"]

MAX_MEDIA = 10 * 1024 * 1024
"""Bytes of base64 that one part may hold: larger media belongs beside the journal, not in a line of it."""


class _Part(msgspec.Struct, frozen=True, tag_field="type", rename="camel", omit_defaults=True):
    pass


class Text(_Part, frozen=True, tag="text"):
    """Plain text."""

    text: str


class _Media(_Part, frozen=True):
    """Media is held in exactly one way: base64 `data`, a `url`, a provider's `file_id`, or a `blob` digest."""

    media_type: str
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    blob: str | None = None


class Image(_Media, frozen=True, tag="image"):
    """A picture; `width` and `height` are pixels, where known."""

    width: int | None = None
    height: int | None = None
    detail: Literal["low", "high", "auto"] | None = None


class File(_Media, frozen=True, tag="file"):
    """A document; `pages` where known."""

    name: str | None = None
    pages: int | None = None


class ToolCall(_Part, frozen=True, tag="toolCall"):
    """A model asks for a tool to be run. `raw` is what the model wrote where that was not a JSON object."""

    id: str
    name: str
    arguments_json: msgspec.Raw = msgspec.field(name="arguments", default=msgspec.Raw(b"{}"))
    raw: str | None = None

    @classmethod
    def of(cls, id: str, name: str, *, arguments: Mapping[str, Jsonable], raw: str | None = None) -> ToolCall:
        """Make a call from decoded arguments.

        Raises:
            NotStorable: if the arguments are not JSON.
        """
        return cls(id, name, freeze(dict(arguments), f"arguments of {name}"), raw)

    @property
    def arguments(self) -> dict[str, Jsonable]:
        """The arguments, decoded anew on each access."""
        found = thaw(self.arguments_json)
        return found if isinstance(found, dict) else {}


class ToolResult(_Part, frozen=True, tag="toolResult"):
    """What a call gave: `output` is any JSON value, `media` the pictures and documents beside it.

    `limit` is the most bytes of the output that a model is shown, where that is not all of it.
    """

    call_id: str
    name: str
    output_json: msgspec.Raw = msgspec.field(name="output", default=NULL)
    is_error: bool = False
    media: tuple[Image | File, ...] = ()
    limit: int | None = None

    @classmethod
    def of(
        cls,
        call_id: str,
        name: str,
        *,
        output: Jsonable,
        is_error: bool = False,
        media: Sequence[Image | File] = (),
    ) -> ToolResult:
        """Make a result from a JSON value.

        Raises:
            NotStorable: if the output is not JSON, or no journal keeps one of the media.
        """
        made = cls(call_id, name, freeze(output, f"output of {name}"), is_error, tuple(media))
        check_part(made, f"result of {name}")
        return made

    @property
    def output(self) -> Jsonable:
        """The output, decoded anew on each access."""
        return thaw(self.output_json)

    @property
    def text(self) -> str:
        """The output as a model reads it: text as it is, anything else as JSON."""
        found = self.output
        return found if isinstance(found, str) else encode(found).decode()


class Reasoning(_Part, frozen=True, tag="reasoning"):
    """A model's reasoning, with what only its own provider and model may be shown again."""

    text: str = ""
    signature: str | None = None
    opaque_json: msgspec.Raw = msgspec.field(name="opaque", default=NULL)
    provider: str | None = None
    model: str | None = None

    @property
    def opaque(self) -> Jsonable:
        """The provider's own data, decoded anew on each access."""
        return thaw(self.opaque_json)


Part = Text | Image | File | ToolCall | ToolResult | Reasoning
Input = str | Sequence[Part]
"""What a person says: text, or parts in order."""
StoredInput = str | tuple[Part, ...]


class Message(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, dict=True):
    """One message: a role and its parts in order. Equality is by content."""

    role: Role
    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, role: Role, content: Input) -> Message:
        """Make a message from text or from parts; empty text gives a message without parts."""
        if isinstance(content, str):
            return cls(role, (Text(content),) if content else ())
        return cls(role, tuple(content))

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in this message, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results in this message, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    def to_json(self) -> dict[str, Jsonable]:
        """Give the OpenAI-style object: role, content, and `tool_calls` or `tool_call_id` where there are any.

        A message with several results gives the first one's id: one object stands for one result there, so split
        such a message with `one_result_each` first. Reasoning is left out.
        """
        found: dict[str, Jsonable] = {"role": self.role}
        if self.role == "tool" and self.results:
            first = self.results[0]
            return found | {"tool_call_id": first.call_id, "content": _result_content(first)}
        spoken = [part for part in self.parts if isinstance(part, Text | Image | File)]
        if spoken or not self.calls:
            found["content"] = self.text if _only_text(spoken) else [_spoken_json(part) for part in spoken]
        if self.calls:
            found["tool_calls"] = [_call_json(call) for call in self.calls]
        return found

    def __str__(self) -> str:
        return self.text


def one_result_each(message: Message) -> list[Message]:
    """Split a message with several tool results into one message each; any other message stays whole."""
    if len(message.results) < 2:
        return [message]
    return [Message(message.role, (part,)) for part in message.parts]


def _only_text(parts: Sequence[Part]) -> bool:
    return all(isinstance(part, Text) for part in parts)


def _call_json(call: ToolCall) -> dict[str, Jsonable]:
    text = bytes(call.arguments_json).decode() if call.raw is None else call.raw
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text}}


def _result_content(result: ToolResult) -> Jsonable:
    if not result.media:
        return result.text
    said = (Text(result.text),) if result.text else ()
    return [_spoken_json(part) for part in (*said, *result.media)]


def _spoken_json(part: Text | Image | File) -> dict[str, Jsonable]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    address = part.url or f"data:{part.media_type};base64,{part.data or ''}"
    if isinstance(part, Image):
        return {"type": "image_url", "image_url": {"url": address}}
    file: dict[str, Jsonable] = {"filename": part.name} if part.name else {}
    return {"type": "file", "file": file | ({"file_id": part.file_id} if part.file_id else {"file_data": address})}


def stored_input(given: Input) -> StoredInput:
    """Check what a person said and give the form that is kept: text stays text, parts become a tuple.

    Raises:
        NotStorable: if it is neither, if a part is held in no way or in two, or if one is larger than 10 MiB.
    """
    if isinstance(given, str):
        return given
    if isinstance(given, bytes | Mapping) or not isinstance(given, Sequence):
        raise NotStorable(
            "input", f"a {type(given).__name__}", advice="give text, or a list of parts such as Text and Image"
        )
    return tuple(check_part(part, f"input[{i}]") for i, part in enumerate(given))


def check_part(part: Any, path: str) -> Part:
    """Give the part back, or refuse what no journal keeps, named by `path`.

    Raises:
        NotStorable: see `stored_input`.
    """
    if not isinstance(part, Part):
        raise NotStorable(path, f"a {type(part).__name__}, not a part of a message")
    if isinstance(part, ToolResult):
        for i, each in enumerate(part.media):
            if not isinstance(each, Image | File):
                raise NotStorable(f"{path}.media[{i}]", f"a {type(each).__name__}, neither an Image nor a File")
            check_part(each, f"{path}.media[{i}]")
    if not isinstance(part, Image | File):
        return part
    ways = [way for way in (part.data, part.url, part.file_id, part.blob) if way is not None]
    if len(ways) != 1:
        raise NotStorable(path, f"media held in {len(ways)} ways instead of one of data, url, file_id, blob")
    if part.data is not None and len(part.data) > MAX_MEDIA:
        raise NotStorable(path, f"{len(part.data):,} bytes of base64, more than {MAX_MEDIA:,}")
    return part


def input_text(given: StoredInput) -> str:
    """The words of an input; media gives nothing."""
    return given if isinstance(given, str) else Message("user", given).text


def read_message(given: object) -> Message:
    """Take a message, or a plain `{"role", "content"}` object in OpenAI's style.

    Raises:
        NotStorable: if it is neither.
    """
    if isinstance(given, Message):
        return given
    if not isinstance(given, Mapping) or given.get("role") not in ("system", "user", "assistant", "tool"):
        raise NotStorable("message", f"{_shape(given)}, neither a Message nor a dict with a role and content")
    if given["role"] == "tool":
        return Message("tool", (_read_result(given),))
    calls = tuple(_read_call(call, f"tool_calls[{i}]") for i, call in enumerate(given.get("tool_calls") or ()))
    return Message(given["role"], _read_content(given.get("content")) + calls)


def _shape(given: object) -> str:
    return (
        f"a dict with the keys {sorted(map(str, given))}" if isinstance(given, Mapping) else f"a {type(given).__name__}"
    )


def _read_result(given: Mapping[str, Any]) -> ToolResult:
    """The result that a tool message is. Media among its parts stays media: as JSON it would be read as text."""
    output, media = given.get("content"), []
    if isinstance(output, Sequence) and any(map(_is_media, output)):
        media = [_read_part(part, f"content[{i}]") for i, part in enumerate(output) if _is_media(part)]
        others = [part for part in output if not _is_media(part)]
        output = "".join(map(_text_of, others)) if all(map(_is_text, others)) else others
    return ToolResult.of(
        str(given.get("tool_call_id", "")),
        str(given.get("name", "")),
        output=output,
        media=[part for part in media if isinstance(part, Image | File)],
    )


def _is_media(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return isinstance(part, Image | File)
    kind = part.get("type")
    return kind in ("image_url", "file") and isinstance(part.get(kind), Mapping)


def _is_text(part: Any) -> bool:
    return isinstance(part, Text) or (isinstance(part, Mapping) and isinstance(part.get("text"), str))


def _text_of(part: Any) -> str:
    return part.text if isinstance(part, Text) else str(part["text"])


def _read_content(content: Any) -> tuple[Part, ...]:
    if content is None or isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, Sequence):
        raise NotStorable("content", f"a {type(content).__name__}, neither text nor a list of parts")
    return tuple(_read_part(part, f"content[{i}]") for i, part in enumerate(content))


def _read_part(part: Any, path: str) -> Part:
    if isinstance(part, Part):
        return part
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return Text(part["text"])
    if isinstance(part, Mapping) and isinstance(part.get("image_url"), Mapping):
        return _read_image(str(part["image_url"].get("url", "")))
    if isinstance(part, Mapping) and isinstance(part.get("file"), Mapping):
        return _read_file(part["file"])
    raise NotStorable(path, f"{_shape(part)}, a part that cannot be read")


def _read_image(url: str) -> Image:
    media_type, data = _parted(url)
    return Image("image/*", url=url) if media_type is None else Image(media_type, data=data)


def _read_file(file: Mapping[str, Any]) -> File:
    name = None if file.get("filename") is None else str(file["filename"])
    if file.get("file_id") is not None:
        return File("application/octet-stream", file_id=str(file["file_id"]), name=name)
    url = str(file.get("file_data", ""))
    media_type, data = _parted(url)
    if media_type is None:
        return File("application/octet-stream", url=url, name=name)
    return File(media_type, data=data, name=name)


def _parted(url: str) -> tuple[str | None, str]:
    """The media type and base64 of a data URL; no media type for any other address."""
    head, comma, data = url.partition(";base64,")
    return (head.removeprefix("data:"), data) if head.startswith("data:") and comma else (None, "")


def _read_call(call: Any, path: str) -> ToolCall:
    asked = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(asked, Mapping):
        raise NotStorable(path, f"{_shape(call)}, a call that cannot be read")
    id, name = str(call.get("id", "")), str(asked.get("name", ""))
    given = asked.get("arguments") or {}
    arguments = given if isinstance(given, Mapping) else _read_arguments(str(given))
    if arguments is None:
        return ToolCall.of(id, name, arguments={}, raw=str(given))
    return ToolCall.of(id, name, arguments=arguments)


def _read_arguments(text: str) -> Mapping[str, Any] | None:
    """The object that a model wrote, or None if it wrote something else: what JSON is not, too."""
    try:
        found = loads(text.encode())
    except (ValueError, RecursionError, CorruptJournal):
        return None
    return found if isinstance(found, Mapping) else None
