"""`antiphon ask`: attachments, tokens, and events for programs."""

import base64
import json
import os
import signal
from pathlib import Path

import pytest

from antiphon.cli._media import LARGEST, media_type_of
from antiphon.cli._model_choice import embedded_model_is_here
from tests.cli.running import Terminal

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def attached(terminal: Terminal, *given: str) -> list[dict[str, object]]:
    """The parts of the last session's last input, as OpenAI-style objects."""
    more = [word for each in given for word in ("-a", each)]
    ran = terminal.run("ask", "-m", "echo:", "Look", *more)
    assert ran.code == 0, ran.err
    found: list[dict[str, object]] = json.loads(terminal.run("show", "--json").out)[-1]["input"]
    return found


def test_files_are_attached(terminal: Terminal) -> None:
    """An image and a document stand before the words, with their media types and whole."""
    image, document = terminal.home / "a.bin", terminal.home / "b.pdf"
    image.write_bytes(PNG)
    document.write_bytes(b"%PDF-1.7\n")
    first, second, words = attached(terminal, str(image), str(document))
    address = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert first == {"type": "image_url", "image_url": {"url": address}}
    assert second["file"] == {"filename": "b.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjcK"}
    assert words == {"type": "text", "text": "Look"}
    assert "> [image/png] [application/pdf b.pdf] Look" in terminal.run("show").out


def test_addresses_are_attached_unread(terminal: Terminal) -> None:
    """An address is kept as it is, and nothing is fetched."""
    image, document, _ = attached(terminal, "https://example.com/a.png?size=2", "http://example.com/b.pdf")
    assert image["image_url"] == {"url": "https://example.com/a.png?size=2"}
    assert document["file"] == {"filename": "b.pdf", "file_data": "http://example.com/b.pdf"}


@pytest.mark.parametrize(
    ("content", "name", "media_type"),
    [
        (PNG, "x.jpg", "image/png"),
        (b"\xff\xd8\xff\xe0", "x", "image/jpeg"),
        (b"GIF89a", "x", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "x", "image/webp"),
        (b"%PDF-1.4", "x.txt", "application/pdf"),
        (b"a,b", "x.csv", "text/csv"),
        (b"hello", "x.png", "text/plain"),
        (b"\xff\xfe\0", "x.png", "application/octet-stream"),
        (b"h\xc3\xa9", "x", "text/plain"),
        (b"\x1f\x8b", "x.tar.gz", "application/octet-stream"),
    ],
)
def test_what_a_file_is(content: bytes, name: str, media_type: str) -> None:
    """The content says what a file is; where it does not, the name."""
    assert media_type_of(content, name=name) == media_type


def test_what_cannot_be_attached(terminal: Terminal) -> None:
    """Nothing, a folder, a device, an empty file and one over the limit are refused, and nothing is kept."""
    large, empty = terminal.home / "large.png", terminal.home / "empty"
    with large.open("wb") as file:
        file.truncate(LARGEST + 1)
    empty.touch()
    for given, says in (
        (str(terminal.home / "nope"), "no such file"),
        (str(terminal.home), "not a file"),
        (os.devnull, "not a file"),
        (str(empty), "is empty"),
        (str(large), "has 7.5 MiB, and at most 7.5 MiB can be kept (10 MiB in base64)"),
        ("https://example.com/", "does not say what it is"),
    ):
        ran = terminal.run("ask", "-m", "echo:", "Look", "-a", given)
        assert ran.code == 2
        assert says in ran.refusal
    assert not terminal.store.exists()


def test_an_attachment_needs_no_words(terminal: Terminal, tmp_path: Path) -> None:
    """An attachment alone can be asked about."""
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    assert terminal.run("ask", "-m", "echo:", "-a", str(tmp_path / "a.txt")).code == 0


def test_tokens_are_told(terminal: Terminal) -> None:
    """--usage says on standard error what the turn took; the reply is as ever."""
    ran = terminal.run("ask", "-m", "echo:", "-u", "Hello")
    assert ran.out.startswith("I was shown")
    assert ran.err.splitlines()[1] == "tokens: 2 in, 15 out"


def test_events_come_one_a_line(terminal: Terminal) -> None:
    """--jsonl gives every event as one JSON object a line, the last of them the turn's end."""
    ran = terminal.run("ask", "-m", "echo:", "--jsonl", "é")
    told = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.out.isascii()
    assert [told[0]["type"], told[1]["type"], told[-1]["type"]] == ["turn.accepted", "turn.shown", "turn.completed"]
    assert sum(each["type"].startswith("turn.") for each in told) == 3
    assert "".join(each["text"] for each in told if each["type"] == "text.delta") == told[-1]["reply"]["text"]


def test_a_failed_turn_ends_in_one_event(terminal: Terminal) -> None:
    """Where a turn fails, the last line says so, standard error says it in a sentence, and the code is 1."""
    ran = terminal.run("ask", "-m", "echo:", "--jsonl", "x" * 60_000)
    *_, last = [json.loads(line) for line in ran.out.splitlines()]
    assert (ran.code, last["type"]) == (1, "turn.failed")
    assert ran.err.splitlines()[-1].startswith("antiphon: ")


@pytest.mark.skipif(
    not embedded_model_is_here(),
    reason="needs the embedded model, which `./dev setup` installs; runs by ./dev fail without",
)
def test_a_stopped_turn_ends_in_one_event(terminal: Terminal) -> None:
    """After Ctrl-C the last line says that the turn was canceled, and there is one such line."""
    process = terminal.start("ask", "-m", "local:smollm2", "--jsonl", "Write a long story about the sea and a ship.")
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        lines = [process.stdout.readline() for _ in range(4)]
        process.send_signal(signal.SIGINT)
        told = [json.loads(line) for line in [*lines, *process.stdout.read().splitlines()]]
        assert process.wait(20) == 130
    ends = [each["type"] for each in told if each["type"] in ("turn.completed", "turn.failed", "turn.canceled")]
    assert ends == ["turn.canceled"]
    assert told[-1]["type"] == "turn.canceled"


def test_forms_of_the_reply_exclude_each_other(terminal: Terminal) -> None:
    """--json and --jsonl together are refused."""
    ran = terminal.run("ask", "-m", "echo:", "--json", "--jsonl", "Hi")
    assert ran.code == 2
    assert "--json and --jsonl exclude each other" in ran.refusal
