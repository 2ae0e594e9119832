"""Errors of tools: each makes its sentence from facts, says what to do, and travels."""

import copy
import pickle

import pytest

from antiphon.errors import AntiphonError
from antiphon.tools import InvalidArguments, ToolDenied, ToolError, ToolTimeout, UnknownTool

ERRORS: list[tuple[ToolError, str]] = [
    (UnknownTool("serch", ["search"]), "no tool 'serch' is offered, nothing was run; did you mean 'search'?"),
    (UnknownTool("x", ["search", "shell"]), "no tool 'x' is offered, nothing was run; there are 'search', 'shell'"),
    (UnknownTool("x"), "no tool 'x' is offered, nothing was run; none can be called now, answer in words"),
    (
        InvalidArguments("search", ["'query' is missing", "'limit' must be a whole number, not text"]),
        (
            "the arguments of 'search' do not fit, nothing was run: 'query' is missing; 'limit' must be a whole number,"
            " not text; put that right and call again"
        ),
    ),
    (ToolDenied("shell", "deny: 'shell'"), "tool 'shell' may not be run: deny: 'shell'; go on without it"),
    (
        ToolTimeout("search", 2.5),
        (
            "tool 'search' gave nothing within 2.5 s and was left; it may still take effect, so look before calling it"
            " again"
        ),
    ),
]


@pytest.mark.parametrize(("error", "sentence"), ERRORS, ids=lambda value: type(value).__name__)
def test_an_error_makes_its_sentence_and_travels(error: ToolError, sentence: str) -> None:
    """The sentence says who, what and what to do; pickle and copy give the same error."""
    for each in (error, copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert isinstance(each, AntiphonError)
        assert (type(each), str(each), vars(each)["name"]) == (type(error), sentence, vars(error)["name"])


def test_a_long_list_of_tools_is_shortened() -> None:
    """At most twenty names are listed, with how many more there are."""
    said = str(UnknownTool("zzz", [f"tool{n}" for n in range(50)]))
    assert "'tool19' and 30 more" in said
    assert "'tool20'" not in said
