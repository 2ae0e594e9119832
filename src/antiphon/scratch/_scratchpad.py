"""Messages in hand, without a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from .._ids import new_session_id
from .._jsonable import Jsonable
from .._messages import Message, Text, ToolCall, one_result_each
from ..context._cutting import pairs_of
from ..errors import Misuse
from ..tools import ToolPolicy, result_of
from ._compactor import Compactor
from ._content import parts_of
from ._messages import HasMessage, ScratchCall, ScratchMessage, adopted, adopted_all, kept, reply_of


class Scratchpad:
    """A list of messages that is written by hand and asked with `complete`. Nothing of it is stored.

    Whatever JSON has a form for can be said: text goes out as it is, parts such as `Image` as they are, anything
    else as JSON text; `message.content` keeps the object itself.

    Args:
        compactor: keeps the list within limits, or None.
        policy: which calls `complete` runs; by default none, so that every call waits in `pending`.
        messages: what is there from the start: messages, or plain dicts with a role and content. It is not compacted.

    Attributes:
        messages: the list. It may be edited, which compacts nothing, and is another one after a compaction.
        compactor: see above.
        policy: see above.
        id: tells its calls from those of other scratchpads: it is in the key that a tool is given.

    Raises:
        NotStorable: if one of the messages is none.
    """

    def __init__(
        self,
        compactor: Compactor | None = None,
        policy: ToolPolicy | None = None,
        *,
        messages: Iterable[Message | Mapping[str, Any]] = (),
    ) -> None:
        self.compactor = compactor
        self.policy = ToolPolicy.manual() if policy is None else policy
        self.messages: list[ScratchMessage] = adopted_all(messages)
        self.id = new_session_id()

    def system(self, content: object) -> Scratchpad:
        """Append a system message and give the scratchpad itself.

        Raises:
            NotStorable: if JSON has nothing for the content.
        """
        return self.append(kept("system", parts_of(content, "system"), content=content))

    def user(self, content: object) -> Scratchpad:
        """Append a user's message and give the scratchpad itself.

        Raises:
            NotStorable: if JSON has nothing for the content.
        """
        return self.append(kept("user", parts_of(content, "user"), content=content))

    def assistant(
        self, said: str | Message | HasMessage, choice: int = 0, *, calls: Sequence[ToolCall] = ()
    ) -> Scratchpad:
        """Append an assistant's message and give the scratchpad itself.

        Args:
            said: a reply, which is kept whole as `message.reply`, or a message or text that stands for one.
            choice: which of the reply's choices, where the provider was asked for several.
            calls: calls beside a text.

        Raises:
            Misuse: if it is none of these, there is no such choice, or calls stand beside a whole reply.
        """
        if calls and not isinstance(said, str):
            raise Misuse("calls stand beside a whole message", "give them within the message, or a text")
        if isinstance(said, str):
            words = (Text(said),) if said else ()
            said = Message("assistant", (*words, *calls))
        return self.append(reply_of(said, choice).message)

    def tool(self, call_id: str, content: object, *, name: str = "") -> Scratchpad:
        """Append the result of a call and give the scratchpad itself.

        Args:
            call_id: the id that the model gave the call.
            content: what the tool gave; pictures and documents in it become media, as for tools that are run.
            name: the tool; by default that of the latest open call of this id.
        """
        found = name or next((call.name for call in reversed(self.pending) if call.id == call_id), "")
        result = result_of(ToolCall(call_id, found), content)
        return self.append(kept("tool", (result,), content=content))

    def append(self, message: Message | Mapping[str, Any]) -> Scratchpad:
        """Append a message, or a plain dict with a role and content, compact, and give the scratchpad itself.

        Raises:
            NotStorable: if it is neither.
        """
        self.messages.append(adopted(message))
        if self.compactor is not None:
            self.messages = self.compactor.compact(self.messages)
        return self

    @property
    def pending(self) -> list[ScratchCall]:
        """The calls without a result, oldest first, with what was decided on each; answer them with `tool`."""
        return [self._decided(i, number, call=call) for i, number, call in pairs_of(self.messages).open]

    def _decided(self, i: int, number: int, *, call: ToolCall) -> ScratchCall:
        # Who edits the list may have put a plain message in.
        reply = getattr(self.messages[i], "reply", None)
        found: ScratchCall = ScratchCall(call, call.arguments) if reply is None else reply.calls[number]
        return found

    def clear(self) -> None:
        """Leave out all messages; compactor and policy stay."""
        self.messages = []

    def copy(self) -> Scratchpad:
        """A scratchpad of its own with the same messages, and with the same compactor and policy, which are shared."""
        return Scratchpad(self.compactor, self.policy, messages=self.messages)

    def to_json(self) -> list[dict[str, Jsonable]]:
        """The messages as OpenAI-style objects, one for each result. Replies' usage is not in it, nor reasoning."""
        return [each.to_json() for message in self.messages for each in one_result_each(message)]

    @classmethod
    def from_json(
        cls,
        objects: Sequence[Mapping[str, Any]],
        *,
        compactor: Compactor | None = None,
        policy: ToolPolicy | None = None,
    ) -> Scratchpad:
        """Read what `to_json` gave.

        Raises:
            NotStorable: if one of the objects is no message.
        """
        return cls(compactor, policy, messages=objects)

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[ScratchMessage]:
        return iter(self.messages)

    @overload
    def __getitem__(self, index: int) -> ScratchMessage: ...
    @overload
    def __getitem__(self, index: slice) -> list[ScratchMessage]: ...
    def __getitem__(self, index: int | slice) -> ScratchMessage | list[ScratchMessage]:
        return self.messages[index]
