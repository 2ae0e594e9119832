"""LayeredContext over random sessions: what is shown fits, by a count of our own, and holds what must be there."""

import warnings
from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, event, given, note, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import NonInteractiveExampleWarning

from antiphon import Shown
from antiphon.context._layered import LayeredContext
from antiphon.errors import WindowTooSmall
from tests.properties.histories import (
    HISTORIES,
    ROOMS,
    TIGHT,
    Room,
    Told,
    attempt,
    everything,
    grown,
    least,
    own_of,
    recount,
    show,
    unpaired,
)

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)


def built(room: Room, history: Sequence[Told]) -> Shown | None:
    """What is shown, or None where the window is too small."""
    found = attempt(room.context(), room.view(grown(history)))
    if isinstance(found, WindowTooSmall):
        event("too small")
        return None
    note(str(found.trace))
    return found


@settings(suppress_health_check=SLOW)
@given(ROOMS, HISTORIES)
def test_every_request_fits(room: Room, history: list[Told]) -> None:
    """Request, reserve and margin fit the window, counted over all that is sent (sitesurf#30, bounty-challenge#50790).

    Counted by characters, our count and the trace's total are equal; other counters round each text up.
    """
    found = built(room, history)
    if found is None:
        return
    budget, counted = room.budget, recount(found, room.budget.counter)
    assert counted + budget.reserve + budget.margin <= budget.window
    assert (found.trace.window, found.trace.reserve, found.trace.margin) == (
        budget.window,
        budget.reserve,
        budget.margin,
    )
    if room.counter == "characters":
        assert counted == found.trace.total
    else:
        assert counted <= found.trace.total + (5 if room.counter == "estimate" else 0)


@settings(suppress_health_check=SLOW)
@given(ROOMS, HISTORIES)
def test_a_window_is_too_small_only_for_what_must_be_sent(room: Room, history: list[Told]) -> None:
    """Refused is exactly what must be sent and does not fit: pinned texts, schemas, input, framing (Vybn#2093)."""
    view = room.view(grown(history))
    needed = least(room, view) + room.budget.reserve + room.budget.margin
    found = attempt(room.context(), view)
    # Our sum is of the whole texts, theirs of the pieces, each rounded up; characters are never rounded.
    rounded = 0 if room.counter == "characters" else 10
    if isinstance(found, WindowTooSmall):
        assert needed > room.window - rounded, f"refused, though {needed} are needed of {room.window}: {found}"
        assert found.window == room.window
        assert found.sizes
    else:
        assert needed <= room.window + rounded, f"built, though {needed} are needed of {room.window}"


def test_most_of_what_is_drawn_builds() -> None:
    """At least six of ten of the drawn sessions and windows build, so that the other rules say something."""
    outcomes: list[bool] = []

    @seed(11)
    @settings(
        max_examples=150, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck), deadline=None
    )
    @given(ROOMS, HISTORIES)
    def drawing(room: Room, history: list[Told]) -> None:
        outcomes.append(built(room, history) is not None)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonInteractiveExampleWarning)
        drawing()
    assert len(outcomes) >= 100
    assert sum(outcomes) >= 0.6 * len(outcomes), f"{sum(outcomes)} of {len(outcomes)}"


@settings(suppress_health_check=SLOW)
@given(ROOMS, HISTORIES)
def test_the_newest_input_is_whole(room: Room, history: list[Told]) -> None:
    """The newest input is the last message and holds its own parts first, whatever else is cut."""
    found = built(room, history)
    if found is not None:
        own = own_of(room.view(grown([])))
        assert found.messages[-1].role == "user"
        assert found.messages[-1].parts[: len(own.parts)] == own.parts


@settings(suppress_health_check=SLOW)
@given(ROOMS, HISTORIES)
def test_no_call_stands_alone(room: Room, history: list[Told]) -> None:
    """Every call has its one result right behind it, every result its call (langchain#34282, OpenHarness#191)."""
    found = built(room, history)
    if found is not None:
        assert unpaired(found.messages) == []
        assert found.messages[0].role == "user"


@settings(suppress_health_check=SLOW)
@given(st.one_of(TIGHT, TIGHT, ROOMS), HISTORIES)
def test_lines_sum_to_what_is_sent(room: Room, history: list[Told]) -> None:
    """Every place's lines sum to its total, names come once, and what is not sent costs nothing."""
    found = built(room, history)
    if found is None:
        return
    trace = found.trace
    assert trace.total == sum(trace.totals[place] for place in ("system", "tools", "history", "input"))
    assert len({layer.id for layer in trace.layers}) == len(trace.layers)
    assert all(layer.tokens == 0 for layer in trace.layers if layer.status in ("dropped", "failed"))
    assert all(layer.reason for layer in trace.layers if layer.status in ("dropped", "failed"))
    assert trace.headroom >= 0
    given_layers = [layer.id for each in room.layers() for layer in each]
    for id in given_layers:
        assert len([line for line in trace.layers if line.id == id]) == 1, f"{id} has not exactly one line"


@settings(suppress_health_check=SLOW)
@given(st.one_of(TIGHT, TIGHT, ROOMS), HISTORIES)
def test_lines_say_what_is_there(room: Room, history: list[Told]) -> None:
    """A layer whose line says it is included is there byte for byte, a dropped one is not, and no pinned one is cut."""
    found = built(room, history)
    if found is None:
        return
    lines = {line.id: line for line in found.trace.layers}
    for layer in (layer for each in room.layers() for layer in each):
        place = found.system if layer.placement == "system" else found.messages[-1].text
        line = lines[layer.id]
        if layer.pinned:
            assert line.status == "included"
        if line.status == "included":
            assert layer.text.strip() in place
        elif line.status == "dropped":
            assert f"({layer.id})" not in found.system + found.messages[-1].text
        else:
            assert line.status == "truncated"
            assert layer.truncate is not None
            assert line.tokens < line.original_tokens


@settings(suppress_health_check=SLOW)
@given(st.one_of(TIGHT, TIGHT, ROOMS), HISTORIES)
def test_only_included_layers_unlock(room: Room, history: list[Told]) -> None:
    """Offered are the base tools first, and behind them what included layers unlock; nothing else, nothing twice."""
    found = built(room, history)
    if found is None:
        return
    lines = {line.id: line for line in found.trace.layers}
    unlocked = [
        name
        for each in room.layers()
        for layer in each
        for name in layer.unlocks
        if lines[layer.id].status in ("included", "truncated")
    ]
    # Where results became stubs there is a tool that reads them back.
    names = [tool.name for tool in found.tools if tool.name != "read_result"]
    base = sorted(f"base_{n}" for n in range(len(room.tools)))
    assert names[: len(base)] == base
    assert sorted(names[len(base) :]) == sorted(unlocked)
    assert found.trace.tools == tuple(tool.name for tool in found.tools)


@settings(suppress_health_check=SLOW)
@given(ROOMS, HISTORIES)
def test_the_same_gives_the_same_bytes(room: Room, history: list[Told]) -> None:
    """Two objects and two readings of one journal give one request and one trace, also with what the first has kept."""
    first, second = room.context(), room.context()
    found = attempt(first, room.view(grown(history)))
    if isinstance(found, WindowTooSmall):
        assert str(attempt(second, room.view(grown(history)))) == str(found)
        return
    once = everything(found)
    view = room.view(grown(history))
    assert everything(show(second, view)) == once
    assert everything(show(second, view)) == once
    view.cache.clear()
    assert everything(show(first, view)) == once


@settings(suppress_health_check=SLOW)
@given(ROOMS, HISTORIES)
def test_a_request_longer_than_the_window_is_sent_on_request(room: Room, history: list[Told]) -> None:
    """Under `send` nothing is refused: a warning says what is over; where all fits it is as under `trim`."""
    view = room.view(grown(history))
    sent = show(room.context(when_full="send"), view)
    assert unpaired(sent.messages) == []
    if sent.trace.headroom < 0:
        assert sent.trace.warnings
    else:
        with_trim: LayeredContext = room.context(when_full="trim")
        assert show(with_trim, room.view(grown(history))).trace.headroom >= 0


@settings(suppress_health_check=SLOW)
@given(ROOMS, HISTORIES, st.sampled_from(["compact", "trim", "error"]))
def test_a_function_decides_as_its_word_would(room: Room, history: list[Told], word: str) -> None:
    """A function that is asked what to do in a full window is told its figures, and its answer is done."""
    asked: list[tuple[int, int]] = []

    def when_full(size: int, limit: int) -> str:
        asked.append((size, limit))
        return word

    found = attempt(room.context(when_full=when_full), room.view(grown(history)))
    if not asked:
        return
    assert all(size > limit == room.budget.packed_limit for size, limit in asked)
    same = attempt(room.context(when_full=word), room.view(grown(history)))
    if isinstance(found, WindowTooSmall) or isinstance(same, WindowTooSmall):
        assert str(found) == str(same)
    else:
        assert everything(found) == everything(same)
