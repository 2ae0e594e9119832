# Generated from the source of the async classes by `./dev generate`: change it there, or in tools/blocking.py.
"""The same classes without await, for scripts, notebooks and threads.

Each method does what its twin in `antiphon` does, on a thread of the Chat's own, in a copy of the caller's context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, Unpack

from . import chat
from ._clock import Clock, system_clock
from ._jsonable import Jsonable
from ._loop_thread import LoopThread
from ._messages import Input, Message
from ._sync_responder import SyncResponder, awaited
from ._trace import Trace
from .chat._events import Event
from .chat._hooks import Hooks
from .chat._limits import Limits, TurnOptions
from .chat._listing import SessionSummary
from .chat._plan import Instructions, KeepTexts
from .chat._planner import CARD_NOTE, AnyContext, AnyModel, Tools
from .chat._redaction import Redact
from .chat._reply import Reply
from .chat._responder import Responder
from .chat._state import Subscriber
from .chat._why import Fate
from .context import Shown, Summary
from .journal import Entry
from .stores import Store
from .tools import PendingCall, Tool, ToolPolicy
from .transcript import Transcript, Turn

__all__ = ["Chat", "LiveTurn", "Session", "State"]


class LiveTurn:
    """A turn that was sent. It runs on its own: nobody has to read it for it to go on.

    Iterating gives every event from the first, however late the iteration starts and however many there are; leaving
    an iteration changes nothing. `with session.send(…) as turn:` cancels the turn if the block is left before
    it has ended.
    """

    def __init__(self, loop: LoopThread, wrapped: chat.LiveTurn) -> None:
        self._loop = loop
        self._async = wrapped

    @property
    def id(self) -> str:
        """The turn."""
        return self._async.id

    def accepted(self) -> Self:
        """Wait until the input is committed.

        Raises:
            SessionBusy: if another process runs a turn of this session; nothing was written.
            StoreError: if the input could not be committed; nothing has acted on it.
        """
        self._loop.run(lambda: self._async.accepted(), turn=self._async)
        return self

    def result(self) -> Reply:
        """Wait for the reply. KeyboardInterrupt cancels the turn.

        Raises:
            TurnCanceled: with the reason, if the turn was canceled.
            TurnOver: if this was sent to steer a turn that took nothing more.
            AntiphonError: whatever else ended the turn, with its `turn_id`.
            Exception: what a context or a responder of the caller's own raised.
        """
        return self._loop.run(lambda: self._async.result(), turn=self._async)

    def steer(self, input: Input, /) -> None:
        """Say more while the turn runs; it is committed when this returns, and shown to the turn's next model call.

        Raises:
            TurnOver: if the turn takes nothing more; nothing was written.
            StoreError: if it could not be committed.
        """
        self._loop.run(lambda: self._async.steer(input), turn=self._async)

    def cancel(self, reason: str | None = None) -> None:
        """Cancel the turn and wait until that is committed; a turn that has ended stays as it is.

        Code that ignores its cancellation is waited for: Python has no way to end it.

        Raises:
            Misuse: if the reason is no text.
        """
        self._loop.run(lambda: self._async.cancel(reason), turn=self._async)

    def events(self, *, after: int = 0) -> Iterator[Event]:
        """The turn's events behind the one with `seq` `after`, to the last.

        A turn that a repeated key gave back, after its run or after a restart, has two: `TurnAccepted`, and its end,
        which comes whatever `after` is: so a client that reconnects to a turn it knew half of learns how it ended.
        """
        return self._loop.iterate(lambda: self._async.events(after=after), turn=self._async)

    def __iter__(self) -> Iterator[Event]:
        return self._loop.iterate(lambda: self._async.__aiter__(), turn=self._async)

    @property
    def text_stream(self) -> Iterator[str]:
        """The text of the reply as it comes; what a retry makes void is not taken back, so watch events for that."""
        return self._loop.iterate(lambda: self._async.text_stream, turn=self._async)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.run(lambda: self._async.__aexit__(kind, error, trace), turn=self._async)

    def __repr__(self) -> str:
        return repr(self._async)


class State:
    """Values of a session, each any JSON, kept in its journal."""

    def __init__(self, loop: LoopThread, wrapped: chat.State) -> None:
        self._loop = loop
        self._async = wrapped

    def get(self, key: str, default: Jsonable = None) -> Jsonable:
        """The value of `key`, decoded anew, or `default`."""
        return self._loop.call(lambda: self._async.get(key, default))

    def set(self, key: str, value: Jsonable) -> None:
        """Change a value; an equal one writes nothing and tells nobody.

        Returns when it is committed and the hook and every subscriber were called, one after another.

        Raises:
            NotStorable: if the value is not JSON.
            StoreError: if it could not be committed.
        """
        self._loop.run(lambda: self._async.set(key, value))

    def subscribe(self, key: str, subscriber: Subscriber, /) -> Callable[[], None]:
        """Call `subscriber` with (new, old) whenever this process changes `key`; the function given back ends that."""
        return self._loop.call(lambda: self._async.subscribe(key, subscriber))


class Session:
    """One conversation. Open it through a Chat; there is one object for each id in each Chat.

    Attributes:
        id: the session.
        scope: its owner, or None.
        events: calls functions with what happens in this session, in this process.
        state: values that belong to the session, in its journal.
    """

    def __init__(self, loop: LoopThread, wrapped: chat.Session) -> None:
        self._loop = loop
        self._async = wrapped
        self.id = wrapped.id
        self.scope = wrapped.scope
        self.events = wrapped.events
        self.state = State(loop, wrapped.state)

    @property
    def live_turn(self) -> LiveTurn | None:
        """The turn that runs now in this process, or None."""
        found = self._loop.call(lambda: self._async.live_turn)
        return None if found is None else self._loop.one(LiveTurn, found)

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
        return self._loop.one(LiveTurn, self._loop.call(lambda: self._async.send(input, **options)))

    def ask(self, input: Input, /, **options: Unpack[TurnOptions]) -> Reply:
        """Send, and wait for the reply. KeyboardInterrupt cancels the turn.

        Raises:
            AntiphonError: whatever ended the turn, with its `turn_id`; see `send` and `LiveTurn.result`.
        """
        return self._loop.run(lambda: self._async.ask(input, **options))

    def retry(self, turn_id: str | None = None, **options: Unpack[TurnOptions]) -> LiveTurn:
        """Answer a turn's input again, in a new turn that names it; the old one stays as it is.

        Args:
            turn_id: the turn, by default the last one.
            **options: see `TurnOptions`.

        Raises:
            Misuse: if there is no such turn; and see `send`.
        """
        return self._loop.one(LiveTurn, self._loop.call(lambda: self._async.retry(turn_id, **options)))

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
        return self._loop.one(LiveTurn, self._loop.call(lambda: self._async.resume(turn_id, **options)))

    def shown(self) -> Shown | None:
        """What the last model call in this process was shown, or None."""
        return self._loop.call(lambda: self._async.shown())

    def record(
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
        return self._loop.run(lambda: self._async.record(messages, input=input, output=output, metadata=metadata))

    def give_feedback(
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
        self._loop.run(
            lambda: self._async.give_feedback(turn_id, rating=rating, comment=comment, preferred=preferred, by=by)
        )

    def rename(self, title: str | None) -> None:
        """Give the session another title, or none.

        Raises:
            StoreError: if it could not be committed.
        """
        self._loop.run(lambda: self._async.rename(title))

    def clear_context(self) -> None:
        """Let later contexts start anew; the transcript and the state stay as they are.

        Raises:
            StoreError: if it could not be committed.
        """
        self._loop.run(lambda: self._async.clear_context())

    def compact(self, *, focus: str | None = None) -> Summary:
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
        return self._loop.run(lambda: self._async.compact(focus=focus))

    def fork(self, *, at: str | None = None, id: str | None = None) -> Session:
        """Begin another session with this one's turns; this one stays as it is.

        Args:
            at: the last turn to copy, by default the last there is. One without outcome is canceled in the copy.
            id: of the fork, by default a random one.

        Raises:
            Misuse: if there is no such turn.
            SessionNotFound: if this session was deleted.
            SessionExists, InvalidSessionId, StoreError: as for `Chat.create_session`.
        """
        return self._loop.one(Session, self._loop.run(lambda: self._async.fork(at=at, id=id)))

    def begins_with(self, transcript: Transcript) -> bool:
        """Whether this is the session that a transcript was read from, and not an earlier one of the same id."""
        return self._loop.call(lambda: self._async.begins_with(transcript))

    def refresh(self) -> None:
        """Read what other processes have written since.

        Raises:
            SessionNotFound: if the session was deleted.
            StoreError: if the journal cannot be read.
        """
        self._loop.run(lambda: self._async.refresh())

    def settle(self, *, drain: float | None) -> None:
        """Let the running turns end, for `drain` seconds (None: however long), then cancel them."""
        self._loop.run(lambda: self._async.settle(drain=drain))

    def __repr__(self) -> str:
        return repr(self._async)

    @property
    def title(self) -> str | None:
        """The present title."""
        return self._loop.call(lambda: self._async.title)

    @property
    def metadata(self) -> dict[str, Jsonable]:
        """What the session was created with."""
        return self._loop.call(lambda: self._async.metadata)

    def turns(self) -> Sequence[Turn]:
        """Every turn, oldest first, whatever its status."""
        return self._loop.call(lambda: self._async.turns())

    def preview(self, input: Input, /, *, context: AnyContext | None = None, **options: Unpack[TurnOptions]) -> Shown:
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
        return self._loop.run(lambda: self._async.preview(input, context=context, **options))

    def messages(self) -> Sequence[Message]:
        """The completed dialogue: what people and the model said, without tool calls and results."""
        return self._loop.call(lambda: self._async.messages())

    def traces(self, turn_id: str | None = None) -> Sequence[Trace]:
        """What each model call was shown, of one turn or of all.

        Raises:
            Misuse: if there is no such turn.
        """
        return self._loop.call(lambda: self._async.traces(turn_id))

    def why(self, words: str, *, turn_id: str | None = None) -> Sequence[Fate]:
        """Where some words were in every model call, and where they got lost. Pure: nothing is read or asked.

        Args:
            words: looked for in everything that is kept of what calls were shown; case does not matter.
            turn_id: only this turn's calls.

        Raises:
            Misuse: if nothing is looked for, or there is no such turn.
        """
        return self._loop.call(lambda: self._async.why(words, turn_id=turn_id))

    def summaries(self) -> Sequence[Summary]:
        """Every summary that was written for this session and is still kept, oldest first; `why` knows them then."""
        return self._loop.run(lambda: self._async.summaries())

    def snapshot(self) -> dict[str, Jsonable]:
        """The session as one JSON value, for `Chat.restore`: what was said, and the state.

        `messages` holds everything; those of a turn that did not complete are marked `unfinished`, and restored it is
        canceled. `activeMessages` is the dialogue that contexts start from. Summaries are in it once `summaries` was
        called.
        """
        return self._loop.call(lambda: self._async.snapshot())

    def _repr_html_(self) -> str:
        """The session as a notebook displays it: its turns, the last fifty of them."""
        return self._loop.call(lambda: self._async._repr_html_())

    def journal(self, *, after: str | None = None) -> Iterator[Entry]:
        """The entries as the store holds them, of unknown types too, in order; `after` an entry's id, only later ones.

        Raises:
            UnknownCursor: if no entry has the id `after`.
            StoreError: if the journal cannot be read.
        """
        return self._loop.iterate(lambda: self._async.journal(after=after))

    def pending(self) -> Sequence[PendingCall]:
        """The calls of the last turn that wait for a person, each with the reason why."""
        return self._loop.call(lambda: self._async.pending())

    def approve(self, call_id: str | PendingCall, *, by: str, arguments: Mapping[str, Jsonable] | None = None) -> None:
        """Let a waiting call run when its turn is resumed: this call, once. A policy that denies it still does.

        Args:
            call_id: the call; or what `pending` gave of it, which then must still be what waits: ids come again.
            by: who decides.
            arguments: in place of the model's.

        Raises:
            Misuse: if no such call waits; a newer message puts them all aside.
            NotStorable: if the arguments are not JSON.
            StoreError: if it could not be committed.
        """
        self._loop.run(lambda: self._async.approve(call_id, by=by, arguments=arguments))

    def deny(self, call_id: str | PendingCall, *, by: str, reason: str | None = None) -> None:
        """Refuse a waiting call; the model is told so, with the reason.

        Raises:
            Misuse, StoreError: see `approve`.
        """
        self._loop.run(lambda: self._async.deny(call_id, by=by, reason=reason))

    def answer(self, call_id: str | PendingCall, output: Jsonable, *, by: str) -> None:
        """Say what a waiting call gave, without running it: it was done by hand, or had taken effect before.

        Raises:
            Misuse, NotStorable, StoreError: see `approve`.
        """
        self._loop.run(lambda: self._async.answer(call_id, output, by=by))


class Chat:
    """Opens sessions and runs their turns.

    Every call runs on one thread of this Chat's own, which starts with the first call and ends with `close()`. It may
    be used from several threads, and where an event loop runs already, as in a notebook. KeyboardInterrupt cancels
    the turn that is waited for, and is raised again once that is committed. A call from the Chat's own thread, as an
    async responder would make it, or in a process forked off after the first call, is `Misuse`. A responder that is
    not async runs in a thread of its own: it may wait, and call this Chat.

    Args:
        model: a Model, or a model's name as in `local:smollm2` or `echo:`.
        responder: a function in place of a model; it is given a `TurnRequest` and gives text, a `Message`, or a
            `Replied` with usage; or it is an async generator of text.
        store: where sessions are kept; by default a new `InMemoryStore`, gone with this object.
        context: what the model is shown: an object with `build(view)` or a function; by default `FullContext()`.
        instructions: pinned system text, or a function of the `View` that gives it.
        tools: what models may call: functions, Tools, or a Toolbox of them. A function that nobody marked runs when a
            model asks, as the policy leaves it to the tool.
        policy: decides which calls run; by default each tool's own `needs_approval`.
        hooks: functions that see, and may change, what is sent and received.
        card_note: pinned system text while a tool with `card=True` is offered; empty leaves it out.
        limits: how much one turn may take; by default `Limits()`.
        keep_texts: `stable` keeps system texts in the journal, once each; `all` every text that a context adds;
            `none` only digests.
        redact: runs over every text that anyone said before it is written; what was written is what is used from
            then on. It does not see what a running reply's readers are told.
        clock: gives the time of entries.

    Raises:
        Misuse: if both a model and a responder are given, or the store is none.
        TypeError: if the context is none.
        UnknownModel, MissingExtra: if the model's name leads nowhere.
    """

    def __init__(
        self,
        model: AnyModel | None = None,
        *,
        responder: Responder | SyncResponder | None = None,
        store: Store | None = None,
        context: AnyContext | None = None,
        instructions: Instructions | None = None,
        tools: Tools = (),
        policy: ToolPolicy | None = None,
        hooks: Hooks | None = None,
        card_note: str = CARD_NOTE,
        limits: Limits | None = None,
        keep_texts: KeepTexts = "stable",
        redact: Redact | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._async = chat.Chat(
            model,
            responder=awaited(responder),
            store=store,
            context=context,
            instructions=instructions,
            tools=tools,
            policy=policy,
            hooks=hooks,
            card_note=card_note,
            limits=limits,
            keep_texts=keep_texts,
            redact=redact,
            clock=clock,
        )
        self._loop = LoopThread(self._async.aclose)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What models may call, from the next turn on; set a list of functions and Tools, or a Toolbox."""
        return self._loop.call(lambda: self._async.tools)

    @property
    def store(self) -> Store:
        """Where sessions are kept."""
        return self._async.store

    @property
    def place(self) -> str:
        """How errors call the store."""
        return self._async.place

    def create_session(
        self,
        id: str | None = None,
        *,
        scope: str | None = None,
        title: str | None = None,
        metadata: Mapping[str, Jsonable] | None = None,
    ) -> Session:
        """Begin a session; its first entry is committed when this returns.

        Args:
            id: by default a random UUID of version 4.
            scope: its owner: a filter on opening, listing and deleting, and no login.
            title: shown in listings.
            metadata: kept with it.

        Raises:
            SessionExists: if the id is taken.
            InvalidSessionId: if the store cannot hold the id.
            NotStorable: if the title, the scope or the metadata cannot be kept.
            StoreError: if it could not be committed.
        """
        return self._loop.one(
            Session, self._loop.run(lambda: self._async.create_session(id, scope=scope, title=title, metadata=metadata))
        )

    def open_session(self, id: str, *, scope: str | None = None, create: bool = False) -> Session:
        """Open a session, as it is now.

        Args:
            id: the session.
            scope: its owner; another's session is not found. None opens anyone's.
            create: begin it if it is not there.

        Raises:
            SessionNotFound: if it is not there, or is another's.
            InvalidSessionId: if the store cannot hold the id.
            CorruptJournal, UnsupportedVersion: if it cannot be read, naming the place.
            StoreError: if the store fails.
        """
        return self._loop.one(Session, self._loop.run(lambda: self._async.open_session(id, scope=scope, create=create)))

    def import_session(
        self, messages: Sequence[Message | Mapping[str, Any]], *, id: str | None = None, scope: str | None = None
    ) -> Session:
        """Begin a session with a conversation that was kept elsewhere.

        A turn begins with a user's message behind a reply. Calls without a result get one that says so, a last turn
        without a reply is canceled, and system messages are left out: give them as `instructions`. What could not be
        carried over is logged, a line each.

        Args:
            messages: in order, as `Message`s or as OpenAI-style objects.
            id: by default a random one.
            scope: the session's owner.

        Raises:
            NotStorable: if a message cannot be read.
            SessionExists, InvalidSessionId, StoreError: as for `create_session`.
        """
        return self._loop.one(Session, self._loop.run(lambda: self._async.import_session(messages, id=id, scope=scope)))

    def restore(self, snapshot: Mapping[str, Jsonable], *, id: str | None = None, scope: str | None = None) -> Session:
        """Begin a session from what `Session.snapshot` gave: its messages and its state, and no permission of any kind.

        Raises:
            Misuse, NotStorable: if it is no snapshot that can be read.
            SessionExists, InvalidSessionId, StoreError: as for `create_session`.
        """
        return self._loop.one(Session, self._loop.run(lambda: self._async.restore(snapshot, id=id, scope=scope)))

    def sessions(
        self, *, scope: str | None = None, status: Sequence[str] = (), limit: int | None = 50, before: str | None = None
    ) -> Iterator[SessionSummary]:
        """List sessions, last changed first, at a bounded cost each.

        Args:
            scope: only those of this owner.
            status: only those with one of these.
            limit: at most so many; None for all.
            before: go on behind this session.

        Raises:
            Misuse: if the store cannot list, or the limit is negative.
            StoreUnreadable: if the store cannot be read.
        """
        return self._loop.iterate(lambda: self._async.sessions(scope=scope, status=status, limit=limit, before=before))

    def delete_session(self, id: str, *, scope: str | None = None) -> Sequence[str]:
        """Erase a session for good, with everything derived from it; forks of it stay.

        Returns:
            The names of what was erased.

        Raises:
            SessionNotFound: if it is not there, or is another's.
            SessionBusy: if a turn of it runs.
            Misuse: if the store cannot delete.
            StoreError: if the store fails.
        """
        return self._loop.run(lambda: self._async.delete_session(id, scope=scope))

    def close(self, *, drain: float | None = 30.0) -> None:
        """Close the Chat: no turn starts any more, running ones may end, then they are canceled. Its thread ends.

        Args:
            drain: seconds that running turns have; None however long, 0 none.
        """
        self._loop.end(lambda: self._async.aclose(drain=drain))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.end(lambda: self._async.__aexit__(kind, error, trace))

    def __repr__(self) -> str:
        return repr(self._async)
