"""Turns, traces and listings as JSON, for other programs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .._messages import Message, StoredInput, one_result_each
from .._trace import Trace
from .._usage import Usage
from ..chat import Fate, Reply, SessionSummary
from ..context import Shown
from ..journal import FeedbackRecorded
from ..transcript import Turn
from ._trace_diff import changes
from ._trace_table import Asked

Json = dict[str, Any]


def usage_json(usage: Usage | None) -> Json | None:
    """Tokens, every figure named."""
    if usage is None:
        return None
    return {
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "cacheWritten": usage.cache_written,
        "reasoning": usage.reasoning,
    }


def reply_json(reply: Reply, *, session_id: str, model: str, store: Path) -> Json:
    """A reply, and where it was kept."""
    return {
        "text": reply.text,
        "session": session_id,
        "turn": reply.turn_id,
        "model": model,
        "finishReason": reply.finish_reason,
        "usage": usage_json(reply.usage),
        "store": str(store),
    }


def summary_json(summary: SessionSummary) -> Json:
    """One session of a listing."""
    return {
        "id": summary.id,
        "title": summary.title,
        "scope": summary.scope,
        "turns": summary.turns,
        "status": summary.status,
        "changed": datetime.fromtimestamp(summary.changed, UTC).isoformat(timespec="milliseconds"),
        "problem": summary.problem,
    }


def turn_json(turn: Turn) -> Json:
    """A turn, whole."""
    return {
        "id": turn.id,
        "status": turn.status,
        "acceptedAt": turn.accepted_at,
        "input": _said(turn.input),
        "steering": [_said(each) for each in turn.steering],
        "messages": [each.to_json() for message in turn.messages for each in one_result_each(message)],
        "output": turn.output,
        "partial": turn.partial,
        "error": turn.error,
        "finishReason": turn.finish_reason,
        "model": turn.model,
        "usage": usage_json(turn.usage),
        "retryOf": turn.retry_of,
        "key": turn.key,
        "options": turn.options,
        "metadata": turn.metadata,
        "feedback": [_feedback_json(each) for each in turn.feedback],
    }


def _said(given: StoredInput) -> Any:
    return given if isinstance(given, str) else Message("user", given).to_json()["content"]


def _feedback_json(given: FeedbackRecorded) -> Json:
    return {
        "at": given.at,
        "rating": given.rating,
        "comment": given.comment,
        "preferred": given.preferred,
        "by": given.by,
    }


def fate_json(fate: Fate, *, number: int) -> Json:
    """What became of some words in one model call."""
    return {
        "turn": fate.turn_id,
        "number": number,
        "call": fate.call,
        "layer": fate.layer,
        "status": fate.status,
        "reason": fate.reason,
        "tokens": fate.tokens,
    }


def shown_json(shown: Shown, *, texts: bool) -> Json:
    """What a model call would be shown."""
    found = {"trace": trace_json(shown.trace, number=None)}
    if not texts:
        return found
    messages = [each.to_json() for message in shown.messages for each in one_result_each(message)]
    return found | {"system": shown.system, "messages": messages}


def diff_json(before: Asked, now: Asked) -> Json:
    """What differs between what two model calls were shown, the first layer in front."""
    return {
        "before": _called(before),
        "now": _called(now),
        "changes": [change.to_json() for change in changes(before.trace, now.trace)],
    }


def _called(asked: Asked) -> Json:
    trace = asked.trace
    named: Json = {"turn": trace.turn_id, "number": asked.number, "call": trace.call}
    return named | {"model": trace.model, "window": trace.window, "total": trace.total}


def trace_json(trace: Trace, *, number: int | None, usage: Usage | None = None) -> Json:
    """What one model call was shown: totals, and a row for each piece.

    Args:
        trace: what it was shown.
        number: its turn's number; None is a call that is not made.
        usage: what its provider reported, or None.
    """
    return {
        "turn": trace.turn_id,
        "number": number,
        "call": trace.call,
        "model": trace.model,
        "window": trace.window,
        "reserve": trace.reserve,
        "margin": trace.margin,
        "headroom": trace.headroom,
        "counter": trace.counter,
        "shared": trace.shared,
        "usage": usage_json(usage),
        "totals": trace.totals,
        "tools": list(trace.tools),
        "warnings": list(trace.warnings),
        "layers": [
            {
                "layer": layer.id,
                "kind": layer.kind,
                "where": layer.where,
                "status": layer.status,
                "tokens": layer.tokens,
                "originalTokens": layer.original_tokens,
                "reason": layer.reason,
                "since": layer.since,
                "stubbed": layer.stubbed,
                "ms": layer.ms,
            }
            for layer in trace.layers
        ],
    }
