"""LayeredContext with a summarizer of every temper, over random sessions: turn by turn, kept or lost."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon import Message, Shown
from antiphon.errors import SummaryFailed
from tests.properties.histories import (
    HISTORIES,
    Room,
    Told,
    cost,
    marks,
    recount,
    shown,
    stages,
    unpaired,
)

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
EXAMPLES = max(10, settings().max_examples // 2)
"""An example is a session's every turn."""

ROOMS = st.builds(
    Room,
    window=st.sampled_from([2_000, 4_096, 8_192, 32_000]),
    counter=st.sampled_from(["quarter", "estimate"]),
    instructions=st.sampled_from([0, 400]),
    keep_recent=st.sampled_from([1, 8]),
)
TEMPERS = st.lists(st.sampled_from(["short", "short", "long", "blank", "raises"]), min_size=1, max_size=4)


@dataclass
class Asked:
    """A summarizer whose answers follow a list, over and over.

    Attributes:
        tempers: how it answers.
        given: what it was given.
    """

    tempers: Sequence[str]
    given: list[Sequence[Message]] = field(default_factory=list)

    async def __call__(self, summarizer: object, messages: Sequence[Message], /, *, instructions: str) -> str:
        """Answer once."""
        self.given.append(messages)
        await asyncio.sleep(0)
        match self.tempers[len(self.given) % len(self.tempers)]:
            case "short":
                return f"notes {len(self.given)}"
            case "long":
                return "too many words " * 20_000
            case _:
                raise SummaryFailed("asked", "it would not")


@dataclass
class Kept:
    """What is kept beside the journal."""

    contents: dict[str, bytes] = field(default_factory=dict)

    async def get(self, key: str) -> bytes | None:
        """Give it."""
        return self.contents.get(key)

    async def put(self, key: str, content: bytes) -> None:
        """Keep it."""
        self.contents[key] = content


def walked(room: Room, history: Sequence[Told], tempers: Sequence[str] | None, *, lossy: bool = False) -> list[Shown]:
    """What is shown at each stage of a session; `lossy` forgets everything that was only held in memory."""

    async def walking() -> list[Shown]:
        context, cache, kept, found = room.context(), dict[Any, Any](), Kept(), list[Shown]()
        ask = None if tempers is None else Asked(tempers)
        for transcript in stages(history):
            if lossy:
                context, cache = room.context(), {}
            found.append(await shown(context, room.view(transcript, cache=cache, ask=ask, derived=kept)))
        return found

    return asyncio.run(walking())


def place(found: Shown) -> tuple[str | None, str | None]:
    """Where history begins, and up to where there are stubs."""
    (line,) = [line for line in found.trace.layers if line.id == "history"]
    return line.since, line.stubbed


@settings(max_examples=EXAMPLES, suppress_health_check=SLOW)
@given(ROOMS, HISTORIES, TEMPERS)
def test_whatever_the_summarizer_does_everything_fits(room: Room, history: list[Told], tempers: list[str]) -> None:
    """Every request fits and holds no call alone, whether summaries come, are too long, or fail."""
    for found in walked(room, history, tempers):
        assert recount(found, room.budget.counter) <= room.budget.packed_limit
        assert unpaired(found.messages) == []
        assert found.messages[-1].text.startswith("[newest]")


@settings(max_examples=EXAMPLES, suppress_health_check=SLOW)
@given(ROOMS, HISTORIES, TEMPERS)
def test_a_summary_takes_its_share_and_no_more(room: Room, history: list[Told], tempers: list[str]) -> None:
    """A summary takes at most 6 % of the usable window, has a line of its own, and stands only behind a boundary."""
    for found in walked(room, history, tempers):
        notes = [m for m in found.messages if "notes " in m.text and m.role == "user" and not marks([m])]
        lines = [line for line in found.trace.layers if line.kind == "summary" and line.status == "compacted"]
        assert len(notes) == len(lines) <= 1
        assert sum(cost(m, room.budget.counter) for m in notes) <= 0.06 * room.budget.packed_limit + 4
        assert not lines or place(found)[0] is not None


@settings(max_examples=EXAMPLES, suppress_health_check=SLOW)
@given(ROOMS, HISTORIES, TEMPERS)
def test_the_boundary_does_not_depend_on_summaries(room: Room, history: list[Told], tempers: list[str]) -> None:
    """Where history begins is the same whether a summary came, failed, or nobody was asked."""
    with_them, without = walked(room, history, tempers), walked(room, history, None)
    assert [place(found) for found in with_them] == [place(found) for found in without]


@settings(max_examples=EXAMPLES, suppress_health_check=SLOW)
@given(ROOMS, HISTORIES)
def test_what_is_kept_serves_another_process(room: Room, history: list[Told]) -> None:
    """A process that opens the session anew in every turn shows what one that kept it open does."""
    kept, lossy = walked(room, history, ["short"]), walked(room, history, ["short"], lossy=True)
    for one, other in zip(kept, lossy, strict=True):
        assert (one.system, one.messages, one.tools) == (other.system, other.messages, other.tools)


@settings(max_examples=EXAMPLES, suppress_health_check=SLOW)
@given(ROOMS, HISTORIES)
def test_nobody_is_asked_without_a_move(room: Room, history: list[Told]) -> None:
    """A summarizer is asked at most once for each place at which history begins; nothing is asked for nothing."""

    async def walking() -> tuple[Asked, set[str | None]]:
        context, cache, kept = room.context(), dict[Any, Any](), Kept()
        ask, places = Asked(["short"]), set[str | None]()
        for transcript in stages(history):
            found = await shown(context, room.view(transcript, cache=cache, ask=ask, derived=kept))
            places.add(place(found)[0])
        return ask, places

    ask, places = asyncio.run(walking())
    assert len(ask.given) <= len(places - {None})
    assert all(messages for messages in ask.given)


@settings(max_examples=EXAMPLES, suppress_health_check=SLOW)
@given(HISTORIES, st.sampled_from([4_096, 8_192]))
def test_counters_do_not_move_the_boundary(history: list[Told], window: int) -> None:
    """Sizes that the boundary depends on are the journal's: where every count fits, two counters agree on it."""
    one, other = (
        walked(Room(window=window, counter=counter, instructions=0), history, None)
        for counter in ("quarter", "estimate")
    )
    for left, right in zip(one, other, strict=True):
        # Where real counts do not fit a build cuts further for itself alone, and warns.
        if not left.trace.warnings and not right.trace.warnings:
            assert place(left) == place(right)
