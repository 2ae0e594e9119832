"""An agent that looks orders up by itself, and pays money back once a person approves; killed while it pays.

The model is scripted, so that it runs without a key; give the name of one that calls tools to see it decide.

python examples/tools.py
python examples/tools.py shop ollama:qwen3
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from antiphon import Chat, FileStore, Message, Model, Reply, ToolCall, ToolContext, tool
from antiphon.models import ModelRequest
from antiphon.testing import ScriptedModel

say = functools.partial(print, flush=True)  # what is still in a buffer dies with its process


@dataclass
class Bank:
    """Pays once for each key, as payment providers do.

    Attributes:
        ledger: the file with what was paid, by key.
        dies: whether this process ends once the money is paid, before anybody is told.
    """

    ledger: Path
    dies: bool = False

    def pay(self, key: str, order: int, euros: float) -> str:
        """Pay, unless that was done under this key."""
        paid = json.loads(self.ledger.read_text()) if self.ledger.exists() else {}
        told = "it was paid before" if key in paid else "paid"
        self.ledger.write_text(json.dumps({key: f"{euros} euros for order {order}"} | paid))
        if self.dies:
            os._exit(9)  # as kill -9: nothing is flushed, closed or said any more
        return f"{told}: {euros} euros"


@tool(read_only=True)
def order_status(number: int) -> dict[str, object]:
    """Say where an order is.

    Args:
        number: The order's number.
    """
    return {"number": number, "status": "delivered on Monday", "euros": 90}


@tool(needs_approval=True, idempotent=True)
def refund(order: int, euros: float, ctx: ToolContext[Bank]) -> str:
    """Pay money back for an order.

    Args:
        order: The order's number.
        euros: How much.
    """
    return ctx.deps.pay(ctx.key, order, euros)


def script(request: ModelRequest) -> Message | str:
    """What the scripted model does: it looks, asks to pay, and reports."""
    asked = max(at for at, message in enumerate(request.messages) if message.role == "user")
    results = [result for message in request.messages[asked:] for result in message.results]
    if not results:
        return _calling("c1", "order_status", {"number": 17})
    if results[-1].name == "order_status":
        return _calling("c2", "refund", {"order": 17, "euros": 90})
    return f"I'm sorry that it broke. Your refund: {results[-1].text}."


def _calling(id: str, name: str, arguments: dict[str, object]) -> Message:
    return Message("assistant", (ToolCall.of(id, name, arguments=arguments),))


class Agent:
    """What each process makes anew; only the folder goes from one to the next."""

    def __init__(self, folder: Path, session_id: str, *, model: str | Model, dies: bool = False) -> None:
        self._session_id, self._bank = session_id, Bank(folder / "ledger.json", dies=dies)
        self._chat = Chat(model, store=FileStore(folder), tools=[order_status, refund])

    async def ask(self, text: str) -> Reply:
        """Say something; the reply may wait for a person."""
        async with self._chat as chat:
            session = await chat.open_session(self._session_id, create=True)
            return await session.ask(text, deps=self._bank)

    async def go_on(self, *, approved_by: str | None = None) -> Reply:
        """Take the last turn up where it stands, once a person has approved what waits."""
        async with self._chat as chat:
            session = await chat.open_session(self._session_id)
            say("  the turn is", session.turns()[-1].status)
            for call in session.pending() if approved_by else ():
                await session.approve(call.id, by=str(approved_by))
            return await session.resume(deps=self._bank).result()


def main(folder: Path, model: str | Model) -> None:
    """Ask, approve in a process that dies while it pays, and go on in this one."""
    session_id = str(uuid.uuid4())
    say("1. The agent looks the order up. To pay, it must wait:")
    reply = asyncio.run(Agent(folder, session_id, model=model).ask("Order 17 came broken. I want my money back."))
    for call in reply.pending:
        say(f"  {call.name} {dict(call.arguments)} waits: {call.reason}")

    say("2. In another process Ana approves, and that process dies while it pays:")
    named = [model] if isinstance(model, str) else []
    command = [sys.executable, __file__, str(folder), *named, f"--approve-and-die={session_id}"]
    say("  it ended with", subprocess.run(command, check=False).returncode)

    say("3. The refund is idempotent, so it is run again, with the same key:")
    say(" ", asyncio.run(Agent(folder, session_id, model=model).go_on()))
    say("  the bank's ledger:", list(json.loads((folder / "ledger.json").read_text()).values()))


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if not each.startswith("--")]
    where = Path(given[0] if given else "shop")
    answers = given[1] if len(given) > 1 else ScriptedModel(script)
    approving = [each.partition("=")[2] for each in sys.argv if each.startswith("--approve-and-die=")]
    if approving:
        asyncio.run(Agent(where, approving[0], model=answers, dies=True).go_on(approved_by="ana"))
    else:
        main(where, answers)
