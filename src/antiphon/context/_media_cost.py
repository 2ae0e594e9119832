"""What media costs: by the vendor's published formula where a picture's size is known, else one figure for all."""

from __future__ import annotations

import math

from .._messages import File, Image

LOW_DETAIL_IMAGE = 85
"""Tokens of a picture in low detail, whatever its size (platform.openai.com, "Images and vision")."""

IMAGE = 1_105
"""Tokens of a picture of unknown size: OpenAI's price for 2,048 by 4,096 pixels in high detail."""

FILE_PAGE = 2_000
"""Tokens of a page of a document; pessimistic on purpose, for nobody knows before the provider has looked."""

_TILE, _TILE_TOKENS, _LARGEST, _SHORTEST = 512, 170, 2_048, 768
"""OpenAI, GPT-4o and 4.1: a tile's pixels and tokens, and the sides that a picture is scaled down to."""

_PIXELS_A_TOKEN = 750
"""Anthropic (docs.anthropic.com, "Vision", calculate image costs)."""
_LONG_EDGE, _MOST = {"claude4.8": 2_576}, {"claude4.8": 4_784}
"""Pixels that Anthropic scales the long edge down to, and the most that a picture may cost, where its newer models
differ from 1,568 and 1,600."""

_GEMINI_TILE, _GEMINI_TILE_TOKENS = 768, 258
"""Google (ai.google.dev, "Understand and count tokens")."""


def media_cost(part: Image | File, family: str | None) -> int:
    """Tokens of a picture or a document, wherever it stands.

    Args:
        part: its bytes and address mean nothing here.
        family: a key of `families()`, which says whose formula holds; None where that is not known.
    """
    if isinstance(part, File):
        return FILE_PAGE * (part.pages or 1)
    if part.width and part.height and family is not None:
        if family.startswith("claude"):
            return _anthropic(part.width, part.height, family=family)
        if family.startswith("gemma"):
            return _GEMINI_TILE_TOKENS * math.ceil(part.width / _GEMINI_TILE) * math.ceil(part.height / _GEMINI_TILE)
        if family in ("o200k_base", "cl100k_base") and part.detail != "low":
            return _openai(part.width, part.height)
    return LOW_DETAIL_IMAGE if part.detail == "low" else IMAGE


def _openai(width: int, height: int) -> int:
    scale = min(1.0, _LARGEST / max(width, height))
    scale *= min(1.0, _SHORTEST / (min(width, height) * scale))
    across, down = (math.ceil(round(side * scale, 6) / _TILE) for side in (width, height))
    return LOW_DETAIL_IMAGE + _TILE_TOKENS * across * down


def _anthropic(width: int, height: int, *, family: str) -> int:
    scale = min(1.0, _LONG_EDGE.get(family, 1_568) / max(width, height))
    return min(_MOST.get(family, 1_600), math.ceil(width * height * scale * scale / _PIXELS_A_TOKEN))
