"""Walks through whole sessions: every turn and every call of it is shown under a window, and checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon import Chat, Message, Shown, ToolResult, Turn, View
from antiphon.context._assembly import Call
from antiphon.context._budget import Budget, budget_for
from antiphon.context._layered import LayeredContext
from antiphon.context._showing import TurnShowing
from antiphon.errors import WindowTooSmall
from antiphon.transcript import dialogue
from tests.properties.histories import cost, tool, tools_cost, unpaired

WINDOWS = (8_000, 32_000, 128_000)
RULES = "Answer in the words of the house, and say where each figure comes from."
TOOLS = (tool("read_file", 200), tool("run_command", 300))
LOW = 0.40


@dataclass
class Figures:
    """What a walk under one window found.

    Attributes:
        window: tokens.
        turns: how many turns were built for, and how many calls.
        refused: calls that nothing could be sent for.
        cut: turns for which something of the history was left out or stubbed.
        shallow: turns that kept less than a fifth of the low mark of history though there was more.
        moves: how often the beginning of the history moved.
    """

    window: int
    turns: int = 0
    calls: int = 0
    refused: int = 0
    cut: int = 0
    shallow: int = 0
    moves: int = 0

    def __add__(self, other: Figures) -> Figures:
        numbers = ("turns", "calls", "refused", "cut", "shallow", "moves")
        return Figures(self.window, *(getattr(self, name) + getattr(other, name) for name in numbers))

    @property
    def shallow_share(self) -> float:
        """Of the turns for which anything was cut."""
        return self.shallow / max(1, self.cut)

    def __str__(self) -> str:
        return (
            f"{self.window:>8,}{self.turns:>8}{self.calls:>8}{self.refused:>9}{self.cut:>8}"
            f"{self.shallow:>9}{self.shallow_share:>9.1%}{self.moves:>8}"
        )


HEADING = f"{'window':>8}{'turns':>8}{'calls':>8}{'refused':>9}{'cut':>8}{'shallow':>9}{'share':>9}{'moves':>8}"


@dataclass
class Walk:
    """One session under one window."""

    window: int
    counted: dict[int, tuple[Message, int]] = field(default_factory=dict)

    async def through(self, messages: Sequence[Message]) -> Figures:
        """Import a conversation, and build every call of it."""
        session = await Chat("echo:").import_session(messages)
        figures, since = Figures(self.window), ""
        context, cache, turns = LayeredContext(), dict[Any, Any](), session.turns()
        for n, turn in enumerate(turns):
            view = self._view(turns[:n], turn, cache)
            first = await self._turn(context, view, turn=turn, figures=figures)
            if first is None:
                continue
            figures.turns += 1
            line = next(line for line in first.trace.layers if line.id == "history")
            place = f"{line.since} {line.stubbed}"
            figures.moves += place != since and n > 0 and place != "None None"
            since = place
            whole = sum(self._cost(message, view.budget) for message in dialogue(view.turns))
            kept = sum(self._cost(message, view.budget) for message in first.messages[:-1])
            figures.cut += kept < whole
            figures.shallow += kept < min(whole, 0.20 * LOW * view.budget.packed_limit)
        return figures

    def _view(self, turns: Sequence[Turn], turn: Turn, cache: dict[Any, Any]) -> View:
        return View(
            session_id="walked",
            scope=None,
            turns=turns,
            input=turn.input,
            query="",
            budget=budget_for(self.window),
            turn_id=turn.id,
            instructions=RULES,
            tools=TOOLS,
            cache=cache,
        )

    async def _turn(self, context: LayeredContext, view: View, *, turn: Turn, figures: Figures) -> Shown | None:
        """Check every call of one turn; give what the first was shown."""
        showing, first = TurnShowing(context.build, view), None
        for number, own in enumerate(calls_of(turn), 1):
            figures.calls += 1
            call = Call(turn.id, number, model="m", budget=view.budget, tools=view.tools)
            needed = self._needed(own, view.budget)
            try:
                shown = await showing.shown(own, call=call)
            except WindowTooSmall:
                if needed <= view.budget.packed_limit:
                    raise
                figures.refused += 1
                continue
            self._check(shown, own, view.budget)
            first = shown if number == 1 else first
        return first

    def _check(self, shown: Shown, own: Sequence[Message], budget: Budget) -> None:
        total = budget.counter(shown.system) + 4 + tools_cost(shown.tools, budget.counter)
        total += sum(self._cost(message, budget) for message in shown.messages)
        assert total <= budget.packed_limit, f"{total} tokens\n{shown.trace}"
        assert unpaired(shown.messages) == []
        assert any(message.parts[: len(own[0].parts)] == own[0].parts for message in shown.messages)
        replies = [message for message in own[1:] if message.role == "assistant"]
        # Arguments are what gives way last, where results of 200 characters would still be too long.
        if replies and self._needed(own, budget) <= budget.packed_limit:
            assert replies[-1] in shown.messages

    def _cost(self, message: Message, budget: Budget) -> int:
        known = self.counted.get(id(message))
        if known is None or known[0] is not message:
            known = self.counted[id(message)] = (message, cost(message, budget.counter))
        return known[1]

    def _needed(self, own: Sequence[Message], budget: Budget) -> int:
        """Tokens of what must be sent, with at most 200 characters of each result of the last round."""
        last = [message for message in own[1:] if message.role == "assistant"][-1:]
        at = next((n for n, message in enumerate(own) if last and message is last[0]), len(own))
        short = [short_results(message) for message in own[at:]]
        fixed = budget.counter(RULES) + 4 + tools_cost(TOOLS, budget.counter) + self._cost(own[0], budget)
        return fixed + sum(cost(message, budget.counter) for message in short)


def calls_of(turn: Turn) -> Iterator[list[Message]]:
    """What a turn had said itself before each of its model's replies."""
    messages = list(turn.messages)
    ends = [n for n, message in enumerate(messages) if n and message.role == "assistant"]
    for end in ends or [1]:
        yield messages[:end]


def short_results(message: Message) -> Message:
    """The message with at most 200 characters of each of its results."""
    parts = [
        ToolResult.of(part.call_id, part.name, output=part.text[:200]) if isinstance(part, ToolResult) else part
        for part in message.parts
    ]
    return Message(message.role, tuple(parts))
