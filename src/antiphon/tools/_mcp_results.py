"""From what an MCP server answers to the one result of a call. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import mcp_types as wire
import msgspec

from .._messages import File, Image, ToolCall, ToolResult
from ._results import result_of

SILENT = "the tool failed and says nothing more"


def result_from(name: str, answer: wire.CallToolResult) -> ToolResult:
    """The result that an answer stands for.

    Structured content is the output, as the JSON value it is; the texts beside it say the same for older clients
    (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#structured-content) and are left out, but
    for an error's. Otherwise the texts are the output. Pictures, sounds and blobs become media; a link to a resource
    stays a link, and nothing is fetched.

    Args:
        name: the tool's full name.
        answer: what the server gave.
    """
    call = ToolCall("", name)
    pieces = [piece for block in answer.content for piece in _pieces(block)]
    if answer.structured_content is not None and not (answer.is_error and pieces):
        media = [piece for piece in pieces if not isinstance(piece, str)]
        made = result_of(call, answer.structured_content)
        kept = result_of(call, media).media
        return msgspec.structs.replace(made, media=kept, is_error=answer.is_error)
    marked = result_of(call, pieces)
    said = "\n".join(map(str, _listed(marked)))
    made = result_of(call, said or (SILENT if answer.is_error else ""))
    return msgspec.structs.replace(made, media=marked.media, is_error=answer.is_error)


def _listed(result: ToolResult) -> Sequence[object]:
    found = result.output
    return found if isinstance(found, list) else [found]


def _pieces(block: wire.ContentBlock) -> Iterator[str | Image | File]:
    if isinstance(block, wire.TextContent):
        yield block.text
    elif isinstance(block, wire.ImageContent | wire.AudioContent):
        yield _medium(block.data, block.mime_type)
    elif isinstance(block, wire.ResourceLink):
        kind = f" ({block.mime_type})" if block.mime_type else ""
        yield f"[resource {block.title or block.name}{kind}: {block.uri}]"
    elif isinstance(block.resource, wire.TextResourceContents):
        yield f"[resource {block.resource.uri}]\n{block.resource.text}"
    else:
        kind = block.resource.mime_type or "application/octet-stream"
        yield f"[resource {block.resource.uri}]"
        yield _medium(block.resource.blob, kind, name=PurePosixPath(block.resource.uri).name or None)


def _medium(data: str, kind: str, *, name: str | None = None) -> str | Image | File:
    """Media, or a note in its place: what is no base64 would have every later request refused."""
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"[{kind}, not kept: its data is not base64]"
    return Image(kind, data=data) if kind.startswith("image/") else File(kind, data=data, name=name)
