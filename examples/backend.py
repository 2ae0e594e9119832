"""A support chat over HTTP: many users, several workers, server-sent events that survive a reconnect.

    pip install fastapi uvicorn
    ANTIPHON_MODEL=local:smollm2 uvicorn examples.backend:app

POST /chats/{id}/messages   {"text": "…", "key": "…"}    the reply as server-sent events
GET  /chats/{id}/events                                   the running turn again, behind Last-Event-ID
POST /chats/{id}/cancel                                   stop it
GET  /chats                                               this user's conversations
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from antiphon import Chat, FileStore, LiveTurn, Model, Session, errors


class Said(BaseModel):
    """What the browser sends; `key` is its own id of the message, so that a repeated POST is the same turn."""

    text: str
    key: str


User = Annotated[str, Header(alias="X-User")]
LastEventId = Annotated[int, Header(alias="Last-Event-ID")]


async def told(turn: LiveTurn, after: int = 0) -> AsyncIterator[str]:
    """A turn as server-sent events; leaving early leaves the turn running."""
    async for event in turn.events(after=after):
        yield f"id: {event.seq}\nevent: {event.type}\ndata: {json.dumps(event.to_dict())}\n\n"


def make_app(model: str | Model, folder: str) -> FastAPI:
    """The application; one Chat serves every user of this process."""
    chat = Chat(model, store=FileStore(folder), instructions="Support agent. Never promise dates.")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await chat.aclose(drain=2)  # running turns may end, then they are canceled, and both is in the journal

    app = FastAPI(lifespan=lifespan)

    async def owned(chat_id: str, user: str) -> Session:
        try:
            return await chat.open_session(chat_id, scope=user)
        except errors.SessionNotFound as error:
            raise HTTPException(404, str(error)) from None

    @app.post("/chats/{chat_id}/messages")
    async def post_message(chat_id: str, said: Said, user: User) -> StreamingResponse:
        session = await chat.open_session(chat_id, scope=user, create=True)
        try:
            turn = await session.send(said.text, key=said.key, when_busy="steer").accepted()
        except errors.SessionBusy as error:  # a turn of this session runs in another worker
            raise HTTPException(409, str(error)) from None
        return StreamingResponse(told(turn), media_type="text/event-stream")

    @app.get("/chats/{chat_id}/events")
    async def get_events(chat_id: str, user: User, last_event_id: LastEventId = 0) -> StreamingResponse:
        turn = (await owned(chat_id, user)).live_turn
        if turn is None:
            raise HTTPException(404, "no turn is running")
        return StreamingResponse(told(turn, last_event_id), media_type="text/event-stream")

    @app.post("/chats/{chat_id}/cancel")
    async def cancel(chat_id: str, user: User) -> dict[str, bool]:
        turn = (await owned(chat_id, user)).live_turn
        if turn is not None:
            await turn.cancel(f"{user} pressed stop")
        return {"canceled": turn is not None}

    @app.get("/chats")
    async def list_chats(user: User) -> list[dict[str, str | None]]:
        return [{"id": each.id, "title": each.title} async for each in chat.sessions(scope=user)]

    return app


if __name__ != "__main__" and "ANTIPHON_MODEL" in os.environ:
    app = make_app(os.environ["ANTIPHON_MODEL"], os.environ.get("ANTIPHON_STORE", "chats"))
