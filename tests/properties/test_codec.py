"""Entries and lines over every entry class: equality through the codec, and two readers that agree."""

import json
import random
from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon._jsonable import freeze, thaw
from antiphon.errors import CorruptJournal, UnsupportedVersion
from antiphon.journal import Entry, StateChanged, UnknownEntry, decode, encode
from antiphon.journal._codec import _decode_slowly, line_of
from tests.properties.strategies import entries, free_json, texts

ONLY_ON_ACCESS = ("beyond double range", "digits cannot be read")
"""What the fallback reports at once, for it must decode free JSON to read the line at all."""


def plain(value: Any) -> Any:
    """An entry as comparable values: free JSON decoded, and 1 kept apart from 1.0 and True."""
    match value:
        case msgspec.Raw():
            return plain(thaw(value))
        case msgspec.Struct():
            return type(value).__name__, {name: plain(getattr(value, name)) for name in value.__struct_fields__}
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            return type(value).__name__, value


def slowly(data: bytes) -> Entry:
    """Read a line by the standard library alone."""
    data.decode()
    return _decode_slowly(data)


def read(reader: Callable[[bytes], Entry], data: bytes) -> Any:
    """What a reader makes of a line: an entry, or the class of its refusal."""
    try:
        return plain(reader(data))
    except (CorruptJournal, UnsupportedVersion, UnicodeDecodeError) as error:
        return "refused" if not any(why in str(error) for why in ONLY_ON_ACCESS) else "on access"


def rewritten(value: Any, chance: random.Random) -> str:
    """The same JSON with its keys in another order, space between tokens, and other escapes."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda _: chance.random())
        inner = [f"{rewritten(key, chance)}{space(chance)}:{rewritten(value[key], chance)}" for key in keys]
        return space(chance) + "{" + ",".join(inner) + space(chance) + "}" + space(chance)
    if isinstance(value, list):
        return "[" + ",".join(space(chance) + rewritten(item, chance) for item in value) + space(chance) + "]"
    if isinstance(value, str) and chance.random() < 0.5:
        return '"' + "".join(f"\\u{unit:04X}" for unit in units(value)) + '"'
    return json.dumps(value, ensure_ascii=chance.random() < 0.5 or not clean(value))


def space(chance: random.Random) -> str:
    """Some of the space that JSON allows between tokens, but for the line feed."""
    return chance.choice(["", "", " ", "\t", "\r"])


def units(text: str) -> list[int]:
    """The UTF-16 units of a text, lone surrogates included."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2)]


def clean(value: Any) -> bool:
    """Whether a value can be written in UTF-8 as it is."""
    return not isinstance(value, str) or not any("\ud800" <= each <= "\udfff" for each in value)


@given(entries)
def test_encoded_entries_decode_to_themselves(entry: Any) -> None:
    """Every entry comes back equal from its line, which is UTF-8, JSON and without a line break."""
    line = encode(entry)
    assert decode(line.data) == entry
    assert (line.id, line.type) == (entry.id, entry.type)
    assert line_of(line.data) == line
    assert b"\n" not in line.data and b"\r" not in line.data
    assert encode(decode(line.data)) == line  # type: ignore[arg-type]


@given(entries)
def test_both_readers_give_equal_entries(entry: Any) -> None:
    """The fallback reader gives the entry that the fast one gives."""
    data = encode(entry).data
    assert plain(slowly(data)) == plain(decode(data)) == plain(entry)


@given(entries, st.randoms(use_true_random=False))
def test_both_readers_take_json_as_it_is_written(entry: Any, chance: random.Random) -> None:
    """Order of keys, space and escapes change nothing, for either reader."""
    value = json.loads(encode(entry).data)
    data = rewritten(value, chance).encode()
    assert plain(decode(data)) == plain(slowly(data)) == plain(entry)


@given(entries, st.data())
def test_both_readers_refuse_the_same_lines(entry: Any, data: st.DataObject) -> None:
    """A line with some bytes changed, cut or put in is read alike by both readers, or refused by both."""
    line = bytearray(encode(entry).data)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(line) - 1)) if line else 0
        put = data.draw(
            st.sampled_from([b"", b'"', b"{", b"}", b"[", b"]", b",", b":", b"0", b"9", b"e", b"-", b"null"])
        )
        more = data.draw(st.sampled_from([b"\\", b"\\u", b"\xff", b"\xc3", b"\x00", b" ", b"\n", b"true", b"1e999"]))
        line[at : at + data.draw(st.integers(0, 3))] = data.draw(st.sampled_from([put, more]))
    fast, slow = read(decode, bytes(line)), read(slowly, bytes(line))
    assert fast == slow or slow == "on access"


@given(free_json, texts)
@example({"a": "\ud800"}, "k")
def test_free_json_is_untouched(value: Any, key: str) -> None:
    """Free JSON comes back equal in value and type through an entry and its line."""
    entry = StateChanged(version=1, id="e", session_id="s", at="t", key=key, value_json=freeze(value, "value"))
    back = decode(encode(entry).data)
    assert isinstance(back, StateChanged)
    assert plain(back.value) == plain(value)


@given(st.dictionaries(texts, free_json, max_size=4), st.randoms(use_true_random=False))
def test_unknown_types_are_kept_byte_for_byte(fields: dict[str, Any], chance: random.Random) -> None:
    """An entry of an unknown type keeps its line as it came, whatever else stands in it."""
    head = {"type": "poll.opened", "version": 1, "id": "e1", "sessionId": "s", "at": "t"}
    data = rewritten(fields | head, chance).encode()
    entry = decode(data)
    assert isinstance(entry, UnknownEntry)
    assert entry.data == data
    assert slowly(data) == entry


@given(st.binary(max_size=60))
def test_any_bytes_are_an_entry_or_a_stated_refusal(data: bytes) -> None:
    """Whatever bytes are read, the answer is an entry or an error of ours."""
    assert read(decode, data) in ("refused", "on access") or decode(data).id is not None
