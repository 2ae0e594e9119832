"""The seam to models: one method, eight promises."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol, runtime_checkable

from ._events import ModelEvent
from ._request import ModelRequest


@runtime_checkable
class Model(Protocol):
    """Something that answers a request. `antiphon.testing.ModelContract` checks the promises.

    M1  A stream that does not raise gives exactly one `Replied`, last.
    M2  The text pieces after the last `Retry`, joined, equal the reply's text.
    M3  Every tool call has an id, unique in the reply.
    M4  Usage is reported at most once.
    M5  A failure raises a `ModelError`, never a vendor's error.
    M6  Closing the stream, or cancelling the task that reads it, ends the work behind it.
    M7  The request is not changed.
    M8  Nothing happens before the first event is asked for.

    Attributes:
        name: how traces and errors call this model.
    """

    @property
    def name(self) -> str:
        """How traces and errors call this model."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer one request; write it as an async generator function, read it under `contextlib.aclosing`."""
        ...


@runtime_checkable
class HasWindow(Protocol):
    """A model that knows how many tokens it holds, reply included."""

    @property
    def window(self) -> int:
        """Tokens of request and reply together."""
        ...
