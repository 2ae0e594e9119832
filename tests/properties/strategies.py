"""What random tests are fed: text that breaks naive readers, free JSON, every entry class, and legal journals."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from antiphon import File, Image, Message, Reasoning, Text, ToolCall, ToolResult, Usage
from antiphon._jsonable import freeze
from antiphon.journal import (
    ContextCleared,
    ContextCompacted,
    Failure,
    FeedbackRecorded,
    ModelReplied,
    Origin,
    SessionCreated,
    SessionRenamed,
    StateChanged,
    ToolAsked,
    ToolDecided,
    ToolReturned,
    ToolStarted,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnFailed,
    TurnResumed,
    TurnShown,
    TurnSteered,
    UnknownEntry,
)

SESSION = "ana-1"
AT = "2026-03-01T09:00:00.000Z"

NASTY = [
    *("\ud83d", "\ude00", "\0", "\\u0000", "\\", '"', "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\r", "\n", "\x1e"),
    *("😀", "👩‍👩‍👧", "\ufeff", "\uffff", "é", "e\u0301", "漢", "}", "{", '":', ",", " ", "\t", "\x7f"),
]


def whole(text: str) -> str:
    """A text whose halves of a surrogate pair that stand side by side are joined: in JSON they are one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


texts = st.lists(st.sampled_from(NASTY) | st.text(max_size=3), max_size=6).map("".join).map(whole)
numbers = st.integers() | st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False)
free_json = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
raw = free_json.map(lambda value: freeze(value, "value"))
raw_objects = st.dictionaries(texts, free_json, max_size=3).map(lambda value: freeze(value, "value"))
counts = st.integers(0, 10**6)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """None, or what the strategy gives."""
    return st.none() | strategy


usages = st.builds(Usage, counts, counts, counts, cache_written=counts, reasoning=counts)
media = st.sampled_from([{"data": "aGk="}, {"url": "https://example.org/a"}, {"file_id": "f"}, {"blob": "sha256:0"}])
images = st.builds(
    lambda media_type, way, size, detail: Image(media_type, **way, width=size, height=size, detail=detail),
    texts,
    media,
    maybe(counts),
    maybe(st.sampled_from(["low", "high", "auto"])),
)
files = st.builds(lambda media_type, way, name: File(media_type, **way, name=name), texts, media, maybe(texts))
calls = st.builds(ToolCall, texts, texts, raw_objects, maybe(texts))
result_media = st.lists(images | files, max_size=2).map(tuple)
results = st.builds(ToolResult, texts, texts, raw, st.booleans(), result_media)
reasonings = st.builds(Reasoning, texts, maybe(texts), raw, maybe(texts), maybe(texts))
parts = st.one_of(st.builds(Text, texts), images, files, calls, results, reasonings)
roles = st.sampled_from(["system", "user", "assistant", "tool"])
messages = st.builds(Message, roles, st.lists(parts, max_size=3).map(tuple))
inputs = texts | st.lists(parts, max_size=3).map(tuple)

FIELDS: dict[type[Any], dict[str, st.SearchStrategy[Any]]] = {
    SessionCreated: {
        "title": maybe(texts),
        "scope": maybe(texts),
        "metadata_json": raw_objects,
        "forked_from": maybe(st.builds(Origin, texts, maybe(texts))),
    },
    SessionRenamed: {"title": maybe(texts)},
    TurnAccepted: {
        "input": inputs,
        "retry_of": maybe(texts),
        "key": maybe(texts),
        "options_json": raw_objects,
        "metadata_json": raw_objects,
    },
    TurnResumed: {"by": maybe(texts)},
    TurnSteered: {"input": inputs, "key": maybe(texts)},
    TurnShown: {"call": counts, "model": texts, "trace_json": raw_objects, "texts_json": raw_objects},
    ModelReplied: {
        "call": counts,
        "message": messages,
        "usage": maybe(usages),
        "model": maybe(texts),
        "steered": maybe(counts),
    },
    ToolAsked: {"call_id": texts, "reason": texts},
    ToolDecided: {
        "call_id": texts,
        "decision": st.sampled_from(["allow", "deny", "answer"]),
        "by": texts,
        "arguments_json": raw,
        "reason": maybe(texts),
    },
    ToolStarted: {"call_ids": st.lists(texts, max_size=3).map(tuple)},
    ToolReturned: {
        "call_id": texts,
        "name": texts,
        "output_json": raw,
        "is_error": st.booleans(),
        "ms": maybe(counts),
        "media": result_media,
    },
    TurnCompleted: {
        "output": maybe(texts),
        "message": maybe(messages),
        "finish": maybe(texts),
        "usage": maybe(usages),
        "model": maybe(texts),
        "steered": maybe(counts),
        "metadata_json": raw_objects,
    },
    TurnFailed: {"error": maybe(texts | st.builds(Failure, texts, texts)), "partial": maybe(texts)},
    TurnCanceled: {"reason": maybe(texts), "partial": maybe(texts)},
    FeedbackRecorded: {
        "rating": maybe(st.integers(-10, 10) | st.floats(-10, 10)),
        "comment": maybe(texts),
        "preferred": maybe(texts),
        "by": maybe(texts),
    },
    StateChanged: {"key": texts, "value_json": raw},
    ContextCompacted: {"up_to": texts, "focus": maybe(texts)},
    ContextCleared: {},
}


def entries_of(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Entries of one class."""
    fields = {"version": st.just(1), "id": texts, "session_id": texts, "at": texts} | FIELDS[cls]
    if "turn_id" in cls.__struct_fields__:
        fields["turn_id"] = texts
    return st.fixed_dictionaries(fields).map(lambda values: cls(**values))


entries = st.one_of([entries_of(cls) for cls in FIELDS])


@dataclass
class _Growing:
    """A journal that grows by entries that may stand where they stand."""

    draw: Callable[[st.SearchStrategy[Any]], Any]
    entries: list[Any] = field(default_factory=list)
    open: dict[str, dict[str, str]] = field(default_factory=dict)
    steered: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)

    def add(self, cls: type[Any], **fields: Any) -> None:
        """One more entry."""
        head = {"version": 1, "id": f"e{len(self.entries)}", "session_id": SESSION, "at": AT}
        self.entries.append(cls(**head, **fields))

    def pick(self, *choices: Any) -> Any:
        """One of several."""
        return self.draw(st.sampled_from(choices))

    def session_entry(self) -> None:
        """Something that belongs to no turn."""
        match self.pick("rename", "state", "clear", "unknown"):
            case "rename":
                self.add(SessionRenamed, title=self.draw(maybe(texts)))
            case "state":
                self.add(StateChanged, key=self.pick("a", "b"), value_json=self.draw(raw))
            case "clear":
                self.add(ContextCleared)
            case _:
                number = len(self.entries)
                data = f'{{"type":"poll.opened","version":1,"id":"e{number}","sessionId":"{SESSION}","at":"{AT}"}}'
                self.add(UnknownEntry, type="poll.opened", data=data.encode())

    def begin(self) -> None:
        """One more turn."""
        turn_id = f"t{len(self.steered) + 1}"
        self.open[turn_id], self.steered[turn_id], self.seen[turn_id] = {}, 0, 0
        self.add(TurnAccepted, turn_id=turn_id, input=f"input of {turn_id}", key=self.pick(None, f"k-{turn_id}"))

    def go_on(self, turn_id: str) -> None:
        """Whatever may follow in an open turn, whether calls wait or not."""
        calls = self.open[turn_id]
        moves = ["call"] * 8 if calls else ["reply", "reply", "complete"]
        match self.pick(*moves, "steer", "steer", "shown", "resume", "feedback", "fail", "cancel"):
            case "steer":
                self.steered[turn_id] += 1
                self.add(TurnSteered, turn_id=turn_id, input=f"steering {self.steered[turn_id]} of {turn_id}")
            case "shown":
                texts_json = freeze({self.pick("d1", "d2"): "x"}, "texts")
                self.add(TurnShown, turn_id=turn_id, call=1, model="m", texts_json=texts_json)
            case "resume":
                self.add(TurnResumed, turn_id=turn_id)
            case "feedback":
                self.add(FeedbackRecorded, turn_id=turn_id, rating=1)
            case "reply":
                self._reply(turn_id)
            case "call":
                self._move(turn_id, self.pick(*calls))
            case end:
                self._end(turn_id, end)

    def _seen(self, turn_id: str) -> int:
        self.seen[turn_id] = self.draw(st.integers(self.seen[turn_id], self.steered[turn_id]))
        return self.seen[turn_id]

    def _reply(self, turn_id: str) -> None:
        ids = self.draw(st.lists(st.sampled_from(["c1", "c2"]), max_size=2, unique=True))
        self.open[turn_id] = dict.fromkeys(ids, "called")
        asked = [ToolCall.of(id, "t", arguments={"at": len(self.entries)}) for id in ids]
        message = Message.of("assistant", [Text(f"reply {len(self.entries)} of {turn_id}"), *asked])
        self.add(ModelReplied, turn_id=turn_id, call=1, message=message, steered=self._seen(turn_id))

    def _move(self, turn_id: str, call_id: str) -> None:
        calls = self.open[turn_id]
        following = {"called": "asked started returned returned", "asked": "allowed denied answered"}
        following |= {"allowed": "started returned", "denied": "returned", "answered": "returned"}
        following |= {"started": "asked started returned"}
        calls[call_id] = phase = self.pick(*following[calls[call_id]].split())
        about = {"turn_id": turn_id, "call_id": call_id}
        match phase:
            case "asked":
                self.add(ToolAsked, **about, reason="why")
            case "started":
                self.add(ToolStarted, turn_id=turn_id, call_ids=(call_id,))
            case "returned":
                self.add(ToolReturned, **about, name="t", output_json=freeze(len(self.entries), "output"))
                calls.pop(call_id)
            case _:
                decision = {"allowed": "allow", "denied": "deny", "answered": "answer"}[phase]
                self.add(ToolDecided, **about, decision=decision, by="ana")

    def _end(self, turn_id: str, end: str) -> None:
        match end:
            case "complete":
                seen = self._seen(turn_id)
                self.add(TurnCompleted, turn_id=turn_id, output=f"reply of {turn_id}", steered=seen)
            case "fail":
                self.add(TurnFailed, turn_id=turn_id, error=Failure("Overloaded", "no"), partial="half")
            case _:
                self.add(TurnCanceled, turn_id=turn_id, partial=self.pick(None, "half"))
        del self.open[turn_id]


@st.composite
def journals(draw: Callable[[st.SearchStrategy[Any]], Any]) -> list[Any]:
    """The entries of a legal journal, several turns open at once."""
    growing = _Growing(draw)
    growing.add(SessionCreated, title=draw(maybe(texts)))
    for _ in range(draw(st.integers(0, 10) | st.integers(20, 40))):
        kinds = ["turn"] * 10 * bool(growing.open) + ["begin"] + ["session"]
        kinds += ["feedback"] * bool(growing.steered)
        match draw(st.sampled_from(kinds)):
            case "turn":
                growing.go_on(growing.pick(*growing.open))
            case "begin":
                growing.begin()
            case "session":
                growing.session_entry()
            case _:
                growing.add(FeedbackRecorded, turn_id=growing.pick(*growing.steered), rating=1)
    return growing.entries
