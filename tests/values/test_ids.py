"""Ids: ordered by time for entries and turns, unguessable for sessions, the same again for keys."""

import re
import time
import uuid

import pytest

from antiphon._ids import keyed_turn_id, new_id, new_session_id


def test_entry_ids_are_version_7() -> None:
    """An entry's id is a UUID of version 7, variant RFC 9562, in lower-case text."""
    for _ in range(200):
        text = new_id()
        read = uuid.UUID(text)
        assert (read.version, read.variant) == (7, uuid.RFC_4122)
        assert str(read) == text


def test_entry_ids_begin_with_the_time() -> None:
    """The first 48 bits of an entry's id are the milliseconds at which it was made."""
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(new_id()).int >> 80
    assert before <= made <= time.time_ns() // 1_000_000


def test_entry_ids_do_not_repeat() -> None:
    """Ids made in the same millisecond differ."""
    assert len({new_id() for _ in range(5_000)}) == 5_000


def test_session_ids_are_random_and_name_files() -> None:
    """A session's id is a random UUID of version 4 in lower case, so it tells no time and fits every file system."""
    text = new_session_id()
    assert uuid.UUID(text).version == 4
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text)
    assert new_session_id() != text


@pytest.mark.parametrize(
    ("session_id", "key", "turn_id"),
    [
        ("ana-1", "msg-81", "c99a138d-2bf7-53ac-b37a-7a9080641b2d"),
        ("ana-1", "", "4cb36ec2-6fbf-56c9-ac0a-9a73225a203b"),
    ],
)
def test_keyed_ids_never_change(session_id: str, key: str, turn_id: str) -> None:
    """A key gives the turn id that it gave in every earlier release."""
    assert keyed_turn_id(session_id, key) == turn_id


@pytest.mark.parametrize("key", ["msg-81", "", "\ud800", "é\0ü", "x" * 10_000])
def test_keyed_ids_are_version_5(key: str) -> None:
    """Any key, lone surrogates included, gives a UUID of version 5, the same one each time."""
    made = keyed_turn_id("ana-1", key)
    read = uuid.UUID(made)
    assert (read.version, read.variant) == (5, uuid.RFC_4122)
    assert made == keyed_turn_id("ana-1", key)


def test_keyed_ids_differ_by_session_and_key() -> None:
    """Another session or another key gives another turn id."""
    pairs = [(session, key) for session in ("a", "b", "a\ud800") for key in ("", "k", "K", "\ud800", "\ud801", "?")]
    assert len({keyed_turn_id(*pair) for pair in pairs}) == len(pairs)
