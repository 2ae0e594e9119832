"""How much one turn may take, and what the caller may ask of one turn alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from .._jsonable import Jsonable, freeze, thaw
from .._usage import Usage
from ..errors import Misuse
from ..models._model import Model
from ..tools import Tool, Toolbox
from ._lines import joined

WhenBusy = Literal["raise", "wait", "steer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a turn must come to its end. None is no limit.

    Attributes:
        model_calls: calls of the model in one turn; the last one is asked without tools, so that the turn ends in
            words.
        tool_calls: calls of tools that are run in one turn; those beyond are answered without being run.
        tokens: tokens of all calls together, in and out; checked between calls.
        seconds: time from the first call on; a turn that runs out of it is canceled, with what was said as partial.
        at_limit: `answer` asks once more without tools, `stop` ends the turn with what there is.

    Raises:
        Misuse: for a limit that is not positive, or an unknown `at_limit`.
    """

    model_calls: int | None = 25
    tool_calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    at_limit: Literal["answer", "stop"] = "answer"

    def __post_init__(self) -> None:
        for name in ("model_calls", "tool_calls", "tokens", "seconds"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise Misuse(f"Limits({name}={value!r}) is no number", "give a positive number, or None")
            if value is not None and value <= 0:
                raise Misuse(f"Limits({name}={value!r}) leaves no room for a turn", "give a positive number, or None")
        if self.at_limit not in ("answer", "stop"):
            raise Misuse(f"at_limit={self.at_limit!r} is not known", "use 'answer' or 'stop'")

    def reached(self, calls: int, usage: Usage) -> bool:
        """Whether no further call may be made after this many, which took this much."""
        if self.model_calls is not None and calls >= self.model_calls:
            return True
        return self.at_limit == "stop" and self._spent(usage)

    def last_call(self, calls: int, usage: Usage, *, tool_calls: int = 0) -> bool:
        """Whether call number `calls` must be the last, and so be asked without tools."""
        if self.at_limit == "stop":
            return False
        if self.tool_calls is not None and tool_calls >= self.tool_calls:
            return True
        return self._spent(usage) or (self.model_calls is not None and calls >= self.model_calls)

    def tools_left(self, tool_calls: int) -> int | None:
        """How many more calls of tools may be run after this many; None is any number."""
        return None if self.tool_calls is None else max(0, self.tool_calls - tool_calls)

    def _spent(self, usage: Usage) -> bool:
        return self.tokens is not None and usage.total >= self.tokens


class TurnOptions(TypedDict, total=False):
    """What may be said for one turn alone.

    key: the caller's name for this request; the same key in the same session is the same turn, after a crash too.
    model: another model than the Chat's, or its name.
    instructions: other instructions than the Chat's.
    tools: other tools than the Chat's.
    deps: handed to contexts and responders as it is; never kept.
    limits: other limits than the Chat's.
    metadata: kept with the input.
    when_busy: what to do while another turn of the session runs: `raise` `SessionBusy`, `wait` for it, or `steer` it.
    """

    key: str
    model: str | Model
    instructions: str
    tools: Toolbox | Sequence[Tool | Callable[..., Any]]
    deps: object
    limits: Limits
    metadata: Mapping[str, Jsonable]
    when_busy: WhenBusy


KNOWN_OPTIONS = frozenset(TurnOptions.__annotations__)


_KINDS: Mapping[str, type[Any]] = {"key": str, "instructions": str, "limits": Limits, "metadata": Mapping}


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give the options that say something; None says nothing.

    Raises:
        Misuse: naming what is no option of a turn, or has no such value.
        NotStorable: if the metadata are not JSON.
    """
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in KNOWN_OPTIONS:
            raise Misuse(f"{name!r} is no option of a turn", f"known are {', '.join(sorted(KNOWN_OPTIONS))}")
        if not isinstance(value, _KINDS.get(name, object)):
            raise Misuse(f"{name} is a {type(value).__name__}", f"give a {_KINDS[name].__name__}")
    if given.get("when_busy", "raise") not in ("raise", "wait", "steer"):
        raise Misuse(f"when_busy={given['when_busy']!r} is not known", "use 'raise', 'wait' or 'steer'")
    if "key" in given:
        given["key"] = joined(given["key"])
    if "metadata" in given:
        given["metadata"] = thaw(freeze(dict(given["metadata"]), "metadata"))
    return given
