"""Stores: where journals are kept."""

from ._disk import Disk
from ._file import FileStore
from ._in_memory import InMemoryStore
from ._store import DeletesSessions, KeepsDerived, LeasesSessions, Listed, ListsSessions, ReadsUnchecked, Store

__all__ = [
    "DeletesSessions",
    "Disk",
    "FileStore",
    "InMemoryStore",
    "KeepsDerived",
    "LeasesSessions",
    "Listed",
    "ListsSessions",
    "ReadsUnchecked",
    "Store",
]
