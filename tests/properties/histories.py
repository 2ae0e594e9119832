"""Sessions to be shown under a budget: turns of every kind and size, and what a request costs by a count of our own.

What is drawn is small (sizes, not texts), so that long sessions are cheap to draw and shrink well. Every input and
every reply that says anything begins with a mark of its own, by which it is found again in what is shown.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hypothesis import strategies as st

from antiphon import Budget, File, Image, Layer, Message, Reasoning, Shown, Text, ToolCall, ToolResult, View
from antiphon._jsonable import encode, freeze
from antiphon._messages import Part
from antiphon._tool_spec import ToolSpec
from antiphon.context._assembly import Call
from antiphon.context._layered import LayeredContext
from antiphon.context._media_cost import media_cost
from antiphon.context._showing import TurnShowing
from antiphon.context._tokens import TokenCounter, estimate_tokens
from antiphon.errors import WindowTooSmall
from antiphon.journal import (
    ContextCompacted,
    Failure,
    ModelReplied,
    SessionCreated,
    ToolAsked,
    ToolReturned,
    ToolStarted,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnFailed,
    TurnSteered,
    heading,
)
from antiphon.transcript import Transcript

SESSION, AT = "ana-1", "2026-03-01T09:00:00.000Z"
NOW = "now"
MARK = re.compile(r"\[t\d+(?:i|r\d+)\]")

WORDS = {
    "ascii": "The parcel stands in row 12, beside the lamp that nobody asked for. ",
    "code": 'if (x[i] != null) { return {"key": [1, 2, 3]}; }\n',
    "cjk": "漢字かな交じり文、それは長い。",
    "emoji": "😀 👩‍👩‍👧 é e\u0301 ",
}


def words(mark: str, size: int, script: str = "ascii") -> str:
    """A text of a mark and so many characters; nothing for a size of 0."""
    if size == 0:
        return ""
    some = WORDS[script]
    return mark + " " + (some * (size // len(some) + 1))[:size]


@dataclass(frozen=True)
class Round:
    """A model's reply with calls, as sizes.

    Attributes:
        calls: for each call the characters of its arguments and of its result; -1 for a result that is an object.
        says: characters that the model says beside them.
        silent: whether the last call never gets its result; for turns that do not complete.
    """

    calls: tuple[tuple[int, int], ...]
    says: int = 0
    silent: bool = False


@dataclass(frozen=True)
class Told:
    """One turn, as sizes.

    Attributes:
        input: characters of what the person says.
        media: what goes with it.
        rounds: the model's replies with calls.
        reply: characters of the last reply.
        end: how the turn ended.
        steered: whether the person said something else while it ran.
        script: of its texts.
        compacted: which turn somebody asked to be summarised up to, counted back from this one, from 1; 0 is none.
        late: how many more turns are told before the turn ends.
    """

    input: int = 60
    media: Literal["", "low", "high", "file"] = ""
    rounds: tuple[Round, ...] = ()
    reply: int = 200
    end: str = "completed"
    steered: bool = False
    script: str = "ascii"
    compacted: int = 0
    late: int = 0


_MEDIA: Mapping[str, Part] = {
    "low": Image("image/png", data="aGVsbG8=" * 40_000, detail="low"),
    "high": Image("image/png", data="aGVsbG8=" * 40_000),
    "file": File("application/pdf", data="aGVsbG8=" * 100, pages=2),
}


def calls_of(at: str, given: Round) -> Message:
    """A reply with calls. Ids come again in every round, as some providers' do."""
    asked = [
        ToolCall.of(f"c{n}", f"look_{n}", arguments={"about": words(f"<{at}c{n}>", arguments)})
        for n, (arguments, _) in enumerate(given.calls)
    ]
    said = words(f"[{at}]", given.says)
    return Message.of("assistant", [*([Text(said)] if said else []), *asked])


def output_of(at: str, n: int, size: int) -> Any:
    """What a call gives."""
    return {"rows": [n] * 300, "at": at} if size < 0 else words(f"<{at}o{n}>", size)


def results_of(at: str, given: Round) -> Message:
    """The message behind a reply with calls."""
    outputs = [output_of(at, n, size) for n, (_, size) in enumerate(given.calls)]
    return Message(
        "tool", tuple(ToolResult.of(f"c{n}", f"look_{n}", output=output) for n, output in enumerate(outputs))
    )


@dataclass
class Growing:
    """A session that is told turn by turn."""

    transcript: Transcript = field(default_factory=lambda: Transcript(SESSION))
    count: int = 0
    pending: list[tuple[int, Callable[[], None]]] = field(default_factory=list)

    def add(self, cls: Callable[..., Any], **fields: Any) -> None:
        """One more entry."""
        if not self.transcript.lines:
            self.transcript.apply(SessionCreated(**heading(SESSION, AT)))
        head = {"version": 1, "id": f"e{self.transcript.lines}", "session_id": SESSION, "at": AT}
        self.transcript.apply(cls(**head, **fields))

    def tell(self, told: Told) -> None:
        """One more turn."""
        id, n = f"t{self.count}", 0
        self.count += 1
        said = words(f"[{id}i]", told.input, told.script)
        media = (_MEDIA[told.media],) if told.media else ()
        self.add(TurnAccepted, turn_id=id, input=(Text(said), *media) if media else said)
        for n, each in enumerate(told.rounds):
            self._round(id, f"{id}r{n}", each, steered=told.steered and n > 0)
            if told.steered and n == 0:
                self.add(TurnSteered, turn_id=id, input="shorter, please")
        for due, end in list(self.pending):
            if due <= self.count:
                end()
        self.pending = [each for each in self.pending if each[0] > self.count]
        if told.late:
            self.pending.append((self.count + told.late, lambda: self._end(id, told, at=f"{id}r{len(told.rounds)}")))
            return
        self._end(id, told, at=f"{id}r{len(told.rounds)}")
        if told.compacted:
            self.add(ContextCompacted, up_to=f"t{max(0, self.count - told.compacted)}")

    def _round(self, id: str, at: str, each: Round, steered: bool) -> None:
        self.add(ModelReplied, turn_id=id, call=1, message=calls_of(at, each), steered=int(steered))
        for n, (_, size) in enumerate(each.calls):
            about = {"turn_id": id, "call_id": f"c{n}"}
            self.add(ToolStarted, turn_id=id, call_ids=(f"c{n}",))
            if each.silent and n == len(each.calls) - 1:
                return
            self.add(ToolReturned, **about, name=f"look_{n}", output_json=freeze(output_of(at, n, size), "output"))

    def _end(self, id: str, told: Told, *, at: str) -> None:
        said = words(f"[{at}]", told.reply, told.script)
        match told.end:
            case "completed":
                steered = int(told.steered and bool(told.rounds))
                self.add(TurnCompleted, turn_id=id, output=said, steered=steered)
            case "failed":
                self.add(TurnFailed, turn_id=id, error=Failure("Overloaded", "no"), partial=said or None)
            case "canceled":
                self.add(TurnCanceled, turn_id=id, partial=said or None)
            case "waiting":
                call = ToolCall.of("w", "refund", arguments={})
                self.add(ModelReplied, turn_id=id, call=1, message=Message("assistant", (call,)), steered=0)
                self.add(ToolAsked, turn_id=id, call_id="w", reason="may it?")
            case _:
                return


def grown(history: Sequence[Told]) -> Transcript:
    """A session of these turns."""
    growing = Growing()
    for told in history:
        growing.tell(told)
    return growing.transcript


def stages(history: Sequence[Told]) -> Iterator[Transcript]:
    """The session as it stands before each of its turns, and at its end; one object that grows."""
    growing = Growing()
    yield growing.transcript
    for told in history:
        growing.tell(told)
        yield growing.transcript


# --- drawing --------------------------------------------------------------------------------------------------


SIZES = st.sampled_from([0, 1, 30, 30, 200, 200, 399, 400, 401, 1_500, 1_500, 6_000, 40_000])
ROUNDS = st.builds(
    Round, st.lists(st.tuples(SIZES, SIZES | st.just(-1)), min_size=1, max_size=3).map(tuple), says=SIZES
)
COMPLETED = st.builds(
    Told,
    input=SIZES,
    media=st.sampled_from(["", "", "", "", "low", "high", "file"]),
    rounds=st.lists(ROUNDS, max_size=4).map(tuple) | st.just(()),
    reply=SIZES,
    steered=st.booleans(),
    script=st.sampled_from(sorted(WORDS)),
    compacted=st.sampled_from([0] * 18 + [1, 6]),
)


def _silent(told: Told, end: str, last: bool) -> Told:
    rounds = told.rounds
    if last and rounds:
        rounds = (*rounds[:-1], replace(rounds[-1], silent=True))
        # Nothing that is steered or said stands behind a call that nobody answered.
        return replace(told, rounds=rounds, end=end, steered=False, reply=0)
    return replace(told, end=end)


BROKEN_OFF = st.builds(_silent, COMPLETED, st.sampled_from(["failed", "canceled", "interrupted"]), st.booleans())
WAITING = COMPLETED.map(lambda told: replace(told, end="waiting"))
TURNS = st.one_of([COMPLETED] * 6 + [BROKEN_OFF, WAITING])
HISTORIES = st.lists(TURNS, max_size=12) | st.builds(
    lambda some, times: (some * times)[:60], st.lists(TURNS, min_size=1, max_size=4), st.integers(2, 30)
)
PLAIN = st.lists(
    st.builds(
        Told, input=st.integers(1, 1_500), reply=st.integers(1, 4_000), script=st.sampled_from(["ascii", "code"])
    ),
    min_size=1,
    max_size=12,
).flatmap(lambda some: st.integers(1, 6).map(lambda times: some * times))
"""Turns of words alone, in which nothing is long enough to be worth a stub."""

RUNNING = st.lists(ROUNDS, min_size=1, max_size=6)


def quarter(text: str) -> int:
    """A token is four bytes."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


COUNTERS: Mapping[str, TokenCounter] = {"characters": len, "quarter": quarter, "estimate": estimate_tokens}


@dataclass(frozen=True)
class Given:
    """A source that gives the same layers for ever.

    Attributes:
        id: the source.
        layers: what it gives.
    """

    id: str
    layers: tuple[Layer, ...]

    async def contribute(self, view: View) -> Sequence[Layer]:
        """Give them."""
        await asyncio.sleep(0)
        return self.layers


@dataclass(frozen=True)
class Room:
    """What a session is shown under.

    Attributes:
        window: tokens.
        counter: a key of COUNTERS.
        instructions: characters of the pinned text.
        tools: characters of the description of each tool that is offered anyway.
        keep_recent: turns.
        sources: for each layer of each source its characters, and what else it says.
        input: characters of the newest input.
    """

    window: int = 8_192
    counter: str = "quarter"
    instructions: int = 100
    tools: tuple[int, ...] = ()
    keep_recent: int = 8
    sources: tuple[tuple[Any, ...], ...] = ()
    input: int = 60

    @property
    def budget(self) -> Budget:
        """The room in numbers."""
        reserve = min(4_096, self.window // 8)
        margin = (self.window - reserve) // 10
        return Budget(self.window, reserve, margin, counter=COUNTERS[self.counter], counter_name=self.counter)

    def layers(self) -> list[tuple[Layer, ...]]:
        """What the sources give."""
        return [
            tuple(
                Layer(f"s{n}:l{m}", words(f"(s{n}:l{m})", size), unlocks=(f"extra_{n}_{m}",) if m % 2 else (), **said)
                for m, (size, said) in enumerate(layers)
            )
            for n, layers in enumerate(self.sources)
        ]

    def context(self, *, pinned_only: bool = False, **options: Any) -> LayeredContext:
        """The context that is tested."""
        given = [tuple(layer for layer in each if layer.pinned or not pinned_only) for each in self.layers()]
        sources = [Given(f"s{n}", layers) for n, layers in enumerate(given)]
        return LayeredContext(keep_recent=self.keep_recent, sources=sources, **options)

    def view(self, transcript: Transcript, **changes: Any) -> View:
        """What it looks at."""
        said = words("[newest]", self.input)
        view = View(
            session_id=SESSION,
            scope=None,
            turns=transcript.turns(),
            input=said,
            query=said,
            budget=self.budget,
            model="m",
            at=AT,
            turn_id=NOW,
            instructions=words("(rules)", self.instructions),
            tools=tuple(tool(f"base_{n}", size) for n, size in enumerate(self.tools)),
            unlockable=tuple(tool(name, 200) for each in self.layers() for layer in each for name in layer.unlocks),
            compactions=tuple(transcript.compactions),
        )
        return replace(view, **changes)


def tool(name: str, size: int) -> ToolSpec:
    """A tool whose description has so many characters."""
    parameters = {"type": "object", "properties": {"about": {"type": "string"}}}
    return ToolSpec(name, words(f"({name})", size), parameters)


SETTINGS = st.fixed_dictionaries(
    {
        "placement": st.sampled_from(["system", "input"]),
        "pinned": st.sampled_from([False, False, True]),
        "priority": st.integers(0, 1_000),
        "truncate": st.sampled_from([None, "start", "middle", "end"]),
    }
)
LAYERS = st.tuples(st.sampled_from([1, 50, 400, 3_000]), SETTINGS)
LARGE = st.tuples(st.sampled_from([50, 3_000, 9_000]), SETTINGS.map(lambda said: {**said, "pinned": False}))
SOURCES = st.lists(st.lists(LAYERS, max_size=3).map(tuple), max_size=3).map(tuple)
ROOMS = st.builds(
    Room,
    window=st.sampled_from([500, 1_000, 2_000, 4_096, 8_192, 16_000, 32_000, 64_000, 128_000, 200_000]),
    counter=st.sampled_from(sorted(COUNTERS)),
    instructions=st.sampled_from([0, 1, 100, 100, 600, 2_000]),
    tools=st.lists(st.sampled_from([0, 40, 200, 900]), max_size=3).map(tuple),
    keep_recent=st.sampled_from([1, 2, 8]),
    sources=SOURCES | st.just(()),
    input=st.sampled_from([1, 60, 60, 60, 500, 5_000]),
)


TIGHT = st.builds(
    Room,
    window=st.sampled_from([1_000, 2_000, 4_096]),
    counter=st.sampled_from(sorted(COUNTERS)),
    tools=st.just((40,)),
    instructions=st.just(60),
    keep_recent=st.just(2),
    sources=st.lists(st.lists(LARGE, min_size=2, max_size=4).map(tuple), min_size=1, max_size=2).map(tuple),
)
"""Rooms in which not every layer fits."""


# --- showing and counting --------------------------------------------------------------------------------------


def own_of(view: View) -> Message:
    """The newest input as a message."""
    return Message.of("user", view.input)


def show(context: LayeredContext, view: View) -> Shown:
    """What the first call of a turn is shown."""
    return asyncio.run(shown(context, view))


def attempt(context: LayeredContext, view: View) -> Shown | WindowTooSmall:
    """The same, or why nothing can be sent."""
    try:
        return show(context, view)
    except WindowTooSmall as error:
        return error


async def shown(context: LayeredContext, view: View) -> Shown:
    """The same in a loop."""
    call = Call(NOW, 1, model="m", budget=view.budget, tools=view.tools)
    return await TurnShowing(context.build, view).shown([own_of(view)], call=call)


def calls_shown(context: LayeredContext, view: View, running: Sequence[Message]) -> list[Shown | WindowTooSmall]:
    """What each call of a turn is shown that goes on by these messages: one call before each reply, and a last one."""

    async def all_of_them() -> list[Shown | WindowTooSmall]:
        showing, found = TurnShowing(context.build, view), list[Shown | WindowTooSmall]()
        ends = [1 + n for n, message in enumerate(running) if message.role == "assistant"] + [1 + len(running)]
        own = [own_of(view), *running]
        for number, end in enumerate(ends, 1):
            call = Call(NOW, number, model="m", budget=view.budget, tools=view.tools)
            try:
                found.append(await showing.shown(own[:end], call=call))
            except WindowTooSmall as error:
                found.append(error)
        return found

    return asyncio.run(all_of_them())


def texts_of(message: Message) -> list[str]:
    """Every text of a message that a model reads, with the role, call ids and names; media as what they are."""
    found = []
    for part in message.parts:
        match part:
            case Text(text=text) | Reasoning(text=text):
                found.append(f"{message.role}: {text}")
            case ToolCall():
                found.append(f"{part.id} {part.name} {bytes(part.arguments_json).decode()}")
            case ToolResult():
                found.append(f"{part.call_id} {part.name} {part.text}")
            case _:
                found.append(repr(part))
    return found


def cost(message: Message, count: TokenCounter) -> int:
    """Tokens of a message with its framing, counted here and nowhere else."""
    total = 4
    for part in [*message.parts, *(each for result in message.results for each in result.media)]:
        match part:
            case Text(text=text) | Reasoning(text=text):
                total += count(text)
            case ToolCall():
                total += 8 + count(part.name) + count(bytes(part.arguments_json).decode())
            case ToolResult(output=str() as text):
                total += count(text)
            case ToolResult():
                total += count(json.dumps(part.output, separators=(",", ":"), ensure_ascii=False))
            case Image() | File():
                total += media_cost(part, getattr(count, "family", None))
    return total


def tools_cost(tools: Sequence[ToolSpec], count: TokenCounter) -> int:
    """Tokens of the offered tools."""
    sent = [{"name": each.name, "description": each.description, "parameters": each.parameters} for each in tools]
    return sum(8 + count(json.dumps(each, separators=(",", ":"), ensure_ascii=False)) for each in sent)


def recount(found: Shown, count: TokenCounter) -> int:
    """Tokens of a whole request: system text, tools, every message and every part of it."""
    total = count(found.system) + 4 if found.system else 0
    return total + tools_cost(found.tools, count) + sum(cost(message, count) for message in found.messages)


def least(room: Room, view: View) -> int:
    """Tokens of what must be sent: instructions, pinned layers, schemas, the input and their framing; and no more."""
    free = replace(view.budget, window=10_000_000, reserve=0, margin=0)
    alone = replace(view, turns=(), compactions=(), budget=free, cache={})
    return recount(show(room.context(pinned_only=True), alone), view.budget.counter)


def unpaired(messages: Sequence[Message]) -> list[str]:
    """What is wrong with calls and results: each result follows its call at once, each call has one."""
    wrong, waiting = [], list[str]()
    for n, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolResult) and (message.role != "tool" or part.call_id not in waiting):
                wrong.append(f"message {n}: a result of {part.call_id!r} without its call")
            elif isinstance(part, ToolResult):
                waiting.remove(part.call_id)
        if message.role != "tool" and waiting:
            wrong.append(f"message {n}: it follows the calls {waiting} that have no result")
            waiting = []
        waiting += [call.id for call in message.calls]
    return wrong + ([f"the calls {waiting} at the end have no result"] if waiting else [])


def marks(messages: Sequence[Message]) -> list[str]:
    """The marks of inputs and replies that are shown, in order."""
    return [mark for message in messages for mark in MARK.findall(message.text)[:1]]


def everything(found: Shown) -> tuple[Any, ...]:
    """All that is sent and said of it, but for how long sources took."""
    rows = [layer.to_row()[:10] for layer in found.trace.layers]
    told = replace(found.trace, layers=())
    return found.system, tuple(found.messages), tuple(found.tools), bytes(encode(rows)), bytes(told.to_json())
