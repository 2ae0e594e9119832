"""Everything of a call but history: what it costs as it must be sent, and what of the optional layers fits beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .._messages import Message
from .._tool_spec import ToolSpec, notes_of
from .._trace import Layer
from ..errors import WindowTooSmall
from ._assembly import SYSTEM_SEAM
from ._block import fenced, frame, piece, section, system_text
from ._budget import Budget
from ._counting import PER_MESSAGE, count_parts, count_tool, count_tools
from ._packing import Offer, pack, unlocked, whole
from ._source import Contribution, Source, gather
from ._stubs import READ_RESULT
from ._view import View

_REMEMBERED = 4
"""Turns whose sources' outputs are kept: one runs, and others may be previewed meanwhile."""


class Parts(NamedTuple):
    """What a call holds beside history.

    Attributes:
        instructions: the turn's pinned text.
        contributions: what sources gave, in their order.
        tools: what is offered whatever else is.
        unlockable: what a layer may unlock.
        carried: names of tools that were unlocked since history was last cut.
        input: tokens of the input's own parts.
        budget: who counts.
    """

    instructions: str
    contributions: Sequence[Contribution]
    tools: Sequence[ToolSpec]
    unlockable: Mapping[str, ToolSpec]
    carried: Sequence[str]
    input: int
    budget: Budget

    @property
    def layers(self) -> list[Layer]:
        """All layers of all sources, in their order."""
        return [layer for each in self.contributions for layer in each.layers]


@dataclass(frozen=True, slots=True)
class Packed:
    """The layers with their fates, and what is sent of them.

    Attributes:
        layers: all of them, in their order.
        system: system text behind the instructions.
        block: the block behind the input's own parts.
        tools: what is offered, in order.
        total: tokens of everything but history and what the running turn has said.
    """

    layers: Sequence[Layer]
    system: str
    block: str
    tools: Sequence[ToolSpec]
    total: int


async def parts_of(view: View, sources: Sequence[Source]) -> Parts:
    """Ask the sources, once a turn, and put beside what they give what the view has."""
    return Parts(
        instructions=view.instructions,
        contributions=await _contributions(view, sources),
        tools=sorted(view.tools, key=lambda tool: tool.name),
        unlockable={tool.name: tool for tool in view.unlockable},
        carried=_carried(view),
        input=count_parts(Message.of("user", view.input), view.budget.counter),
        budget=view.budget,
    )


def _carried(view: View) -> Sequence[str]:
    """Tools that were unlocked since history was last cut, in the order of the last call: to go on offering them
    costs less than a prefix that is the same no more."""
    traces = view.turns[-1].traces if view.turns and view.unlockable else ()
    history = next((line for line in traces[-1].layers if line.id == "history"), None) if traces else None
    if history is None or history.since != view.boundary:
        return ()
    names = {tool.name for tool in view.unlockable}
    return [name for name in traces[-1].tools if name in names]


async def _contributions(view: View, sources: Sequence[Source]) -> Sequence[Contribution]:
    asked: dict[str, Sequence[Contribution]] = view.cache.setdefault("contributions", {})
    if view.rounds and view.turn_id in asked:
        return asked[view.turn_id]
    found = await gather(sources, view) if sources else ()
    asked[view.turn_id] = found
    while len(asked) > _REMEMBERED:
        del asked[next(iter(asked))]
    return found


def pinned_only(parts: Parts) -> Packed:
    """What must be sent whatever else is."""
    return _packed(parts, [_pinned(layer, parts.budget) for layer in parts.layers if layer.pinned])


def packed(parts: Parts, *, limit: int, shares: Mapping[str, int]) -> Packed:
    """Everything that must be sent, and of the rest what fits.

    Args:
        parts: what there is.
        limit: most tokens for everything but history.
        shares: the most tokens for all layers of a kind together.
    """
    least = pinned_only(parts)
    room = limit - least.total
    # A piece was counted alone; beside others, and with the tools it unlocks, it may cost a little more.
    for _ in range(3):
        found = _packed(parts, _with_fates(parts, least, room=room, shares=shares))
        if found.total <= limit:
            return found
        room -= found.total - limit
    return _packed(parts, _with_fates(parts, least, room=0, shares=shares))


def _with_fates(parts: Parts, least: Packed, *, room: int, shares: Mapping[str, int]) -> list[Layer]:
    count = parts.budget.counter
    optional = [layer for layer in parts.layers if not layer.pinned]
    opening = 0 if least.block else _frame_cost(parts.budget)
    offered = {tool.name for tool in least.tools}
    offers = [Offer(layer, count(_rendered(layer)), _unlocking(parts, layer, offered=offered)) for layer in optional]
    fates = iter(pack(offers, room=room - opening, counter=count, render=_rendered, shares=shares))
    return [_pinned(layer, parts.budget) if layer.pinned else next(fates) for layer in parts.layers]


def _packed(parts: Parts, layers: Sequence[Layer]) -> Packed:
    count = parts.budget.counter
    sent = [layer for layer in layers if layer.status in ("included", "truncated")]
    in_system = [layer for layer in sent if layer.placement == "system"]
    beside = [layer for layer in sent if layer.placement == "input"]
    system, block = system_text(in_system), fenced(beside)
    tools = _offered(parts, sent)
    seams = max(0, count(system) - sum(layer.tokens for layer in in_system))
    framed = max(0, count(f"\n\n{block}") - sum(layer.tokens for layer in beside)) if block else 0
    layers = _costing(_costing(layers, in_system, more=seams), beside, more=framed)
    spent = sum(layer.tokens for layer in in_system) + seams + sum(layer.tokens for layer in beside) + framed
    note = notes_of(tools)
    total = spent + count(parts.instructions) + count(note) + count_tools(tools, count) + parts.input + PER_MESSAGE
    if texts := sum(map(bool, (system, parts.instructions, note))):
        total += PER_MESSAGE + count(SYSTEM_SEAM) * (texts - 1)
    return Packed(layers, system, block, tools, total)


def _costing(layers: Sequence[Layer], group: Sequence[Layer], *, more: int) -> Sequence[Layer]:
    """The last of a group also bears what stands between and around them, so that the lines sum to what is sent."""
    if not more:
        return layers
    return [layer.costing(more) if layer is group[-1] else layer for layer in layers]


def _offered(parts: Parts, sent: Sequence[Layer]) -> list[ToolSpec]:
    """Tools in the order of their unlocking, so that one more changes nothing before it."""
    names = [*parts.carried, *unlocked(sent)]
    base = {tool.name for tool in parts.tools}
    more = [parts.unlockable[name] for name in dict.fromkeys(names) if name in parts.unlockable and name not in base]
    return [*parts.tools, *more]


def _unlocking(parts: Parts, layer: Layer, *, offered: set[str]) -> int:
    new = [parts.unlockable[name] for name in layer.unlocks if name in parts.unlockable and name not in offered]
    return count_tools(new, parts.budget.counter)


def _pinned(layer: Layer, budget: Budget) -> Layer:
    return whole(layer, budget.counter(_rendered(layer)))


def _rendered(layer: Layer) -> str:
    return section(layer) if layer.placement == "system" else piece(layer)


def _frame_cost(budget: Budget) -> int:
    return budget.counter("\n\n" + "".join(frame()))


def without_carried(parts: Parts, least: Packed) -> tuple[Parts, Packed]:
    """The same without tools that are offered only because they were before: they are worth a cache, and no refusal."""
    if not parts.carried or least.total <= parts.budget.packed_limit:
        return parts, least
    bare = parts._replace(carried=())
    return bare, pinned_only(bare)


def must_fit(parts: Parts, least: Packed, *, budget: Budget, more: Mapping[str, int] | None = None) -> None:
    """Refuse a call that does not fit even with nothing optional in it.

    Raises:
        WindowTooSmall: listing the sizes, before anybody is asked.
    """
    total = least.total + sum((more or {}).values())
    if total <= budget.packed_limit:
        return
    sizes = {"instructions": budget.counter(parts.instructions)}
    sizes |= {layer.id: layer.tokens for layer in least.layers}
    sizes |= {"tools": count_tools(least.tools, budget.counter), "input": parts.input, **(more or {})}
    framing = total - sum(sizes.values())
    sizes |= {"overhead": framing, "reply": budget.reserve, "margin": budget.margin}
    listed = {name: tokens for name, tokens in sizes.items() if tokens}
    raise WindowTooSmall(budget.window, total + budget.reserve + budget.margin, sizes=listed)


def reading_back(parts: Parts, *, room: int) -> int:
    """Tokens of offering to read back what stubs stand for.

    0 where there are no tools, where one has that name, and where the room is so small that history needs it all.
    """
    names = {tool.name for tool in parts.tools} | set(parts.unlockable)
    if not parts.tools or READ_RESULT.name in names:
        return 0
    cost = count_tool(READ_RESULT, parts.budget.counter)
    return cost if room > 8 * cost else 0
