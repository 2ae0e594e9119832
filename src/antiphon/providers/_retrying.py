"""Asks again where that may help, as long as nothing of the reply was given."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from ..errors import ModelError
from ..models import ModelEvent, Retry

LONGEST_WAIT = 120.0
"""Seconds that a provider may ask for and is obeyed; whoever asks for more gets an error with that figure."""
_FIRST, _MOST = 0.5, 8.0

_log = logging.getLogger("antiphon")

Attempt = Callable[[], AsyncGenerator[ModelEvent, None]]


async def retrying(attempt: Attempt, *, max_retries: int) -> AsyncGenerator[ModelEvent, None]:
    """Give the events of an attempt; one that failed before its first event is made again.

    A stream that broke after an event is not asked for again: it would be paid for twice, and its text would come
    twice (HKUDS/nanobot#4038). A `Retry` comes before each wait.

    Raises:
        ModelError: of the last attempt.
    """
    for number in range(1, max_retries + 2):
        outcome = _Outcome()
        async with aclosing(_once(attempt, outcome)) as events:
            async for event in events:
                yield event
        failed = outcome.failed
        if failed is None:
            return
        if outcome.given or number > max_retries or not worth_it(failed):
            raise failed
        wait = seconds_before(number, asked=failed.retry_after, jitter=random.random())
        _log.info("model %r is asked again in %.1f s (%s)", failed.model, wait, type(failed).__name__)
        yield Retry(number, wait, reason_of(failed))
        await asyncio.sleep(wait)


@dataclass(slots=True)
class _Outcome:
    given: bool = False
    failed: ModelError | None = None


async def _once(attempt: Attempt, outcome: _Outcome) -> AsyncGenerator[ModelEvent, None]:
    try:
        async with aclosing(attempt()) as events:
            async for event in events:
                outcome.given = True
                yield event
    except ModelError as error:
        outcome.failed = error


def worth_it(error: ModelError) -> bool:
    """Whether the same request is to be sent again: not if nobody answered in time, or the wait is too long."""
    silent = isinstance(error.__cause__, TimeoutError)
    return error.retryable and not silent and (error.retry_after or 0) <= LONGEST_WAIT


def seconds_before(number: int, *, asked: float | None, jitter: float) -> float:
    """Seconds to wait before retry `number` (from 1): what was asked for, or 0.5 to 8, less up to a quarter.

    The figures are those of OpenAI's own client, `openai._base_client._calculate_retry_timeout`.
    """
    if asked is not None and 0 < asked <= LONGEST_WAIT:
        return asked
    return min(_FIRST * 2.0 ** (number - 1), _MOST) * (1 - 0.25 * jitter)


def reason_of(error: ModelError) -> str:
    """What a retry says of the error that led to it."""
    status = "" if error.status is None else f" (HTTP {error.status})"
    return f"{error.problem}{status}" + (f": {error.found}" if error.found else "")
