"""What a `before_send` hook makes of a call: read, checked, and counted anew, so that the trace stays true."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from .._messages import Message, Reasoning, ToolCall, ToolResult, check_part, read_message
from .._trace import Layer, Trace
from ..context._assembly import SYSTEM_SEAM, Shown, digest
from ..context._budget import Budget
from ..context._counting import PER_MESSAGE, count_messages
from ..errors import Misuse, WindowTooSmall
from ._hooks import called

CHANGED = "changed by before_send"

Messages = tuple[Message, ...]


async def as_sent(hook: Callable[..., Any], shown: Shown, *, input: Message, budget: Budget) -> Shown:
    """What is sent of what a call was to be shown.

    Args:
        hook: the `before_send` hook.
        shown: what was built.
        input: the newest input; it stands in `shown`, perhaps with a block behind its parts.
        budget: what `shown` was built in.

    Raises:
        Misuse, NotStorable: if the hook gave no messages, or left the newest input out.
        WindowTooSmall: if it does not fit any more.
        Exception: what the hook raises.
    """
    built = tuple(shown.messages)
    given = _read(await called(hook, list(built)))
    added = SYSTEM_SEAM.join(message.text for message in given if message.role == "system" and message.text)
    messages = tuple(message for message in given if message.role != "system")
    if not added and messages == built:
        return shown
    messages, left_out = _paired(messages)
    system = SYSTEM_SEAM.join(text for text in (shown.system, added) if text)
    at = _input_at(built, input)
    seam = budget.counter(SYSTEM_SEAM) if shown.system and added else 0
    framed = PER_MESSAGE * (len(messages) - len(built) + bool(system) - bool(shown.system)) + seam
    was, now = _Parted(built, at), _Parted(messages, _found(messages, built, at=at))
    lines = _recounted(shown.trace.layers, budget, was=was, now=now)
    lines = [line.costing(framed) if line.kind == "overhead" else line for line in lines]
    if added:
        line = Layer("before_send", "", pinned=True, placement="system")
        lines.insert(0, line.kept(budget.counter(added), digest=digest(added)))
    trace = _warned(replace(shown.trace, layers=tuple(lines)), budget, was=shown.trace, left_out=left_out)
    return replace(shown, system=system, messages=messages, trace=trace)


# --- what it gave ---------------------------------------------------------------------------------------------


def _read(given: object) -> list[Message]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise Misuse(f"before_send gave a {type(given).__name__}", "give the messages that are to be sent")
    messages = [read_message(each) for each in cast(Sequence[object], given)]
    for n, message in enumerate(messages):
        for i, part in enumerate(message.parts):
            check_part(part, f"before_send[{n}][{i}]")
    return messages


def _paired(messages: Messages) -> tuple[Messages, int]:
    """The same without calls that have no result behind them and results that have no call; and how many those were."""
    found: list[Message] = []
    left_out = 0
    open: set[str] = set()
    for at, message in enumerate(messages):
        if message.role != "tool":
            open = _answered(messages, at) if message.role == "assistant" else set()
        kept = tuple(part for part in message.parts if _belongs(part, message.role, open=open))
        left_out += len(message.parts) - len(kept)
        if len(kept) == len(message.parts):
            found.append(message)
        elif any(not isinstance(part, Reasoning) for part in kept):
            found.append(Message(message.role, kept))
    return tuple(found), left_out


def _answered(messages: Messages, at: int) -> set[str]:
    """Ids of a message's calls that have a result directly behind it."""
    results: set[str] = set()
    for behind in range(at + 1, len(messages)):
        if messages[behind].role != "tool":
            break
        results.update(result.call_id for result in messages[behind].results)
    return results & {call.id for call in messages[at].calls}


def _belongs(part: object, role: str, *, open: set[str]) -> bool:
    if isinstance(part, ToolCall):
        return role == "assistant" and part.id in open
    if not isinstance(part, ToolResult):
        return True
    if role != "tool" or part.call_id not in open:
        return False
    open.discard(part.call_id)  # one call, one result
    return True


# --- where the newest input is ---------------------------------------------------------------------------------


def _input_at(built: Messages, input: Message) -> int:
    """Where the newest input stands in what was built: there, a block may stand behind its own parts."""
    whole = [at for at, message in enumerate(built) if message is input]
    begun = [
        at
        for at, message in enumerate(built)
        if message.role == "user" and message.parts[: len(input.parts)] == input.parts
    ]
    return (whole or begun)[-1]


def _found(messages: Messages, built: Messages, *, at: int) -> int:
    """Where the input that stood at `at` stands now; what a person said since must be behind it, too.

    Raises:
        Misuse: if one of them is gone.
    """
    place = len(messages)
    for said in reversed([n for n in range(at, len(built)) if built[n].role == "user"]):
        found = _place(messages[:place], built, said=said, behind=_replies(messages[place:]))
        if found is None:
            raise Misuse("before_send left the newest input out", "keep it in its place; its words may change")
        place = found
    return place


def _place(messages: Messages, built: Messages, *, said: int, behind: int) -> int | None:
    """Where a message of a person stands: itself, its like, or else the last one of a person that is new.

    Its like and a new one may have more behind them than it had, but no reply more: else an earlier message would
    pass for the newest.
    """
    places = range(len(messages) - 1, -1, -1)
    itself = next((n for n in places if messages[n] is built[said]), None)
    if itself is not None:
        return itself
    like = next((n for n in places if messages[n] == built[said]), None)
    if like is None:
        like = next(
            (n for n in places if messages[n].role == "user" and messages[n].parts and messages[n] not in built), None
        )
    if like is None or _replies(messages[like:]) + behind > _replies(built[said:]):
        return None
    return like


def _replies(messages: Messages) -> int:
    return sum(message.role == "assistant" for message in messages)


# --- what it costs ---------------------------------------------------------------------------------------------


class _Parted(NamedTuple):
    """Messages, and where among them the newest input is."""

    messages: Messages
    at: int

    @property
    def places(self) -> dict[str, Messages]:
        """The messages by the trace's places."""
        input, behind = self.at, self.at + 1
        return {"history": self.messages[:input], "input": self.messages[input:behind], "turn": self.messages[behind:]}


def _recounted(layers: Sequence[Layer], budget: Budget, *, was: _Parted, now: _Parted) -> list[Layer]:
    """The lines of what was built, costing together what is sent; those of what is not changed stay."""
    lines = list(layers)
    for place, messages in now.places.items():
        if messages == was.places[place]:
            continue
        at = [n for n, line in enumerate(lines) if _place_of(line) == place]
        if not at:
            lines.append(Layer("turn", "", kind="history").kept(0))
            at = [len(lines) - 1]
        own_first = place != "input" or messages[0].parts[-1:] == was.places[place][0].parts[-1:]
        at.sort(key=lambda n: (lines[n].id == place) != own_first)  # a block that is as it was costs what it did
        left = count_messages(messages, budget.counter) - sum(lines[n].tokens for n in at)
        for n in at:
            tokens = max(0, lines[n].tokens + left)
            left -= tokens - lines[n].tokens
            lines[n] = _sized(lines[n], tokens)
    return lines


def _place_of(line: Layer) -> str:
    if line.id == "turn" or line.kind == "overhead":
        return "turn" if line.id == "turn" else ""
    return line.where


def _sized(line: Layer, tokens: int) -> Layer:
    if tokens >= line.tokens:
        return line.costing(tokens - line.tokens).remarked(reason=CHANGED)
    if not tokens:
        return line.dropped(CHANGED, original_tokens=line.original_tokens)
    was = line.original_tokens
    return line.truncated(line.text, tokens, original_tokens=was, digest=line.digest, reason=CHANGED, items=line.items)


def _warned(trace: Trace, budget: Budget, *, was: Trace, left_out: int) -> Trace:
    """The trace with what there is to say of the change.

    Raises:
        WindowTooSmall: if it does not fit any more.
    """
    over = trace.total - budget.hard_limit if budget.window else 0
    if over > 0 and budget.enforced:
        sizes = {layer.id: layer.tokens for layer in trace.layers if layer.tokens}
        raise WindowTooSmall(budget.window, trace.total + budget.reserve, sizes=sizes | {"reply": budget.reserve})
    warnings = [f"before_send changed what is sent: {was.total:,} tokens became {trace.total:,}"]
    if left_out:
        warnings.append(f"before_send left {left_out} calls or results without counterpart, which are not sent")
    if over > 0:
        warnings.append(f"{over:,} tokens more are sent than the window and the reply leave room for")
    return replace(trace, warnings=(*trace.warnings, *warnings))
