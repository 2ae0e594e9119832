"""Responders that are plain functions: each call runs in a thread of its own, so that it may block."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextvars import copy_context
from functools import partial
from typing import Any, cast

from .chat import Responder, TurnRequest
from .chat._responder import Answer, responder_name

SyncResponder = Callable[[TurnRequest], Answer | Iterator[str]]
"""A function that gives the reply (text, a Message, or a Reply with usage), or a generator of text."""


def awaited(responder: Responder | SyncResponder | None) -> Responder | None:
    """A responder as an async one; one that is async already stays as it is."""
    function = responder if inspect.isroutine(responder) else getattr(responder, "__call__", responder)  # noqa: B004
    if responder is None or inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return cast(Responder | None, responder)
    made: Any = _streaming(responder) if inspect.isgeneratorfunction(function) else _answering(responder)
    made.__name__ = responder_name(cast(Responder, responder))
    return cast(Responder, made)


def _answering(responder: Callable[[TurnRequest], Any]) -> Any:
    async def answer(request: TurnRequest) -> Any:
        async with contextlib.aclosing(_Worker(lambda: iter([responder(request)])).pieces()) as pieces:
            given = await anext(pieces)
        return await given if inspect.isawaitable(given) else given

    return answer


def _streaming(responder: Callable[[TurnRequest], Any]) -> Any:
    async def stream(request: TurnRequest) -> AsyncIterator[Any]:
        async with contextlib.aclosing(_Worker(lambda: responder(request)).pieces()) as pieces:
            async for piece in pieces:
                yield piece

    return stream


class _Worker:
    """Iterates in a thread of its own. The thread is a daemon: one that never comes back keeps no process alive."""

    def __init__(self, source: Callable[[], Iterator[Any]]) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Callable[[], Any]] = asyncio.Queue()
        self._left = False

    async def pieces(self) -> AsyncGenerator[Any, None]:
        """What comes, as it comes. Whoever leaves early does not wait for the thread, which ends at its next piece."""
        context = copy_context()
        threading.Thread(target=context.run, args=(self._iterate,), name="antiphon-responder", daemon=True).start()
        try:
            while True:
                take = await self._queue.get()
                piece = take()
                if piece is self:
                    return
                yield piece
        finally:
            self._left = True

    def _iterate(self) -> None:
        try:
            pieces = self._source()
            for piece in pieces:
                self._post(partial(_given, piece))
                if self._left:
                    getattr(pieces, "close", lambda: None)()
                    return
            self._post(lambda: self)
        except BaseException as error:  # isolates: responder
            self._post(partial(_raised, error))

    def _post(self, take: Callable[[], Any]) -> None:
        with contextlib.suppress(RuntimeError):  # The loop was closed meanwhile: nobody waits any more.
            self._loop.call_soon_threadsafe(self._queue.put_nowait, take)


def _given(piece: object) -> object:
    return piece


def _raised(error: BaseException) -> Any:
    raise error
