"""Where some words were in every model call of a session, and where they got lost. A fold over what is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from .._jsonable import encode
from .._messages import Message
from .._trace import Layer, Trace
from ..context._assembly import CHOSEN, digest
from ..context._stubs import LAST_SHORTENED, stubs_of
from ..journal import ModelReplied, TurnCompleted, TurnShown, TurnSteered
from ..transcript import Turn

Status = Literal["included", "truncated", "dropped", "compacted", "failed", "absent"]


_BEYOND = "in the middle of a long result, which no model is shown"


class Fate(NamedTuple):
    """What became of the words in one model call.

    Attributes:
        turn_id: the turn.
        call: number of the model call in it, from 1.
        layer: where the words were, or where they got lost; empty if they were said later or never.
        status: included; truncated: they are in what is left of it, or it cannot be told; compacted or dropped: the
            place that held them was; failed; or absent.
        reason: in one sentence.
        tokens: what that layer cost.
    """

    turn_id: str
    call: int
    layer: str
    status: Status
    reason: str
    tokens: int


class Kept(NamedTuple):
    """What is at hand of texts that calls were shown.

    Attributes:
        texts: system texts, by digest, from the journal.
        summaries: summaries, by digest, from beside it.
        clearings: how many turns stood before each clearing of the context.
    """

    texts: Mapping[str, str]
    summaries: Mapping[str, str]
    clearings: Sequence[int] = ()


class _Place(NamedTuple):
    """A place in the dialogue, as far as boundaries tell places apart.

    Attributes:
        turn: the turn's number, from 1.
        reply: 0 for its input, else the number of the model reply that the place belongs to.
    """

    turn: int
    reply: int


class _Said(NamedTuple):
    """A message that holds the words.

    Attributes:
        place: where it stands.
        at: its position in its turn.
        shown: whether they are in what models are shown of it, and not in the middle of a result beyond its limit.
        lasting: whether a stub of it still holds them.
        steering: whether a person said them while the turn ran; such words stay as long as it does.
    """

    place: _Place
    at: int
    shown: bool
    lasting: bool
    steering: bool


class _Call(NamedTuple):
    """A model call, and what had been said by then.

    Attributes:
        trace: what it was shown.
        turn: its turn's number.
        own: what holds the words in its turn.
        reply: how many replies of its turn there were.
        cleared: how many turns stood before the context was last cleared.
    """

    trace: Trace
    turn: int
    own: Sequence[_Said]
    reply: int
    cleared: int


def fates(words: str, turns: Sequence[Turn], *, kept: Kept) -> list[Fate]:
    """The fate of `words` in each model call, in order; upper and lower case are the same."""
    search = _Search(words, kept, numbers={turn.id: number for number, turn in enumerate(turns, 1)})
    found: list[Fate] = []
    for number, turn in enumerate(turns, 1):
        said = search.said(number, turn)
        cleared = max((at for at in kept.clearings if at < number), default=0)
        for trace, end, reply in _calls(turn):
            own = [each for each in said if each.at < end]
            found.append(search.fate(_Call(trace, number, own, reply, cleared)))
        if turn.status == "completed":
            search.before += said
    return found


def _calls(turn: Turn) -> Iterator[tuple[Trace, int, int]]:
    """Each call of a turn: its trace, how many messages had been said in the turn by then, and how many replies."""
    ends = [at for at, message in enumerate(turn.messages) if message.role == "assistant"] + [len(turn.messages)]
    answered = sum(isinstance(entry, ModelReplied | TurnCompleted) for entry in turn.entries)
    traces, replies, steered = iter(turn.traces), 0, 0
    for entry in turn.entries:
        if isinstance(entry, TurnShown):
            # Behind the last reply stands all that no reply has seen, what was said after this call, too.
            later = len(turn.steering) - steered if replies == answered else 0
            yield next(traces), ends[min(replies, len(ends) - 1)] - later, replies
        elif isinstance(entry, ModelReplied | TurnCompleted):
            replies += 1
        elif isinstance(entry, TurnSteered):
            steered += 1


def _text(message: Message) -> str:
    calls = [f"{call.name} {encode(call.arguments).decode()} {call.raw or ''}" for call in message.calls]
    return "\n".join([message.text, *calls, *(result.text for result in message.results)])


class _Search:
    """Looks for the same words in call after call.

    Attributes:
        before: what holds the words in the completed turns so far.
    """

    def __init__(self, words: str, kept: Kept, *, numbers: Mapping[str, int]) -> None:
        self.before: list[_Said] = []
        self._wanted = words.casefold()
        self._kept = kept
        self._numbers = numbers
        self._texts: dict[str, bool | None] = {}
        self._held: dict[str, int] = {}

    def said(self, number: int, turn: Turn) -> list[_Said]:
        """What holds the words in a turn."""
        found = []
        stubs, replies = None, 0
        for at, message in enumerate(turn.messages):
            replies += message.role == "assistant"
            if not self._in(_text(message)):
                continue
            stubs = stubs or stubs_of(turn.id, turn.shown_messages)
            steering = message.role == "user" and at > 0
            reply = replies + steering  # Steering belongs to the reply that has seen it.
            shown, lasting = (self._in(_text(form[at])) for form in (turn.shown_messages, stubs))
            found.append(_Said(_Place(number, reply), at, shown, lasting, steering))
        return found

    def fate(self, call: _Call) -> Fate:
        """What became of the words in one call: where they are shown, else where they got lost."""
        lost: list[Fate] = []
        for look in (self._in_a_layer, self._in_the_turn, self._in_history):
            found = look(call)
            if found is not None and found.status in ("included", "truncated"):
                return found
            lost += [] if found is None else [found]
        nowhere = "nothing that was shown, as far as it is kept, holds the words"
        absent = Fate(call.trace.turn_id, call.trace.call, "", "absent", nowhere, 0)
        return self._in_a_lost_layer(call) or next(iter(lost), absent)

    # --- layers with texts ------------------------------------------------------------------------------------

    def _in_a_layer(self, call: _Call) -> Fate | None:
        for layer in call.trace.layers:
            if layer.tokens and self._layer_holds(layer):
                self._held[layer.id] = call.turn
                left = "what is left of " if layer.status == "truncated" else ""
                status: Status = "truncated" if left else "included"
                return _made(call, layer, status=status, reason=f"the words stand in {left}{layer.id}")
        return None

    def _in_a_lost_layer(self, call: _Call) -> Fate | None:
        """A layer that holds the words and is not sent, or one that held them in an earlier call."""
        for layer in call.trace.layers:
            why = f": {layer.reason}" if layer.reason else ""
            if not layer.tokens and self._layer_holds(layer):
                return _made(
                    call, layer, status=_lost(layer), reason=f"{layer.id}, which holds the words, was left out{why}"
                )
            if layer.id not in self._held or layer.status not in ("dropped", "failed", "truncated"):
                continue
            held = f"{layer.id} held the words in turn {self._held[layer.id]}"
            if layer.status == "failed":
                return _made(call, layer, status="failed", reason=f"{held}, and gave nothing here{why}")
            how = "was left out here" if layer.status == "dropped" else "was cut here"
            return _made(call, layer, status="dropped", reason=f"{held}, and {how}{why}")
        return None

    def _layer_holds(self, layer: Layer) -> bool:
        name = layer.digest or ""
        if name not in self._texts:
            text = self._kept.texts.get(name) or self._kept.summaries.get(name) or ""
            self._texts[name] = self._in(text)
        return bool(self._texts[name])

    def _in(self, text: str) -> bool:
        return self._wanted in text.casefold()

    # --- what was said ----------------------------------------------------------------------------------------

    def _in_the_turn(self, call: _Call) -> Fate | None:
        if not call.own:
            return None
        if call.own[0].at == 0:
            return _made(call, _layer(call.trace, "input"), status="included", reason="said here")
        line = _layer(call.trace, "turn")
        fates = [self._of_own(call, said, line=line) for said in reversed(call.own)]
        return next((fate for fate in fates if fate.status == "included"), fates[0])

    def _of_own(self, call: _Call, said: _Said, *, line: Layer | None) -> Fate:
        where = "said in this turn"
        if not said.shown:
            return _made(call, line, status="dropped", reason=f"{where}, {_BEYOND}")
        if line is None or line.status == "included":
            return _made(call, line, status="included", reason=where)
        since, stubbed = self._place(line.since), self._place(line.stubbed)
        if said.place < since and not said.steering:
            return _made(call, line, status="dropped", reason=f"{where}, in a round that was left out")
        if said.place < stubbed and not said.lasting:
            return _made(call, line, status="compacted", reason=f"{where}, in what is only shown as a stub")
        # The last round is never left out. Which one is shortened is not told: it was the last one at that time.
        known = LAST_SHORTENED not in (line.reason or "")
        if said.steering or (known and (said.place.reply >= call.reply or line.since or line.stubbed)):
            return _made(call, line, status="included", reason=where)
        return _made(call, line, status="truncated", reason=f"{where}, of which a part is not shown: {line.reason}")

    def _in_history(self, call: _Call) -> Fate | None:
        if not self.before:
            return None
        line = _layer(call.trace, "history")
        since = self._place(None if line is None else line.since)
        stubbed = self._place(None if line is None else line.stubbed)
        there = line is not None and line.tokens > 0
        if line is not None and there and line.reason == CHOSEN and self.before[-1].place.turn > call.cleared:
            where = f"said in turn {self.before[-1].place.turn}"
            return _made(call, line, status="truncated", reason=f"{where}, of which the context shows what it chooses")
        stub: _Said | None = None
        for said in reversed(self.before):
            if said.place.turn <= call.cleared or said.place < since or not there:
                break
            if said.shown and (said.lasting or said.place >= stubbed):
                return _made(call, line, status="included", reason=f"said in turn {said.place.turn}, shown in full")
            stub = stub or said
        if stub is not None and not stub.shown:
            return _made(call, line, status="dropped", reason=f"said in turn {stub.place.turn}, {_BEYOND}")
        if stub is not None:
            where = f"said in turn {stub.place.turn}, in a long result or argument that is only shown as a stub"
            return _made(call, line, status="compacted", reason=where)
        return self._not_in_history(call, line)

    def _not_in_history(self, call: _Call, line: Layer | None) -> Fate:
        turn = self.before[-1].place.turn
        where = f"said in turn {turn}"
        if turn <= call.cleared:
            return _made(call, line, status="dropped", reason=f"{where}, before the context was cleared")
        summary = _layer(call.trace, "summary")
        if summary is None or not summary.tokens:
            return _made(call, line, status="dropped", reason=f"{where}, which was left out")
        if summary.digest not in self._kept.summaries:
            return _made(call, summary, status="compacted", reason=f"{where}; the summary's text is not at hand")
        return _made(call, summary, status="compacted", reason=f"{where}; the words are not in the summary")

    def _place(self, place: str | None) -> _Place:
        """A boundary as a trace names it; nothing stands before one that cannot be read, and a whole turn before its
        end."""
        turn_id, mark, reply = (place or "").rpartition("#")
        if place in self._numbers or not mark:
            return _Place(self._numbers.get(place or "", 0), 0)
        if reply == "end":
            return _Place(self._numbers.get(turn_id, -1) + 1, 0)
        return _Place(self._numbers.get(turn_id, 0), int(reply) if reply.isdecimal() else 0)


def _lost(layer: Layer) -> Status:
    return "failed" if layer.status == "failed" else "dropped"


def _layer(trace: Trace, id: str) -> Layer | None:
    return next((layer for layer in trace.layers if layer.id == id), None)


def _made(call: _Call, layer: Layer | None, *, status: Status, reason: str) -> Fate:
    name, tokens = ("", 0) if layer is None else (layer.id, layer.tokens)
    return Fate(call.trace.turn_id, call.trace.call, name, status, reason, tokens)


def by_digest(texts: Sequence[str]) -> dict[str, str]:
    """Texts, each under the digest that traces call it by."""
    return {digest(text): text for text in texts}
