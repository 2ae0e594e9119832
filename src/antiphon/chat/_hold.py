"""Holding a session: nobody else writes turns of it meanwhile, in any process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from typing import cast

from ..errors import SessionBusy
from ..stores import LeasesSessions, Store

WAIT = 60.0
"""Seconds that `when_busy="wait"` waits for a turn of another process."""

_POLL = 0.05
"""Seconds between two looks at a lease: no lock of the system's tells when it is let go."""


@asynccontextmanager
async def held(store: Store, session_id: str, *, wait: bool) -> AsyncIterator[None]:
    """Hold a session, where the store has leases; a store without them is its caller's to guard.

    Raises:
        SessionBusy: if it is held elsewhere, after a minute if `wait`, else at once.
    """
    async with AsyncExitStack() as stack:
        if _can_lease(type(store)):
            await _enter(stack, cast(LeasesSessions, store), session_id=session_id, wait=wait)
        yield


@lru_cache
def _can_lease(kind: type[Store]) -> bool:
    # Asked once for each class: a protocol is slow to ask, and this is in the way of every turn.
    return issubclass(kind, LeasesSessions)


async def _enter(stack: AsyncExitStack, store: LeasesSessions, *, session_id: str, wait: bool) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + (WAIT if wait else 0.0)
    while True:
        try:
            await stack.enter_async_context(store.lease(session_id))
            return
        except SessionBusy:
            if loop.time() >= until:
                raise
        await asyncio.sleep(_POLL)
