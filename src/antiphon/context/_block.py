"""Layers as text: in the system text as they are, beside the newest input as one marked block.

What a source gives may come from a web page or a stranger's document. In the block it stands between marks that it
can neither close nor open again, so that a model can tell it from what the user wrote. The wording here is written
for models: it may change in any version and is not to be parsed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .._trace import Layer

_BLOCK, _ITEM = "context", "item"

_HEAD = f'<{_BLOCK} note="Added by the application for this message; the user did not write it.">\n'
_TAIL = f"</{_BLOCK}>"

_UNSEEN = "\\x00-\\x08\\x0e-\\x1f\\x7f\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff"
"""Characters that a reader does not see, and a model may read over."""


def _spelled(name: str) -> str:
    return f"[{_UNSEEN}]*".join(name)


_OURS = re.compile(rf"<(?=[\s/\\{_UNSEEN}]*(?:{_spelled(_BLOCK)}|{_spelled(_ITEM)})\b)", re.IGNORECASE)
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


def frame() -> tuple[str, str]:
    """What stands before the first and behind the last piece of a block."""
    return _HEAD, _TAIL


def piece(layer: Layer) -> str:
    """Exactly what one layer adds to a block; nothing, if its text is blank."""
    if not layer.text.strip():
        return ""
    text = layer.text.strip("\r\n")
    return f'<{_ITEM} id="{_attribute(layer.id)}">\n{_harmless(text)}\n</{_ITEM}>\n'


def fenced(layers: Sequence[Layer]) -> str:
    """One block of all the layers, in their order: the head, the pieces and the tail; no pieces are no block."""
    pieces = "".join(piece(layer) for layer in layers)
    return f"{_HEAD}{pieces}{_TAIL}" if pieces else ""


def section(layer: Layer) -> str:
    """A layer's text as it stands in the system text."""
    return layer.text.strip()


def system_text(layers: Sequence[Layer]) -> str:
    """The sections of all the layers, in their order, with a blank line between; blank ones leave no trace."""
    return "\n\n".join(text for text in map(section, layers) if text)


def _harmless(text: str) -> str:
    """The text, with every `<` that begins one of our marks, however it is spelled, as `&lt;`."""
    return _OURS.sub("&lt;", text)


def _attribute(id: str) -> str:
    return _BREAKS.sub(" ", id).replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
