"""A plot of what calls were shown, as SVG text: stacked areas, a line for the window, and marks.

Without scripts, style sheets and ids. Text and axes take the colour of what is around them, so that the plot can be
read on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ._html import COLORS, escaped

_WIDTH, _HEIGHT = 860, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 40, 48
_MOST_STEPS = 800
"""Most steps that are drawn: more of them than there are pixels say nothing."""
_TICKS = 5
_DASHED = 'stroke="currentColor" stroke-width="1.5" stroke-dasharray="6 4"'
_FONT = 'font-family="system-ui,sans-serif" font-size="12" fill="currentColor"'


@dataclass(frozen=True, slots=True)
class Stack:
    """What is plotted: amounts on top of one another, step by step.

    Attributes:
        areas: the amounts of each area, from the lowest up, all of one length.
        steps: what each step is called, in its tooltip and below the axis.
        limits: the limit at each step; 0 is none.
        marks: steps at which something moved, each with what to say of it.
        refused: steps at which nothing could be sent.
        across, up: what the axes are called.
    """

    areas: Mapping[str, Sequence[int]]
    steps: Sequence[str]
    limits: Sequence[int] = ()
    marks: Mapping[int, str] = field(default_factory=dict)
    refused: Mapping[int, str] = field(default_factory=dict)
    across: str = ""
    up: str = ""


def stacked(stack: Stack) -> str:
    """Draw a stack as one SVG element."""
    frame = _Frame.around(stack)
    pieces = [
        *_grid(frame),
        *_areas(stack, frame),
        *_limit(stack, frame),
        *_marks(stack, frame),
        *_axes(stack, frame),
        *_legend(stack),
    ]
    says = escaped(f"{stack.up} over {stack.across}: {len(stack.steps)} steps, at most {_tallest(stack):,}")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{says}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'{head} width="100%" style="max-width:{_WIDTH}px;color-scheme:light dark">{"".join(pieces)}</svg>'


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where on the paper a step and an amount stand."""

    count: int
    most: int
    every: int

    @classmethod
    def around(cls, stack: Stack) -> _Frame:
        count = max(len(stack.steps), 1)
        most = max([1, _tallest(stack), *stack.limits])
        return cls(count, most, _round_step(most / _TICKS))

    def x(self, step: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * step / self.count, 1)

    def y(self, amount: float) -> float:
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * amount / self.most, 1)


def _tallest(stack: Stack) -> int:
    return max((sum(amounts) for amounts in zip(*stack.areas.values(), strict=True)), default=0)


def _round_step(least: float) -> int:
    """The smallest of 1, 2 and 5 times a power of ten that is not less."""
    power = 1
    while power * 10 <= least:
        power *= 10
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)


def _grid(frame: _Frame) -> list[str]:
    found = []
    for amount in range(0, frame.most + 1, frame.every):
        y = frame.y(amount)
        line = f'<path d="M{_LEFT} {y}H{_WIDTH - _RIGHT}" stroke="currentColor" stroke-opacity=".15"/>'
        found.append(f'{line}<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end" {_FONT}>{amount:,}</text>')
    return found


def _areas(stack: Stack, frame: _Frame) -> list[str]:
    chosen = _drawn(stack)
    below = [0] * len(chosen)
    found = []
    for name, amounts in stack.areas.items():
        above = [low + amounts[step] for low, step in zip(below, chosen, strict=True)]
        if above != below:
            path = _outline(chosen, frame, above=above, below=below)
            color = escaped(COLORS.get(name, "#999999"))
            title = escaped(f"{name}: at most {max(amounts, default=0):,}")
            found.append(f'<path d="{path}" fill="{color}" fill-opacity=".85"><title>{title}</title></path>')
        below = above
    return found


def _drawn(stack: Stack) -> list[int]:
    """The steps that are drawn: of neighbours that would share their pixels, the tallest."""
    count = len(stack.steps)
    if count <= _MOST_STEPS:
        return list(range(count))
    totals = [sum(amounts) for amounts in zip(*stack.areas.values(), strict=True)]
    edges = [count * n // _MOST_STEPS for n in range(_MOST_STEPS + 1)]
    return [max(range(start, end), key=totals.__getitem__) for start, end in pairwise(edges)]


def _outline(chosen: Sequence[int], frame: _Frame, *, above: Sequence[int], below: Sequence[int]) -> str:
    edges = [round(frame.count * n / len(chosen), 3) for n in range(len(chosen) + 1)]
    there = [
        f"{'M' if n == 0 else 'L'}{frame.x(edges[n])} {frame.y(high)}H{frame.x(edges[n + 1])}"
        for n, high in enumerate(above)
    ]
    back = [
        f"L{frame.x(edges[n + 1])} {frame.y(low)}H{frame.x(edges[n])}" for n, low in reversed(list(enumerate(below)))
    ]
    return "".join([*there, *back, "Z"])


def _limit(stack: Stack, frame: _Frame) -> list[str]:
    path, last = "", 0
    for step, limit in enumerate(stack.limits):
        if limit and limit != last:
            path += f"{'L' if last else 'M'}{frame.x(step)} {frame.y(limit)}"
        if last and not limit:
            path += f"H{frame.x(step)}"
        last = limit
    path += f"H{frame.x(frame.count)}" if last else ""
    if not path:
        return []
    return [f'<path d="{path}" fill="none" {_DASHED}/>']


def _marks(stack: Stack, frame: _Frame) -> list[str]:
    base = _HEIGHT - _BOTTOM
    found = []
    for step, says in stack.marks.items():
        x = frame.x(step)
        line = f'<path d="M{x} {_TOP}V{base}" stroke="currentColor" stroke-opacity=".55" stroke-dasharray="2 3"/>'
        tip = f'<path d="M{x - 4} {_TOP - 6}H{x + 4}L{x} {_TOP}Z" fill="currentColor"/>'
        found.append(f"<g><title>{escaped(says)}</title>{line}{tip}</g>")
    for step, says in stack.refused.items():
        x = frame.x(step + 0.5)
        cross = f'<path d="M{x - 3} {base - 9}l6 6m0 -6l-6 6" stroke="#cc3311" stroke-width="2"/>'
        found.append(f"<g><title>{escaped(says)}</title>{cross}</g>")
    return found


def _axes(stack: Stack, frame: _Frame) -> list[str]:
    base, middle = _HEIGHT - _BOTTOM, (_LEFT + _WIDTH - _RIGHT) / 2
    found = [f'<path d="M{_LEFT} {_TOP}V{base}H{_WIDTH - _RIGHT}" fill="none" stroke="currentColor"/>']
    every = _round_step(len(stack.steps) / 12)
    for step in range(0, len(stack.steps), every):
        name = escaped(stack.steps[step])
        found.append(f'<text x="{frame.x(step + 0.5)}" y="{base + 17}" text-anchor="middle" {_FONT}>{name}</text>')
    upright = (_TOP + base) / 2
    found.append(f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle" {_FONT}>{escaped(stack.across)}</text>')
    turned = f'transform="rotate(-90 14 {upright})"'
    found.append(f'<text x="14" y="{upright}" text-anchor="middle" {turned} {_FONT}>{escaped(stack.up)}</text>')
    return found


def _legend(stack: Stack) -> list[str]:
    found, x = [], float(_LEFT)
    for name, amounts in stack.areas.items():
        if not any(amounts):
            continue
        color = escaped(COLORS.get(name, "#999999"))
        box = f'<rect x="{x}" y="8" width="11" height="11" fill="{color}" fill-opacity=".85"/>'
        found.append(f'{box}<text x="{x + 16}" y="18" {_FONT}>{escaped(name)}</text>')
        x += 34 + 7 * len(name)
    if any(stack.limits):
        found.append(f'<path d="M{x} 14h22" {_DASHED}/><text x="{x + 27}" y="18" {_FONT}>window</text>')
        x += 88
    if stack.marks:
        found.append(f'<path d="M{x} 10h8l-4 6z" fill="currentColor"/>')
        found.append(f'<text x="{x + 13}" y="18" {_FONT}>history begins elsewhere</text>')
        x += 175
    if stack.refused:
        found.append(f'<path d="M{x} 10l6 6m0 -6l-6 6" stroke="#cc3311" stroke-width="2"/>')
        found.append(f'<text x="{x + 11}" y="18" {_FONT}>refused</text>')
    return found
