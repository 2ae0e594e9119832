"""`antiphon demo`: talk, be killed, come back, and see that nothing was lost. Its claims are checked as it goes."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from ..chat import Chat, Reply
from ..models import Model
from ..stores import FileStore, Store
from ._demo_kill import Killed, killed_in_the_middle
from ._demo_store import AcknowledgingStore
from ._demo_story import ANOTHER, CAPITAL, INSTRUCTIONS, STORY, TITLE, storyteller
from ._demo_telling import Telling
from ._endings import FAILED
from ._interruptible import run
from ._model_choice import embedded_model_is_here
from ._screen import output

SESSION = "demo"


@click.command
@click.option("--keep", is_flag=True, help="Keep the demo's session, and say where it is.")
@click.option("--script", is_flag=True, help="Let the bundled script answer, even if the embedded model is here.")
def command(*, keep: bool, script: bool) -> int:
    """See it work: a conversation whose process is killed with kill -9 in the middle of a reply, and that goes on.

    Needs no key and no network. Everything that it claims is checked; the exit code is 1 if a claim does not hold.
    """
    folder = Path(tempfile.mkdtemp(prefix="antiphon-demo-"))
    telling = Telling(output())
    try:
        run(_play(folder, telling, embedded=not script and embedded_model_is_here(), keep=keep))
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return FAILED if telling.broken else 0


@dataclass(frozen=True, slots=True)
class _Stage:
    """What every act needs.

    Attributes:
        folder: the store's.
        model: who answers in this process.
        embedded: whether that is the embedded model.
        telling: tells it.
        acknowledged: ids of the entries that this process's store has acknowledged.
    """

    folder: Path
    model: Model
    embedded: bool
    telling: Telling
    acknowledged: list[str] = field(default_factory=list)

    def chat(self, store: Store) -> Chat:
        """A new Chat, that knows only what is on disk."""
        return Chat(self.model, store=store, instructions=INSTRUCTIONS)


async def _play(folder: Path, telling: Telling, *, embedded: bool, keep: bool) -> None:
    began = time.monotonic()
    stage = _Stage(folder, storyteller(embedded=embedded), embedded, telling)
    telling.line("Antiphon keeps conversations on disk. This one is killed in mid-sentence and goes on.", style="bold")
    telling.line(f"answering: {_who(stage)}")
    telling.line(f"kept in: {folder}{'' if keep else ', until the demo ends (--keep keeps it)'}")
    try:
        await _talk(stage)
        await _look(stage, await _come_back(stage, await _die(stage)))
    finally:
        close: Any = getattr(stage.model, "aclose", None)
        if close is not None:
            await close()
    _conclude(telling, seconds=time.monotonic() - began)
    if keep:
        telling.command(f"antiphon show --store {folder}")


def _who(stage: _Stage) -> str:
    if stage.embedded:
        return f"{stage.model.name}, a small model that runs in this process; no key, no network"
    return "a bundled script; `antiphon models pull smollm2` gets a small model that runs here instead"


async def _talk(stage: _Stage) -> None:
    stage.telling.act(1, "Talk")
    async with stage.chat(AcknowledgingStore(stage.folder, stage.acknowledged.append)) as chat:
        session = await chat.create_session(SESSION, title="The demo")
        for question in (CAPITAL, ANOTHER):
            await stage.telling.turn(question, session.send(question))


async def _die(stage: _Stage) -> Killed:
    telling = stage.telling
    telling.act(2, "Die: another process asks next, and is killed in the middle of the reply")
    telling.said("you", STORY, style="bold").end()
    paragraph = telling.said("model")
    killed = await killed_in_the_middle(stage.folder, SESSION, embedded=stage.embedded, say=paragraph.add)
    paragraph.end(f"✂ kill -9 {killed.process_id}")
    telling.claim(
        f"process {killed.process_id} was ended by SIGKILL, after its store had acknowledged the question",
        killed.by_kill and len(killed.entries) > 0,
    )
    return killed


async def _come_back(stage: _Stage, killed: Killed) -> Reply:
    telling = stage.telling
    telling.act(3, "Come back: open the conversation again, from what is on disk")
    async with stage.chat(FileStore(stage.folder)) as chat:
        session = await chat.open_session(SESSION)
        acknowledged = [*stage.acknowledged, *killed.entries]
        on_disk = [entry.id async for entry in session.journal()]
        telling.claim(
            f"all {len(acknowledged)} entries acknowledged before the kill are on disk, in order",
            on_disk[: len(acknowledged)] == acknowledged,
        )
        broken_off = session.turns()[-1]
        telling.claim(
            f"the killed turn reads `{broken_off.status}`, and its question is whole",
            broken_off.status == "interrupted" and broken_off.input == STORY,
        )
        telling.gap()
        await telling.turn(STORY, session.retry())
        retried = session.turns()[-1]
        telling.claim(
            "asked again: a new turn that names the killed one, which stays as it was",
            (retried.status, retried.retry_of) == ("completed", broken_off.id) and session.turns()[-2] == broken_off,
        )
        telling.gap()
        reply = await telling.turn(TITLE, session.send(TITLE))
        found = [turn.status for turn in session.turns()]
        telling.claim(
            f"the conversation goes on: {found.count('completed')} turns completed, {found.count('interrupted')} not",
            found == ["completed", "completed", "interrupted", "completed", "completed"],
        )
    return reply


async def _look(stage: _Stage, reply: Reply) -> None:
    telling = stage.telling
    telling.act(4, "Look: what the model was shown in the last call, piece by piece, in tokens")
    async with stage.chat(FileStore(stage.folder)) as chat:
        kept = (await chat.open_session(SESSION)).traces()[-1]
    telling.table(str(kept))
    telling.claim("this was read back from disk, and is what the call was given", kept.rows() == reply.trace.rows())


def _conclude(telling: Telling, *, seconds: float) -> None:
    telling.gap()
    if telling.broken:
        telling.line(f"{len(telling.broken)} claims did NOT hold, in {seconds:.0f} s.", style="red")
        return
    telling.line(f"All {telling.held} claims held, in {seconds:.0f} s.", style="green")
    telling.line('Now yours: antiphon chat, antiphon ask "…", antiphon show, antiphon trace, antiphon why')
