"""Packing over random layers, rooms and counters: the room is kept, and every layer has its fate."""

import re
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from antiphon import Layer, estimate_tokens
from antiphon.context._block import fenced, frame, piece, section
from antiphon.context._packing import Offer, pack
from tests.properties.strategies import texts

MARK = re.compile("\n?\\[… [0-9,]+ characters left out …\\]\n?")
COUNTERS: list[Callable[[str], int]] = [
    len,
    estimate_tokens,
    lambda text: len(text.split()),
    lambda text: -(-len(text.encode("utf-8", "replace")) // 4),
    lambda text: int(len(text) ** 0.5),  # Two texts cost more apart than together.
    lambda text: len(text) % 97,  # A longer text may cost less.
    lambda text: 0,
]

long_texts = st.builds(lambda text, times: text * times, texts, st.integers(1, 60))
layers = st.builds(
    lambda id, text, **style: Layer(id, text, **style),
    st.sampled_from(["docs", "docs:1", "recall", "<item>", 'a"b\n']),
    long_texts | st.lists(long_texts, max_size=5),
    kind=st.sampled_from(["custom", "memory", "retrieved"]),
    priority=st.integers(-1, 3),
    truncate=st.sampled_from([None, "start", "middle", "end"]),
    tokens=st.none() | st.integers(0, 500),
)


@st.composite
def packings(draw: Any) -> dict[str, Any]:
    """Everything that `pack` is given."""
    counter, render = draw(st.sampled_from(COUNTERS)), draw(st.sampled_from([piece, section]))
    several = draw(st.lists(layers, max_size=8))
    tools = st.sampled_from([0, 0, 0, 5, 80])
    return {
        "offers": [Offer(layer, counter(render(layer)), draw(tools)) for layer in several],
        "room": draw(st.integers(-10, 3_000)),
        "counter": counter,
        "render": render,
        "shares": draw(st.dictionaries(st.sampled_from(["memory", "retrieved"]), st.integers(0, 500))),
    }


@given(packings())
def test_the_room_and_every_share_are_kept(packing: dict[str, Any]) -> None:
    """What is sent, each counted as it is sent, and the tools that it unlocks, never exceed the room."""
    packed = pack(**packing)
    sent = [layer for layer in packed if layer.status in ("included", "truncated")]
    costs = {id(layer): packing["counter"](packing["render"](layer)) for layer in packed}
    assert all(layer.tokens == costs[id(layer)] for layer in sent)
    tools = sum(
        offer.tools for offer, layer in zip(packing["offers"], packed, strict=True) if layer.status != "dropped"
    )
    assert sum(layer.tokens for layer in packed) + tools <= max(packing["room"], 0)
    for kind, ceiling in packing["shares"].items():
        assert sum(layer.tokens for layer in packed if layer.kind == kind) <= ceiling


@given(packings())
def test_every_layer_has_one_fate(packing: dict[str, Any]) -> None:
    """Each offer comes back once, in its place: whole, shortened as its maker allows, or dropped with the reason."""
    packed = pack(**packing)
    for offer, layer in zip(packing["offers"], packed, strict=True):
        assert (layer.id, layer.kind, layer.priority) == (offer.layer.id, offer.layer.kind, offer.layer.priority)
        assert layer.original_tokens == offer.cost
        match layer.status:
            case "included":
                assert layer.text == offer.layer.text and layer.tokens == offer.cost
            case "truncated" if offer.layer.items:
                assert layer.items and layer.items == offer.layer.items[: len(layer.items)]
            case "truncated":
                first, last = MARK.split(layer.text)
                assert offer.layer.truncate and offer.layer.text.startswith(first) and offer.layer.text.endswith(last)
            case _:
                assert layer.status == "dropped" and layer.tokens == 0 and layer.reason


@given(packings())
def test_packing_again_gives_the_same(packing: dict[str, Any]) -> None:
    """The same offers have the same fates."""
    assert pack(**packing) == pack(**packing)


@given(packings())
def test_nothing_that_would_fit_alone_at_the_end_is_dropped(packing: dict[str, Any]) -> None:
    """Greedy, but not wasteful: no dropped layer would fit into what is left over."""
    packed = pack(**packing)
    left = max(packing["room"], 0) - sum(
        layer.tokens + offer.tools
        for offer, layer in zip(packing["offers"], packed, strict=True)
        if layer.status != "dropped"
    )
    for offer, layer in zip(packing["offers"], packed, strict=True):
        if layer.status == "dropped" and layer.reason == "no room left":
            assert offer.cost + offer.tools > left


@given(st.lists(layers, max_size=6))
def test_a_block_is_its_pieces(several: list[Layer]) -> None:
    """Whatever the texts are, the block is head, pieces and tail, and holds exactly our own marks."""
    block, (head, tail) = fenced(several), frame()
    pieces = [piece(layer) for layer in several]
    assert block == (head + "".join(pieces) + tail if any(pieces) else "")
    assert block.count("<item id=") == block.count("</item>") == sum(1 for each in pieces if each)
