"""What was sent to prove who asks: it must be found in nothing that is said about the answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

HIDDEN = "[hidden]"
_SHORTEST = 8
"""Characters: what is shorter is no secret, and hiding it would make sentences unreadable."""
_KEPT = 32
_PLAIN = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
        "transfer-encoding",
    }
)


class Secrets:
    """The values of the headers that were sent lately, all but those that say nothing about who asks."""

    def __init__(self) -> None:
        self._known: deque[str] = deque(maxlen=_KEPT)

    def learn(self, headers: Mapping[str, str]) -> None:
        """Remember the values of these headers."""
        for name, value in headers.items():
            if name.lower() in _PLAIN:
                continue
            # `Bearer KEY`: a server that echoes the key leaves out the scheme.
            for secret in (value, value.rpartition(" ")[2]):
                if len(secret) >= _SHORTEST and secret not in self._known:
                    self._known.append(secret)

    def hide(self, text: str) -> str:
        """Give a text without them."""
        for secret in sorted(self._known, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return text

    def __repr__(self) -> str:
        return f"Secrets({len(self._known)} known)"
