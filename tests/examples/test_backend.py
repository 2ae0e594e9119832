"""The web backend, served by uvicorn on loopback and used as browsers use it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn

from antiphon import Chat, FileStore
from antiphon.testing import ScriptedModel
from examples.backend import make_app

pytestmark = pytest.mark.anyio

ANA, BOB = {"X-User": "ana"}, {"X-User": "bob"}
SLOW = ["one two three four five six", "seven"]


@asynccontextmanager
async def served(folder: Path, *, delay: float = 0.05) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the running server; the server is shut down cleanly at the end."""
    model = ScriptedModel(SLOW, delay=delay)
    server = uvicorn.Server(uvicorn.Config(make_app(model, str(folder)), port=0, log_level="error", lifespan="on"))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
        yield client
        server.should_exit = True
        await serving


async def events(client: httpx2.AsyncClient, method: str, url: str, **request: Any) -> list[dict[str, Any]]:
    """All events of a stream, each with its id."""
    async with client.stream(method, url, **request) as response:
        assert response.status_code == 200, await response.aread()
        lines = [line async for line in response.aiter_lines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def words(found: list[dict[str, Any]]) -> str:
    """The text of the deltas."""
    return "".join(each["text"] for each in found if each["type"] == "text.delta")


def post(client: httpx2.AsyncClient, key: str, headers: dict[str, str]) -> Any:
    """Send one message."""
    said = {"text": "count", "key": key}
    return events(client, "POST", "/chats/c1/messages", json=said, headers=headers)


async def test_two_readers_and_a_late_one_have_the_same_turn(tmp_path: Path) -> None:
    """A second reader in the middle, and one that reconnects with Last-Event-ID, get what they lack, and the end."""
    async with served(tmp_path) as client:
        first = asyncio.create_task(post(client, "k1", ANA))
        await asyncio.sleep(0.2)
        second, late = await asyncio.gather(
            events(client, "GET", "/chats/c1/events", headers=ANA),
            events(client, "GET", "/chats/c1/events", headers=ANA | {"Last-Event-ID": "3"}),
        )
        whole = await first
    assert words(whole) == words(second) == SLOW[0]
    assert SLOW[0].endswith(words(late)) and words(late) != SLOW[0]
    assert {found[-1]["type"] for found in (whole, second, late)} == {"turn.completed"}


async def test_a_repeated_key_is_one_turn(tmp_path: Path) -> None:
    """The same POST twice at once, and again afterwards, is one turn with one reply."""
    async with served(tmp_path) as client:
        twice = await asyncio.gather(post(client, "k1", ANA), post(client, "k1", ANA))
        again = await post(client, "k1", ANA)
    assert {found[-1]["reply"]["text"] for found in [*twice, again]} == {SLOW[0]}
    session = await Chat(store=FileStore(tmp_path)).open_session("c1")
    assert [turn.output for turn in session.turns()] == [SLOW[0]]


async def test_another_user_finds_nothing(tmp_path: Path) -> None:
    """A session of one user is not there for another: not to read, not in the list."""
    async with served(tmp_path) as client:
        await post(client, "k1", ANA)
        assert (await client.get("/chats/c1/events", headers=BOB)).status_code == 404
        assert (await client.get("/chats", headers=BOB)).json() == []
        assert [each["id"] for each in (await client.get("/chats", headers=ANA)).json()] == ["c1"]


async def test_stop_ends_the_turn(tmp_path: Path) -> None:
    """Stop cancels the running turn; its reader is told."""
    async with served(tmp_path, delay=0.5) as client:
        reading = asyncio.create_task(post(client, "k1", ANA))
        await asyncio.sleep(0.3)
        assert (await client.post("/chats/c1/cancel", headers=ANA)).json() == {"canceled": True}
        assert (await reading)[-1] | {"seq": 0, "turn_id": ""} == {
            "type": "turn.canceled",
            "seq": 0,
            "turn_id": "",
            "reason": "ana pressed stop",
            "partial": "",
        }


async def test_a_shutdown_in_mid_turn_is_in_the_journal(tmp_path: Path) -> None:
    """A server that stops while a turn runs leaves that turn canceled, and the session takes a next one."""
    async with served(tmp_path, delay=30) as client:
        reading = asyncio.create_task(post(client, "k1", ANA))
        await asyncio.sleep(0.3)
        reading.cancel()
    session = await Chat("echo:", store=FileStore(tmp_path)).open_session("c1")
    assert [(turn.status, turn.error) for turn in session.turns()] == [("canceled", "the chat was closed")]
    assert (await session.ask("hi")).text.startswith("I was shown 1 message")
