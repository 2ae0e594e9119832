"""Histories of other systems, as ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._messages import Message


class History(NamedTuple):
    """Messages that were read from a provider's own form.

    Attributes:
        messages: in order; system messages stand where they stood.
        lost: one sentence for everything that could not be carried, each naming its place.
    """

    messages: Sequence[Message]
    lost: Sequence[str] = ()
