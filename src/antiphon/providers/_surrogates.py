"""Half characters: what journals keep, and what no provider takes."""

from __future__ import annotations

from collections.abc import Mapping

from .._jsonable import Jsonable

_HIGH = ("\ud800", "\udbff")


def whole_text(text: str) -> str:
    """Join the halves of characters that stand side by side, and replace every half that stands alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole_texts(value: Jsonable) -> Jsonable:
    """Give a JSON value with every text in it made whole, keys included; tuples become lists."""
    if isinstance(value, str):
        return value if value.isascii() else whole_text(value)
    if isinstance(value, Mapping):
        return {whole_text(key): whole_texts(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [whole_texts(each) for each in value]
    return value


class Joiner:
    """Joins pieces of a text, where a character may be cut in half between two of them."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """Give what is whole of the text so far and was not given before."""
        text, self._half = self._half + piece, ""
        if text and _HIGH[0] <= text[-1] <= _HIGH[1]:
            text, self._half = text[:-1], text[-1]
        return whole_text(text)

    def end(self) -> str:
        """Give what stands for a half that was never completed, or nothing."""
        return whole_text(self._half)
