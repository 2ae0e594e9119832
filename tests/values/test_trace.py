"""Layers and traces: one frozen value a piece, a compact row in the journal, and sums that hold."""

import copy
import pickle
from typing import Any

import msgspec
import pytest

from antiphon import Layer, Trace
from antiphon._trace import _HOME, RESERVED

SYSTEM = Layer("instructions", "Be brief.", kind="instructions", pinned=True).kept(1_200, digest="0123456789ab")
CUT = Layer("memory:facts", "…", kind="memory")._with(
    status="truncated", tokens=300, original_tokens=900, reason="over its share", digest="ba9876543210"
)
GONE = Layer("docs:faq", "x").dropped("no room", original_tokens=4_000)
HISTORY = Layer("history", "", kind="history").kept(2_500)
STUBBED = Layer("summary", "", kind="summary")._with(status="compacted", tokens=100, original_tokens=5_000)
FAILED = Layer("search", "", placement="system")._with(status="failed", reason="late: 2.0 s")
INPUT = Layer("input", "", kind="input").kept(40)
OVERHEAD = Layer("overhead", "", kind="overhead").kept(16)

ROWS: list[tuple[Layer, list[Any]]] = [
    (SYSTEM, ["instructions", None, "included", 1200, None, "0123456789ab"]),
    (CUT, ["memory:facts", "memory", "truncated", 300, 900, "ba9876543210", "over its share"]),
    (GONE, ["docs:faq", "custom", "dropped", 0, 4000, None, "no room", "input"]),
    (HISTORY, ["history", None, "included", 2500]),
    (STUBBED, ["summary", None, "compacted", 100, 5000]),
    (FAILED, ["search", "custom", "failed", 0, None, None, "late: 2.0 s", "system"]),
    (INPUT, ["input", None, "included", 40]),
]
LAYERS = (SYSTEM, FAILED, STUBBED, HISTORY, CUT, GONE, INPUT, OVERHEAD)
TRACE = Trace(
    turn_id="t1",
    call=2,
    model="echo:",
    layers=LAYERS,
    window=8_192,
    reserve=1_024,
    margin=716,
    counter="estimate",
    tools=("b", "a"),
    warnings=("the window is a guess",),
)
SEEN = ("id", "kind", "status", "tokens", "original_tokens", "digest", "reason", "where")


def seen(layer: Layer) -> dict[str, Any]:
    """What of a layer a journal keeps."""
    return {name: getattr(layer, name) for name in SEEN}


@pytest.mark.parametrize(("layer", "row"), ROWS, ids=lambda each: getattr(each, "id", ""))
def test_layer_is_written_as_a_row(layer: Layer, row: list[Any]) -> None:
    """A layer is one compact array, without what its kind already says and without an empty end."""
    assert layer.to_row() == row


@pytest.mark.parametrize(("layer", "row"), ROWS, ids=lambda each: getattr(each, "id", ""))
def test_row_is_read_as_the_layer(layer: Layer, row: list[Any]) -> None:
    """A row gives back everything but the text."""
    assert seen(Layer.from_row(row)) == seen(layer)
    assert Layer.from_row(row).text == ""


@pytest.mark.parametrize("kind", [*RESERVED, "memory", "custom"])
@pytest.mark.parametrize("placement", ["system", "input"])
def test_place_survives_the_row(kind: str, placement: Any) -> None:
    """A layer of any kind and placement is read back in the place it was sent in."""
    layer = Layer("x:y", "text", kind=kind, placement=placement).kept(5)
    assert layer.where == _HOME.get(kind, placement)
    assert seen(Layer.from_row(layer.to_row())) == seen(layer)


def test_row_of_a_later_release_is_read() -> None:
    """Places that a later release adds to a row are left alone."""
    assert seen(Layer.from_row(["x", "memory", "included", 4, None, None, None, None, None, None, None, 12.5])) == seen(
        Layer("x", "", kind="memory").kept(4)
    )


@pytest.mark.parametrize("name", ["text", "tokens", "status", "anything"])
def test_layer_cannot_be_changed(name: str) -> None:
    """A layer is one value: nothing of it can be set or taken away."""
    with pytest.raises(AttributeError):
        setattr(SYSTEM, name, 5)
    with pytest.raises(AttributeError):
        delattr(SYSTEM, name)


def test_fates_give_copies() -> None:
    """Giving a layer its fate leaves the layer as it was."""
    layer = Layer("docs:faq", "text", priority=7, unlocks=["search"], tokens=99)
    kept, dropped = layer.kept(12), layer.dropped("no room", original_tokens=12)
    assert (layer.status, layer.tokens, layer.declared) == ("included", 0, 99)
    assert (kept.tokens, kept.original_tokens, kept.declared, kept.unlocks) == (12, 12, 99, ("search",))
    assert (dropped.status, dropped.tokens, dropped.original_tokens, dropped.reason) == ("dropped", 0, 12, "no room")


def test_layers_are_equal_by_value() -> None:
    """Two layers with the same values are equal and hash alike; another fate is another value."""
    assert Layer("a", "x") == Layer("a", "x")
    assert hash(Layer("a", "x").kept(3)) == hash(Layer("a", "x").kept(3))
    assert len({Layer("a", "x"), Layer("a", "x").kept(3), Layer("a", "x", pinned=True)}) == 3


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.id)
def test_layers_travel(layer: Layer) -> None:
    """A layer survives pickle and copy with everything it holds."""
    assert pickle.loads(pickle.dumps(layer)) == layer
    assert copy.copy(layer) == layer
    assert copy.deepcopy(layer) == layer


def test_what_was_sent_sums_to_the_total() -> None:
    """The total is the sum of the layers, and the places sum to the total."""
    assert TRACE.total == 1_200 + 300 + 2_500 + 100 + 40 + 16
    assert TRACE.totals == {"system": 1_500, "tools": 0, "history": 2_600, "input": 56, "total": 4_156}


def test_headroom_is_what_is_left() -> None:
    """Headroom is the window less margin, reserve and everything sent; of an unknown window it is 0."""
    assert TRACE.headroom == 8_192 - 716 - 1_024 - 4_156
    assert Trace("t1", 1, "m", (HISTORY,)).headroom == 0
    assert Trace("t1", 1, "m", (HISTORY,), window=2_000).headroom == -500


def test_rows_are_ready_for_a_data_frame() -> None:
    """`rows` gives one flat dict a layer, with the same keys in each."""
    rows = TRACE.rows()
    assert [row["layer"] for row in rows] == [layer.id for layer in LAYERS]
    assert {tuple(row) for row in rows} == {
        ("turn", "call", "layer", "kind", "where", "status", "tokens", "original_tokens", "reason")
    }
    assert rows[4] == {
        "turn": "t1",
        "call": 2,
        "layer": "memory:facts",
        "kind": "memory",
        "where": "system",
        "status": "truncated",
        "tokens": 300,
        "original_tokens": 900,
        "reason": "over its share",
    }


def test_table_shows_every_layer() -> None:
    """As text a trace is a table: the window's account, one line a layer, then the warnings."""
    assert str(TRACE).splitlines() == [
        "turn t1, call 2 · echo:",
        "  window 8,192 = 4,156 sent + 1,024 for the reply + 716 margin + 2,296 free",
        "  layer         where    status      tokens      was  why",
        "  instructions  system   included     1,200",
        "  search        system   failed           0           late: 2.0 s",
        "  summary       history  compacted      100    5,000",
        "  history       history  included     2,500",
        "  memory:facts  system   truncated      300      900  over its share",
        "  docs:faq      input    dropped          0    4,000  no room",
        "  input         input    included        40",
        "  overhead      input    included        16",
        "  warning: the window is a guess",
    ]


@pytest.mark.parametrize(
    ("window", "account"),
    [
        (0, "  40 sent, window unknown"),
        (100, "  window 100 = 40 sent + 0 for the reply + 60 free"),
        (30, "  window 30 = 40 sent + 0 for the reply + 10 over"),
    ],
)
def test_table_gives_the_account(window: int, account: str) -> None:
    """The second line says what the window went to, what was too much, or that nobody knows the window."""
    assert str(Trace("t1", 1, "m", (INPUT,), window=window)).splitlines()[1] == account


def test_trace_is_kept_compactly() -> None:
    """A journal holds the rows, and of the rest only what is not empty."""
    assert bytes(Trace("t1", 1, "m", (INPUT,)).to_json()) == b'{"layers":[["input",null,"included",40]]}'
    kept = bytes(TRACE.to_json()).decode()
    assert kept.endswith(
        '"window":8192,"reserve":1024,"margin":716,"counter":"estimate","tools":["b","a"],'
        '"warnings":["the window is a guess"]}'
    )


def test_trace_is_read_back() -> None:
    """What was kept gives the same trace, but for the texts."""
    back = Trace.from_json(TRACE.to_json(), turn_id="t1", call=2, model="echo:")
    assert [seen(layer) for layer in back.layers] == [seen(layer) for layer in LAYERS]
    assert (back.rows(), back.totals, str(back)) == (TRACE.rows(), TRACE.totals, str(TRACE))
    assert back == Trace.from_json(TRACE.to_json(), turn_id="t1", call=2, model="echo:")


def test_missing_trace_is_an_empty_one() -> None:
    """An entry that says nothing of its layers gives a trace without layers."""
    empty = Trace.from_json(msgspec.Raw(b"null"), turn_id="t1", call=1, model="m")
    assert empty == Trace("t1", 1, "m", ())


def test_traces_travel() -> None:
    """A trace survives pickle and copy."""
    assert pickle.loads(pickle.dumps(TRACE)) == TRACE
    assert copy.deepcopy(TRACE) == TRACE
