"""Packing: which of the optional layers fit into the room there is, whole, shortened or not at all.

Layers are taken by descending priority, each at what it costs as it is sent. One that does not fit is shortened where
its maker allowed that, else left out; what is smaller and less urgent may still fit behind it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .._trace import ITEMS_APART, Layer
from ._assembly import digest
from ._tokens import TokenCounter

USEFUL = 40
"""Tokens of a text that must be left of it: shorter scraps mislead more than they tell."""

SLACK = 24
"""Tokens by which a declared cost may be off: who declares counts the text, without the marks around it."""

_PLACES = {"start": "at the start", "middle": "in the middle", "end": "at the end"}

_JOINER = "\u200d"
_JOINS_ON = re.compile("[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff]")
"""Tones of skin, tags of flags, and the vowels and ends of syllables in Hangul."""
_FLAG = frozenset(map(chr, range(0x1F1E6, 0x1F200)))


@dataclass(frozen=True, slots=True)
class Offer:
    """An optional layer, and what it costs.

    Attributes:
        layer: the layer.
        cost: tokens of it as it is sent, with whatever stands around its text, by the counter.
        tools: tokens of the tool schemas that it alone would unlock. A tool that two layers unlock and nothing else
            offers is counted for both.
    """

    layer: Layer
    cost: int
    tools: int = 0


def pack(
    offers: Sequence[Offer],
    *,
    room: int,
    counter: TokenCounter,
    render: Callable[[Layer], str],
    shares: Mapping[str, int] = {},
) -> list[Layer]:
    """Give each layer with its fate, in the order of the offers.

    By descending priority, among equals in the order of the offers. The tokens of what is sent, and of the tools that
    it unlocks, never exceed `room` in sum.

    Args:
        offers: the optional layers.
        room: tokens for all of them; below 0 is none.
        counter: counts a text.
        render: gives a layer as it is sent, which is what is counted.
        shares: the most tokens that all layers of a kind have together; a kind that is not named has no such bound.
    """
    till = _Till(max(room, 0), shares, counter, render)
    order = sorted(range(len(offers)), key=lambda n: -offers[n].layer.priority)
    fates = {n: till.take(offers[n]) for n in order}
    return [fates[n] for n in range(len(offers))]


def unlocked(layers: Sequence[Layer]) -> list[str]:
    """Names of the tools that the layers unlock which are sent, each once, in their order."""
    sent = (layer for layer in layers if layer.status in ("included", "truncated"))
    return list(dict.fromkeys(name for layer in sent for name in layer.unlocks))


def declared_wrongly(layers: Sequence[Layer]) -> list[str]:
    """One sentence for each layer whose maker declared another cost than was counted.

    Args:
        layers: with their fates; what was not counted is passed over.
    """
    return [
        f"layer {layer.id!r} declares {layer.declared:,} tokens and has {layer.original_tokens:,}; the latter count"
        for layer in layers
        if misdeclared(layer)
    ]


def misdeclared(layer: Layer) -> bool:
    """Whether a declared cost is off by more than a tenth, and by more than the marks around a text cost."""
    if layer.declared is None or not layer.original_tokens:
        return False
    off = abs(layer.declared - layer.original_tokens)
    return off > SLACK and off * 10 > layer.original_tokens


def whole(layer: Layer, tokens: int) -> Layer:
    """The layer, sent whole at the counted cost, with a word on a declared one that is far off."""
    kept = layer.kept(tokens, digest=digest(layer.text))
    return kept.remarked(reason=f"declared {layer.declared:,} tokens") if misdeclared(kept) else kept


@dataclass(slots=True)
class _Till:
    """Counts what is taken, and how much room that leaves."""

    left: int
    shares: Mapping[str, int]
    counter: TokenCounter
    render: Callable[[Layer], str]
    spent: Counter[str] = field(default_factory=Counter)

    def take(self, offer: Offer) -> Layer:
        """Give the layer with its fate, and take what it costs."""
        kind, limit, why = offer.layer.kind, self.left - offer.tools, "no room left"
        if kind in self.shares and self.shares[kind] - self.spent[kind] < limit:
            limit, why = self.shares[kind] - self.spent[kind], f"over its share of {self.shares[kind]:,}"
        layer = self._fitting(offer, limit)
        if layer is None:
            return offer.layer.dropped(why, original_tokens=offer.cost)
        self.left -= layer.tokens + offer.tools
        self.spent[kind] += layer.tokens
        return layer

    def _fitting(self, offer: Offer, limit: int) -> Layer | None:
        if offer.cost <= limit:
            return whole(offer.layer, offer.cost)
        if limit <= 0:
            return None
        return self._fewer(offer, limit) if offer.layer.items else self._cut(offer, limit)

    def _fewer(self, offer: Offer, limit: int) -> Layer | None:
        """The first items, as many as fit; none of them is cut."""
        items = offer.layer.items
        found = self._longest(offer, lambda count: ITEMS_APART.join(items[:count]), most=len(items), limit=limit)
        if found is None or not found.text.strip():
            return None
        return found.made_of(offer, f"{found.length} of {len(items)} items fit", items=items[: found.length])

    def _cut(self, offer: Offer, limit: int) -> Layer | None:
        """As much of the text as fits, if that is enough to be of use."""
        text, where = offer.layer.text, offer.layer.truncate
        if where is None:
            return None
        found = self._longest(offer, lambda length: _cut_at(where, text, length=length), most=len(text), limit=limit)
        if found is None or self.counter("".join(_ends(where, text, length=found.length))) < USEFUL:
            return None
        return found.made_of(offer, f"cut {_PLACES[where]} to fit")

    def _longest(self, offer: Offer, shape: Callable[[int], str], *, most: int, limit: int) -> _Found | None:
        """The longest text shorter than `most` that fits, counted as it is sent."""
        found, fits, over = None, 0, most
        while over - fits > 1:
            length = (fits + over) // 2
            candidate = _Found(length, shape(length), 0)
            tokens = self.counter(self.render(candidate.made_of(offer, "")))
            if tokens <= limit:
                fits, found = length, candidate._replace(tokens=tokens)
            else:
                over = length
        return found


class _Found(NamedTuple):
    """A shorter text that may stand for a layer's own."""

    length: int
    text: str
    tokens: int

    def made_of(self, offer: Offer, reason: str, *, items: Sequence[str] = ()) -> Layer:
        """The layer with this text."""
        costs = {"tokens": self.tokens, "original_tokens": offer.cost}
        return offer.layer.truncated(self.text, **costs, digest=digest(self.text), reason=reason, items=items)


def _cut_at(where: str, text: str, *, length: int) -> str:
    """The text without what is left out of it, and a mark in its place."""
    first, last = _ends(where, text, length=length)
    mark = f"[… {len(text) - len(first) - len(last):,} characters left out …]"
    return "\n".join(part for part in (first, mark, last) if part)


def _ends(where: str, text: str, *, length: int) -> tuple[str, str]:
    """Start and end of a text, at most `length` characters together; nothing that reads as one character is parted."""
    ahead = {"start": 0, "middle": length // 2, "end": length}[where]
    behind = len(text) - (length - ahead)
    while _parts_a_character(text, ahead):
        ahead -= 1
    while _parts_a_character(text, behind):
        behind += 1
    return text[:ahead], text[behind:]


def _parts_a_character(text: str, at: int) -> bool:
    """Whether a cut before the character at `at` would part what is read as one: accents, emoji, flags, syllables."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if _JOINER in (before, after) or _JOINS_ON.match(after) or unicodedata.category(after) in ("Mn", "Mc", "Me"):
        return True
    if before + after == "\r\n" or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"):
        return True
    return after in _FLAG and before in _FLAG and _flags_before(text, at) % 2 == 1


def _flags_before(text: str, at: int) -> int:
    start = at
    while start and text[start - 1] in _FLAG:
        start -= 1
    return at - start
