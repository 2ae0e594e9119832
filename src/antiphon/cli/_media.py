"""Files and addresses that are sent with a question, as parts of it."""

from __future__ import annotations

import base64
import mimetypes
import stat
from pathlib import Path
from urllib.parse import urlsplit

from .._messages import MAX_MEDIA, File, Image
from ._endings import Refused

LARGEST = MAX_MEDIA // 4 * 3
"""Bytes of a file that still fits once it is written in base64."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
_BY_CONTENT = {*(media_type for _, media_type in _SIGNATURES), "image/webp"}
_BY_NAME = mimetypes.MimeTypes()  # Python's own table: what a system adds to it differs from one to the next.


def attachment(given: str) -> Image | File:
    """Read a file, or take an address as it is: nothing is fetched here.

    Raises:
        Refused: if it is no regular file, is empty, or too large.
        OSError: if it cannot be read.
    """
    if given.startswith(("http://", "https://")):
        return _at_address(given)
    path = Path(given).expanduser()
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise Refused(f"{given} cannot be attached: it is not a file")
    content = path.read_bytes() if about.st_size <= LARGEST else b""
    size = len(content) or about.st_size
    if size > LARGEST:
        raise Refused(
            f"{given} cannot be attached: it has {size / 2**20:,.1f} MiB, and at most {LARGEST / 2**20:,.1f} MiB can be"
            " kept (10 MiB in base64); give its https address, or a smaller one"
        )
    if not size:
        raise Refused(f"{given} cannot be attached: it is empty")
    media_type = media_type_of(content, name=path.name)
    encoded = base64.b64encode(content).decode()
    if media_type.startswith("image/"):
        return Image(media_type, data=encoded)
    return File(media_type, data=encoded, name=path.name)


def media_type_of(content: bytes, *, name: str) -> str:
    """Give the media type that the content shows, else the one that the name says, else text or bytes."""
    for signature, media_type in _SIGNATURES:
        if content.startswith(signature):
            return media_type
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    named = _by_name(name)
    if named is not None and named not in _BY_CONTENT:
        return named
    try:
        content.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/plain"


def _at_address(address: str) -> Image | File:
    name = urlsplit(address).path.rpartition("/")[2]
    media_type = _by_name(name)
    if media_type is None:
        raise Refused(f"{address} cannot be attached: its name does not say what it is, as .png or .pdf would")
    if media_type.startswith("image/"):
        return Image(media_type, url=address)
    return File(media_type, url=address, name=name)


def _by_name(name: str) -> str | None:
    media_type, encoding = _BY_NAME.guess_type(name, strict=False)
    return "application/octet-stream" if encoding else media_type
