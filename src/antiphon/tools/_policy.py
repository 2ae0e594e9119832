"""Whether a call may run. Decided at execution, every time, on the exact call."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple, get_args

from .._jsonable import Jsonable
from ..errors import Misuse
from ._results import error_text
from ._tool import Tool

Action = Literal["run", "ask", "deny"]
Otherwise = Literal["tool", "run", "ask", "deny"]

NO_ARGUMENTS: Mapping[str, Jsonable] = {}


class Decision(NamedTuple):
    """What is to be done with a call.

    Attributes:
        action: run it, ask a person, or deny it.
        rule: the rule that says so, as in `allow: 'search_*'`.
    """

    action: Action
    rule: str


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that has not run.

    Attributes:
        id: the model's call.
        turn_id: the turn.
        name: the tool.
        arguments: JSON values, repaired and checked.
        reason: why it waits; empty while a policy decides.
    """

    id: str
    turn_id: str
    name: str
    arguments: Mapping[str, Jsonable] = field(default_factory=dict)
    reason: str = ""


Evaluate = Callable[[PendingCall], Decision | Awaitable[Decision | None] | None]
"""Decides on calls that no list names, now or when awaited; None leaves a call to `otherwise`."""


class ToolPolicy:
    """Rules for which calls run. The most restrictive wins: deny, then ask, then allow, evaluate, otherwise.

    Patterns are globs on the tool's whole name, such as `mcp.github.*`, and tell upper from lower case.

    Args:
        deny: never run.
        ask: wait for a person.
        allow: run, even where the tool says that it needs approval. This grants and does not restrict: an allowlist
            is `ToolPolicy(allow=[…], otherwise="deny")`.
        otherwise: what becomes of all others; `tool` is the tool's own `needs_approval`.
        evaluate: decides on calls that no list names; see `Evaluate`. Only `judge` asks it.

    Raises:
        Misuse: if a text stands where a list of patterns belongs, or `otherwise` is none of the four.
    """

    def __init__(
        self,
        *,
        deny: Sequence[str] = (),
        ask: Sequence[str] = (),
        allow: Sequence[str] = (),
        otherwise: Otherwise = "tool",
        evaluate: Evaluate | None = None,
    ) -> None:
        lists: tuple[tuple[str, Action, Sequence[str]], ...] = (
            ("deny", "deny", deny),
            ("ask", "ask", ask),
            ("allow", "run", allow),
        )
        self._lists = tuple((name, action, _patterns(name, given)) for name, action, given in lists)
        if otherwise not in get_args(Otherwise):
            raise Misuse(f"otherwise={otherwise!r}", f"use one of {', '.join(map(repr, get_args(Otherwise)))}")
        if evaluate is not None and not callable(evaluate):
            raise Misuse(f"evaluate is a {type(evaluate).__name__}", "give a function of a PendingCall")
        self._otherwise, self._evaluate = otherwise, evaluate

    @classmethod
    def manual(cls) -> ToolPolicy:
        """A policy under which nothing runs and everything waits."""
        return cls(ask=("*",))

    def decide(
        self, name: str, arguments: Mapping[str, Jsonable] = NO_ARGUMENTS, *, tool: Tool | None = None
    ) -> Decision:
        """What the rules alone say. Pure: `evaluate` is not asked, and a call that it must decide reads as `ask`.

        Args:
            name: the tool's whole name.
            arguments: JSON values; only a tool's own `needs_approval` looks at them.
            tool: the tool; without it nobody knows whether it needs approval, which reads as `ask`.
        """
        listed = self._listed(name)
        if listed is not None:
            return listed
        return Decision("ask", "evaluate") if self._evaluate else self._left(arguments, tool)

    async def judge(self, call: PendingCall, *, tool: Tool | None = None) -> Decision:
        """What is to be done with a call: as `decide`, with `evaluate` asked and awaited.

        An `evaluate` that raises, or gives anything but a Decision or None, makes the call wait for a person.
        """
        listed = self._listed(call.name)
        if listed is not None:
            return listed
        if self._evaluate is not None:
            judged = await _evaluated(self._evaluate, call)
            if judged is not None:
                return judged
        return self._left(call.arguments, tool)

    def _listed(self, name: str) -> Decision | None:
        for listed, action, patterns in self._lists:
            pattern = next((each for each in patterns if fnmatchcase(name, each)), None)
            if pattern is not None:
                return Decision(action, f"{listed}: {pattern!r}")
        return None

    def _left(self, arguments: Mapping[str, Jsonable], tool: Tool | None) -> Decision:
        if self._otherwise != "tool":
            return Decision(self._otherwise, f"otherwise: {self._otherwise!r}")
        if tool is None:
            return Decision("ask", "otherwise: the tool is not known")
        needed: object = tool.needs_approval
        if callable(needed):
            try:
                found: object = needed(dict(arguments))
                # A return that was forgotten, or an await, lets nothing run.
                if found is None or inspect.isawaitable(found):
                    return Decision("ask", f"otherwise: needs_approval gave a {type(found).__name__}, no bool")
                needed = bool(found)
            except Exception as error:  # isolates: a tool's needs_approval
                return Decision("ask", f"otherwise: needs_approval raised {error_text(error)}")
        return Decision("ask" if needed else "run", f"otherwise: the tool needs {'' if needed else 'no '}approval")


async def _evaluated(evaluate: Evaluate, call: PendingCall) -> Decision | None:
    try:
        found = evaluate(call)
        judged: object = await found if inspect.isawaitable(found) else found
    except Exception as error:  # isolates: a caller's evaluate
        return Decision("ask", f"evaluate raised {error_text(error)}")
    if judged is None:
        return None
    if isinstance(judged, Decision) and judged.action in get_args(Action):
        return judged
    return Decision("ask", f"evaluate gave a {type(judged).__name__}, no Decision")


def _patterns(name: str, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise Misuse(f"{name}={given!r} is no list of patterns", f"give a list, as in {name}=[{given!r}]")
    strange: list[object] = [each for each in given if not (each and isinstance(each, str))]
    if strange:
        raise Misuse(f"{name} holds {strange[0]!r}", "give names of tools, or globs such as 'delete_*'")
    return tuple(given)
