"""Pages that a program writes say what the source says now."""

from pathlib import Path

import pytest

from antiphon.journal._entries import TYPES
from tools import blocking
from tools.generate import ROOT, named_in, pages


@pytest.mark.parametrize(
    ("path", "text"), pages().items(), ids=lambda each: each.name if isinstance(each, Path) else ""
)
def test_page_is_what_the_source_says(path: Path, text: str) -> None:
    """A generated page is what the generator gives."""
    kept = path.read_text(encoding="utf-8") if path.is_file() else ""
    assert kept == text, f"{path.relative_to(ROOT)} is not what the source says: run ./dev generate"


def test_every_entry_is_in_one_of_two_tables() -> None:
    """Each entry type is a fact of the conversation or of the run, and of one of them alone."""
    conversation, run = named_in("Facts of the conversation:"), named_in("Facts of the run:")
    assert sorted([*conversation, *run]) == sorted(TYPES)


def test_nothing_is_left_to_fill_in() -> None:
    """Every placeholder of a page is filled."""
    for path, text in pages().items():
        assert "{{" not in text, path


def test_facade_is_what_the_async_classes_say() -> None:
    """The blocking facade is what its generator makes of the async classes."""
    kept = blocking.PATH.read_text(encoding="utf-8") if blocking.PATH.is_file() else ""
    assert kept == blocking.generated(), "src/antiphon/blocking.py is not what the source says: run ./dev generate"
