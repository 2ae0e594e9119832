"""What is known of a session: its turns, what models were shown, and what became of words. Nothing here writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Unpack

from .._html import figure, paragraph, shortened, table
from .._jsonable import Jsonable
from .._messages import Input, Message, input_text, stored_input
from .._trace import Trace
from ..context import Derived, Shown, Summary
from ..context._summarizing import read_summaries
from ..errors import Misuse
from ..journal import Entry, TurnAccepted, decode
from ..transcript import Turn, dialogue
from ._ground import Ground
from ._limits import TurnOptions, checked_options
from ._planner import AnyContext, Planner
from ._sending import Sending
from ._showing import Services, previewed
from ._snapshot import snapshot_of
from ._why import Fate, Kept, by_digest, fates

_DISPLAYED = 50
_DISPLAYED_LENGTH = 200


class LooksBack:
    """The part of a session that only looks."""

    def __init__(self, ground: Ground, sending: Sending, *, planner: Planner) -> None:
        self._planner = planner
        self._ground = ground
        self._recorder = ground.recorder
        self._store = ground.store
        self._derived: Derived | None = ground.derived
        self._sending = sending
        self._summaries: list[Summary] = []

    @property
    def title(self) -> str | None:
        """The present title."""
        return self._recorder.transcript.title

    @property
    def metadata(self) -> dict[str, Jsonable]:
        """What the session was created with."""
        created = self._recorder.transcript.created
        return {} if created is None else created.metadata

    def turns(self) -> Sequence[Turn]:
        """Every turn, oldest first, whatever its status."""
        return self._recorder.transcript.turns(live=self._live_ids())

    def _turn(self, turn_id: str | None) -> Turn:
        transcript = self._recorder.transcript
        if turn_id is None:
            turns = self.turns()
            if not turns:
                raise Misuse(f"chat session {self._recorder.transcript.session_id!r} has no turn yet", "send one first")
            return turns[-1]
        turn = transcript.turn(turn_id, live=self._live_ids())
        if turn is None:
            raise Misuse(
                f"no turn {turn_id!r} in chat session {self._recorder.transcript.session_id!r}",
                "session.turns() lists them",
            )
        return turn

    def _live_ids(self) -> tuple[str, ...]:
        return tuple(run.turn_id for run in self._sending.running())

    async def preview(
        self, input: Input, /, *, context: AnyContext | None = None, **options: Unpack[TurnOptions]
    ) -> Shown:
        """What the model would be shown, were this sent now. No model is asked and nothing is written.

        Args:
            input: text, or parts.
            context: in place of the Chat's.
            **options: as for `send`.

        Raises:
            WindowTooSmall: if it would not fit.
            NotStorable, Misuse: if the input or an option cannot be used.
            Exception: what the context raises.
        """
        given = checked_options(options)
        said = self._recorder.entry(TurnAccepted, turn_id="preview", input=stored_input(input)).input
        plan = self._planner.plan("preview", said, options=given, context=context)
        services = Services(derived=self._derived, cache=self._ground.cache)
        return await previewed(plan, self._recorder.transcript, scope=self._ground.scope, services=services)

    def messages(self) -> Sequence[Message]:
        """The completed dialogue: what people and the model said, without tool calls and results."""
        return dialogue(self.turns(), "none")

    def traces(self, turn_id: str | None = None) -> Sequence[Trace]:
        """What each model call was shown, of one turn or of all.

        Raises:
            Misuse: if there is no such turn.
        """
        turns = self.turns() if turn_id is None else [self._turn(turn_id)]
        return [trace for turn in turns for trace in turn.traces]

    def why(self, words: str, *, turn_id: str | None = None) -> Sequence[Fate]:
        """Where some words were in every model call, and where they got lost. Pure: nothing is read or asked.

        Args:
            words: looked for in everything that is kept of what calls were shown; case does not matter.
            turn_id: only this turn's calls.

        Raises:
            Misuse: if nothing is looked for, or there is no such turn.
        """
        if not words.strip():
            raise Misuse("why was asked about no words", "give some that you are looking for")
        if turn_id is not None:
            self._turn(turn_id)
        summaries = by_digest([summary.text for summary in self._summaries])
        transcript = self._recorder.transcript
        kept = Kept(transcript.texts(), summaries, transcript.clearings)
        found = fates(words, self.turns(), kept=kept)
        return [fate for fate in found if turn_id in (None, fate.turn_id)]

    async def summaries(self) -> Sequence[Summary]:
        """Every summary that was written for this session and is still kept, oldest first; `why` knows them then."""
        self._summaries = [] if self._derived is None else await read_summaries(self._derived)
        return list(self._summaries)

    def snapshot(self) -> dict[str, Jsonable]:
        """The session as one JSON value, for `Chat.restore`: what was said, and the state.

        `messages` holds everything; those of a turn that did not complete are marked `unfinished`, and restored it is
        canceled. `activeMessages` is the dialogue that contexts start from. Summaries are in it once `summaries` was
        called.
        """
        return snapshot_of(self.turns(), self._recorder.transcript, summaries=self._summaries)

    def _repr_html_(self) -> str:
        """The session as a notebook displays it: its turns, the last fifty of them."""
        turns = self.turns()
        first = max(len(turns) - _DISPLAYED, 0)
        rows = [(n, *_row(turn)) for n, turn in enumerate(turns[first:], first + 1)]
        title = f" · {self.title}" if self.title else ""
        earlier = f" · {first:,} earlier ones are not shown" if first else ""
        head = f"session {self._recorder.transcript.session_id}{title} · {len(turns):,} turns{earlier}"
        return figure(paragraph(head), table(("turn", "status", "input", "output", "tokens"), rows))

    async def journal(self, *, after: str | None = None) -> AsyncIterator[Entry]:
        """The entries as the store holds them, of unknown types too, in order; `after` an entry's id, only later ones.

        Raises:
            UnknownCursor: if no entry has the id `after`.
            StoreError: if the journal cannot be read.
        """
        async for line in self._store.read(self._recorder.transcript.session_id, after=after):
            yield decode(line.data)


def _row(turn: Turn) -> tuple[str, str, str | None, int | None]:
    said = turn.output if turn.output is not None else turn.error or turn.partial
    usage = turn.usage
    return (
        turn.status,
        shortened(input_text(turn.input), _DISPLAYED_LENGTH),
        None if said is None else shortened(said, _DISPLAYED_LENGTH),
        usage.total if usage is not None and usage.total else None,
    )
