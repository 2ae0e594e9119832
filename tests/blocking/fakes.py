"""What tests of the blocking facade are driven with: responders that wait in a thread, and programs of their own."""

import subprocess
import sys
import textwrap
import threading
from dataclasses import dataclass, field
from pathlib import Path

from antiphon import TurnRequest
from antiphon.blocking import Chat, Session

SECONDS = 20.0
"""What nothing here takes; a wait that long has failed."""


@dataclass
class Gate:
    """A responder, not async, that says that it was asked, waits until it is opened, and then answers."""

    answer: str = "answered"
    begun: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def __call__(self, request: TurnRequest) -> str:
        """Answer, once opened."""
        self.begun.set()
        assert self.opened.wait(SECONDS), "nobody opened the gate"
        return f"{self.answer} {request.messages[-1].text}"


async def echo(request: TurnRequest) -> str:
    """Answer at once, with what was said."""
    return request.messages[-1].text


def session_of(chat: Chat) -> Session:
    """A session to talk in."""
    return chat.open_session("s", create=True)


def ran(program: str, folder: Path, *, timeout: float = SECONDS) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, in a folder, until it ends by itself."""
    command = [sys.executable, "-X", "dev", "-c", textwrap.dedent(program)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False)
