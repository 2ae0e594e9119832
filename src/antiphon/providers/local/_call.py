"""One call on its way: chunks from the engine's thread to an event loop, and the wish to end back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from ...errors import ModelError


class Call:
    """Brings chunks from the engine's thread to the loop that reads them, and the wish to end back."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._arrived: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        self._ended = False

    def take(self, chunk: Mapping[str, Any]) -> bool:
        """Take a chunk on the engine's thread; True once nobody wants more."""
        return self._ended or not self._bring(chunk)

    def _bring(self, chunk: Mapping[str, Any] | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._arrived.put_nowait, chunk)
        except RuntimeError:  # the loop was closed under us: nobody reads any more
            return False
        return True

    def done(self, _asked: Future[ModelError | None]) -> None:
        """Say that no chunk will come any more."""
        self._bring(None)

    async def next(self, asked: Future[ModelError | None]) -> Mapping[str, Any] | None:
        """Give the next chunk, or None after the last; raise what the engine failed with, if anything."""
        chunk = await self._arrived.get()
        failed = asked.result() if chunk is None else None
        if failed is not None:
            raise failed
        return chunk

    async def end(self, asked: Future[ModelError | None]) -> None:
        """Have the engine stop, and wait until it has."""
        self._ended = True
        if not asked.done() and not asked.cancel():
            await asyncio.wait([asyncio.wrap_future(asked)])
