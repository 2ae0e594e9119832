"""FileStore against a list, through crashes, editors, other writers and reopening."""

import asyncio
import os
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from antiphon.errors import (
    AppendFailed,
    AppendUncertain,
    JournalMoved,
    SessionExists,
    SessionNotFound,
    StoreError,
    UnknownCursor,
)
from antiphon.journal import Line
from antiphon.stores import FileStore
from antiphon.stores._torn_tail import kept
from antiphon.testing._failing_disk import FailingDisk, When
from antiphon.testing._store_hooks import TEXTS, line, read

SESSIONS = st.sampled_from(["ana-1", "ben-2"])
SIZES = st.integers(min_value=1, max_value=3)
WAYS = st.sampled_from(["before", "after", "half"])


class StoreMachine(RuleBasedStateMachine):
    """What was acknowledged, in a list a session, beside the store."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.place = Path(self.directory.name)
        self.runner = asyncio.Runner()
        self.store = FileStore(self.place)
        self.acknowledged: dict[str, list[Line]] = {}
        self.count = 0

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.runner.close()
        self.directory.cleanup()

    def new_lines(self, size: int) -> list[Line]:
        """Give lines that were never written."""
        self.count += size
        return [line(n, comment=TEXTS[n % len(TEXTS)]) for n in range(self.count - size, self.count)]

    def found(self, session_id: str) -> list[Line]:
        """Read through a store that knows nothing yet."""
        return self.runner.run(read(FileStore(self.place), session_id))

    @rule(session_id=SESSIONS, size=SIZES)
    def create(self, session_id: str, size: int) -> None:
        """A new session begins; an existing one is refused."""
        new = self.new_lines(size)
        try:
            self.runner.run(self.store.create(session_id, new))
            assert session_id not in self.acknowledged
            self.acknowledged[session_id] = new
        except SessionExists:
            assert session_id in self.acknowledged

    @rule(session_id=SESSIONS, size=SIZES, expects=st.sampled_from(["last", "none", "wrong"]), own=st.booleans())
    def append(self, session_id: str, size: int, expects: str, own: bool) -> None:
        """Lines are added behind the expected last one, by this store or by another."""
        known, new = self.acknowledged.get(session_id), self.new_lines(size)
        last = {"last": known[-1].id if known else "x", "none": None, "wrong": "entry-none"}[expects]
        store = self.store if own else FileStore(self.place)
        try:
            self.runner.run(store.append(session_id, new, if_last=last))
            assert known is not None and expects != "wrong"
            known += new
        except SessionNotFound:
            assert known is None
        except JournalMoved:
            assert known is not None and expects == "wrong"

    @rule(session_id=SESSIONS, size=SIZES, at=st.integers(1, 12), how=WAYS, times=st.sampled_from([1, 2, 1_000]))
    def fail(self, session_id: str, size: int, at: int, how: When, times: int) -> None:
        """An append meets a failing disk; then another store opens the place."""
        known, new = self.acknowledged.get(session_id), self.new_lines(size)
        failing = FileStore(self.place, disk=FailingDisk(at=at, how=how, times=times))
        outcome: StoreError | None = None
        try:
            self.runner.run(failing.append(session_id, new, if_last=None))
        except StoreError as error:
            outcome = error
        if known is None:
            assert outcome is not None
        elif outcome is None:
            known += new
        else:
            came = self.found(session_id)[len(known) :]
            assert came == new[: len(came)] and (not came or isinstance(outcome, AppendUncertain)), outcome
            assert not came or not isinstance(outcome, AppendFailed)
            known += came

    @rule(session_id=SESSIONS, cut=st.floats(0, 0.999))
    def crash(self, session_id: str, cut: float) -> None:
        """The process dies while it writes: a part of a line that nobody acknowledged is left."""
        if session_id in self.acknowledged:
            path = self.place / f"{session_id}.jsonl"
            content = path.read_bytes()
            rest = content[content.rfind(b"\n") + 1 :]
            # A writer of ours begins with the newline that is missing, or where a fragment began.
            good, newline = (content, b"\n") if kept(rest) else (content[: len(content) - len(rest)], b"")
            torn = newline + self.new_lines(1)[0].data
            path.write_bytes(good + torn[: int(cut * len(torn))])
        self.store = FileStore(self.place)

    @precondition(lambda self: self.acknowledged)
    @rule(session_id=SESSIONS)
    def edit(self, session_id: str) -> None:
        """An editor saves the file without its last newline."""
        path = self.place / f"{session_id}.jsonl"
        if path.exists() and path.read_bytes().endswith(b"\n"):
            os.truncate(path, path.stat().st_size - 1)

    @rule(session_id=SESSIONS)
    def delete(self, session_id: str) -> None:
        """A session is erased."""
        try:
            self.runner.run(self.store.delete(session_id))
            assert self.acknowledged.pop(session_id)
        except SessionNotFound:
            assert session_id not in self.acknowledged

    @rule(session_id=SESSIONS, part=st.floats(0, 1))
    def read_behind(self, session_id: str, part: float) -> None:
        """Behind each line come exactly the later ones; an unknown cursor is refused."""
        known = self.acknowledged.get(session_id, [])
        place = int(part * len(known))
        after = known[place].id if place < len(known) else "entry-none"
        try:
            assert self.runner.run(read(self.store, session_id, after=after)) == known[place + 1 :]
        except UnknownCursor:
            assert after == "entry-none"

    @invariant()
    def acknowledged_lines_are_there(self) -> None:
        """This store and a new one read what was acknowledged, and nothing else."""
        for session_id in ("ana-1", "ben-2"):
            expected = self.acknowledged.get(session_id, [])
            assert self.runner.run(read(self.store, session_id)) == expected
            assert self.found(session_id) == expected


TestStore = StoreMachine.TestCase
TestStore.settings = settings(settings.default, stateful_step_count=25)
