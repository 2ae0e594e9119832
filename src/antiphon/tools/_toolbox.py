"""Which tools a model is offered. What may be run is the policy's to say, when it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .._tool_errors import UnknownTool
from ..errors import Misuse
from ._tool import Tool, tools_of

_ROUTERS = ("functions.", "default_api.", "default_api:", "tools.", "tool.")
"""What some models put before a name, after the wrapping that they were trained with."""


class Toolbox:
    """Tools, and which of them are offered from the start.

    Presets are allowlists: a tool that stands in one is offered only while one of its presets is enabled, whatever
    unlocks it. A tool in no preset is offered from the start only by `base`, where there are presets.

    Args:
        tools: functions and Tools.
        base: names offered from the start; None offers all tools, or with presets those of the enabled ones.
        presets: names of tools by the name of their preset.
        enabled: the presets that are enabled, none by default.

    Raises:
        Misuse: if a name in `base` or a preset is no tool's, or one in `enabled` no preset's; see also `tools_of`.
    """

    def __init__(
        self,
        tools: Sequence[Tool | Callable[..., Any]],
        *,
        base: Sequence[str] | None = None,
        presets: Mapping[str, Sequence[str]] | None = None,
        enabled: Sequence[str] = (),
    ) -> None:
        self._tools = {each.name: each for each in tools_of(tools)}
        groups = {
            name: _names(f"preset {name!r}", listed, known=self._tools) for name, listed in (presets or {}).items()
        }
        allowed = [name for group in _names("enabled", enabled, known=groups) for name in groups[group]]
        closed = {name for listed in groups.values() for name in listed} - set(allowed)
        self._open = {name for name in self._tools if name not in closed}
        named = (
            _names("base", base, known=self._tools) if base is not None else allowed if groups else list(self._tools)
        )
        self._base = sorted(set(named) & self._open)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools, offered or not, in the order in which they were given."""
        return tuple(self._tools.values())

    @property
    def names(self) -> frozenset[str]:
        """Names of all tools, offered or not."""
        return frozenset(self._tools)

    @property
    def unlockable(self) -> tuple[str, ...]:
        """Names that are not offered from the start and may be unlocked, sorted."""
        return tuple(sorted(self._open.difference(self._base)))

    def offered(self, unlocked: Iterable[str] = ()) -> tuple[Tool, ...]:
        """The tools that a model is told of: those offered from the start by name, then the others.

        Args:
            unlocked: names in the order of unlocking, so that what was offered before keeps its place; one that is
                no tool's, or that no enabled preset holds, unlocks nothing.
        """
        names = dict.fromkeys([*self._base, *(name for name in unlocked if name in self._open)])
        return tuple(self._tools[name] for name in names)

    def find(self, name: str, *, unlocked: Iterable[str] = ()) -> Tool:
        """The tool that a model means, among those that it is offered. Go by its name from here on.

        Args:
            name: as the model wrote it, perhaps with a router's prefix such as `functions.`.
            unlocked: what was unlocked for this model call.

        Raises:
            UnknownTool: if none is offered under this name; it names those that are spelled alike.
        """
        offered = {each.name: each for each in self.offered(unlocked)}
        bare = (name.removeprefix(prefix) for prefix in _ROUTERS if name.startswith(prefix))
        found = next((offered[each] for each in (name, *bare) if each in offered), None)
        if found is None:
            raise UnknownTool(name, list(offered))
        return found


def _names(where: str, given: Sequence[str], *, known: Mapping[str, object]) -> list[str]:
    if isinstance(given, str):
        raise Misuse(f"{where} is the text {given!r}", f"give a list, as in [{given!r}]")
    strange = [name for name in given if name not in known]
    if strange:
        raise Misuse(f"{where} names {', '.join(map(repr, strange))}", f"there are {', '.join(map(repr, known))}")
    return list(given)
