"""The boundary of LayeredContext: the same for the same journal, never walking back, and never cutting too deep."""

import asyncio
from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from antiphon import Message, Shown, View
from antiphon.errors import WindowTooSmall
from antiphon.transcript import Turn, dialogue
from antiphon.transcript._replay import Compaction
from tests.properties.histories import (
    HISTORIES,
    PLAIN,
    ROOMS,
    ROUNDS,
    Room,
    Round,
    Told,
    calls_of,
    calls_shown,
    cost,
    everything,
    grown,
    least,
    marks,
    own_of,
    quarter,
    recount,
    results_of,
    show,
    shown,
    stages,
    unpaired,
)

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
STAGES = max(10, settings().max_examples // 2)
"""An example is a session's every turn."""

WIDE = st.builds(
    Room,
    window=st.sampled_from([2_000, 4_096, 8_192, 32_000]),
    counter=st.just("quarter"),
    instructions=st.just(0),
    keep_recent=st.sampled_from([1, 2, 8]),
)
"""Rooms in which what is pinned is small, so that history may be as long as its marks allow."""


def every_mark(turns: Sequence[Turn]) -> list[str]:
    """The marks of a whole session, in order."""
    return marks(dialogue(turns))


def first_shown(found: Shown, turns: Sequence[Turn]) -> int:
    """The place of the first input or reply that is shown among all of them."""
    there = marks(found.messages)
    order = every_mark(turns)
    return order.index(there[0]) if there else len(order)


def walked(room: Room, history: Sequence[Told]) -> list[tuple[int, Shown]]:
    """For each stage of a session, where what is shown begins, with one object and one cache throughout."""

    async def walking() -> list[tuple[int, Shown]]:
        context, cache, found = room.context(), dict[Any, Any](), list[tuple[int, Shown]]()
        for transcript in stages(history):
            view = room.view(transcript, cache=cache)
            now = await shown(context, view)
            found.append((first_shown(now, view.turns), now))
        return found

    return asyncio.run(walking())


@settings(max_examples=STAGES, suppress_health_check=SLOW)
@example(Room(window=2_000, instructions=0), [Told(reply=4_000)] * 8 + [Told(reply=100, compacted=6)] * 3)
@given(WIDE, HISTORIES)
def test_the_boundary_never_walks_back(room: Room, history: list[Told]) -> None:
    """What was left out once stays left out, turn by turn, as long as the options are the same."""
    places = [place for place, _ in walked(room, history)]
    assert places == sorted(places)


@settings(max_examples=STAGES, suppress_health_check=SLOW)
@given(WIDE, HISTORIES)
def test_the_history_line_says_where_it_begins(room: Room, history: list[Told]) -> None:
    """The history's line names the turn with which it begins where that is not the first, and what it cost whole."""
    for _, found in walked(room, history):
        there = marks(found.messages)
        lines = [line for line in found.trace.layers if line.id == "history"]
        assert len(lines) == 1
        since = lines[0].since
        if since is None or not there:
            continue
        # A unit without words has no mark: what is found first may stand a little behind where history begins.
        assert int(since.partition("#")[0].removeprefix("t")) <= int(there[0][2:].partition("i")[0].partition("r")[0])
        assert lines[0].reason or lines[0].status == "included"


@settings(max_examples=STAGES, suppress_health_check=SLOW)
@given(ROOMS, HISTORIES)
def test_turn_by_turn_is_at_once(room: Room, history: list[Told]) -> None:
    """Built after every turn with all that is kept, or once at the end, or with the cache lost between: one request."""

    async def building() -> None:
        kept, lossy = room.context(), room.context()
        caches: tuple[MutableMapping[Any, Any], ...] = ({}, {})
        for n, transcript in enumerate(stages(history)):
            if n % 3 == 2:
                caches[1].clear()
            found = [
                await outcome(context, room.view(transcript, cache=cache))
                for context, cache in zip((kept, lossy), caches, strict=True)
            ]
            found.append(await outcome(room.context(), room.view(grown(history[:n]))))
            assert found[0] == found[1] == found[2]

    asyncio.run(building())


@settings(max_examples=STAGES, suppress_health_check=SLOW)
@given(WIDE, HISTORIES, st.lists(st.integers(0, 60), min_size=1, max_size=5))
def test_turns_that_end_late_leave_no_traces(room: Room, history: list[Told], late: list[int]) -> None:
    """A turn that ends after a later one was sent is shown the same by who has kept the session and who reads it."""
    told = [
        replace(each, late=1 + n % 3) if n in late and each.end == "completed" else each
        for n, each in enumerate(history)
    ]

    async def building() -> None:
        kept, cache = room.context(), dict[Any, Any]()
        for n, transcript in enumerate(stages(told)):
            found = await outcome(kept, room.view(transcript, cache=cache))
            assert found == await outcome(room.context(), room.view(grown(told[:n]))), f"at stage {n}"

    asyncio.run(building())


@settings(max_examples=STAGES, suppress_health_check=SLOW)
@given(WIDE, HISTORIES, st.lists(st.integers(1, 60), min_size=1, max_size=3))
def test_cleared_contexts_leave_no_traces(room: Room, history: list[Told], cleared: list[int]) -> None:
    """After everything before was cleared away, what was kept of it changes nothing."""
    context, cache = room.context(), dict[Any, Any]()
    for n, transcript in enumerate(stages(history)):
        start = max((place for place in cleared if place <= n), default=0)
        asked = [Compaction(c.after - start, c.covers - start) for c in transcript.compactions if c.covers > start]
        cut = {"turns": transcript.turns()[start:], "compactions": tuple(asked)}
        kept = everything(show(context, room.view(transcript, cache=cache, **cut)))
        assert kept == everything(show(room.context(), room.view(transcript, **cut)))


@settings(max_examples=STAGES, suppress_health_check=SLOW)
@given(WIDE, WIDE, HISTORIES)
def test_contexts_share_a_cache_and_nothing_else(room: Room, other: Room, history: list[Told]) -> None:
    """Two contexts of other options that look at one session in turns, as a preview does, each show what is theirs."""
    both, cache = [(room, room.context()), (other, other.context())], dict[Any, Any]()
    for transcript in stages(history):
        for each, context in both:
            kept = everything(show(context, each.view(transcript, cache=cache)))
            assert kept == everything(show(each.context(), each.view(transcript)))


async def outcome(context: Any, view: View) -> Any:
    """All that is shown, or what is said in its place."""
    try:
        return everything(await shown(context, view))
    except WindowTooSmall as error:
        return str(error)


@settings(max_examples=2 * settings().max_examples, suppress_health_check=SLOW)
@given(WIDE, PLAIN, st.sampled_from([0, 100, 2_000, 3_000]))
def test_history_keeps_its_floor(room: Room, history: list[Told], pinned: int) -> None:
    """While there is more, history keeps its low mark of what the pinned leave, but for a summary and one unit."""
    room = replace(room, instructions=pinned)
    view = room.view(grown(history))
    usable = room.budget.packed_limit
    pinned_cost = least(room, view)
    if pinned_cost > usable:
        return
    found = show(room.context(), view)
    whole, place = dialogue(view.turns), first_shown(found, view.turns)
    if place == 0:
        return
    kept = sum(cost(message, quarter) for message in found.messages[:-1])
    missing = marks(whole)[place - 1].removeprefix("[")[:-1].partition("i")[0].partition("r")[0]
    (unit,) = [turn for turn in view.turns if turn.id == missing]
    granularity = sum(cost(message, quarter) for message in unit.messages)
    assert kept >= 0.40 * (usable - pinned_cost) - 0.06 * usable - granularity - 8


@settings(max_examples=2 * settings().max_examples, suppress_health_check=SLOW)
@given(WIDE, PLAIN)
def test_nothing_is_left_out_below_the_high_mark(room: Room, history: list[Told]) -> None:
    """A session that never was longer than the high mark is shown whole."""
    view = room.view(grown(history))
    whole = dialogue(view.turns)
    if sum(cost(message, quarter) for message in whole) <= 0.55 * room.budget.packed_limit:
        found = show(room.context(), view)
        assert list(found.messages[:-1]) == whole
        assert [line.status for line in found.trace.layers if line.id == "history"] == ["included"]


@settings(max_examples=2 * settings().max_examples, suppress_health_check=SLOW)
@example(Room(window=2_000, instructions=0, keep_recent=1), [Told(media="low")])
@given(WIDE, HISTORIES)
def test_the_last_turns_are_whole(room: Room, history: list[Told]) -> None:
    """The last `keep_recent` completed turns are shown as they were, or the trace says why not: they are too long."""
    view = room.view(grown(history))
    found = show(room.context(), view)
    if any(told.compacted for told in history):
        return
    answered = [turn for turn in view.turns if turn.status == "completed"]
    recent = dialogue(answered[-room.keep_recent :])
    there = [message for message in found.messages[:-1] if not message.text.startswith("[Note")]
    if there[len(there) - len(recent) :] == recent:
        return
    stretch = view.turns[view.turns.index(answered[-room.keep_recent :][0]) :]
    notes = 64 * sum(turn.status != "completed" for turn in stretch)  # a line each, of at most so many tokens
    assert notes + sum(cost(message, quarter) for message in recent) > (0.40 - 0.06) * room.budget.packed_limit - 8
    assert any(line.reason for line in found.trace.layers if line.id == "history")


@settings(max_examples=3 * settings().max_examples, suppress_health_check=SLOW)
@example(Room(window=8_192, sources=(((10_000, {}),),)), [], [Round(((16_000, 300),))])
@given(ROOMS, HISTORIES, st.lists(ROUNDS, min_size=1, max_size=6))
def test_every_call_of_a_running_turn_fits(room: Room, history: list[Told], rounds: list[Round]) -> None:
    """However the rounds grow, each call fits and holds the input whole, the last round, and no call alone."""
    view = room.view(grown(history))
    running = [m for n, each in enumerate(rounds) for m in (calls_of(f"now{n}", each), results_of(f"now{n}", each))]
    budget, own = room.budget, own_of(view)
    floor = least(room, view)
    for number, found in enumerate(calls_shown(room.context(), view, running)):
        last = running[2 * number - 2 : 2 * number]
        if isinstance(found, WindowTooSmall):
            needed = floor + sum(cost(message, budget.counter) for message in shortest(last))
            assert needed > budget.packed_limit, f"call {number + 1}: {found}, though {needed} would do"
            continue
        assert recount(found, budget.counter) <= budget.packed_limit, f"call {number + 1}\n{found.trace}"
        assert unpaired(found.messages) == []
        at = [n for n, message in enumerate(found.messages) if message.parts[: len(own.parts)] == own.parts]
        assert len(at) == 1
        if last:
            asked = found.messages[-2]
            assert [(c.id, c.name) for c in asked.calls] == [(c.id, c.name) for c in last[0].calls]
            whole = floor + sum(cost(message, budget.counter) for message in shortest(last))
            # Its arguments are what gives way last of all.
            assert asked == last[0] or whole > budget.packed_limit
            assert [result.call_id for result in found.messages[-1].results] == [r.call_id for r in last[1].results]


def shortest(last: Sequence[Message]) -> list[Message]:
    """A round whose results are as short as they could be asked to be: 200 characters of each."""
    if not last:
        return []
    results = tuple(replace_output(result) for result in last[1].results)
    return [last[0], Message("tool", results)]


def replace_output(result: Any) -> Any:
    """A result of at most 200 characters."""
    return type(result).of(result.call_id, result.name, output=result.text[:200].ljust(min(len(result.text), 200)))
