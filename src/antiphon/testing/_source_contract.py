"""What a source promises, as tests that anyone can run on a source of their own."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .._trace import Layer
from ..context import View
from ..context._source import Source, check_sources, time_of, wrong_with
from ..errors import Misuse
from ..transcript import Turn
from ._context_contract import AT, NEWEST, SESSION, _every_status, _many, _seen


class _SourceHooks:
    patience: float = 30.0

    def make_source(self) -> Source:
        """Give the source to be tested, made anew. Must be defined."""
        raise Misuse(f"{type(self).__name__} has no make_source", "define it: it gives the source to be tested")

    def view(self, turns: Sequence[Turn] = ()) -> View:
        """Give what the source looks at; extend it where yours needs `deps` or state of its own."""
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
        )

    def _given(self, source: Source, view: View) -> Sequence[Layer]:
        async def contributed() -> Any:
            async with asyncio.timeout(self.patience):
                return await source.contribute(view)

        given: Any = asyncio.run(contributed())
        assert isinstance(given, Sequence) and not isinstance(given, str | bytes), (
            f"it gives a {type(given).__name__}, not layers"
        )
        return given


class SourceContract(_SourceHooks):
    """The promises of a source, one test or more for each. Subclass it, and pytest runs them.

        class TestMySource(SourceContract):
            def make_source(self) -> Source:
                return MySource(...)

    Needs pytest and nothing else. The source is shown sessions without turns, and with turns of every status. A hook
    that is missing makes every test fail.

    Attributes:
        patience: seconds that one contribution may take, in the tests that are not about its timeout.
    """

    def test_r1_it_has_the_shape_of_a_source(self) -> None:
        """R1: it is an object with an id and `contribute`; a class is most likely one that was not made yet."""
        check_sources([self.make_source()])

    def test_r1_contribute_is_async(self) -> None:
        """R1: `contribute` is awaited; one that is not would hold up everything else that the process does."""

        async def call() -> bool:
            given: Any = self.make_source().contribute(self.view())
            if awaitable := inspect.isawaitable(given):
                await given
            return awaitable

        assert asyncio.run(call()), "its contribute is not async"

    def test_r2_it_gives_layers_under_its_id(self) -> None:
        """R2: it gives layers, or none, and their ids say whose they are."""
        source = self.make_source()
        for turns in ([], _every_status()):
            layers = self._given(source, self.view(turns))
            assert not [wrong for wrong in map(wrong_with, layers) if wrong], "what it gives are no layers"
            foreign = [each.id for each in layers if each.id != source.id and not each.id.startswith(f"{source.id}:")]
            assert not foreign, f"the ids of these do not begin with {source.id!r}: {foreign}"

    def test_r3_it_works_without_turns(self) -> None:
        """R3: a session's first turn has no earlier ones, and that is no error."""
        self._given(self.make_source(), self.view())

    def test_r3_it_works_with_turns_of_every_status(self) -> None:
        """R3: earlier turns may have failed, been canceled, been broken off or wait for a person."""
        for turn in _every_status():
            self._given(self.make_source(), self.view([turn]))
        self._given(self.make_source(), self.view(_every_status()))

    def test_r4_it_changes_nothing(self) -> None:
        """R4: whatever it looks at is afterwards as it was."""
        for turns in ([], _every_status()):
            view = self.view(turns)
            before = _seen(view)
            self._given(self.make_source(), view)
            assert _seen(view) == before, "it has changed what it was given to look at"

    def test_r5_the_same_view_gives_the_same(self) -> None:
        """R5: asked once more, the same object or another one gives equal layers, in the same order."""
        for turns in ([], _every_status()):
            source, view = self.make_source(), self.view(turns)
            first = list(self._given(source, view))
            assert list(self._given(source, view)) == first, "asked again, it gives something else"
            another = list(self._given(self.make_source(), self.view(turns)))
            assert another == first, "another object gives something else"

    def test_r6_it_ends_within_its_timeout(self) -> None:
        """R6: what comes later than its timeout is lost."""

        async def took(source: Source, view: View) -> float:
            loop = asyncio.get_running_loop()
            began = loop.time()
            await asyncio.wait_for(source.contribute(view), time_of(source))
            return loop.time() - began

        for turns in ([], _every_status()):
            source = self.make_source()
            seconds = asyncio.run(took(source, self.view(turns)))
            assert seconds <= time_of(source), f"it takes {seconds:.1f} s and says {time_of(source):g}"

    def test_r6_it_ends_when_it_is_cancelled(self) -> None:
        """R6: a source that is cancelled ends, and does not go on as if it had not been."""

        async def ends(source: Source) -> bool:
            asked: asyncio.Task[Any] = asyncio.ensure_future(source.contribute(self.view(_every_status())))
            await asyncio.sleep(0)
            done = asked.done()
            asked.cancel()
            await asyncio.wait({asked}, timeout=time_of(source))
            return done or asked.cancelled()

        assert asyncio.run(ends(self.make_source())), "it goes on when it is cancelled"

    def test_r7_it_keeps_nothing_of_another_session(self) -> None:
        """R7: what it was shown of one session and scope is in nothing that it gives for another one."""
        source = self.make_source()
        theirs = replace(self.view(_many(6, word="herring")), session_id="other", scope="bo", query="herring")
        self._given(source, replace(theirs, input="herring", state={"basket": ["herring"]}))
        mine = self._given(source, self.view(_many(6, word="lamp")))
        assert not any("herring" in layer.text for layer in mine), "it mixes two sessions"
        fresh = list(self._given(self.make_source(), self.view(_many(6, word="lamp"))))
        assert list(mine) == fresh, "what it gives depends on the session it was asked for before"
