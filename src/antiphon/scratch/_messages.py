"""Messages of a scratchpad, and the replies that some of them came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from msgspec.structs import replace

from .._jsonable import Jsonable
from .._messages import Message, Part, Reasoning, Role, ToolCall, ToolResult, read_message
from .._usage import Usage
from ..errors import Misuse

CallStatus = Literal["pending", "allowed", "denied", "failed"]
"""What became of a call: it waits, it ran, it was refused, or there is no such tool or running it failed."""

UNDECIDED = "nobody has decided on it yet"


@dataclass(slots=True, eq=False)
class ScratchCall:
    """A call in a reply, and what was decided on it. It changes while `complete` works on its reply.

    Attributes:
        call: as the model made it.
        arguments: JSON values; once the tool is known, repaired and checked.
        status: see `CallStatus`.
        reason: the rule, the person's decision or the error behind the status.
    """

    call: ToolCall
    arguments: Mapping[str, Jsonable] = field(default_factory=dict)
    status: CallStatus = "pending"
    reason: str = UNDECIDED

    @property
    def id(self) -> str:
        """The model's id of the call: what its result must name."""
        return self.call.id

    @property
    def name(self) -> str:
        """The tool, as the model named it."""
        return self.call.name

    def settle(self, status: CallStatus, reason: str) -> None:
        """Note what became of the call."""
        self.status, self.reason = status, reason


class HasMessage(Protocol):
    """Anything that holds a whole reply: `Replied`, `Reply`, `ScratchReply`.

    Its `usage`, `finish` or `finish_reason`, `model`, `raw` and `choices` are kept where it has them.
    """

    @property
    def message(self) -> Message:
        """The assistant's message."""
        ...


@dataclass(frozen=True, slots=True)
class ScratchReply:
    """A model's reply, kept whole with its message; `str(reply)` is its text.

    Attributes:
        message: the message, as it stands in the scratchpad.
        usage: what the provider reported for this call, or None; always None for a message made by hand.
        finish_reason: why the model stopped: stop, length, refusal or calls, or what the given reply said.
        model: the model that answered, as it names itself, or None.
        raw: the provider's own object, or None.
        calls: the calls in the message, in order, with what was decided on each.
        choices: all the messages to choose from, where the provider was asked for several; else the one.
    """

    message: ScratchMessage
    usage: Usage | None = None
    finish_reason: str = "stop"
    model: str | None = None
    raw: Any = field(default=None, repr=False)
    calls: tuple[ScratchCall, ...] = ()
    choices: tuple[Message, ...] = field(default=(), repr=False)

    @property
    def text(self) -> str:
        """The reply's text."""
        return self.message.text

    @property
    def reasoning(self) -> str:
        """The model's visible reasoning."""
        return "".join(part.text for part in self.message.parts if isinstance(part, Reasoning))

    def __str__(self) -> str:
        return self.text


class ScratchMessage(Message, frozen=True):
    """A message of a scratchpad: equal to any `Message` of the same role and parts, with more to tell."""

    @property
    def content(self) -> Any:
        """What was given, the object itself; what is sent was made of it when it was given."""
        if "_content" in self.__dict__:
            return self.__dict__["_content"]
        return self.results[0].output if self.role == "tool" and self.results else self.text

    @property
    def reply(self) -> ScratchReply | None:
        """The reply that an assistant's message came from, or stands for; None for other roles."""
        found: ScratchReply | None = self.__dict__.get("_reply")
        return found

    @property
    def choice(self) -> int:
        """Which of the reply's choices this is, from 0."""
        return int(self.__dict__.get("_choice", 0))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.role, self.parts) == (other.role, other.parts)

    def __hash__(self) -> int:
        return hash(Message(self.role, self.parts))

    def __copy__(self) -> ScratchMessage:
        return self

    # The reply holds its message: copied as arguments, the two would never end.
    def __reduce__(self) -> tuple[Any, ...]:
        own = {key: value for key, value in self.__dict__.items() if key != "_tokens"}
        return ScratchMessage, (self.role, self.parts), own

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def kept(role: Role, parts: tuple[Part, ...], *, content: object) -> ScratchMessage:
    """A message that was made of `content`."""
    made = ScratchMessage(role, parts)
    made.__dict__["_content"] = content
    return made


def adopted(given: object) -> ScratchMessage:
    """A message as a scratchpad keeps it: one of its own as it is, another or a plain dict as one of these.

    Raises:
        NotStorable: if it is none of them.
    """
    if isinstance(given, ScratchMessage):
        return given
    read = read_message(given)
    if read.role == "assistant":
        return reply_of(read).message
    return ScratchMessage(read.role, read.parts)


def adopted_all(given: Iterable[object]) -> list[ScratchMessage]:
    """Messages as a scratchpad keeps them. Results get their tool's name from their call: in plain dicts it lacks.

    Raises:
        NotStorable: if one of them is no message.
    """
    names: dict[str, str] = {}
    found: list[ScratchMessage] = []
    for each in given:
        message = adopted(each)
        names.update({call.id: call.name for call in message.calls})
        if any(not part.name and part.call_id in names for part in message.results):
            message = ScratchMessage(message.role, tuple(_called(part, names) for part in message.parts))
        found.append(message)
    return found


def _called(part: Part, names: Mapping[str, str]) -> Part:
    if not isinstance(part, ToolResult) or part.name:
        return part
    return replace(part, name=names.get(part.call_id, ""))


def reply_of(given: HasMessage | Message, choice: Any = 0) -> ScratchReply:
    """Keep a reply whole.

    Args:
        given: a reply, or a message that stands for one.
        choice: which of its choices, from 0.

    Raises:
        Misuse: if there is no such choice, or it is no assistant's message.
    """
    choices = _choices(given)
    if isinstance(choice, bool) or not isinstance(choice, int) or not 0 <= choice < len(choices):
        raise Misuse(f"choice={choice!r} of a reply with {len(choices)}", "count them from 0")
    chosen = choices[choice]
    if chosen.role != "assistant":
        raise Misuse(f"the reply's message is of the role {chosen.role!r}", "give an assistant's message")
    message = ScratchMessage("assistant", chosen.parts)
    found = ScratchReply(
        message,
        usage=getattr(given, "usage", None),
        finish_reason=getattr(given, "finish", None) or getattr(given, "finish_reason", None) or "stop",
        model=getattr(given, "model", None),
        raw=getattr(given, "raw", None),
        calls=tuple(ScratchCall(call, call.arguments) for call in message.calls),
        choices=tuple(choices),
    )
    message.__dict__.update(_reply=found, _choice=choice)
    return found


def _choices(given: Any) -> Sequence[Message]:
    if isinstance(given, Message):
        return [given]
    several = getattr(given, "choices", None) or [given]
    found = [each if isinstance(each, Message) else getattr(each, "message", None) for each in several]
    return [_message(each, given) for each in found]


def _message(found: object, given: object) -> Message:
    if not isinstance(found, Message):
        raise Misuse(f"a {type(given).__name__} holds no message", "give text, a Message, or a reply of a model")
    return found
