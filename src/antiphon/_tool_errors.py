"""Errors of tools. Their sentences are also what a model is answered, so each says what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from ._errors import AntiphonError

_LISTED = 20
"""How many names an error lists: a model that sees more of them reads none."""


class ToolError(AntiphonError):
    """A tool was not run, or gave nothing."""


class UnknownTool(ToolError):
    """A model called a tool that it is not offered.

    Attributes:
        offered: the names that are.
    """

    def __init__(self, name: str, offered: Sequence[str] = ()) -> None:
        self.name, self.offered = name, tuple(offered)
        near = near_names(name, self.offered)
        if near:
            advice = f"did you mean {' or '.join(map(repr, near))}?"
        elif self.offered:
            more = f" and {len(self.offered) - _LISTED} more" if len(self.offered) > _LISTED else ""
            advice = f"there are {', '.join(map(repr, self.offered[:_LISTED]))}{more}"
        else:
            advice = "none can be called now, answer in words"
        super().__init__(f"no tool {name!r} is offered, nothing was run; {advice}")


class InvalidArguments(ToolError):
    """A call's arguments cannot be read, or do not fit the tool's parameters.

    Attributes:
        faults: what is wrong, a sentence for each parameter; none of them holds an argument's value.
    """

    def __init__(self, name: str, faults: Sequence[str] = ()) -> None:
        self.name, self.faults = name, tuple(faults)
        told = f": {'; '.join(self.faults)}" if self.faults else ""
        super().__init__(f"the arguments of {name!r} do not fit, nothing was run{told}; put that right and call again")


class ToolDenied(ToolError):
    """A policy or a person refused a call.

    Attributes:
        why: the policy's rule, or the person's reason.
    """

    def __init__(self, name: str, why: str) -> None:
        self.name, self.why = name, why
        super().__init__(f"tool {name!r} may not be run: {why}; go on without it")


class ToolTimeout(ToolError):
    """A tool took longer than it may.

    Attributes:
        seconds: how long it may take.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self.name, self.seconds = name, seconds
        super().__init__(
            f"tool {name!r} gave nothing within {seconds:g} s and was left; it may still take effect,"
            " so look before calling it again"
        )


class McpServerDown(ToolError):
    """An MCP server could not be reached, or went away.

    Attributes:
        name: the server.
        why: what is known of the reason.
        during_call: whether a call had been sent, so that it may have taken effect.
    """

    def __init__(self, name: str, why: str, *, during_call: bool = False) -> None:
        self.name, self.why, self.during_call = name, why, during_call
        if during_call:
            told = "went away during the call"
            advice = "it may have taken effect, so look before calling it again"
        else:
            told, advice = "cannot be reached, nothing was run", "go on without its tools, or try again later"
        super().__init__(f"MCP server {name!r} {told}: {why}; {advice}")


def near_names(name: str, names: Sequence[str], *, most: int = 3) -> list[str]:
    """Names that may have been meant: those spelled alike, then those that hold the name or stand in it."""
    wanted = name.casefold()
    folded = {each.casefold(): each for each in names}
    alike = [folded[each] for each in difflib.get_close_matches(wanted, folded, n=most)]
    within = [each for key, each in folded.items() if len(key) > 2 and wanted and (wanted in key or key in wanted)]
    return list(dict.fromkeys([*alike, *within]))[:most]
