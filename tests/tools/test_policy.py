"""Which calls run, wait or are denied: the most restrictive rule wins, and every doubt waits for a person."""

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.errors import Misuse
from antiphon.tools import Decision, PendingCall, Tool, ToolPolicy

pytestmark = pytest.mark.anyio
CALL = PendingCall("c1", "t1", "delete_user", {"id": 7})


def needing(approval: Any) -> Tool:
    """A tool that says whether it needs approval."""
    return Tool(print, name="delete_user", parameters={"type": "object"}, needs_approval=approval)


class Later:
    """Something to be awaited, as an async function gives."""

    def __await__(self) -> Any:
        """Say no."""
        yield
        return False


@given(st.sets(st.sampled_from(["deny", "ask", "allow"])))
def test_the_most_restrictive_list_wins(lists: set[str]) -> None:
    """Deny comes before ask, ask before allow, whatever else matches (aflock-ai/aflock#98)."""
    options: Any = {name: ["delete_*"] for name in lists}
    found = ToolPolicy(**options, otherwise="run").decide("delete_user")
    wins = next((name for name in ("deny", "ask", "allow") if name in lists), None)
    action = {"deny": "deny", "ask": "ask", "allow": "run", None: "run"}[wins]
    assert found == (action, f"{wins}: 'delete_*'" if wins else "otherwise: 'run'")


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("shell", "shell", True),
        ("shell", "shell2", False),
        ("shell", "Shell", False),
        ("mcp.github.*", "mcp.github.close", True),
        ("mcp.github.*", "mcpxgithubxclose", False),
        ("*", "anything", True),
    ],
)
def test_patterns_are_globs_on_whole_names(pattern: str, name: str, matches: bool) -> None:
    """A pattern holds for the whole name and tells upper from lower case."""
    assert (ToolPolicy(deny=[pattern], otherwise="run").decide(name).action == "deny") is matches


@pytest.mark.parametrize(
    ("needs_approval", "decision"),
    [
        (False, ("run", "otherwise: the tool needs no approval")),
        (True, ("ask", "otherwise: the tool needs approval")),
        (lambda arguments: arguments["id"] > 5, ("ask", "otherwise: the tool needs approval")),
        (lambda arguments: arguments["id"] > 9, ("run", "otherwise: the tool needs no approval")),
        (lambda arguments: arguments["no"], ("ask", "otherwise: needs_approval raised KeyError: 'no'")),
        (lambda arguments: None, ("ask", "otherwise: needs_approval gave a NoneType, no bool")),
        (lambda arguments: Later(), ("ask", "otherwise: needs_approval gave a Later, no bool")),
    ],
)
def test_otherwise_asks_the_tool(needs_approval: Any, decision: tuple[str, str]) -> None:
    """Without a rule the tool's own needs_approval decides on the arguments; one that raises or says nothing waits."""
    assert ToolPolicy().decide("delete_user", {"id": 7}, tool=needing(needs_approval)) == decision


def test_an_unknown_tool_waits() -> None:
    """Where the tool would decide and is not at hand, the call waits."""
    assert ToolPolicy().decide("delete_user").action == "ask"


def test_an_allowlist_is_otherwise_deny() -> None:
    """Allow grants and does not restrict; with otherwise="deny" nothing else runs (lvndry/jazz#546)."""
    policy = ToolPolicy(allow=["search"], otherwise="deny")
    assert policy.decide("search", tool=needing(True)) == ("run", "allow: 'search'")
    assert policy.decide("shell", tool=needing(False)) == ("deny", "otherwise: 'deny'")


def test_manual_runs_nothing() -> None:
    """Under the manual policy every call waits."""
    assert ToolPolicy.manual().decide("anything", tool=needing(False)) == ("ask", "ask: '*'")


def test_a_needs_approval_cannot_change_the_arguments() -> None:
    """What decides on arguments is handed a copy."""
    arguments: Mapping[str, Any] = {"id": 7}
    ToolPolicy().decide("delete_user", arguments, tool=needing(lambda given: given.clear()))
    assert arguments == {"id": 7}


async def test_evaluate_decides_what_no_list_names() -> None:
    """Evaluate, async or not, comes after the lists and before otherwise; None leaves the call to otherwise."""

    async def later(call: PendingCall) -> Decision | None:
        return Decision("run", f"{call.name} is fine") if call.arguments["id"] == 7 else None

    for evaluate in (later, lambda call: Decision("run", f"{call.name} is fine")):
        policy = ToolPolicy(evaluate=evaluate, otherwise="deny")
        assert await policy.judge(CALL) == ("run", "delete_user is fine")
        assert policy.decide("delete_user") == ("ask", "evaluate")
        denied = ToolPolicy(deny=["delete_*"], evaluate=evaluate)
        assert await denied.judge(CALL) == denied.decide("delete_user") == ("deny", "deny: 'delete_*'")
    other = PendingCall("c2", "t1", "delete_user", {"id": 8})
    assert await ToolPolicy(evaluate=later, otherwise="deny").judge(other) == ("deny", "otherwise: 'deny'")


async def test_an_evaluate_that_fails_never_runs_a_call() -> None:
    """An evaluate that raises, or gives what is no decision, makes the call wait and says why."""

    def raising(call: PendingCall) -> Decision:
        raise ValueError("no network")

    wrong: Any = lambda call: True  # noqa: E731
    assert await ToolPolicy(evaluate=raising).judge(CALL) == ("ask", "evaluate raised ValueError: no network")
    assert await ToolPolicy(evaluate=wrong).judge(CALL) == ("ask", "evaluate gave a bool, no Decision")
    strange: Any = lambda call: Decision("yes", "x")  # type: ignore[arg-type]  # noqa: E731
    assert (await ToolPolicy(evaluate=strange).judge(CALL)).action == "ask"


async def test_judge_and_decide_agree() -> None:
    """Without evaluate both say the same, for every mix of rules."""
    lists: Any = [(), ["delete_*"]]
    others: Any = ["tool", "run", "ask", "deny"]
    for deny, ask, allow, otherwise in itertools.product(lists, lists, lists, others):
        policy = ToolPolicy(deny=deny, ask=ask, allow=allow, otherwise=otherwise)
        tool = needing(True)
        assert await policy.judge(CALL, tool=tool) == policy.decide(CALL.name, CALL.arguments, tool=tool)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"deny": "shell"}, r"deny='shell' is no list of patterns; give a list, as in deny=\['shell'\]"),
        ({"allow": ["a", 3]}, "allow holds 3"),
        ({"ask": [""]}, "ask holds ''"),
        ({"otherwise": "allow"}, "otherwise='allow'; use one of 'tool', 'run', 'ask', 'deny'"),
        ({"evaluate": "ask"}, "evaluate is a str"),
    ],
)
def test_rules_that_cannot_be_meant_are_refused(options: Any, sentence: str) -> None:
    """A text where a list belongs would be read letter by letter: it is refused, and so is an unknown word."""
    with pytest.raises(Misuse, match=sentence):
        ToolPolicy(**options)
