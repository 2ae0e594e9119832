"""What every turn of a session stands on."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

from ..context import Derived
from ..stores import Store
from ._listening import SessionEvents
from ._recorder import Recorder


@dataclass(frozen=True, slots=True)
class Ground:
    """What every turn of a session stands on.

    Attributes:
        store: where the journal is, and who holds it.
        recorder: the one writer.
        scope: the session's owner, or None.
        derived: what is kept beside the journal, or None.
        listening: who is told of events.
        cache: what contexts keep for the session while this process lives.
    """

    store: Store
    recorder: Recorder
    scope: str | None
    derived: Derived | None
    listening: SessionEvents
    cache: MutableMapping[Any, Any] = field(default_factory=dict)
