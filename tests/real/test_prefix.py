"""What a provider's cache can keep of a steady session whose sources say something else in every turn."""

import itertools
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest

from antiphon import Layer, Message, Shown, View
from antiphon.context._budget import budget_for
from antiphon.context._layered import LayeredContext
from tests.properties.histories import (
    Growing,
    Room,
    Round,
    Told,
    calls_of,
    calls_shown,
    cost,
    quarter,
    results_of,
    texts_of,
)

TURNS = 60
WINDOW = 16_000
RULES = "Answer in the words of the house, and say where each figure comes from. " * 20
CACHED = 0.1
"""What a cached token costs beside a fresh one (openai.com/api/pricing, platform.claude.com "Prompt caching")."""


@dataclass(frozen=True)
class Clock:
    """A source that says something else in every turn."""

    id: str = "clock"

    async def contribute(self, view: View) -> Sequence[Layer]:
        """Tell the time, and what was found for this turn."""
        found = f"The {len(view.turns)}th answer from the archive: " + "shelf and row and box. " * 40
        return [Layer("clock:time", f"It is {len(view.turns)} past nine."), Layer("clock:found", found)]


class Sent(NamedTuple):
    """One call.

    Attributes:
        turn: of the session.
        number: of the call in its turn.
        texts: what a provider reads, piece after piece.
        place: where history begins, and where stubs end.
        behind: pieces that stand behind the marked block; they are nothing that the next turn can share.
        block: the marked block's tokens.
        input: the newest input's tokens.
    """

    turn: int
    number: int
    texts: Sequence[str]
    place: tuple[str | None, str | None]
    behind: int
    block: int
    input: int


def pieces(shown: Shown) -> list[str]:
    """A request as a provider reads it: tools, system text, and the messages part by part."""
    tools = [json.dumps([tool.name, tool.description, dict(tool.parameters)]) for tool in shown.tools]
    parts = [text for message in shown.messages for text in texts_of(message)]
    return [*tools, shown.system, *parts]


def tokens(texts: Sequence[str]) -> int:
    """What they cost."""
    return sum(map(quarter, texts))


def shared(before: Sequence[str], now: Sequence[str]) -> int:
    """How many pieces two requests begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now)))


def session(rounds: Sequence[Round]) -> list[Sent]:
    """Sixty turns of equal size, each call of each."""
    growing, context, cache, sent = Growing(), LayeredContext(sources=[Clock()]), dict[Any, Any](), list[Sent]()
    growing.tell(Told())
    for n in range(TURNS):
        room = Room(window=WINDOW, tools=(200, 300))
        view = room.view(growing.transcript, cache=cache, instructions=RULES)
        view = replace(view, budget=replace(budget_for(WINDOW), counter=quarter, counter_name="quarter"))
        running = [m for k, each in enumerate(rounds) for m in (calls_of(f"now{k}", each), results_of(f"now{k}", each))]
        for number, shown in enumerate(calls_shown(context, view, running), 1):
            assert isinstance(shown, Shown)
            sent.append(_sent(n, number, shown, view=view))
        growing.tell(Told(input=room.input, rounds=tuple(rounds), reply=1_200))
    return sent


def _sent(turn: int, number: int, shown: Shown, *, view: View) -> Sent:
    line = next(line for line in shown.trace.layers if line.id == "history")
    at = next(n for n, m in enumerate(shown.messages) if m.parts[:1] == Message.of("user", view.input).parts)
    newest = texts_of(shown.messages[at])
    behind = sum(len(message.parts) for message in shown.messages[at + 1 :])
    return Sent(turn, number, pieces(shown), (line.since, line.stubbed), behind, tokens(newest[1:]), tokens(newest[:1]))


def between(before: Sent, now: Sent) -> tuple[int, int]:
    """Tokens that two calls share, and that they could have shared."""
    alike = tokens(now.texts[: shared(before.texts, now.texts)])
    if now.turn == before.turn:
        return alike, tokens(before.texts)
    # The block of the turn before is gone now: from there on nothing can be shared.
    last = len(before.texts) - before.behind - 1
    return alike, tokens(before.texts[:last])


STEPS = {"words": (), "tools": (Round(((60, 1_000),)), Round(((60, 200), (60, 900))), Round(((900, 1_000),)))}


@pytest.mark.parametrize("kind", STEPS)
def test_what_can_be_shared_is_shared(kind: str) -> None:
    """From call to call at least 99 % of what could be shared is, where history begins where it did before."""
    sent = session(STEPS[kind])
    steady = [between(before, now) for before, now in itertools.pairwise(sent) if before.place == now.place]
    assert len(steady) >= 0.8 * len(sent)
    assert sum(alike for alike, _ in steady) >= 0.99 * sum(could for _, could in steady)


@pytest.mark.parametrize("kind", STEPS)
def test_history_moves_as_seldom_as_its_marks_allow(kind: str) -> None:
    """Between two moves lie as many turns as fit between the two marks, but for one."""
    sent = [each for each in session(STEPS[kind]) if each.number == 1]
    moves = [now.turn for before, now in itertools.pairwise(sent) if before.place != now.place]
    told = Told(input=60, rounds=tuple(STEPS[kind]), reply=1_200)
    growing = Growing()
    growing.tell(told)
    turn = sum(cost(message, quarter) for message in growing.transcript.turns()[0].messages)
    apart = (0.60 - 0.40) * budget_for(WINDOW).packed_limit / turn
    assert moves
    assert len(moves) <= TURNS / max(1, apart) + 1, f"moved in {moves}, though {apart:.1f} turns lie between the marks"


@pytest.mark.parametrize("kind", STEPS)
def test_cached_input_is_cheap(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Weighed by price a call costs less than half of what it costs where what changes stands first."""
    sent = session(STEPS[kind])
    ours = [tokens(now.texts) - (1 - CACHED) * between(before, now)[0] for before, now in itertools.pairwise(sent)]
    theirs = []
    for before, now in itertools.pairwise(sent):
        # The same request with the block at its head; within a turn it stays as it was.
        same = now.turn == before.turn
        theirs.append(tokens(now.texts) - (1 - CACHED) * (between(before, now)[0] if same else 0))
    mean = sum(ours) / len(ours), sum(theirs) / len(theirs)
    figures = f"{kind}: {mean[0]:,.0f} price-weighted input tokens a call, {mean[1]:,.0f} with what changes first"
    if os.environ.get("ANTIPHON_PROVE") == "1":
        with capsys.disabled():
            print(f"\n{figures}", file=sys.stderr)
    assert mean[0] <= (0.5 if kind == "words" else 0.9) * mean[1], figures


def test_a_long_turn_breaks_its_prefix_seldom() -> None:
    """In a turn of eighty rounds a call goes on from the one before, but for one in as many as a third of the room."""
    each = Round(((60, 900),), says=100)
    room, growing = Room(window=WINDOW, tools=(200,)), Growing()
    for _ in range(20):
        growing.tell(Told(reply=1_000))
    running = [m for n in range(80) for m in (calls_of(f"now{n}", each), results_of(f"now{n}", each))]
    shown = list(calls_shown(room.context(), room.view(growing.transcript), running))
    sent = [pieces(call) for call in shown if isinstance(call, Shown)]
    broken = [n for n, (before, now) in enumerate(itertools.pairwise(sent)) if shared(before, now) < len(before)]
    round_cost = sum(cost(message, quarter) for message in running[:2])
    assert len(sent) == 81
    assert broken
    assert len(broken) <= 80 * round_cost / (room.budget.packed_limit / 3) + 2


def test_nothing_of_the_block_is_left_behind() -> None:
    """What a source said for one turn is in no later one: it stands behind the newest input, and there alone."""
    sent = session(())
    for each in sent:
        assert sum("past nine" in text for text in each.texts) == 1


def test_building_twice_costs_nothing_at_the_provider() -> None:
    """Two processes that build the same calls send the same bytes, so that one's cache serves the other."""
    first, second = session(()), session(())
    assert [each.texts for each in first] == [each.texts for each in second]
