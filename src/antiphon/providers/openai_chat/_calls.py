"""Tool calls, put together from the pieces that a stream gives of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._jsonable import encode, loads
from ..._messages import ToolCall
from ...errors import CorruptJournal, NotStorable
from .._surrogates import whole_text
from ._wire_names import derived_id


@dataclass(slots=True)
class _Open:
    index: int | None
    id: str
    name: str
    written: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.written)

    def is_whole(self) -> bool:
        """Whether the arguments so far can be all of them."""
        text = self.text
        return bool(text.strip()) and _object(text) is not None


class CallPieces:
    """Sorts pieces to their calls, by id where there is one and by index where not.

    Servers that call themselves compatible give the same index to every call (apache/maka#1976), no index, the id on
    the first piece alone or on each, or whole calls without ids.
    """

    def __init__(self) -> None:
        self._open: list[_Open] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    def feed(self, piece: Mapping[str, Any]) -> None:
        """Take a piece: `{"index", "id", "function": {"name", "arguments"}}`, any of them left out."""
        function = piece.get("function") or {}
        index, id, name = piece.get("index"), piece.get("id") or "", function.get("name") or ""
        call = self._belongs_to(index, id, name=name)
        if call is None:
            call = _Open(index, id, name)
            self._open.append(call)
        elif name != call.name and not call.text:
            # Some stream a name in pieces; others send the whole of it again with each piece.
            call.name += name
        call.id = call.id or id
        call.written.append(_written(function.get("arguments")))

    def _belongs_to(self, index: int | None, id: str, *, name: str) -> _Open | None:
        same_index = [call for call in self._open if index is None or call.index is None or call.index == index]
        same_id = [call for call in same_index if id and call.id == id]
        if same_id:
            return same_id[-1]
        last = same_index[-1] if same_index else None
        if last is None:
            return None
        if id and last.id and name:
            return None
        return None if name and last.name and _begins_another(name, last, indexed=index is not None) else last

    def calls(self, names: Mapping[str, str], *, reply: str) -> list[ToolCall]:
        """Give the calls, each with an id of its own.

        Args:
            names: tools by the names that they were sent under.
            reply: the reply's own id, from which ids are made that are missing or there twice.
        """
        found: list[ToolCall] = []
        taken: set[str] = set()
        for place, call in enumerate(self._open):
            text = whole_text(call.text)
            id = whole_text(call.id)
            if not id or id in taken:
                id = derived_id(reply, str(place), call.name, text)
            taken.add(id)
            name = whole_text(call.name)
            found.append(_call(id, names.get(name, name), text=text))
        return found


def _begins_another(name: str, last: _Open, *, indexed: bool) -> bool:
    """Whether a name without an id of its own is another call's, and not told again or in pieces."""
    return last.is_whole() or (name != last.name and (bool(last.text) or not indexed))


def _call(id: str, name: str, *, text: str) -> ToolCall:
    arguments = _object(text)
    if arguments is None:
        return ToolCall.of(id, name, arguments={}, raw=text)
    try:
        return ToolCall.of(id, name, arguments=arguments)
    except NotStorable:
        return ToolCall.of(id, name, arguments={}, raw=text)


def _object(text: str) -> dict[str, Any] | None:
    """The object that a text holds, at once or as JSON inside a JSON text; nothing and null are an empty one."""
    if not text.strip():
        return {}
    for _ in range(2):
        try:
            found = loads(text.encode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError, CorruptJournal):
            return None
        if not isinstance(found, str):
            break
        text = found
    else:
        return None
    return {} if found is None else found if isinstance(found, dict) else None


def _written(arguments: Any) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return encode(arguments).decode()
