"""Asks a summarizer: a model, with the conversation as one text, or a function, with its messages."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from .._messages import Message
from ..context._budget import Budget, budget_for
from ..context._summarizing import MARKER, marked, pieces, shortened, summary_prompt
from ..context._view import Summarizer, summarizer_name
from ..errors import SummaryFailed
from ..models import HasWindow, Model, ModelRequest, Replied
from ._events import Compacted, Compacting, Event
from ._hooks import called
from ._plan import TurnPlan
from ._responder import closing


class SummarizerOf:
    """Asks the summarizers of one turn; see `antiphon.context.View.ask`."""

    def __init__(self, plan: TurnPlan, emit: Callable[[Event], None]) -> None:
        self._plan = plan
        self._emit = emit

    async def __call__(self, by: Summarizer | None, messages: Sequence[Message], /, *, instructions: str) -> str:
        """Ask, and give the summarizer's text.

        Raises:
            SummaryFailed: if it raised, gave no text, or there is nobody to ask.
        """
        name = self._plan.answers.name if by is None else summarizer_name(by)
        self._emit(Compacting(messages=len(messages)))
        try:
            text = await self._hooked(messages)
            if text is None:
                text = await _written(name, self._text(by, messages, instructions=instructions))
        except SummaryFailed as error:
            await self._plan.errors(error, "compact")
            raise
        self._emit(Compacted(summary=text))
        return text

    async def _hooked(self, messages: Sequence[Message]) -> str | None:
        """What `on_compact` gives in place of a summary, or None."""
        hook = self._plan.hooks.on_compact
        if hook is None:
            return None
        so_far, since = _parted(messages)
        try:
            text = await called(hook, since, so_far)
        except Exception as error:  # isolates: hook
            raise SummaryFailed("on_compact", f"it raised {type(error).__name__}: {error}") from error
        if text is not None and not isinstance(text, str):
            raise SummaryFailed("on_compact", f"it gave a {type(text).__name__}, not a text")
        return text if text and text.strip() else None

    async def _text(self, by: Summarizer | None, messages: Sequence[Message], *, instructions: str) -> Any:
        if by is not None and not isinstance(by, str | Model):
            given = by(messages)
            return await given if inspect.isawaitable(given) else given
        model = self._plan.answers.model if by is None else self._plan.find_model(by)
        if model is None:
            raise SummaryFailed(self._plan.answers.name, "a responder cannot be asked; give the context a summarizer")
        return await _folded(model, summary_prompt(messages), instructions=instructions)


async def _written(name: str, asked: Awaitable[Any]) -> str:
    try:
        text = await asked
    except SummaryFailed:
        raise
    except Exception as error:  # isolates: summarizer
        raise SummaryFailed(name, f"it raised {type(error).__name__}: {error}") from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise SummaryFailed(name, "it was canceled by something of its own") from error
    if not isinstance(text, str) or not text.strip():
        raise SummaryFailed(name, "it gave no text")
    return text


def _parted(messages: Sequence[Message]) -> tuple[str | None, tuple[Message, ...]]:
    """The summary so far, where messages begin with one, and what was said since."""
    head = f"{MARKER}\n"
    if messages and messages[0].role == "user" and messages[0].text.startswith(head):
        return messages[0].text.removeprefix(head), tuple(messages[1:])
    return None, tuple(messages)


async def _folded(model: Model, prompt: str, *, instructions: str) -> str:
    """Summarise a text; one that is too long for the model piece by piece, each with the summary of those before."""
    budget = budget_for(model.window if isinstance(model, HasWindow) else None)
    summary = ""
    for piece in pieces(prompt, limit=_room(budget, instructions), counter=budget.counter):
        so_far = marked(shortened(summary, limit=budget.reserve, counter=budget.counter)).text
        said = f"{so_far}\n\n{piece}" if summary else piece
        summary = await _asked(model, said, instructions=instructions)
    return summary


def _room(budget: Budget, instructions: str) -> int:
    # The reply's room once more, because the summary so far stands in the next request.
    return max(64, budget.packed_limit - budget.reserve - budget.counter(instructions) - 32)


async def _asked(model: Model, said: str, *, instructions: str) -> str:
    reply: Message | None = None
    async with closing(model.stream(ModelRequest([Message.of("user", said)], system=instructions))) as stream:
        async for event in stream:
            if isinstance(event, Replied):
                reply = event.message
    return "" if reply is None else reply.text
