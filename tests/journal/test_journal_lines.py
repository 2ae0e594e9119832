"""Lines: what is kept, what is tolerated, and the exact reason why anything else is corrupt."""

import json
import time

import msgspec
import pytest

from antiphon._jsonable import MAX_DEPTH, freeze
from antiphon.errors import CorruptJournal, UnsupportedVersion
from antiphon.journal import SessionRenamed, StateChanged, TurnAccepted, UnknownEntry, decode, encode
from antiphon.journal._codec import line_of
from tests.journal.sample import made, written

HEAD = '"version":1,"id":"e1","sessionId":"ana-1","at":"2026-03-01T09:00:00.000Z"'
RENAMED = written("session.renamed", turn=False)

TEXTS = {
    "vertical tab, form feed": "a\x0bb\x0cc",
    "separators": "a\x1cb\x1dc\x1ed",
    "next line": "a\x85b",
    "line and paragraph separator": "a\u2028b\u2029c",
    "line feed, carriage return": "a\nb\r\nc\rd",
    "NUL": "a\0b",
    "the letters of an escape": "a\\u0000b",
    "lone surrogates": "\ud83d and \ude00",
    "surrogates the wrong way round": "\ude00\ud83d",
    "emoji": "👩‍👩‍👧 😀",
    "combining marks": "e\u0301 \u0915\u094d\u0937",
    "byte order mark": "\ufeffa",
    "no character": "\uffff\ufffe",
    "quotes": '"\\"',
    "empty": "",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_comes_back_equal(text: str) -> None:
    """Any text goes into a line and comes back equal, and the line holds no line break."""
    entry = made(TurnAccepted, input=text, key=text)
    data = encode(entry).data
    assert decode(data) == entry
    assert not {b"\n", b"\r"} & {data[i : i + 1] for i in range(len(data))}
    data.decode()


def test_null_byte_and_its_escape_stay_apart() -> None:
    """U+0000 and the six characters of its escape are two texts, and two lines."""
    lines = {encode(made(TurnAccepted, input=text)).data for text in ("\0", "\\u0000")}
    assert len(lines) == 2
    assert {decode(line).input for line in lines} == {"\0", "\\u0000"}  # type: ignore[union-attr]


def test_halves_side_by_side_are_joined() -> None:
    """Two halves of a surrogate pair side by side come back as the character they are halves of (openclaw#18230)."""
    back = decode(encode(made(TurnAccepted, input="a\ud83d\ude00b")).data)
    assert isinstance(back, TurnAccepted)
    assert back.input == "a😀b"


def test_long_lines_are_read() -> None:
    """An entry of 20 MB is written and read, and nothing in it is quadratic."""
    entry = made(TurnAccepted, input="häh? " * 4_000_000)
    started = time.monotonic()
    assert decode(encode(entry).data) == entry
    assert time.monotonic() - started < 5


UNKNOWN = [
    f'{{"type":"poll.opened",{HEAD},"turnId":"t1","choices":[1, 2]}}',
    f'{{ "type" : "poll.opened", {HEAD} , "a": "\\ud800" }}',
    f'{{{HEAD},"big":1e999,"type":"turn.paused"}}',
    f'{{{HEAD},"\\ud800":{{"\\ud800":1}},"type":"poll.opened"}}',
]


@pytest.mark.parametrize("line", UNKNOWN)
def test_unknown_type_is_kept_byte_for_byte(line: str) -> None:
    """An entry of an unknown type is kept as it stands, spaces and all, with what every entry has beside it."""
    entry = decode(line.encode())
    assert isinstance(entry, UnknownEntry)
    assert entry.data == line.encode()
    assert (entry.id, entry.session_id, entry.type) == ("e1", "ana-1", json.loads(line)["type"])


@pytest.mark.parametrize("version", [2, 0, -1, 1.5, "2", True, [1], {"major": 1}])
@pytest.mark.parametrize("type", ["session.renamed", "poll.opened"])
def test_unknown_version_is_refused(version: object, type: str) -> None:
    """An entry of another version is refused whether its type is known or not, naming the version."""
    line = written(type, turn=False).replace('"version":1', f'"version":{json.dumps(version)}')
    with pytest.raises(UnsupportedVersion) as caught:
        decode(line.encode())
    assert caught.value.version == version
    assert str(caught.value) == (
        f"the journal: journal version {version!r}, but this antiphon reads version 1; upgrade antiphon"
    )


@pytest.mark.parametrize("more", ["", ',"\\ud800":1', ',"zy":"\\ud800"'])
def test_unknown_fields_are_tolerated(more: str) -> None:
    """Fields that a later release of the same version adds are left alone, in entries and in what they hold."""
    line = (
        '{"type":"turn.accepted","when":{"x":[1]},' + HEAD + ',"turnId":"t1","input":[{"type":"text","text":"a",'
        '"lang":"de"},{"type":"toolCall","id":"c","name":"t","arguments":{},"index":0}],"zz":null%s}'
    )
    entry = decode((line % more).encode())
    assert isinstance(entry, TurnAccepted)
    assert [type(part).__name__ for part in entry.input] == ["Text", "ToolCall"]


def test_key_order_and_space_are_free() -> None:
    """The order of keys and the space between tokens are no part of the format."""
    line = ' { "title" : "a" , "at":"t","sessionId" :"s", "id":"e" ,"version": 1,"type":"session.renamed" }\r'
    assert decode(line.encode()) == SessionRenamed(version=1, id="e", session_id="s", at="t", title="a")


CORRUPT: dict[str, tuple[bytes, str]] = {
    "blank": (b"", "not an entry: not JSON"),
    "spaces": (b"  ", "not an entry: not JSON"),
    "list": (b"[]", "not an entry: Expected `object`, got `array`"),
    "null": (b"null", "not an entry: Expected `object`, got `null`"),
    "number": (b"42", "not an entry: Expected `object`, got `int`"),
    "text": (b'"turn.accepted"', "not an entry: Expected `object`, got `str`"),
    "version alone": (b'{"version":1}', "not an entry: Object missing required field `id`"),
    "no type": (b'{"version":1,"id":"e1"}', "not an entry: Object missing required field `type`"),
    "no version": (RENAMED.replace('"version":1,', "").encode(), "not an entry: it has no version"),
    "no version, unknown type": (b'{"id":"e1","type":"poll.opened"}', "not an entry: it has no version"),
    "id is a number": (RENAMED.replace('"e1"', "5").encode(), "not an entry: Expected `str`, got `int` - at `$.id`"),
    "no session": (
        b'{"version":1,"id":"e1","type":"poll.opened","at":"t"}',
        "not a poll.opened entry: Object missing required field `sessionId`",
    ),
    "no input": (
        written("turn.accepted").encode(),
        "not a turn.accepted entry: Object missing required field `input`",
    ),
    "no turn": (
        written("turn.accepted", '"input":"x"', turn=False).encode(),
        "not a turn.accepted entry: Object missing required field `turnId`",
    ),
    "input is a number": (
        written("turn.accepted", '"input":5').encode(),
        "not a turn.accepted entry: Expected `str | array`, got `int` - at `$.input`",
    ),
    "unknown part": (
        written("turn.accepted", '"input":[{"type":"video"}]').encode(),
        "not a turn.accepted entry: Invalid value 'video' - at `$.input[0].type`",
    ),
    "cut": (RENAMED[:-1].encode(), "not an entry: not JSON"),
    "two": ((RENAMED + RENAMED).encode(), "not an entry: not JSON"),
    "control character": (written("session.renamed", '"title":"a\tb"', turn=False).encode(), "not an entry: not JSON"),
    "not UTF-8": (RENAMED.encode()[:-1] + b',"title":"\xff"}', f"not UTF-8 at byte {len(RENAMED) + 9}"),
    "surrogates in UTF-8": (
        RENAMED.encode()[:-1] + b',"title":"\xed\xa0\x80"}',
        f"not UTF-8 at byte {len(RENAMED) + 9}",
    ),
    "byte order mark": (b"\xef\xbb\xbf" + RENAMED.encode(), "not an entry: not JSON"),
    "UTF-16": (RENAMED.encode("utf-16-le"), "not an entry: not JSON"),
    "NaN": (
        written("state.changed", '"key":"k","value":NaN', turn=False).encode(),
        "the number NaN is beyond double range",
    ),
    "nested deeply": (b"[" * 100_000, "not an entry: nested too deeply"),
    "nested deeply in an entry": (
        written("session.renamed", '"x":' + "[" * 50_000 + "]" * 50_000, turn=False).encode(),
        "not an entry: nested too deeply",
    ),
}


@pytest.mark.parametrize(("data", "why"), CORRUPT.values(), ids=CORRUPT)
def test_what_is_no_entry_is_corrupt(data: bytes, why: str) -> None:
    """A line that is no entry is corrupt for a stated reason, whatever it is instead."""
    with pytest.raises(CorruptJournal) as caught:
        decode(data)
    assert caught.value.why == why
    assert str(caught.value) == f"the journal: {why}"


BROKEN_WORDS = [
    written("tool.decided", '"callId":"c","decision":"\\ud800","by":"x"'),
    written("turn.accepted", '"input":[{"type":"\\ud800"}]'),
    written("model.replied", '"call":1,"message":{"role":"\\ud800"}'),
]


@pytest.mark.parametrize("line", BROKEN_WORDS)
def test_words_of_the_format_hold_no_broken_text(line: str) -> None:
    """A lone surrogate where the format has a word of its own is corruption, and no UnicodeEncodeError."""
    with pytest.raises(CorruptJournal, match=r"not a .* entry: "):
        decode(line.encode())


@pytest.mark.parametrize("depth", [100, 300, 600, 900, 1_500, 20_000])
@pytest.mark.parametrize("field", ["value", "x"])
@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}")], ids=["list", "object"])
def test_depth_is_no_crash_on_the_slow_path(opens: str, closes: str, field: str, depth: int) -> None:
    """A deep value beside a lone surrogate is read or refused in a sentence: never a RecursionError."""
    deep = f'"key":"\\ud800","{field}":{opens * depth}1{closes * depth}'
    try:
        entry = decode(written("state.changed", deep, turn=False).encode())
        found = isinstance(entry, StateChanged) and entry.key
    except CorruptJournal as error:
        found = error.why
    assert found in ("\ud800", "not an entry: nested too deeply")
    assert depth > MAX_DEPTH or found == "\ud800"


@pytest.mark.parametrize("line", [RENAMED, *UNKNOWN])
def test_line_stands_beside_its_bytes(line: str) -> None:
    """A line made from bytes has the id and the type that stand in them, and keeps the bytes."""
    found = line_of(line.encode())
    assert (found.id, found.type, found.data) == ("e1", json.loads(line)["type"], line.encode())


def test_line_breaks_between_tokens_are_written_away() -> None:
    """Free JSON that was read with carriage returns between its tokens is written again on one line."""
    data = written("state.changed", '"key":"k","value":{\r"a": 1\r}', turn=False).encode()
    entry = decode(data)
    again = encode(entry).data  # type: ignore[arg-type]
    assert b"\r" not in again
    assert decode(again).value == {"a": 1}  # type: ignore[union-attr]


def test_tool_outputs_with_broken_text_are_kept() -> None:
    """A lone surrogate in a tool's arguments does not stop the session: it is kept and read back."""
    entry = made(TurnAccepted, input="x", metadata_json=encode_free({"arguments": "\ud83d"}))
    back = decode(encode(entry).data)
    assert isinstance(back, TurnAccepted)
    assert back.metadata == {"arguments": "\ud83d"}


def encode_free(value: object) -> msgspec.Raw:
    """Free JSON, frozen."""
    return freeze(value, "value")
