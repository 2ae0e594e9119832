"""Packing: by priority into the room there is, whole, shortened as allowed, or not at all."""

from collections.abc import Sequence
from typing import Any

import pytest

from antiphon import Layer, estimate_tokens
from antiphon.context._block import piece
from antiphon.context._packing import USEFUL, Offer, declared_wrongly, pack, unlocked, whole

FAMILY, FLAG, ACCENT = "👩\u200d👩\u200d👧", "🇳🇱", "e\u0301"


def words(text: str) -> int:
    """Counts words: what tests can count by hand."""
    return len(text.split())


def text_of(layer: Layer) -> str:
    """Sends a layer as its text."""
    return layer.text


def packed(layers: Sequence[Layer], room: int, **more: Any) -> list[Layer]:
    """Packs layers at their words."""
    return pack([Offer(each, words(each.text)) for each in layers], room=room, counter=words, render=text_of, **more)


def sized(id: str, size: int, **more: Any) -> Layer:
    """A layer of so many words."""
    return Layer(id, " ".join(f"w{n}" for n in range(size)), **more)


def fates(layers: Sequence[Layer]) -> list[tuple[str, str, int, str | None]]:
    """What became of each."""
    return [(layer.id, layer.status, layer.tokens, layer.reason) for layer in layers]


def test_what_fits_is_kept_whole() -> None:
    """Whatever fits is kept, in the order it was offered, at its cost and with its digest."""
    given = packed([sized("low", 3, priority=1), sized("high", 4, priority=9)], 7)
    assert fates(given) == [("low", "included", 3, None), ("high", "included", 4, None)]
    assert all(layer.digest and len(layer.digest) == 12 for layer in given)


def test_of_three_too_large_together_the_least_urgent_falls() -> None:
    """Each fits alone, all three do not: the smallest priority falls first, then the next."""
    layers = [sized("b", 40, priority=2), sized("a", 40, priority=1), sized("c", 40, priority=3)]
    fallen = {room: [layer.id for layer in packed(layers, room) if not layer.tokens] for room in (120, 119, 79, 39)}
    assert fallen == {120: [], 119: ["a"], 79: ["b", "a"], 39: ["b", "a", "c"]}


def test_a_small_one_survives_a_large_dropped_one() -> None:
    """Packing goes on behind what does not fit."""
    given = packed([sized("large", 100, priority=9), sized("small", 5, priority=1)], 50)
    assert fates(given) == [("large", "dropped", 0, "no room left"), ("small", "included", 5, None)]
    assert given[0].original_tokens == 100 and given[0].text == sized("large", 100).text


def test_among_equals_the_first_offered_is_first() -> None:
    """Equal priorities keep the order of the offers."""
    given = packed([sized(name, 10) for name in "abc"], 25)
    assert [layer.status for layer in given] == ["included", "included", "dropped"]


@pytest.mark.parametrize("room", [0, -5])
def test_without_room_everything_is_dropped(room: int) -> None:
    """No room, or less than none, keeps nothing."""
    layers = [sized("a", 1), sized("b", 100, truncate="end"), Layer("c", ["one", "two"])]
    assert [layer.status for layer in packed(layers, room)] == ["dropped"] * 3


# --- items -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("room", "left"), [(11, 5), (10, 4), (9, 4), (8, 4), (7, 3), (6, 3), (4, 2), (3, 1), (1, 1)])
def test_the_last_items_fall_first(room: int, left: int) -> None:
    """As many of the first items as fit are kept, and none of them is cut."""
    items = ["one", "two two two", "three", "four four", "five five five five"]
    sizes = [1, 3, 1, 2, 4]
    fitting = max(n for n in range(1, 6) if sum(sizes[:n]) <= room)
    [given] = packed([Layer("docs", items, truncate="end")], room)
    assert list(given.items) == items[:fitting] and given.text == "\n\n".join(items[:fitting])
    assert given.tokens == sum(sizes[:fitting])
    if fitting < 5:
        assert (given.status, given.reason) == ("truncated", f"{fitting} of 5 items fit")
        assert given.original_tokens == 11


def test_an_item_is_never_cut() -> None:
    """If not even the first fits, all are dropped, though their layer may be cut at its end."""
    [given] = packed([Layer("docs", ["long " * 100, "short"], truncate="end")], 80)
    assert fates([given]) == [("docs", "dropped", 0, "no room left")]


def test_items_of_nothing_are_not_left() -> None:
    """If only blank items would fit, their layer is dropped."""
    [given] = packed([Layer("docs", ["", " ", "long " * 100])], 80)
    assert given.status == "dropped"


# --- cutting ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "starts", "ends", "reason"),
    [
        ("start", False, True, "cut at the start to fit"),
        ("middle", True, True, "cut in the middle to fit"),
        ("end", True, False, "cut at the end to fit"),
    ],
)
def test_a_text_is_cut_where_its_maker_allows(where: Any, starts: bool, ends: bool, reason: str) -> None:
    """What is left out is marked, the rest is counted anew, and the room is used."""
    layer = sized("docs", 1_000, truncate=where)
    [given] = packed([layer], 100)
    assert (given.status, given.reason, given.original_tokens) == ("truncated", reason, 1_000)
    assert given.text.startswith("w0 w1" if starts else "[… ")
    assert given.text.endswith("w998 w999" if ends else " characters left out …]")
    assert given.text.count(" characters left out …]") == 1
    assert given.tokens == words(given.text) and 95 <= given.tokens <= 100
    assert given.digest != whole(layer, 1_000).digest


def test_the_mark_says_how_much_is_left_out() -> None:
    """Its figure and what is left are the whole text."""
    layer = Layer("docs", "word " * 1_000, truncate="end")
    [given] = packed([layer], 100)
    kept, mark = given.text.split("\n")
    assert mark == f"[… {len(layer.text) - len(kept):,} characters left out …]"


def test_a_scrap_is_dropped() -> None:
    """What is left must be of use: less than forty tokens of the text are none."""
    mark = words("[… 1,234 characters left out …]")
    sent = {room: packed([sized("docs", 1_000, truncate="end")], room)[0].status for room in range(USEFUL, USEFUL + 9)}
    assert sent == {room: "dropped" if room < USEFUL + mark else "truncated" for room in sent}


def test_without_leave_nothing_is_cut() -> None:
    """A text whose maker does not say where it may be cut stands whole or not at all."""
    assert packed([sized("docs", 1_000)], 999)[0].status == "dropped"


UNITS = [
    FAMILY,
    FLAG,
    ACCENT,
    "👍🏽",
    "❤️",
    "नि",
    "\r\n",
    "\u1112\u1161\u11ab",
    "🏴\U000e0067\U000e007f",
    "\ud83d\ude00",
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("where", ["start", "middle", "end"])
@pytest.mark.parametrize("room", range(200, 212))
def test_no_character_is_parted(unit: str, where: Any, room: int) -> None:
    """Whatever reads as one character, however it is put together, is there or is not."""
    layer = Layer("docs", unit * 500, truncate=where)
    [given] = pack([Offer(layer, len(layer.text))], room=room, counter=len, render=text_of)
    assert given.status == "truncated" and given.tokens > room - 3 * len(unit)
    first, last = given.text.split("[…")[0][:-1], given.text.split("…]")[1][1:]
    assert (first, last) == tuple(unit * (len(each) // len(unit)) for each in (first, last))


def test_a_cut_text_is_valid() -> None:
    """Bytes are never cut: whatever script a text is in, what is left can be encoded."""
    for unit in ("é漢字ひらがな😀", "Ωμέγα ", "שלום"):
        [given] = packed([Layer("docs", f"{unit} " * 500, truncate="middle")], 100)
        assert given.text.encode().decode() == given.text and given.tokens > 90


# --- shares, tools, declared costs -----------------------------------------------------------------------------


def test_a_share_bounds_all_layers_of_a_kind() -> None:
    """What is over a kind's share falls, though there is room, and others are not bound by it."""
    layers = [sized("m1", 600, kind="memory"), sized("m2", 600, kind="memory"), sized("docs", 2_000)]
    given = packed(layers, 5_000, shares={"memory": 1_000})
    assert fates(given)[1] == ("m2", "dropped", 0, "over its share of 1,000")
    assert [layer.tokens for layer in given] == [600, 0, 2_000]


def test_a_share_shortens_what_may_be_shortened() -> None:
    """A layer that fits the room but not what is left of its share is cut to that."""
    layers = [sized("m1", 600, kind="memory"), sized("m2", 600, kind="memory", truncate="end")]
    given = packed(layers, 5_000, shares={"memory": 1_000})
    assert given[1].status == "truncated" and 390 <= given[1].tokens <= 400


def test_a_share_of_nothing_is_nothing() -> None:
    """0 means 0, not a default."""
    assert packed([sized("m", 1, kind="memory")], 10, shares={"memory": 0})[0].reason == "over its share of 0"


def test_tools_that_a_layer_unlocks_cost_room() -> None:
    """The schemas are sent with it, so they are counted with it, and fall with it."""
    offers = [Offer(sized("skill", 10, priority=900, unlocks=["b", "a"]), 10, tools=91), Offer(sized("docs", 50), 50)]
    given = pack(offers, room=100, counter=words, render=text_of)
    assert [layer.status for layer in given] == ["dropped", "included"]
    given = pack(offers, room=101, counter=words, render=text_of)
    assert [layer.status for layer in given] == ["included", "dropped"] and given[0].tokens == 10


def test_a_dropped_layer_takes_only_its_own_unlocks() -> None:
    """A tool that another layer unlocks too stays; order is that of the layers, each name once."""
    layers = [
        Layer("a", "text", unlocks=["write", "read"]).kept(1),
        Layer("b", "text", unlocks=["read", "send"]).dropped("no room left"),
        Layer("c", "text", unlocks=["read", "list"]).truncated("te", 1, original_tokens=2, digest=None, reason="cut"),
        Layer("d", "text", unlocks=["pay"]).failed("raised"),
    ]
    assert unlocked(layers) == ["write", "read", "list"]


@pytest.mark.parametrize(
    ("declared", "counted", "wrong"),
    [(10, 350, True), (900, 350, True), (350, 350, False), (320, 350, False), (5, 28, False), (0, 25, True)],
)
def test_a_declared_cost_is_shown_and_never_spent(declared: int, counted: int, wrong: bool) -> None:
    """The counted figure is spent; one that is far off is told of."""
    given = packed([sized("docs", counted, tokens=declared)], 1_000)
    assert given[0].tokens == counted
    assert given[0].reason == (f"declared {declared} tokens" if wrong else None)
    says = f"layer 'docs' declares {declared} tokens and has {counted}; the latter count"
    assert declared_wrongly(given) == ([says] if wrong else [])


def test_a_lie_about_the_cost_buys_no_room() -> None:
    """A large layer that declares little is dropped by its real size."""
    given = packed([sized("docs", 350, tokens=1)], 100)
    assert given[0].status == "dropped" and given[0].original_tokens == 350
    assert len(declared_wrongly(given)) == 1


def test_an_honest_maker_is_not_corrected() -> None:
    """Who counts the text and not the marks around it declares nothing wrong."""
    for text in ("Delft.", "The port is Delft. " * 20):
        layer = Layer("docs/manual:17", text, tokens=estimate_tokens(text))
        assert declared_wrongly([whole(layer, estimate_tokens(piece(layer)))]) == []
