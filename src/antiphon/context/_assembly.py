"""From what a context gave to what is sent: the input is added, everything is counted, every piece has its line.

The newest input stands in every call because only this module adds it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from .._messages import Message, Text, read_message
from .._tool_spec import ToolSpec, notes_of
from .._trace import Layer, Trace
from ..errors import Misuse, WindowTooSmall
from ._budget import Budget
from ._counting import PER_MESSAGE, count_messages, count_parts, count_tools
from ._stubs import READ_RESULT
from ._tokens import TokenCounter
from ._view import Assembled, Built

SYSTEM_SEAM = "\n\n"
"""What stands between the instructions and the system text behind them."""

CARD_NOTE = "card-note"
"""The layer that tells a model where its tools' cards are shown."""

CHOSEN = "chosen by the context"
"""What the line of history says whose context does not tell itself what it shows of earlier turns."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model call is shown, or would be.

    Attributes:
        system: the system text.
        messages: in order; the newest input is the last user message, what the running turn said since stands behind.
        trace: where every token of it comes from.
        tools: what is offered, in order.
    """

    system: str
    messages: Sequence[Message]
    trace: Trace
    tools: Sequence[ToolSpec] = ()

    @property
    def tool_names(self) -> Sequence[str]:
        """Names of the offered tools, in order."""
        return self.trace.tools

    def without_tools(self) -> Shown:
        """The same with no tool offered, as for the last call that a turn's limits allow."""
        layers = tuple(layer for layer in self.trace.layers if layer.kind != "tools")
        return replace(self, trace=replace(self.trace, layers=layers, tools=()), tools=())

    def _repr_html_(self) -> str:
        """Its trace, as a notebook displays it."""
        return self.trace._repr_html_()


@dataclass(frozen=True, slots=True)
class Call:
    """The model call that something is assembled for."""

    turn_id: str
    number: int
    model: str
    budget: Budget
    tools: Sequence[ToolSpec] = ()


def read_built(built: object) -> Assembled:
    """Take what a context gave, in any of the forms it may give.

    Raises:
        Misuse: if it is none of them.
        NotStorable: if one of its messages cannot be read.
    """
    if isinstance(built, str | bytes | dict) or not isinstance(built, Sequence):
        raise Misuse(
            f"the context gave a {type(built).__name__}", "give an Assembled, or the messages before the input"
        )
    assembled = built if isinstance(built, Assembled) else Assembled(cast(Sequence[Message], built))
    rounds = None if assembled.rounds is None else [read_message(message) for message in assembled.rounds]
    return assembled._replace(before_input=[read_message(message) for message in assembled.before_input], rounds=rounds)


def digest(text: str) -> str:
    """Twelve hexadecimal digits that name a text in traces."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def assemble(
    built: Built, own: Sequence[Message], *, instructions: str, call: Call, covered: int | None = None
) -> Shown:
    """Put together what one call is shown.

    Args:
        built: what the context gave.
        own: the running turn's messages: the input first, then whatever was said since; the context may have given
            something shorter in place of the latter.
        instructions: pinned text, first of the system text.
        call: which call this is for, and the room it has.
        covered: how many of the turn's own messages behind the input `built.rounds` stand for; None is all of them.

    Raises:
        WindowTooSmall: if it does not fit into the window less the reserve; nothing was sent.
    """
    assembled = read_built(built)
    before = [message for message in assembled.before_input if isinstance(message, Message)]
    lifted = [message.text for message in before if message.role == "system"]
    before = [message for message in before if message.role != "system"]
    newest = own[0] if not assembled.with_input else _with_block(own[0], assembled.with_input)
    said = _said(assembled, own, covered=covered)
    tools = tuple(call.tools if assembled.tools is None else assembled.tools)
    sent = _Sent(instructions, lifted, before=before, newest=newest, said=said, tools=tools)
    if reads_back(tools, (*before, *said)):
        # Where there is room: what was left out may be asked for.
        reading = _shown(assembled, sent._replace(tools=(*tools, READ_RESULT)), own=own[0], call=call)
        if not reading.trace.window or reading.trace.headroom >= 0:
            return reading
    found = _shown(assembled, sent, own=own[0], call=call)
    return replace(found, trace=_checked(found.trace, assembled.budget or call.budget))


def reads_back(tools: Sequence[ToolSpec], messages: Sequence[Message]) -> bool:
    """Whether something of a tool's result is left out which the model could read back."""
    if not tools or any(tool.name == READ_RESULT.name for tool in tools):
        return False
    return any(result.limit is not None for message in messages if message.role == "tool" for result in message.results)


def _shown(assembled: Assembled, sent: _Sent, *, own: Message, call: Call) -> Shown:
    budget = assembled.budget or call.budget
    system = SYSTEM_SEAM.join(text for text in (sent.instructions, sent.note, assembled.system, *sent.lifted) if text)
    lines = _lines(assembled, sent, own=own, budget=budget)
    trace = Trace(
        turn_id=call.turn_id,
        call=call.number,
        model=call.model,
        layers=_one_name_each([*lines, _overhead(assembled, sent, count=budget.counter)]),
        window=budget.window,
        reserve=budget.reserve,
        margin=budget.margin,
        counter=budget.counter_name,
        tools=tuple(tool.name for tool in sent.tools),
        warnings=tuple(assembled.warnings) + ((budget.warning,) if budget.warning else ()),
    )
    return Shown(system, (*sent.before, sent.newest, *sent.said), trace, sent.tools)


class _Sent(NamedTuple):
    """What is sent beside what the context's own lines tell of."""

    instructions: str
    lifted: Sequence[str]
    before: Sequence[Message]
    newest: Message
    said: Sequence[Message]
    tools: Sequence[ToolSpec]

    @property
    def note(self) -> str:
        """What the offered tools put into the system text."""
        return notes_of(self.tools)


def _said(assembled: Assembled, own: Sequence[Message], *, covered: int | None) -> tuple[Message, ...]:
    if assembled.rounds is None:
        return tuple(own[1:])
    shorter = tuple(message for message in assembled.rounds if isinstance(message, Message))
    return shorter if covered is None else (*shorter, *own[1 + covered :])


def _with_block(message: Message, block: str) -> Message:
    return Message(message.role, (*message.parts, Text(_apart(block))))


def _apart(block: str) -> str:
    # With a blank line in front, for encoders join the text parts of a message as they are.
    return f"\n\n{block}" if block else ""


def _lines(assembled: Assembled, sent: _Sent, *, own: Message, budget: Budget) -> list[Layer]:
    """One line for each piece, in the order of the request's places."""
    count, claimed = budget.counter, assembled.layers
    added = SYSTEM_SEAM.join(text for text in (assembled.system, *sent.lifted) if text)
    block = _apart(assembled.with_input)
    lines = [_text_line("instructions", sent.instructions, tokens=count(sent.instructions))]
    if not sent.instructions:
        lines = []
    if sent.note:
        lines.append(_text_line(CARD_NOTE, sent.note, tokens=count(sent.note)))
    lines += [line for line in claimed if line.where == "system"]
    lines += _unclaimed(assembled.layers, _text_line("context", added, tokens=count(added)))
    if sent.tools:
        line = Layer("tools", "", kind="tools").kept(count_tools(sent.tools, count))
        lines.append(line.remarked(reason=f"{len(sent.tools)} schema{'s' if len(sent.tools) > 1 else ''}"))
    lines += [line for line in claimed if line.where == "history" and line.id != "turn"]
    before = Layer("history", "", kind="history").kept(count_messages(sent.before, count))
    lines += [line.remarked(reason=CHOSEN) for line in _unclaimed(assembled.layers, before)]
    if not any(line.where == "history" for line in lines):
        lines.append(before)
    lines += [line for line in claimed if line.where not in ("system", "history")]
    lines += _unclaimed(assembled.layers, _text_line("block", block, tokens=count(block)))
    lines.append(Layer("input", "", kind="input").kept(count_parts(own, count)))
    if sent.said:
        turn = next((line for line in claimed if line.id == "turn"), Layer("turn", "", kind="history"))
        lines.append(turn.costing(count_messages(sent.said, count) - turn.tokens))
    return lines


def _text_line(id: str, text: str, *, tokens: int) -> Layer:
    kind = id if id == "instructions" else "custom"
    line = Layer(id, text, kind=kind, pinned=True, placement="input" if id == "block" else "system")
    return line.kept(tokens, digest=digest(text))


def _unclaimed(claimed: Sequence[Layer], sent: Layer) -> list[Layer]:
    """What is sent in one place beyond what the context's own lines say of it: everything has its line."""
    left = sent.tokens - sum(line.tokens for line in claimed if line.where == sent.where)
    return [sent.kept(left, digest=sent.digest)] if left > 0 else []


def _one_name_each(lines: Sequence[Layer]) -> tuple[Layer, ...]:
    seen: Counter[str] = Counter()
    named = []
    for line in lines:
        seen[line.id] += 1
        named.append(line if seen[line.id] == 1 else line.named(f"{line.id}#{seen[line.id]}"))
    return tuple(named)


def _overhead(assembled: Assembled, sent: _Sent, *, count: TokenCounter) -> Layer:
    added = any((assembled.system, *sent.lifted))
    texts = sum(map(bool, (sent.instructions, sent.note, added)))
    framed = len(sent.before) + 1 + len(sent.said) + (1 if texts else 0)
    seams = count(SYSTEM_SEAM) * (texts - 1) if texts else 0
    return Layer("overhead", "", kind="overhead").kept(PER_MESSAGE * framed + seams)


def _checked(trace: Trace, budget: Budget) -> Trace:
    if not budget.window or trace.total <= budget.packed_limit:
        return trace
    if trace.total > budget.hard_limit and budget.enforced:
        sizes = {layer.id: layer.tokens for layer in trace.layers if layer.tokens}
        raise WindowTooSmall(budget.window, trace.total + budget.reserve, sizes=sizes | {"reply": budget.reserve})
    over = trace.total - budget.packed_limit
    said = f"{over:,} tokens stand in the margin of the estimate"
    if trace.total > budget.hard_limit:
        said = f"{trace.total - budget.hard_limit:,} tokens more are sent than the window and the reply leave room for"
    return replace(trace, warnings=(*trace.warnings, said))
