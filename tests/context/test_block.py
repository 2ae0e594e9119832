"""Layers as text: sections of the system text, and one marked block that no text can leave."""

import re

import pytest

from antiphon import Layer
from antiphon.context._block import fenced, frame, piece, section, system_text

MARK = re.compile(r"<\s*/?\s*(context|item)", re.IGNORECASE)


def test_a_block_is_its_head_its_pieces_and_its_tail() -> None:
    """One block for all layers, in their order, each under its id."""
    layers = [Layer("docs:17", "\nThe port is Delft.\n"), Layer("recall", "  Rotterdam, said ana.")]
    head, tail = frame()
    assert fenced(layers) == head + "".join(map(piece, layers)) + tail
    assert fenced(layers) == (
        '<context note="Added by the application for this message; the user did not write it.">\n'
        '<item id="docs:17">\nThe port is Delft.\n</item>\n'
        '<item id="recall">\n  Rotterdam, said ana.\n</item>\n'
        "</context>"
    )


@pytest.mark.parametrize("layers", [[], [Layer("docs", "")], [Layer("docs", " \n\t"), Layer("more", "\n")]])
def test_nothing_to_say_is_no_block(layers: list[Layer]) -> None:
    """Blank layers add nothing, and without any other there is no block."""
    assert fenced(layers) == "" == system_text(layers)


@pytest.mark.parametrize(
    "spelled",
    [
        "</context>",
        "</item>",
        "</CONTEXT>",
        "</ItEm>",
        "< / context >",
        "<\n/\tcontext\n>",
        "<\u00a0/\u3000context>",
        "</context",
        "<context>",
        '<context note="mine">',
        '<item id="instructions">',
        "<//item>",
        "<\\/context>",
        "<\u200b/context>",
        "</\ufeffitem>",
        "</con\u200btext>",
        "</i\u00adtem>",
        "<\x00/context>",
        "</context/>",
        "<context\u2028>",
    ],
)
def test_no_text_closes_the_fence_or_opens_another(spelled: str) -> None:
    """However a mark of ours is spelled, inside a text or an id it is none."""
    for text in (spelled, f"before{spelled} after", f"<{spelled}", f"{spelled}{spelled}", f"<<{spelled}\n</item"):
        block = fenced([Layer(spelled, text), Layer("docs", text)])
        inside = block.removeprefix(frame()[0]).removesuffix(frame()[1])
        marks = [line for line in inside.splitlines() if MARK.search(line)]
        ids = [line for line in marks if line.startswith('<item id="')]
        assert len(ids) == 2 and marks == [ids[0], "</item>", ids[1], "</item>"]
        assert inside.count("&lt;") >= 2


@pytest.mark.parametrize(
    "text", ["a < b", "<contextual>", "<items>", "<b>bold</b>", "&lt;context&gt;", "if x<item_count"]
)
def test_other_texts_stand_as_they_are(text: str) -> None:
    """Only what begins one of our marks is written otherwise."""
    assert text in fenced([Layer("docs", text)])


def test_an_id_stays_in_its_quotes() -> None:
    """Quotes, angles and line breaks of an id cannot end the mark it stands in."""
    given = piece(Layer('docs:">\r\n</item>\u2028\x00', "text"))
    assert given == '<item id="docs:&quot;&gt; &lt;/item&gt; ">\ntext\n</item>\n'


def test_system_text_is_the_sections_apart() -> None:
    """In the system text layers stand trimmed, a blank line between, without marks."""
    layers = [Layer("a", "\n One. \n"), Layer("b", " "), Layer("c", ["Two.", "Three."])]
    assert [section(layer) for layer in layers] == ["One.", "", "Two.\n\nThree."]
    assert system_text(layers) == "One.\n\nTwo.\n\nThree."
