"""What notebooks display: nothing in it acts on the page, whatever a model said."""

import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from antiphon import Layer, Reply, Shown, Trace, TurnRequest
from antiphon._html import escaped, markdown
from antiphon.blocking import Chat

HOSTILE = (
    "<script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    "\"' onmouseover='alert(1)' x=\"",
    "[here](javascript:alert(1))",
    "&lt;b&gt; &#60;script&#62;",
    "\x1b]0;title\x07 \u202edesrever\udc80",
    "$\\href{javascript:alert(1)}{x}$",
)


def trace(text: str = "x", **changes: Any) -> Trace:
    """A trace in which every text is this one."""
    layers = (
        Layer("instructions", "", kind="instructions").kept(200),
        Layer(f"skill:{text}", "", kind=text).dropped(text, original_tokens=890),
        Layer("history", "", kind="history").compacted(380, original_tokens=4_905, digest="d", reason=text),
        Layer("input", "", kind="input").kept(41),
    )
    given: dict[str, Any] = {"window": 8_192, "reserve": 1_024, "margin": 100, "warnings": (text,)}
    return Trace(turn_id=text, call=1, model=text, layers=layers, **(given | changes))


def elements(shown: str) -> list[ElementTree.Element]:
    """The elements of what is displayed: it is well-formed, or this fails."""
    return list(ElementTree.fromstring(shown).iter())


def names(shown: str) -> set[str]:
    """The names of its elements, without their namespaces."""
    return {each.tag.split("}")[-1] for each in elements(shown)}


def session_display(text: str) -> str:
    """How a session is displayed in which everything that was said is this."""

    async def answer(request: TurnRequest) -> str:
        if text in request.messages[-1].text:
            return text
        raise LookupError(text)

    with Chat(responder=answer) as chat:
        session = chat.create_session("s", title=text)
        session.ask(text)
        with pytest.raises(LookupError):
            session.ask("fail")
        return session._repr_html_()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_adds_an_element(text: str) -> None:
    """Whatever the texts are, a display has the elements that it has with plain ones, and no attribute of theirs."""
    for plain, hostile in [(trace()._repr_html_(), trace(text)._repr_html_())]:
        assert [each.tag for each in elements(hostile)] == [each.tag for each in elements(plain)]
        assert [[*each.attrib] for each in elements(hostile)] == [[*each.attrib] for each in elements(plain)]
        assert names(hostile) == {
            *("div", "svg", "rect", "title", "span"),
            *("table", "thead", "tbody", "tr", "th", "td"),
        }


@pytest.mark.parametrize("text", [each for each in HOSTILE if "\udc80" not in each])
def test_a_session_displays_its_turns(text: str) -> None:
    """A session shows number, status, input, output and tokens of each turn, as text alone."""
    shown = session_display(text)
    assert names(shown) == {"div", "table", "thead", "tbody", "tr", "th", "td"}
    cells = [each.text for each in elements(shown) if each.tag == "td"]
    assert cells[:2] == ["1", "completed"]
    assert cells[5:8] == ["2", "failed", "fail"]
    assert cells[2] == cells[3] == escaped_back(text)


def escaped_back(text: str) -> str:
    """What a page shows of a text."""
    found = ElementTree.fromstring(f"<p>{escaped(' '.join(text.split()))}</p>").text
    assert found is not None
    return found


def test_text_can_be_written_anywhere() -> None:
    """What is displayed has no control characters, nothing that turns the order of a text, and no half characters."""
    shown = escaped("a\x1b\u202e\udc80\r\nb\tc")
    assert shown == "a\ufffd\ufffd\ufffd\nb\tc"
    shown.encode()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "window 8,192 = 621 sent + 1,024 for the reply + 100 margin + 6,447 free"),
        ({"window": 1_000}, "745 over"),
        ({"window": 0}, "621 sent, window unknown"),
    ],
    ids=["fits", "over", "unknown"],
)
def test_the_bar_is_the_account(changes: dict[str, Any], says: str) -> None:
    """The pieces of the bar lie side by side, are as wide as what they stand for, and end with the bar."""
    shown = trace(**changes)._repr_html_()
    assert says in shown
    bars = [each for each in elements(shown) if each.tag.endswith("rect") and len(each)]
    ends = [(float(each.get("x", "")), float(each.get("width", ""))) for each in bars]
    assert sum(width for _, width in ends) <= 1000.5
    for (start, width), (following, _) in pairwise(ends):
        assert start + width == pytest.approx(following, abs=0.11)
    if not changes:
        assert ends[-1][0] + ends[-1][1] == pytest.approx(1000, abs=0.2)
        assert [each[0].text for each in bars][-1] == "free: 6,447"


def test_a_preview_displays_its_trace() -> None:
    """What would be shown is displayed as its trace."""
    shown = Shown("", (), trace())
    assert shown._repr_html_() == shown.trace._repr_html_()


def test_only_the_last_turns_are_displayed() -> None:
    """A long session displays its last fifty turns under their own numbers, and says how many came before."""

    async def answer(request: TurnRequest) -> str:
        return "ok"

    with Chat(responder=answer) as chat:
        session = chat.create_session("s")
        for n in range(60):
            session.ask(f"{n} " + "long " * 100)
        shown = session._repr_html_()
    cells = [each for each in elements(shown) if each.tag == "td"]
    assert (len(cells), cells[0].text) == (250, "11")
    assert "10 earlier ones are not shown" in shown
    assert all(len(each.text or "") <= 200 for each in cells)


# --- Markdown -------------------------------------------------------------------------------------------------

RENDERER = MarkdownIt("commonmark", {"html": True}).enable("table")
RENDERER.validateLink = lambda url: True  # type: ignore[method-assign]
FENCE = "```html\n<script>go()</script>\n[x](javascript:y)\n```"


def acts(text: str) -> list[str]:
    """What a renderer that lets everything through would make of a text that acts: tags, images and other links."""
    found = []
    for block in RENDERER.parse(text):
        for each in [block, *(block.children or [])]:
            if each.type in ("html_block", "html_inline", "image"):
                found.append(each.content)
            if each.type == "link_open" and not str(each.attrs["href"]).lower().startswith(("http://", "https://")):
                found.append(str(each.attrs["href"]))
    return found


def test_a_reply_is_its_text() -> None:
    """A reply that does nothing but say something is displayed as it was written."""
    text = "# Title\n\n*One* `two` [three](https://example.com)\n\n| a | b |\n|---|---|\n| 1 < 2 | $x_1$ |\n"
    with Chat("echo:") as chat:
        reply = chat.create_session().ask("hello")
        assert reply._repr_markdown_() == reply.text
    assert markdown(text) == text
    assert isinstance(reply, Reply)


@pytest.mark.parametrize(
    "text",
    [
        *(each for each in HOSTILE if not each.startswith("\x1b")),
        "![seen](https://example.com/?secret)",
        "![seen][1]\n\n[1]: https://example.com/?secret",
        "[here][1]\n\n[1]: javascript:alert(1)",
        "[1]:\njavascript:alert(1)\n\n[1]",
        "[here](java&#115;cript:alert(1))",
        "[here](<javascript:alert(1)>)",
        "<javascript:alert(1)>",
        "<!-- x --><b>",
    ],
)
def test_what_would_act_is_only_read(text: str) -> None:
    """Tags, images and links that lead elsewhere than to the web are text; nothing that is seen is changed."""
    assert acts(markdown(text)) == []
    assert markdown(text).replace("\u2060", "") == text


def test_code_can_be_copied() -> None:
    """Code between clear fences stays as it is, byte for byte."""
    text = f"So:\n\n{FENCE}\n\nand\n\n~~~\n<b>\n~~~\n"
    assert markdown(text) == text
    assert acts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        " ```\n<b>\n```\n<script>",
        "- ```\n<b>",
        "```\n<b>",
        "````\n```\n<b>\n````",
        "$$\n```\n$$\n<b>\n```",
        "> ```\n<b>\n```",
    ],
)
def test_unclear_fences_are_text(text: str) -> None:
    """Where renderers could differ on what is code, nothing is taken for code."""
    assert "<b>" not in markdown(text)
    assert acts(markdown(text)) == []


PIECES = [
    *"<>![]():`~\\ \n\r\t-#>|$&",
    "```",
    "~~~",
    "\n```\n",
    "<b>",
    "<script>",
    "](",
    "javascript:x",
    "https://e.com",
    "a",
    "    ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
def test_no_text_acts(text: str) -> None:
    """However tags, links and fences are put together, a renderer that lets everything through finds none."""
    assert acts(markdown(text)) == []
