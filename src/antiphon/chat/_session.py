"""One conversation: its turns as read back, and the way to the next one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Unpack

from .._ids import keyed_turn_id, new_id
from .._jsonable import Jsonable, check
from .._messages import Input, Message, StoredInput, stored_input
from .._trace import Trace
from ..errors import Misuse, SessionBusy, SessionClosed
from ..journal import Entry, FeedbackRecorded, SessionRenamed, decode
from ..stores._store import Store
from ..transcript import Transcript, Turn, dialogue
from ._limits import TurnOptions, checked_options
from ._live_turn import LiveTurn, result_or_cancel
from ._plan import TurnPlan
from ._planner import Planner
from ._recorder import Recorder
from ._recording import append_turn, parted, recorded_turn
from ._reply import Reply
from ._run import Run


class Session:
    """One conversation. Open it through a Chat; there is one object for each id in each Chat.

    Attributes:
        id: the session.
        scope: its owner, or None.
    """

    def __init__(self, planner: Planner, *, store: Store, recorder: Recorder) -> None:
        self._planner = planner
        self._store = store
        self._recorder = recorder
        self._runs: list[Run] = []
        self._steering: dict[asyncio.Task[None], tuple[str | None, LiveTurn]] = {}
        created = recorder.transcript.created
        assert created is not None  # a transcript without its first entry is refused when it is read
        self.id = created.session_id
        self.scope = created.scope

    @property
    def title(self) -> str | None:
        """The present title."""
        return self._recorder.transcript.title

    @property
    def metadata(self) -> dict[str, Jsonable]:
        """What the session was created with."""
        created = self._recorder.transcript.created
        return {} if created is None else created.metadata

    @property
    def live_turn(self) -> LiveTurn | None:
        """The turn that runs now in this process, or None."""
        running = self._running()
        return LiveTurn(running[0], running[0].accepted) if running else None

    def _running(self) -> list[Run]:
        self._runs = [run for run in self._runs if not run.over]
        return self._runs

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

    def _send(self, said: StoredInput, *, retry_of: str | None, options: dict[str, Any]) -> LiveTurn:
        if self._planner.closed:
            raise SessionClosed(self.id)
        key, when_busy = options.get("key"), options.pop("when_busy", "raise")
        running = self._running()
        repeated = None if key is None else self._repeated(key, running)
        if repeated is not None:
            return repeated
        known = key is not None and self._recorder.transcript.with_key(key) is not None
        if running and when_busy == "steer" and not known and not running[0].closing:
            return self._steer(running[0], said, key=key)
        if running and when_busy == "raise" and not known:
            raise SessionBusy(self.id, turn_id=running[0].turn_id)
        turn_id = new_id() if key is None else self._keyed(key)
        plan = self._planner.plan(turn_id, said, retry_of=retry_of, options=options)
        return self._start(plan, wait=when_busy == "wait", known=known)

    def _keyed(self, key: str) -> str:
        return self._recorder.transcript.with_key(key) or keyed_turn_id(self.id, key)

    def _repeated(self, key: str, running: list[Run]) -> LiveTurn | None:
        on_its_way = next((turn for given, turn in self._steering.values() if given == key), None)
        run = next((run for run in running if run.turn_id == self._keyed(key)), None)
        return on_its_way or (None if run is None else LiveTurn(run, run.accepted))

    def _start(self, plan: TurnPlan, *, wait: bool, known: bool) -> LiveTurn:
        behind = self._runs[-1] if self._runs else None
        run = Run(plan, self._recorder, store=self._store, scope=self.scope, behind=behind, wait=wait)
        if not known:  # One that is only read back holds nobody up.
            self._runs.append(run)
        self._planner.running.add(run)
        run.result.add_done_callback(lambda _: self._forget(run))
        return LiveTurn(run, run.accepted)

    def _forget(self, run: Run) -> None:
        # Called back by the run, which so keeps this object: the Chat holds sessions weakly, and one with a running
        # turn must still be the one that is found.
        self._planner.running.discard(run)
        self._running()

    def _steer(self, run: Run, said: StoredInput, *, key: str | None) -> LiveTurn:
        accepted = asyncio.get_running_loop().create_future()
        turn = LiveTurn(run, accepted)

        async def steer() -> None:
            await asyncio.shield(run.accepted)
            await run.steer(said, key=key)

        task = asyncio.create_task(steer())
        self._steering[task] = (key, turn)
        task.add_done_callback(lambda done: _passed_on(done, accepted))
        task.add_done_callback(lambda done: self._steering.pop(done, None))
        return turn

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
        running = self._running()
        if running:
            raise SessionBusy(self.id, turn_id=running[0].turn_id)
        if messages is None:
            messages = [Message.of("user", input or ""), Message.of("assistant", output or "")]
        said, steps, reply = parted(messages)
        said, turn_id = said if input is None else input, new_id()
        entries = recorded_turn(
            self._recorder.entry, turn_id, input=said, steps=steps, reply=reply, metadata=dict(metadata or {})
        )
        await append_turn(self._recorder, self._store, entries=entries)
        return self._turn(turn_id)

    # --- what is known ----------------------------------------------------------------------------------------

    def turns(self) -> Sequence[Turn]:
        """Every turn, oldest first, whatever its status."""
        return self._recorder.transcript.turns(live=self._live_ids())

    def _turn(self, turn_id: str | None) -> Turn:
        transcript = self._recorder.transcript
        if turn_id is None:
            turns = self.turns()
            if not turns:
                raise Misuse(f"chat session {self.id!r} has no turn yet", "send one first")
            return turns[-1]
        turn = transcript.turn(turn_id, live=self._live_ids())
        if turn is None:
            raise Misuse(f"no turn {turn_id!r} in chat session {self.id!r}", "session.turns() lists them")
        return turn

    def _live_ids(self) -> tuple[str, ...]:
        return tuple(run.turn_id for run in self._running())

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

    async def journal(self, *, after: str | None = None) -> AsyncIterator[Entry]:
        """The entries as the store holds them, of unknown types too, in order; `after` an entry's id, only later ones.

        Raises:
            UnknownCursor: if no entry has the id `after`.
            StoreError: if the journal cannot be read.
        """
        async for line in self._store.read(self.id, after=after):
            yield decode(line.data)

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
        running = self._running()
        if running:
            await asyncio.wait({run.result for run in running}, timeout=drain)
        # All at once: one that waits for another must not start when that one is canceled.
        await asyncio.gather(*(run.cancel("the chat was closed") for run in self._running()))
        await self._recorder.drain()

    def __repr__(self) -> str:
        return f"Session({self.id!r}, {self._recorder.transcript.turn_count} turns)"


def _passed_on(done: asyncio.Task[None], accepted: asyncio.Future[None]) -> None:
    if accepted.done():
        return
    error = asyncio.CancelledError() if done.cancelled() else done.exception()
    if error is None:
        accepted.set_result(None)
    else:
        accepted.set_exception(error)
        accepted.exception()
