"""Whatever models call, people decide and crashes leave: calls and results stay pairs, and no call runs twice."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon import Chat, Limits, Line, Message, Session, ToolCall, ToolPolicy, tool
from antiphon.chat._calling import STARTED
from antiphon.errors import AntiphonError, AppendFailed
from antiphon.models import ModelRequest, Replied
from antiphon.testing import ScriptedModel
from tests.chat.fakes import ListStore, passing

EXAMPLES = 3 * settings().max_examples
"""An example costs some twenty milliseconds."""

NAMES = ["free", "free", "again", "asks", "fails", "gone", "denied"]
ROUND = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(NAMES)), max_size=3, unique_by=lambda call: call[0])
SCRIPT = st.lists(ROUND, max_size=4)
STEP = st.tuples(
    st.sampled_from(["go", "go", "go", "newer", "cancel"]),
    st.sampled_from(["approve", "approve", "deny", "answer", "nothing"]),
    st.integers(0, 25),
)
LIMITS = st.sampled_from([Limits(), Limits(model_calls=2), Limits(tool_calls=2), Limits(tool_calls=1, at_limit="stop")])
LINES = st.one_of(st.none(), st.integers(0, 14))
"""How many lines a process can write before it dies; None is any number."""


@dataclass
class DyingStore(ListStore):
    """A store whose process dies: of the append that goes too far only the first lines are written, and no more."""

    left: int | None = None

    async def append(self, session_id: str, lines: Sequence[Line], *, if_last: str | None) -> None:
        """Write what there is room for."""
        if self.left is not None and len(lines) > self.left:
            torn, self.left = lines[: self.left], 0
            if torn:
                await super().append(session_id, torn, if_last=if_last)
            raise AppendFailed(session_id, "the process died")
        if self.left is not None:
            self.left -= len(lines)
        await super().append(session_id, lines, if_last=if_last)


@dataclass
class World:
    """A session that processes open one after another.

    Attributes:
        script: the rounds of each turn, over and over.
        ran: the words of the calls that took effect.
        allowed: the words of the calls that a person let run.
        requests: what models were shown.
    """

    script: list[list[tuple[str, str]]]
    limits: Limits
    store: DyingStore = field(default_factory=DyingStore)
    ran: list[str] = field(default_factory=list)
    allowed: set[str] = field(default_factory=set)
    requests: list[ModelRequest] = field(default_factory=list)
    count: int = 0

    def chat(self) -> Chat:
        """Another process."""

        async def act(word: str) -> str:
            await asyncio.sleep(0)
            self.ran.append(word)
            return word

        async def failing(word: str) -> str:
            self.ran.append(word)
            raise ZeroDivisionError

        tools = [
            *(tool(name="free")(act), tool(name="again", idempotent=True)(act), tool(name="denied")(act)),
            *(tool(name="asks", needs_approval=True)(act), tool(name="fails")(failing)),
        ]
        model = ScriptedModel(self.reply)
        return Chat(model, store=self.store, tools=tools, policy=ToolPolicy(deny=["denied"]), limits=self.limits)

    def reply(self, request: ModelRequest) -> Message | Replied:
        """Call what the script says, each call with a word of its own."""
        self.requests.append(request)
        last = max(n for n, message in enumerate(request.messages) if message.role == "user")
        rounds = sum(message.role == "tool" for message in request.messages[last:])
        made = self.script[rounds] if rounds < len(self.script) else []
        calls = tuple(ToolCall.of(id, name, arguments={"word": self.word(name)}) for id, name in made)
        return Message("assistant", calls) if calls else Message.of("assistant", "done")

    def word(self, name: str) -> str:
        """A word that was not used yet."""
        self.count += 1
        return f"{name} {self.count}"

    async def step(self, session: Session, what: str, decision: str, *, after: int) -> None:
        """Let people do one thing, and the turn run to its end or to its process's."""
        try:
            turns = session.turns()
            if what == "newer" or not turns or turns[-1].status not in ("waiting", "interrupted"):
                turn = session.send("hi")
            else:
                for call in session.pending():
                    await self.decide(session, call, decision)
                turn = session.resume()
            if what == "cancel":
                await passing(after)
                await turn.cancel()
            await turn.result()
        except AntiphonError:
            pass

    async def decide(self, session: Session, call: Any, decision: str) -> None:
        """Decide on a call; one that may have taken effect is never let run again."""
        if decision == "answer" or call.reason == STARTED:
            await session.answer(call.id, "by hand", by="ana")
        elif decision == "approve":
            await session.approve(call.id, by="ana")
            self.allowed.add(call.arguments["word"])
        elif decision == "deny":
            await session.deny(call.id, by="ana")

    def holds(self) -> None:
        """What must be so, however it came about."""
        for request in self.requests:
            assert paired(request.messages), request.messages
        again = Counter(word for word in self.ran if not word.startswith("again"))
        assert set(again.values()) <= {1}, again
        assert {word for word in self.ran if word.startswith("asks")} <= self.allowed
        assert not [word for word in self.ran if word.startswith(("denied", "gone"))]


def paired(messages: Sequence[Message]) -> bool:
    """Whether each reply's calls are answered by the message behind it, one each, in order, and nothing else is."""
    asked: list[str] = []
    for message in messages:
        answered = [result.call_id for result in message.results]
        if answered != asked:
            return False
        asked = [call.id for call in message.calls]
    return not asked


def told_once(session: Session) -> bool:
    """Whether every call of every turn has at most one result, and every result a call before it."""
    for turn in session.turns():
        asked: list[str] = []
        for message in turn.messages:
            answered = [result.call_id for result in message.results]
            if len(set(answered)) < len(answered) or not set(answered) <= set(asked):
                return False
            asked = [call.id for call in message.calls] or asked * (message.role != "tool")
    return True


async def lived(world: World, lives: Sequence[tuple[int | None, Sequence[tuple[str, str, int]]]]) -> None:
    """Run processes one after another, each until it dies or has done its steps."""
    await world.chat().create_session("s")
    for left, steps in lives:
        world.store.left = left
        session = await world.chat().open_session("s")
        for what, decision, after in steps:
            await world.step(session, what, decision, after=after)
        assert told_once(await world.chat().open_session("s"))
        world.holds()
    world.store.left = None


async def ended(world: World, decision: str) -> None:
    """The last turn comes to its end, and another one works."""
    session = await world.chat().open_session("s")
    for _ in range(20):
        if not session.turns() or session.turns()[-1].status not in ("waiting", "interrupted"):
            break
        await world.step(session, "go", decision, after=0)
    assert session.pending() == ()
    assert (await session.ask("and?", model=ScriptedModel(_words(world)))).text == "fine"
    assert told_once(session)
    world.holds()


def _words(world: World) -> Any:
    def reply(request: ModelRequest) -> str:
        world.requests.append(request)
        return "fine"

    return reply


LIVES = st.lists(st.tuples(LINES, st.lists(STEP, min_size=1, max_size=3)), min_size=1, max_size=5)
DECIDED = st.sampled_from(["approve", "deny", "answer"])


@settings(max_examples=EXAMPLES)
@given(SCRIPT, LIMITS, LIVES, DECIDED)
def test_whatever_happens_calls_are_paired_and_run_once(
    script: list[list[tuple[str, str]]], limits: Limits, lives: Any, decision: str
) -> None:
    """Replies that call anything, any decisions, any deaths: pairs are whole, nothing runs twice or undecided."""

    async def scenario() -> None:
        world = World(script, limits)
        await lived(world, lives)
        await ended(world, decision)

    asyncio.run(scenario())


@settings(max_examples=EXAMPLES)
@given(SCRIPT, LIMITS, LIVES, DECIDED, st.integers(0, 200), st.booleans())
def test_any_beginning_of_a_journal_goes_on(
    script: list[list[tuple[str, str]]], limits: Limits, lives: Any, decision: str, cut: int, resumes: bool
) -> None:
    """Whatever suffix of a journal is lost: it opens, its calls have at most one result, and a next turn works."""

    async def scenario() -> None:
        world = World(script, limits)
        await lived(world, lives)
        lines = world.store.lines["s"]
        world.store.lines["s"] = lines[: 1 + cut % len(lines)]
        # What was lost may run again: nobody knows of it any more.
        world.ran, world.allowed = [], _allowed(await world.chat().open_session("s"))
        if not resumes:
            session = await world.chat().open_session("s")
            await world.step(session, "newer", decision, after=0)
            assert told_once(session)
        await ended(world, decision)

    asyncio.run(scenario())


def _allowed(session: Session) -> set[str]:
    """Words of the calls that a person let run, as far as the journal says."""
    found = set()
    for turn in session.turns():
        calls: dict[str, str] = {}
        for entry in turn.entries:
            if entry.type == "model.replied":
                calls = {call.id: str(call.arguments["word"]) for call in entry.message.calls}  # type: ignore[union-attr]
            elif entry.type == "tool.decided" and entry.decision == "allow":  # type: ignore[union-attr]
                found.add(calls[entry.call_id])  # type: ignore[union-attr]
    return found
