"""Streaming from a server, beside a bare httpx2 loop over the same stream, and the first words of `antiphon ask`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time

import httpx2

from antiphon import Message
from antiphon.models import ModelRequest
from antiphon.providers.openai_chat import OpenAIChatModel
from bench.claims import Claim

CHUNKS = 3_000
ROUNDS = 7


def _body() -> bytes:
    chunk = {"choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    events = [chunk] * CHUNKS + [last]
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    await reader.readexactly(length)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + _body())
    await writer.drain()
    writer.close()


async def claims() -> list[Claim]:
    """Measure what a streamed chunk costs, and how soon the command line shows the first one."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    bare = min([await _bare(address) for _ in range(ROUNDS)]) / CHUNKS * 1e6
    ours = min([await _ours(address) for _ in range(ROUNDS)]) / CHUNKS * 1e6
    first = min([await _first_word(address) for _ in range(3)]) * 1e3
    server.close()
    return [
        Claim("a streamed chunk, against a bare httpx2 loop that decodes it", ours, bare * 3, bare),
        Claim("first word of `antiphon ask` from a server that answers at once", first, 1_500, 0, "ms"),
    ]


async def _bare(address: str) -> float:
    async with httpx2.AsyncClient() as client:
        began = time.perf_counter()
        async with client.stream("POST", f"{address}/chat/completions", json={"model": "m"}) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: {"):
                    json.loads(line[6:])
        return time.perf_counter() - began


async def _ours(address: str) -> float:
    model = OpenAIChatModel("m", base_url=address)
    request = ModelRequest([Message.of("user", "hi")])
    began = time.perf_counter()
    async for _ in model.stream(request):
        pass
    took = time.perf_counter() - began
    await model.aclose()
    return took


async def _first_word(address: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "antiphon", "ask", "-m", f"{address}#m", "--store", folder, "hi"]
        began = time.perf_counter()
        pipe = asyncio.subprocess.PIPE
        environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
        child = await asyncio.create_subprocess_exec(
            *command, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env=environment
        )
        assert child.stdout is not None
        await child.stdout.read(1)
        took = time.perf_counter() - began
        await child.communicate()
        return took
