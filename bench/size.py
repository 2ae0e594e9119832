"""Bytes on disk, beside the text that people and models said."""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path

from antiphon import FileStore
from bench.claims import Claim
from bench.sample import QUESTION, TEXT, chat

TURNS = 50


async def claims() -> list[Claim]:
    """Measure what a turn of 1.1 kB takes, with six layers traced."""
    session_id = str(uuid.uuid4())
    with tempfile.TemporaryDirectory() as folder:
        async with chat(FileStore(folder)) as talk:
            session = await talk.create_session(session_id)
            for _ in range(TURNS):
                await session.ask(QUESTION)
        size = (Path(folder) / f"{session_id}.jsonl").stat().st_size
    return [Claim(f"bytes on disk a byte of text, in turns of {TEXT:,}", size / TURNS / TEXT, 2.2, 1.0, "ratio")]
