"""Cutting plain messages: at places where no call is parted from its result, and never so that the input vanishes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from .._messages import Message, ToolCall, ToolResult
from ..errors import Misuse
from ._counting import PER_MESSAGE, count_messages
from ._tokens import TokenCounter, estimate_tokens

M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which result answers which call.

    Attributes:
        spans: positions of a call's message and of its result's, in order of the results.
        open: calls without a result: the message's position, the number of the call in it, the call.
        stray: results that answer no call before them, or one that has its result, with their positions.
    """

    spans: list[tuple[int, int]] = field(default_factory=list)
    open: list[tuple[int, int, ToolCall]] = field(default_factory=list)
    stray: list[tuple[int, ToolResult]] = field(default_factory=list)


def pairs_of(messages: Sequence[Message]) -> Pairs:
    """Pair calls and results. Ids come again in later replies of some models: the latest open call is answered."""
    found = Pairs()
    waiting: dict[str, list[tuple[int, int, ToolCall]]] = {}
    for i, number, part in _calls_and_results(messages):
        if isinstance(part, ToolCall):
            waiting.setdefault(part.id, []).append((i, number, part))
        elif asked := waiting.get(part.call_id):
            found.spans.append((asked.pop()[0], i))
        else:
            found.stray.append((i, part))
    found.open.extend(sorted((each for left in waiting.values() for each in left), key=lambda each: each[:2]))
    return found


def _calls_and_results(messages: Sequence[Message]) -> Iterator[tuple[int, int, ToolCall | ToolResult]]:
    """Calls and results in order, each with its message's position; a call also with its number in the message."""
    for i, message in enumerate(messages):
        calls = 0
        for part in message.parts:
            if isinstance(part, ToolCall | ToolResult):
                yield i, calls, part
                calls += isinstance(part, ToolCall)


def safe_cut(messages: Sequence[Message], index: int) -> int:
    """The place nearest to `index` from which on messages may be shown: what stands before it is left out.

    No result is kept without its call. The place is at or behind `index`, so that no more is shown than was asked
    for, unless the newest input would be lost: it is always kept, and then the place is before `index`.

    Args:
        messages: oldest first; a message may hold calls and their results at once.
        index: the first message that is wanted; what lies outside is taken for the nearer end.

    Returns:
        A position in `messages`; 0 if there are none.
    """
    clean = _clean(len(messages), pairs_of(messages))
    newest = _newest_input(messages)
    places = [i for i in range(len(messages)) if clean[i] and (newest is None or i <= newest)]
    if not places:
        return 0
    wanted = bisect_left(places, index)
    return places[min(wanted, len(places) - 1)]


def trim(messages: Sequence[M], limit: int, *, counter: TokenCounter | None = None) -> list[M]:
    """Leave out the oldest messages until the others cost at most `limit` tokens.

    Whole exchanges go, an input with all that was answered to it, the oldest first; then the first rounds of the
    newest one, calls with their results. System messages, the newest input and the last round stay, even if they
    alone cost more than the limit.

    Args:
        messages: oldest first; not changed.
        limit: tokens, what frames the messages included.
        counter: counts a text; None is the estimate for a model that is not known.

    Raises:
        Misuse: if the limit is no whole number, or a negative one.
    """
    given: object = limit
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise Misuse(f"limit={limit!r} is no number of tokens", "give a whole number")
    counts = counter or estimate_tokens
    return dropped(messages, lambda kept: cost_of(kept, counts) <= limit)


def cost_of(messages: Sequence[Message], counter: TokenCounter) -> int:
    """Tokens of messages, what frames them included."""
    return count_messages(messages, counter) + PER_MESSAGE * len(messages)


def dropped(messages: Sequence[M], fits: Callable[[list[M]], bool], *, keep_open: bool = False) -> list[M]:
    """Leave out what `trim` does until `fits` holds, or nothing more may go.

    Args:
        messages: oldest first; not changed.
        fits: whether what is left is little enough; whoever holds for some messages holds for fewer.
        keep_open: stop before a call that has no result, since that may still come.
    """
    groups = _removable(messages, keep_open=keep_open)
    ends = [0]
    for group in groups:
        ends.append(ends[-1] + len(group))
    order = [i for group in groups for i in group]

    def left(groups_gone: int) -> list[M]:
        gone = set(order[: ends[groups_gone]])
        return [message for i, message in enumerate(messages) if i not in gone]

    return left(bisect_left(range(len(groups)), True, key=lambda gone: fits(left(gone))))


def _removable(messages: Sequence[Message], *, keep_open: bool) -> list[list[int]]:
    """Positions that may be left out together, in the order in which they are."""
    pairs = pairs_of(messages)
    newest = _newest_input(messages)
    starts = _starts(messages, _clean(len(messages), pairs), newest=newest)
    first_open = pairs.open[0][0] if keep_open and pairs.open else len(messages)
    groups: list[list[int]] = []
    # The last one stays: behind its start there is no other.
    for start, end in pairwise(starts):
        if start <= first_open < end:
            break
        if newest is None or not start <= newest < end:
            groups.append([i for i in range(start, end) if messages[i].role != "system"])
    return [group for group in groups if group]


def _starts(messages: Sequence[Message], clean: Sequence[bool], *, newest: int | None) -> list[int]:
    """Where exchanges begin, and behind the newest input rounds; nothing that belongs together is parted there."""
    behind = -1 if newest is None else newest
    found = [
        i
        for i, message in enumerate(messages)
        if clean[i] and (message.role == "user" or (message.role == "assistant" and i > behind))
    ]
    return found if found[:1] == [0] else [0, *found]


def _clean(length: int, pairs: Pairs) -> list[bool]:
    """For each position, whether a cut before it parts no call from its result and leaves no stray result first."""
    depth = [0] * (length + 1)
    for call, result in pairs.spans:
        # Cuts behind the call's message and up to the result's would part them.
        depth[call + 1] += 1
        depth[result + 1] -= 1
    stray = {i for i, _ in pairs.stray}
    found, parted = [], 0
    for i in range(length):
        parted += depth[i]
        found.append(i == 0 or (parted == 0 and i not in stray))
    return found


def _newest_input(messages: Sequence[Message]) -> int | None:
    return next((i for i in reversed(range(len(messages))) if messages[i].role == "user"), None)
