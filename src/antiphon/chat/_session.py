"""One conversation: its turns as read back, and the way to the next one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Unpack

from .._ids import new_id
from .._jsonable import Jsonable, check
from .._messages import Input, Message, StoredInput, stored_input
from ..context import Shown, Summary
from ..errors import Misuse, SessionBusy, SessionClosed
from ..journal import ContextCleared, Entry, FeedbackRecorded, SessionRenamed
from ..stores import Store
from ..transcript import Transcript, Turn
from ._compacting import Compactions
from ._deciding import Decides
from ._derived import beside_journal
from ._ground import Ground
from ._limits import TurnOptions, checked_options
from ._listening import SessionEvents
from ._live_turn import LiveTurn, result_or_cancel
from ._looking_back import LooksBack
from ._planner import Planner
from ._recorder import Recorder
from ._recording import append_turn, parted, recorded_turn
from ._reply import Reply
from ._sending import Sending
from ._state import State


class Shelf(Protocol):
    """What a session needs of the place where it stands."""

    @property
    def store(self) -> Store:
        """Where sessions are kept."""
        ...

    async def fork(self, entries: Sequence[Entry], of: Transcript, *, at: str | None, id: str | None) -> Session:
        """Begin another session with these entries."""
        ...


class Session(LooksBack, Decides):
    """One conversation. Open it through a Chat; there is one object for each id in each Chat.

    Attributes:
        id: the session.
        scope: its owner, or None.
        events: calls functions with what happens in this session, in this process.
        state: values that belong to the session, in its journal.
    """

    def __init__(self, planner: Planner, shelf: Shelf, *, recorder: Recorder) -> None:
        created = recorder.transcript.created
        assert created is not None  # a transcript without its first entry is refused when it is read
        self.id = created.session_id
        self.scope = created.scope
        self.events = SessionEvents()
        self.state = State(recorder, self.events, hook=planner.hooks.on_state_change)
        self._shelf = shelf
        derived = beside_journal(shelf.store, self.id)
        ground = Ground(shelf.store, recorder, scope=self.scope, derived=derived, listening=self.events)
        super().__init__(ground, Sending(planner, ground), planner=planner)
        self._compactions = Compactions(ground)

    @property
    def live_turn(self) -> LiveTurn | None:
        """The turn that runs now in this process, or None."""
        running = self._sending.running()
        return LiveTurn(running[0], running[0].accepted) if running else None

    # --- turns ------------------------------------------------------------------------------------------------

    def send(self, input: Input, /, **options: Unpack[TurnOptions]) -> LiveTurn:
        """Start a turn and return at once; nothing acts on the input before it is committed.

        Args:
            input: text, or parts.
            **options: see `TurnOptions`.

        Raises:
            SessionBusy: if another turn of this session runs in this process, unless `when_busy` says otherwise.
            SessionClosed: if the Chat is closed.
            NotStorable, Misuse: if the input or an option cannot be used.
        """
        return self._send(stored_input(input), retry_of=None, options=checked_options(options))

    async def ask(self, input: Input, /, **options: Unpack[TurnOptions]) -> Reply:
        """Send, and wait for the reply. Cancelling this call cancels the turn.

        Raises:
            AntiphonError: whatever ended the turn, with its `turn_id`; see `send` and `LiveTurn.result`.
        """
        return await result_or_cancel(self.send(input, **options))

    def retry(self, turn_id: str | None = None, **options: Unpack[TurnOptions]) -> LiveTurn:
        """Answer a turn's input again, in a new turn that names it; the old one stays as it is.

        Args:
            turn_id: the turn, by default the last one.
            **options: see `TurnOptions`.

        Raises:
            Misuse: if there is no such turn; and see `send`.
        """
        turn = self._turn(turn_id)
        return self._send(turn.input, retry_of=turn.id, options=checked_options(options))

    def resume(self, turn_id: str | None = None, **options: Unpack[TurnOptions]) -> LiveTurn:
        """Go on with a turn that was broken off, or that waits, from its last committed step.

        Calls that gave a result are never run again. One that had been started and gave none runs again only if its
        tool is `idempotent`; else it waits for a person, who may know whether it took effect.

        Args:
            turn_id: the turn, which must be the session's last; by default that.
            **options: see `TurnOptions`; what the turn was sent with holds where nothing else is given, but for
                `deps` and `tools`, which are not kept.

        Raises:
            Misuse: if there is no such turn, the session has no turn that can be resumed, or the turn had instructions
                of its own whose text was not kept and none are given.
            SessionBusy: if a turn of this session runs.
            SessionClosed: if the Chat is closed.
        """
        turn = self._turn(turn_id)
        return self._sending.resume(turn, options=checked_options(options), owner=self)

    def _send(self, said: StoredInput, *, retry_of: str | None, options: dict[str, Any]) -> LiveTurn:
        return self._sending.send(said, retry_of=retry_of, options=options, owner=self)

    def shown(self) -> Shown | None:
        """What the last model call in this process was shown, or None."""
        return self._sending.shown

    async def record(
        self,
        messages: Sequence[Message] | None = None,
        *,
        input: Input | None = None,
        output: str | None = None,
        metadata: Mapping[str, Jsonable] | None = None,
    ) -> Turn:
        """Keep a finished turn from elsewhere; no model is asked.

        Args:
            messages: the whole turn: the user's message, calls and results, the assistant's reply.
            input: what the person said, in place of `messages`.
            output: the reply's text, with `input`.
            metadata: kept with the input.

        Raises:
            Misuse: if neither or both forms are given, or the messages are not one finished turn.
            SessionBusy: if a turn runs, here or elsewhere, or another one is being recorded.
            StoreError: if it could not be committed; nothing of it is kept.
        """
        if (messages is None) == (input is None) or (input is None) != (output is None):
            raise Misuse("record takes a turn's messages, or its input and output", "give one of the two")
        if self._planner.closed:
            raise SessionClosed(self.id)
        self._sending.must_be_idle()
        if messages is None:
            messages = [Message.of("user", input or ""), Message.of("assistant", output or "")]
        said, steps, reply = parted(messages)
        said, turn_id = said if input is None else input, new_id()
        entries = recorded_turn(
            self._recorder.entry, turn_id, input=said, steps=steps, reply=reply, metadata=dict(metadata or {})
        )
        await append_turn(self._recorder, self._store, entries=entries)
        return self._turn(turn_id)

    # --- what people add --------------------------------------------------------------------------------------

    async def give_feedback(
        self,
        turn_id: str,
        *,
        rating: float | None = None,
        comment: str | None = None,
        preferred: str | None = None,
        by: str | None = None,
    ) -> None:
        """Keep what a person thinks of a turn, beside it; the turn itself stays as it is.

        Args:
            turn_id: the turn; it may have ended in any way.
            rating: any scale of the caller's.
            comment: in the person's words.
            preferred: how the reply should have been.
            by: who.

        Raises:
            Misuse: if there is no such turn, or nothing is said.
            NotStorable: if the rating is no finite number, or the rest no text.
            SessionBusy: if the turn still runs here.
            StoreError: if it could not be committed.
        """
        if rating is None and comment is None and preferred is None:
            raise Misuse("feedback that says nothing", "give a rating, a comment or a preferred reply")
        turn = self._turn(turn_id)
        if turn.status == "running":
            raise SessionBusy(self.id, turn_id=turn_id)
        check(rating, "rating")
        fields = {"rating": rating, "comment": comment, "preferred": preferred, "by": by}
        await self._write(FeedbackRecorded, turn_id=turn_id, **fields)

    async def rename(self, title: str | None) -> None:
        """Give the session another title, or none.

        Raises:
            StoreError: if it could not be committed.
        """
        await self._write(SessionRenamed, title=title)

    async def clear_context(self) -> None:
        """Let later contexts start anew; the transcript and the state stay as they are.

        Raises:
            StoreError: if it could not be committed.
        """
        await self._write(ContextCleared)

    async def compact(self, *, focus: str | None = None) -> Summary:
        """Summarise the turns so far now, and not when they no longer fit; the transcript keeps everything.

        Args:
            focus: what the summary should keep above all.

        Returns:
            The summary: what later contexts show in place of these turns.

        Raises:
            SummaryFailed: if none could be written; nothing is changed.
            SessionBusy: if a turn runs, here or elsewhere.
            Misuse: if there is no turn yet, or the Chat's context writes no summaries.
            StoreError: if it could not be committed.
        """
        if self._planner.closed:
            raise SessionClosed(self.id)
        self._sending.must_be_idle()
        plan = self._planner.plan("compaction", "", options={})
        return await self._compactions.compact(plan, self._planner.context, focus=focus)

    async def fork(self, *, at: str | None = None, id: str | None = None) -> Session:
        """Begin another session with this one's turns; this one stays as it is.

        Args:
            at: the last turn to copy, by default the last there is. One without outcome is canceled in the copy.
            id: of the fork, by default a random one.

        Raises:
            Misuse: if there is no such turn.
            SessionNotFound: if this session was deleted.
            SessionExists, InvalidSessionId, StoreError: as for `Chat.create_session`.
        """
        entries = [entry async for entry in self.journal()]
        return await self._shelf.fork(entries, self._recorder.transcript, at=at, id=id)

    async def _write(self, cls: Callable[..., Any], **fields: Any) -> None:
        if self._planner.closed:
            raise SessionClosed(self.id)
        await self._recorder.write(self._recorder.entry(cls, **fields))

    # --- for the Chat -----------------------------------------------------------------------------------------

    def begins_with(self, transcript: Transcript) -> bool:
        """Whether this is the session that a transcript was read from, and not an earlier one of the same id."""
        return self._recorder.transcript.created == transcript.created

    async def refresh(self) -> None:
        """Read what other processes have written since.

        Raises:
            SessionNotFound: if the session was deleted.
            StoreError: if the journal cannot be read.
        """
        await self._recorder.catch_up()

    async def settle(self, *, drain: float | None) -> None:
        """Let the running turns end, for `drain` seconds (None: however long), then cancel them."""
        await self._sending.settle(drain=drain)

    def __repr__(self) -> str:
        return f"Session({self.id!r}, {self._recorder.transcript.turn_count} turns)"
