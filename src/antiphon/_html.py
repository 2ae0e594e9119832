"""What notebooks display: HTML and Markdown in which no text of a model, a person or a file can act on the page.

Without scripts, style sheets and ids, so that two displays on one page never meet. Colours stand beside the page's
own, whether it is light or dark.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

# Notebooks set formulas between dollar signs, and a formula can carry links; these classes keep them away.
_INERT = "tex2jax_ignore mathjax_ignore"
_CELL = "padding:2px 8px;vertical-align:top;text-align"
_LINE = "border-bottom:1px solid rgba(128,128,128,.35)"
_SVG = 'xmlns="http://www.w3.org/2000/svg" role="img" preserveAspectRatio="none"'
_STROKE = 'stroke="currentColor" stroke-opacity=".6" vector-effect="non-scaling-stroke"'
_WIDTH, _HEIGHT = 1000, 24
_SHORT = 24
"""Characters of a cell that is never broken."""

COLORS: Mapping[str, str] = {
    "system": "#4477aa",
    "tools": "#ccbb44",
    "history": "#228833",
    "input": "#ee6677",
    "reserve": "#aa3377",
    "margin": "#999999",
}
"""Colours that people who see few of them tell apart, of a lightness between black and white."""

# C0 but for tabs and line feeds, DEL, C1, what turns the order of a text, and halves of characters.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: object) -> str:
    """Any text as HTML, inside an attribute too."""
    return html.escape(_UNSEEN.sub("\ufffd", str(text).replace("\r\n", "\n")), quote=True)


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a bar; one without colour is left empty."""

    label: str
    size: int
    color: str = "none"


def figure(*parts: str) -> str:
    """The whole of what is displayed; the parts are HTML already."""
    return f'<div class="{_INERT}" style="font-size:13px;line-height:1.4;max-width:60em">{"".join(parts)}</div>'


def paragraph(text: str) -> str:
    """A line of text."""
    return f'<div style="margin:4px 0">{escaped(text)}</div>'


def bar(segments: Iterable[Segment], *, whole: int) -> str:
    """A stacked bar with its legend; where the segments are more than `whole`, a line shows where that ends."""
    shown = [segment for segment in segments if segment.size > 0]
    scale = _WIDTH / max(whole, sum(segment.size for segment in shown), 1)
    pieces, legend, at = [], [], 0.0
    for segment in shown:
        width = segment.size * scale
        says = escaped(f"{segment.label}: {segment.size:,}")
        pieces.append(
            f'<rect x="{at:.1f}" y="0" width="{width:.1f}" height="{_HEIGHT}" fill="{escaped(segment.color)}">'
            f"<title>{says}</title></rect>"
        )
        legend.append(f'<span style="margin-right:14px;white-space:nowrap">{_swatch(segment.color)}{says}</span>')
        at += width
    frame = f'<rect x="0.5" y="0.5" width="{_WIDTH - 1}" height="{_HEIGHT - 1}" fill="none" {_STROKE}/>'
    if 0 < whole * scale < at - 1:
        frame += f'<rect x="{whole * scale:.1f}" y="0" width="4" height="{_HEIGHT}" fill="currentColor"/>'
    says = escaped(", ".join(f"{segment.label} {segment.size:,}" for segment in shown))
    size = f'width="100%" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    drawn = f'<svg {_SVG} {size} aria-label="{says}" style="display:block">{"".join(pieces)}{frame}</svg>'
    return f'{drawn}<div style="margin:4px 0">{"".join(legend)}</div>'


def _swatch(color: str) -> str:
    size = f"display:inline-block;width:10px;height:10px;margin-right:5px;background:{escaped(color)}"
    return f'<span style="{size};border:1px solid rgba(128,128,128,.6)"></span>'


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers stand to the right, with separators."""
    names = "".join(f'<th style="{_CELL}:left;{_LINE}">{escaped(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        '<table style="border-collapse:collapse;margin:4px 0;color:inherit;background:transparent">'
        f"<thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td style="{_CELL}:right;font-variant-numeric:tabular-nums;{_LINE}">{value:,}</td>'
    text = "" if value is None else escaped(value)
    breaks = "white-space:nowrap" if len(text) <= _SHORT else "white-space:pre-wrap;overflow-wrap:anywhere"
    return f'<td dir="auto" style="{_CELL}:left;{breaks};{_LINE}">{text}</td>'


def shortened(text: str, most: int) -> str:
    """A text as one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


# --- Markdown -------------------------------------------------------------------------------------------------

_JOINER = "\u2060"
"""A word joiner: it is not seen, and what it stands in is read as plain text."""

_OPENS_FENCE = re.compile(r"(`{3,}|~{3,})[ \w+#.-]*$")
_ACTS = re.compile(
    r"<(?=[A-Za-z/!?])"  # a tag
    r"|!(?=\[)"  # an image: it is loaded without being asked for
    r"|\](?=\((?!\s*https?://)|:(?!\s*https?://))"  # a link, or the target of one, that is not the web's
    r"|\\(?=(?:href|style|class|cssId|require|csname|mmlToken|includegraphics|data)(?![A-Za-z]))",
    re.IGNORECASE,
)
"""Where a joiner makes inert what would act. In a formula, some commands do."""


def markdown(text: str) -> str:
    """A Markdown text that reads the same, without tags, images and links that lead elsewhere than to the web.

    Code between fences stays as it is, so that it can be copied, unless it is unclear where fences begin and end:
    renderers differ in that, and what one takes for code another would run.
    """
    seen = _UNSEEN.sub("\ufffd", text.replace("\r\n", "\n"))
    lines = seen.split("\n")
    outside = _outside_fences(lines)
    if outside is None:
        return _inert(seen)
    parts: list[str] = []
    plain: list[str] = []
    for line, is_plain in zip(lines, outside, strict=True):
        if is_plain:
            plain.append(line)
            continue
        parts += [_inert("\n".join(plain))] if plain else []
        parts.append(line)
        plain = []
    parts += [_inert("\n".join(plain))] if plain else []
    return "\n".join(parts)


def _inert(text: str) -> str:
    return _ACTS.sub(lambda found: found[0] + _JOINER, text)


def _outside_fences(lines: Sequence[str]) -> list[bool] | None:
    """For each line whether it stands outside all fences; None where that is unclear."""
    outside, fence, dollars = [], "", 0
    for line in lines:
        is_fence = "```" in line or "~~~" in line
        if fence:
            outside.append(False)
            if line.rstrip(" ") == fence:
                fence = ""
            elif is_fence:
                return None
            continue
        opens = _OPENS_FENCE.match(line)
        dollars += line.count("$")
        # A formula may swallow the line that opens a fence.
        if (is_fence and opens is None) or dollars > 1 or re.search(r"\\[(\[]", line):
            return None
        fence = opens[1] if opens else ""
        outside.append(opens is None)
    return None if fence else outside
