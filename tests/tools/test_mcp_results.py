"""What an MCP server answers, as the result of a call."""

import base64
from typing import Any

import mcp_types as wire
import pytest

from antiphon import File, Image, ToolResult
from antiphon.tools._mcp_results import result_from

DATA = base64.b64encode(b"0123").decode()
TEXT = wire.TextContent(text="hello")


def made(*content: Any, **more: Any) -> ToolResult:
    """The result of an answer with this content."""
    return result_from("mcp.s.t", wire.CallToolResult(content=list(content), **more))


def test_texts_are_the_output() -> None:
    """Several are lines of one text; none at all is an empty one."""
    assert made(TEXT).output == "hello"
    assert made(TEXT, TEXT).output == "hello\nhello"
    assert made().output == ""


@pytest.mark.parametrize("value", [{"sum": 2}, [1, 2], 0, False, ""])
def test_structured_content_is_the_output(value: Any) -> None:
    """It stays the JSON value that it is, in place of the text that says the same."""
    assert made(TEXT, structured_content=value).output == value


def test_an_error_keeps_its_words() -> None:
    """An error is told by its text, even where structured content stands beside it, and is never empty."""
    found = made(TEXT, structured_content={"code": 1}, is_error=True)
    assert (found.output, found.is_error) == ("hello", True)
    assert made(is_error=True).output == "the tool failed and says nothing more"
    assert made(structured_content={"code": 1}, is_error=True).output == {"code": 1}


def test_pictures_and_sounds_become_media() -> None:
    """With a mark in their place among the texts; beside structured content without one."""
    image = wire.ImageContent(data=DATA, mime_type="image/png")
    audio = wire.AudioContent(data=DATA, mime_type="audio/wav")
    media = (Image("image/png", data=DATA), File("audio/wav", data=DATA))
    found = made(TEXT, image, audio)
    assert (found.output, found.media) == ("hello\n[media 1: image/png]\n[media 2: audio/wav]", media)
    found = made(TEXT, image, audio, structured_content={"a": 1})
    assert (found.output, found.media) == ({"a": 1}, media)


def test_resources_become_text_media_or_links() -> None:
    """An embedded text is text, a blob is a file with a name, and a link stays a link."""
    text = wire.TextResourceContents(uri="memo://a", text="buy nails")
    blob = wire.BlobResourceContents(uri="file:///tmp/b.pdf", mime_type="application/pdf", blob=DATA)
    link = wire.ResourceLink(name="c", uri="memo://c", mime_type="text/plain")
    found = made(wire.EmbeddedResource(resource=text), wire.EmbeddedResource(resource=blob), link)
    assert found.output == (
        "[resource memo://a]\nbuy nails\n[resource file:///tmp/b.pdf]\n[media 1: application/pdf]\n"
        "[resource c (text/plain): memo://c]"
    )
    assert found.media == (File("application/pdf", data=DATA, name="b.pdf"),)


def test_media_that_no_provider_would_take_is_told_of() -> None:
    """What is no base64 would have every later request refused."""
    found = made(wire.ImageContent(data="???", mime_type="image/png"))
    assert (found.output, found.media) == ("[image/png, not kept: its data is not base64]", ())
