"""The plot: SVG that can be read anywhere and does nothing."""

import re
import xml.etree.ElementTree as ET

from antiphon._plot import Stack, stacked

SVG = "{http://www.w3.org/2000/svg}"


def drawn(stack: Stack) -> ET.Element:
    """The plot, parsed."""
    return ET.fromstring(stacked(stack))


def texts(root: ET.Element) -> list[str]:
    """Every text on the plot, in order."""
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def titles(root: ET.Element) -> list[str]:
    """Every tooltip."""
    return ["".join(title.itertext()) for title in root.iter(f"{SVG}title")]


STACK = Stack(
    areas={"system": [10, 10, 10], "tools": [0, 0, 0], "history": [0, 40, 20]},
    steps=["1", "2", "3"],
    limits=[80, 80, 80],
    marks={2: "begins at turn 2"},
    refused={1: "needs 99"},
    across="turn",
    up="tokens",
)


def test_it_is_one_inert_element() -> None:
    """The plot is well-formed SVG without scripts, style sheets, links and ids, and whatever it is given is text."""
    stack = Stack(areas={"<b>": [1]}, steps=["<script>"], marks={0: '"&<a href="x">'}, across="<i>", up="&")
    root = drawn(stack)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "g", "path", "rect", "text", "title"}
    assert {name for element in root.iter() for name in element.attrib if name in ("id", "href", "class")} == set()
    assert "<script>" in texts(root)
    assert '"&<a href="x">' in titles(root)


def test_axes_and_areas_are_named() -> None:
    """Axes, the areas that hold anything, the window, marks and refusals are named on the plot."""
    found = texts(drawn(STACK))
    for name in ("turn", "tokens", "system", "history", "window", "history begins elsewhere", "refused", "80", "3"):
        assert name in found
    assert "tools" not in found
    assert {"begins at turn 2", "needs 99"} <= set(titles(drawn(STACK)))
    bare = texts(drawn(Stack(areas={"system": [1]}, steps=["1"])))
    assert not {"window", "refused", "history begins elsewhere"} & set(bare)


def test_areas_stand_on_one_another() -> None:
    """The second area begins where the first one ends, and a taller amount stands higher on the paper."""
    paths = [path.attrib["d"] for path in drawn(STACK).iter(f"{SVG}path") if "fill-opacity" in path.attrib]
    below, above = ([float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)] for path in paths)
    base = max(below)
    assert below[:3] == [below[0]] * 3
    assert above[3:] == below[:3]
    assert base - above[1] == 5 * (base - below[1])


def test_colours_are_the_page_s_own() -> None:
    """Text and axes take the page's colour, so that they are seen on light and dark pages."""
    assert {text.attrib["fill"] for text in drawn(STACK).iter(f"{SVG}text")} == {"currentColor"}


def test_many_steps_are_drawn_by_their_tallest() -> None:
    """Of more steps than there is room for, the tallest are drawn, and the text stays small."""
    amounts = [1] * 50_000
    amounts[33_333] = 1_000
    root = drawn(Stack(areas={"history": amounts}, steps=[str(n) for n in range(50_000)]))
    (area,) = (path for path in root.iter(f"{SVG}path") if "fill-opacity" in path.attrib)
    highest = min(float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", area.attrib["d"]))
    assert highest == 40.0
    assert len(stacked(Stack(areas={"history": amounts}, steps=["1"] * 50_000))) < 100_000


def test_nothing_can_be_plotted() -> None:
    """Without any step there are axes, and no error."""
    assert texts(drawn(Stack(areas={"history": []}, steps=[], across="turn"))) == ["0", "1", "turn", ""]
