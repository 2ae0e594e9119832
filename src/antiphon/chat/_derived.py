"""What is kept beside a session's journal, as contexts use it: what cannot be kept is made again."""

from __future__ import annotations

import logging

from ..errors import StoreError
from ..stores import KeepsDerived, Store

_logger = logging.getLogger("antiphon")


class BesideJournal:
    """The derived data of one session."""

    def __init__(self, store: KeepsDerived, session_id: str) -> None:
        self._store = store
        self._session_id = session_id

    async def get(self, key: str) -> bytes | None:
        """Give what was put under `key`; lost, damaged or out of reach is None."""
        try:
            return await self._store.get_derived(self._session_id, key)
        except StoreError as error:
            _logger.debug("session %s: derived data not read: %s", self._session_id, type(error).__name__)
            return None

    async def put(self, key: str, content: bytes) -> None:
        """Keep `content` under `key`, if that can be done."""
        try:
            await self._store.put_derived(self._session_id, key, content=content)
        except StoreError as error:
            _logger.debug("session %s: derived data not kept: %s", self._session_id, type(error).__name__)


def beside_journal(store: Store, session_id: str) -> BesideJournal | None:
    """The derived data of a session, or None where the store keeps none."""
    return BesideJournal(store, session_id) if isinstance(store, KeepsDerived) else None
