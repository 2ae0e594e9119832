"""What a context promises, as tests that anyone can run on a context of their own."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .._jsonable import freeze
from .._messages import Message, ToolCall
from ..context import Assembled, Budget, Context, ContextFunction, Shown, View
from ..context._assembly import Call, assemble, read_built
from ..context._counting import count_messages
from ..context._tokens import estimate_tokens
from ..errors import Misuse
from ..journal import (
    ContextCleared,
    FeedbackRecorded,
    ModelReplied,
    SessionCreated,
    ToolAsked,
    ToolReturned,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnFailed,
    TurnSteered,
    heading,
)
from ..transcript import Transcript, Turn

SESSION, AT = "tested", "2026-01-01T00:00:00.000Z"
NEWEST = "newest-input: which of the two ports was it?"
ENDS = ("completed", "failed", "canceled", "interrupted", "waiting")


class _ContextHooks:
    patience: float = 30.0
    turns: int = 40

    def make_context(self) -> Context | ContextFunction:
        """Give the context to be tested, made anew. Must be defined."""
        raise Misuse(f"{type(self).__name__} has no make_context", "define it: it gives the context to be tested")

    def view(self, turns: Sequence[Turn] = ()) -> View:
        """Give what the context looks at; extend it where yours needs `deps` or state of its own."""
        return View(
            session_id=SESSION,
            scope="ana",
            turns=tuple(turns),
            input=NEWEST,
            query=NEWEST,
            metadata={"tags": ["harbour"]},
            model="tested",
            at=AT,
            state={"basket": ["lamp"]},
            ask=_ask,
            derived=_Derived(),
        )

    def _built(self, context: Context | ContextFunction, view: View) -> Assembled:
        async def build() -> Assembled:
            async with asyncio.timeout(self.patience):
                given: Any = _function(context)(view)
                return read_built(await given if inspect.isawaitable(given) else given)

        return asyncio.run(build())

    def _shown(self, context: Context | ContextFunction, view: View) -> Shown:
        return _assembled(self._built(context, view))


class ContextContract(_ContextHooks):
    """The promises of a context, one test or more for each. Subclass it, and pytest runs them.

        class TestMyContext(ContextContract):
            def make_context(self) -> Context:
                return MyContext(...)

    Needs pytest and nothing else. The context is shown sessions without turns, with turns of every status and with
    many; a summarizer that it asks answers at once. A hook that is missing makes every test fail.

    Attributes:
        patience: seconds that one building may take.
        turns: how many turns the longest session has.
    """

    def test_c1_it_has_the_shape_of_a_context(self) -> None:
        """C1: it is an object with `build`, or a function; a class is most likely one that was not made yet."""
        context = self.make_context()
        assert not isinstance(context, type), f"{context!r} is a class"
        assert isinstance(context, Context) or callable(context), f"{context!r} has no build and is no function"

    def test_c2_it_gives_messages_or_an_assembled(self) -> None:
        """C2: `build`, sync or async, gives what can be read: an `Assembled`, or the messages before the input."""
        built = self._built(self.make_context(), self.view(_every_status()))
        texts: list[Any] = [built.system, built.with_input, *built.warnings]
        assert all(isinstance(text, str) for text in texts), f"a text is none: {texts!r}"

    def test_c3_it_works_without_turns(self) -> None:
        """C3: a session's first turn has no earlier ones, and that is no error."""
        shown = self._shown(self.make_context(), self.view())
        assert shown.messages[-1].parts[0] == Message.of("user", NEWEST).parts[0]

    def test_c3_it_works_with_turns_of_every_status(self) -> None:
        """C3: earlier turns may have failed, been canceled, been broken off or wait for a person."""
        for turn in _every_status():
            self._built(self.make_context(), self.view([turn]))
        self._built(self.make_context(), self.view(_every_status()))

    def test_c4_it_never_gives_the_newest_input(self) -> None:
        """C4: what it gives comes from earlier turns; the newest input is added behind it, once."""
        for turns in ([], _every_status(), _many(self.turns)):
            built = self._built(self.make_context(), self.view(turns))
            given = [*(str(message) for message in built.before_input), built.system, built.with_input]
            assert not any(NEWEST in text for text in given), "it gives the newest input, which then stands there twice"

    def test_c5_it_changes_nothing(self) -> None:
        """C5: whatever it looks at is afterwards as it was."""
        for turns in (_every_status(), _many(self.turns)):
            view = self.view(turns)
            before = _seen(view)
            self._built(self.make_context(), view)
            assert _seen(view) == before, "it has changed what it was given to look at"

    def test_c6_the_same_view_gives_the_same(self) -> None:
        """C6: built once more, by the same object or by another one, what is shown is equal, trace and all."""
        for turns in ([], _every_status(), _many(self.turns)):
            context, view = self.make_context(), self.view(turns)
            first = self._shown(context, view)
            assert self._shown(context, view) == first, "built again, it gives something else"
            assert self._shown(self.make_context(), self.view(turns)) == first, "another object gives something else"

    def test_c6_it_keeps_nothing_of_another_session(self) -> None:
        """C6: what it was shown of one session is in nothing that it gives for another one of the same id."""
        context = self.make_context()
        self._built(context, replace(self.view(_many(self.turns, word="herring")), derived=None))
        shown = self._shown(context, replace(self.view(_many(self.turns, word="lamp")), derived=None))
        assert "herring" not in shown.system + "".join(map(str, shown.messages)), "it mixes two sessions"

    def test_c7_a_preview_asks_nobody_and_writes_nothing(self) -> None:
        """C7: where no model may be asked it still gives something, and keeps nothing."""
        for turns in ([], _every_status(), _many(self.turns)):
            self._built(self.make_context(), replace(self.view(turns), ask=None, derived=None))
            kept = _Derived()
            self._built(self.make_context(), replace(self.view(turns), ask=None, derived=kept))
            assert not kept.contents, "it keeps what nobody wrote"

    def test_c8_its_lines_sum_to_what_is_sent(self) -> None:
        """C8: the trace's lines say of every place what is sent there, no more and no less."""
        for turns in ([], _every_status(), _many(self.turns)):
            shown = self._shown(self.make_context(), self.view(turns))
            block = Message("user", shown.messages[-1].parts[1:])
            totals = dict.fromkeys(("system", "history", "input"), 0)
            for layer in shown.trace.layers:
                totals[layer.where] += layer.tokens if layer.id not in ("input", "overhead") else 0
            assert totals == {
                "system": estimate_tokens(shown.system),
                "history": count_messages(shown.messages[:-1], estimate_tokens),
                "input": count_messages([block], estimate_tokens),
            }, "its lines say more or less than what it gives"


def _function(context: Context | ContextFunction) -> Callable[[View], object]:
    return context.build if isinstance(context, Context) else context


def _assembled(built: Assembled) -> Shown:
    call = Call("newest", 1, model="tested", budget=Budget(0, 0, 0))
    return assemble(built, [Message.of("user", NEWEST)], instructions="", call=call)


def _seen(view: View) -> object:
    told = [(turn.status, turn.entries) for turn in view.turns]
    return copy.deepcopy((told, view.input, view.metadata, view.state, view.deps))


async def _ask(by: object, messages: Sequence[Message], /, *, instructions: str) -> str:  # noqa: ARG001 - a service's
    word = "herring" if any("herring" in str(message) for message in messages) else "lamp"
    return f"Summary of {len(messages)} messages on one {word}."


class _Derived:
    """What is kept beside a journal that nobody has."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    async def get(self, key: str) -> bytes | None:
        return self.contents.get(key)

    async def put(self, key: str, content: bytes) -> None:
        self.contents[key] = content


class _Growing(NamedTuple):
    """A session that is made up turn by turn."""

    transcript: Transcript

    def add(self, cls: Callable[..., Any], **fields: Any) -> None:
        self.transcript.apply(cls(**heading(SESSION, AT), **fields))

    def turn(self, id: str, said: str, *, end: str = "completed") -> None:
        self.add(TurnAccepted, turn_id=id, input=f"{said} of {id}")
        call = ToolCall.of(f"call-{id}", "look_up", arguments={"about": said})
        if end in ("completed", "waiting"):
            self.add(ModelReplied, turn_id=id, call=1, message=Message.of("assistant", [call]), steered=0)
        match end:
            case "completed":
                self.add(TurnSteered, turn_id=id, input=f"more of {id}")
                self.add(
                    ToolReturned, turn_id=id, call_id=call.id, name="look_up", output_json=freeze([said], "output")
                )
                self.add(TurnCompleted, turn_id=id, output=f"reply on {said} of {id}", steered=1)
                self.add(FeedbackRecorded, turn_id=id, rating=1, preferred="better")
            case "failed":
                self.add(TurnFailed, turn_id=id, error="no answer", partial="half a re")
            case "canceled":
                self.add(TurnCanceled, turn_id=id, partial="half a re")
            case "waiting":
                self.add(ToolAsked, turn_id=id, call_id=call.id, reason="may it?")


def _begun() -> _Growing:
    growing = _Growing(Transcript(SESSION))
    growing.add(SessionCreated)
    return growing


def _every_status() -> Sequence[Turn]:
    growing = _begun()
    for n, end in enumerate((*ENDS, "completed")):
        growing.turn(f"turn-{n}", "a lamp", end=end)
    growing.add(ContextCleared)
    return growing.transcript.turns()


def _many(turns: int, *, word: str = "lamp") -> Sequence[Turn]:
    growing = _begun()
    for n in range(turns):
        growing.turn(f"turn-{n}", word, end="failed" if n % 7 == 3 else "completed")
    return growing.transcript.turns()
