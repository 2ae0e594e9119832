"""The head of a GGUF file."""

import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.providers.local._gguf import trained_window


def text(value: str) -> bytes:
    """A GGUF string."""
    return struct.pack("<Q", len(value)) + value.encode()


def head(*fields: bytes) -> bytes:
    """A GGUF head with these fields."""
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields)) + b"".join(fields)


NAME = text("general.name") + struct.pack("<I", 8) + text("small")
TAGS = text("general.tags") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b")
SCORES = text("general.scores") + struct.pack("<IIQ", 9, 6, 3) + bytes(12)
FLAG = text("general.flag") + struct.pack("<IB", 7, 1)
LENGTH = text("llama.context_length") + struct.pack("<II", 4, 2_048)


def read(tmp_path: Path, content: bytes) -> int | None:
    """What the reader says of a file with this content."""
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    return trained_window(path)


def test_the_length_is_found_behind_other_fields(tmp_path: Path) -> None:
    """Fields of every kind are skipped on the way to the context length."""
    assert read(tmp_path, head(NAME, TAGS, SCORES, FLAG, LENGTH)) == 2_048


def test_a_head_without_it_says_nothing(tmp_path: Path) -> None:
    """A model that does not tell its context has none known."""
    assert read(tmp_path, head(NAME, FLAG)) is None


@pytest.mark.parametrize("content", [b"", b"hello, world", b"GGUF", head(NAME)[:40], b"GGUF" + b"\xff" * 60])
def test_a_damaged_head_is_refused(tmp_path: Path, content: bytes) -> None:
    """What is no GGUF file, or breaks off, is a ValueError."""
    with pytest.raises(ValueError, match=r"GGUF|head"):
        read(tmp_path, content)


@given(content=st.binary(max_size=200), whole=st.booleans())
def test_no_bytes_surprise_it(tmp_path_factory: pytest.TempPathFactory, content: bytes, whole: bool) -> None:
    """Whatever follows the magic, the reader answers or raises ValueError."""
    path = tmp_path_factory.getbasetemp() / "any.gguf"
    path.write_bytes(head(NAME, content) if whole else b"GGUF" + content)
    with suppress(ValueError):
        assert trained_window(path) != 0
