"""Whatever people do at once, and whatever the store then does: the journal replays and holds what was told."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, note, settings
from hypothesis import strategies as st

from antiphon import Chat, LiveTurn, Message, Reply, Session, Text, ToolCall, Turn, TurnRequest
from antiphon.errors import (
    AntiphonError,
    AppendFailed,
    AppendUncertain,
    IllegalEntry,
    MalformedReply,
    TurnCanceled,
)
from antiphon.journal import SessionRenamed
from antiphon.transcript import dialogue
from tests.chat.fakes import Act, ListStore, line, passing

EXAMPLES = 5 * settings().max_examples
"""An example costs three milliseconds."""

FAULTS: dict[str, Callable[[], Act]] = {
    "failed": lambda: Act(AppendFailed("s", "full"), writes=False),
    "lost": lambda: Act(AppendUncertain("s", "no answer"), writes=False),
    "arrived": lambda: Act(AppendUncertain("s", "no answer")),
    "raised": lambda: Act(OSError("gone")),
    "overtaken": lambda: Act(foreign=[line(SessionRenamed, title="theirs")]),
}
STEPS = st.one_of(
    st.tuples(st.just("send"), st.sampled_from(["raise", "wait", "steer"]), st.sampled_from([None, None, "k", "l"])),
    st.tuples(st.just("steps"), st.integers(1, 12)),
    st.tuples(st.just("answer"), st.sampled_from(["text", "text", "calls", "error"])),
    st.tuples(st.sampled_from(["steer", "cancel", "rate", "rename", "record", "retry", "reopen", "ask_and_leave"])),
)
FAULTY = st.one_of(STEPS, st.tuples(st.just("fault"), st.sampled_from(sorted(FAULTS))))


@dataclass
class World:
    """People who use one session, and what they were told.

    Attributes:
        told: kind and value of everything that was acknowledged.
        errors: what was raised instead.
        requests: what the responder was asked.
    """

    store: ListStore = field(default_factory=ListStore)
    told: list[tuple[str, Any]] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    requests: list[TurnRequest] = field(default_factory=list)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    turns: list[LiveTurn] = field(default_factory=list)
    answers: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    count: int = 0
    at_rest: bool = False

    async def begin(self) -> None:
        """Make the session."""
        self.chat = Chat(responder=self.responder, store=self.store)
        self.session: Session = await self.chat.create_session("s")

    async def responder(self, request: TurnRequest) -> Message | str:
        """Answer as the steps say; at rest in words."""
        self.requests.append(request)
        how = "text" if self.at_rest else await self.answers.get()
        if how == "error":
            raise ZeroDivisionError
        return (
            Message("assistant", (Text("hm"), ToolCall("c", "f"))) if how == "calls" else f"reply {len(self.requests)}"
        )

    def word(self) -> str:
        """A word that was not used yet."""
        self.count += 1
        return f"word {self.count}"

    def at_once(self, kind: str, value: object, work: Awaitable[object]) -> None:
        """Let somebody do something, and note how it ended."""

        async def doing() -> None:
            try:
                found = await work
                self.told.append((kind, found if kind == "result" else value))
            except (AntiphonError, ZeroDivisionError) as error:
                self.errors.append(error)

        self.tasks.append(asyncio.create_task(doing()))

    def follow(self, turn: LiveTurn, kind: str, value: object) -> None:
        """Let somebody wait for a turn that was sent."""
        self.turns.append(turn)
        self.at_once(kind, value, turn.accepted())
        self.at_once("result", None, turn.result())

    async def step(self, step: tuple[Any, ...]) -> None:
        """Do one step."""
        name, *arguments = step
        try:
            await getattr(self, f"do_{name}")(*arguments)
        except AntiphonError as error:
            self.errors.append(error)

    async def do_send(self, when_busy: Any, key: str | None) -> None:
        """Send."""
        word, live = self.word(), self.session.live_turn
        turn = self.session.send(word, key=key, when_busy=when_busy)  # type: ignore[arg-type]
        steered = live is not None and turn.id == live.id and key is None
        kind = "known" if key is not None else "steered" if steered else "accepted"
        self.follow(turn, kind, turn.id if key is not None else word)

    async def do_steps(self, count: int) -> None:
        """Let the others go on."""
        await passing(count)

    async def do_answer(self, how: str) -> None:
        """Let the responder answer once."""
        self.answers.put_nowait(how)

    async def do_steer(self) -> None:
        """Steer whatever was sent last."""
        if self.turns:
            word = self.word()
            self.at_once("steered", word, self.turns[-1].steer(word))

    async def do_cancel(self) -> None:
        """Cancel whatever was sent last."""
        if self.turns:
            self.at_once("canceled", None, self.turns[-1].cancel(self.word()))

    async def do_rate(self) -> None:
        """Rate the last turn."""
        turns, word = self.session.turns(), self.word()
        if turns:
            self.at_once("rated", word, self.session.give_feedback(turns[-1].id, comment=word))

    async def do_rename(self) -> None:
        """Rename."""
        word = self.word()
        self.at_once("renamed", word, self.session.rename(word))

    async def do_record(self) -> None:
        """Record a turn from elsewhere."""
        word = self.word()
        self.at_once("accepted", word, self.session.record(input=word, output="recorded"))

    async def do_retry(self) -> None:
        """Retry the last turn."""
        turn = self.session.retry()
        self.follow(turn, "known", turn.id)

    async def do_ask_and_leave(self) -> None:
        """Ask, and be canceled."""
        task = asyncio.create_task(self.session.ask(self.word(), when_busy="wait"))
        await passing(3)
        task.cancel()
        await asyncio.wait({task}, timeout=5)
        assert task.done(), "leaving must not hang"

    async def do_reopen(self) -> None:
        """Close, and open in a new Chat."""
        await asyncio.wait_for(self.chat.aclose(drain=0), 5)
        self.chat = Chat(responder=self.responder, store=self.store)
        self.session = await self.chat.open_session("s")

    async def do_fault(self, fault: str) -> None:
        """Have the next append go wrong."""
        self.store.script.append(FAULTS[fault]())

    async def end(self) -> None:
        """Let everything that was begun end."""
        self.at_rest = True
        for _ in range(100):
            self.answers.put_nowait("text")
        await asyncio.wait_for(asyncio.gather(*self.tasks), 10)
        self.store.script = []
        await asyncio.wait_for(self.chat.aclose(), 10)

    def check(self, turns: list[Turn], titles: list[str | None]) -> None:
        """Hold what is kept against what was acknowledged: there, and there once."""
        kept: dict[str, list[Any]] = {
            "accepted": [turn.input for turn in turns if turn.retry_of is None],
            "known": [turn.id for turn in turns],
            "steered": [said for turn in turns for said in turn.steering],
            "rated": [feedback.comment for turn in turns for feedback in turn.feedback],
            "renamed": titles,
        }
        outputs = {turn.id: turn.output for turn in turns}
        for kind, value in self.told:
            if isinstance(value, Reply):
                assert outputs[value.turn_id] == value.text
            elif kind in kept:
                assert kept[kind].count(value) == 1, (kind, value)
        assert not [error for error in self.errors if isinstance(error, IllegalEntry | MalformedReply)]


async def lived(steps: list[tuple[Any, ...]]) -> tuple[World, Session]:
    """Let people take these steps; the session as another process then finds it."""
    world = World()
    await world.begin()
    for step in steps:
        await world.step(step)
    await world.end()
    note(f"{world.store.types()} {world.told} {world.errors}")
    reopened = await Chat("echo:", store=world.store).open_session("s")
    titles = [entry.title async for entry in reopened.journal() if isinstance(entry, SessionRenamed)]
    world.check(list(reopened.turns()), titles)
    return world, reopened


@settings(max_examples=EXAMPLES)
@given(st.lists(STEPS, max_size=25))
def test_any_interleaving_leaves_a_whole_journal(steps: list[tuple[Any, ...]]) -> None:
    """Sends, steers, cancels, retries, feedback and reopening at once: all replays, nothing told is lost, all ends."""

    async def scenario() -> None:
        world, reopened = await lived(steps)
        turns = reopened.turns()
        assert {turn.status for turn in turns} <= {"completed", "failed", "canceled"}
        assert world.session.turns() == turns
        assert world.store.types()[-1] != "turn.shown"
        for live in world.turns:
            ends = [event async for event in live if event.type in ("turn.completed", "turn.failed", "turn.canceled")]
            assert len(ends) == 1
        for request in world.requests:
            place = [turn.id for turn in turns].index(request.turn_id)
            earlier = dialogue(turns[:place])
            assert list(request.messages[: len(earlier)]) == earlier
            assert request.messages[len(earlier)].text == request.input

    asyncio.run(scenario())


@settings(max_examples=EXAMPLES)
@given(st.lists(FAULTY, max_size=25))
def test_a_store_that_fails_at_any_time_loses_nothing_told(steps: list[tuple[Any, ...]]) -> None:
    """The same with appends that fail, are in doubt or are overtaken: all replays, nothing told is lost or twice."""

    async def scenario() -> None:
        world, reopened = await lived(steps)
        again = Chat(responder=world.responder, store=world.store)
        session = await again.open_session("s")
        assert (await session.ask("last")).text.startswith("reply")
        assert len(session.turns()) == len(reopened.turns()) + 1
        canceled = {error.turn_id for error in world.errors if isinstance(error, TurnCanceled)}
        # A key whose turn was canceled before it was accepted is free: sent again, it is that turn.
        canceled -= {reply.turn_id for kind, reply in world.told if kind == "result"}
        assert not [turn for turn in reopened.turns() if turn.id in canceled and turn.status == "completed"]

    asyncio.run(scenario())
