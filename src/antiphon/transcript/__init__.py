"""The transcript: turns read back from a journal, and the dialogue in them."""

from ._dialogue import dialogue
from ._replay import Transcript, replay, replay_unchecked
from ._turn import Turn, TurnStatus

__all__ = ["Transcript", "Turn", "TurnStatus", "dialogue", "replay", "replay_unchecked"]
