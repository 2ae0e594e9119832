"""Tools and toolboxes: what functions become, what is offered, and what is refused by name."""

import functools
import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.errors import Misuse
from antiphon.tools import Tool, Toolbox, ToolContext, UnknownTool, tool, tools_of


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


async def asked_later(arguments: dict[str, Any]) -> bool:
    """Whether a call waits, said too late."""
    return False


class Desk:
    """Has a tool."""

    def look_up(self, word: str) -> str:
        """Look up."""
        return word


def test_a_function_becomes_a_tool() -> None:
    """Bare and with options the decorator makes a tool, which is called as its function was."""
    bare, named = tool(add), tool(name="sum", read_only=True, timeout=5)(add)
    assert (bare.name, bare.description, bare(2, b=3)) == ("add", "Add two numbers.", 5)
    assert (named.name, named.read_only, named.timeout, named.max_result_tokens) == ("sum", True, 5, 4000)
    assert inspect.signature(bare) == inspect.signature(add)
    assert (bare.spec.name, bare.spec.parameters) == ("add", bare.schema)


def test_methods_and_partials_are_functions() -> None:
    """A bound method has no self, and a partial's given parameter has a default."""
    made = tools_of([Desk().look_up, functools.partial(add, b=2)])
    assert [each.name for each in made] == ["look_up", "add"]
    assert list(made[0].schema["properties"]) == ["word"]
    assert made[1].schema["required"] == ["a"]


def test_a_schema_by_hand_is_taken_as_it_is() -> None:
    """With a schema given by hand the signature is not read, but for its context."""
    schema = {"type": "object", "properties": {"x-y": {}}}

    def run(ctx: ToolContext[None], **given: object) -> None:
        pass

    made = Tool(run, name="mcp.files.read", description="Read.", parameters=schema)
    assert (made.schema, made.context, made.description) == (schema, "ctx", "Read.")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"name": "order status"}, "no provider takes the tool name 'order status'"),
        ({"name": ""}, "no provider takes the tool name ''"),
        ({"needs_approval": asked_later}, "needs_approval of tool 'add' is async"),
        ({"name": "x" * 129}, "no provider takes"),
        ({"timeout": 0}, "timeout=0 of tool 'add' is not more than 0"),
        ({"max_result_tokens": -1}, "max_result_tokens=-1 of tool 'add'"),
    ],
)
def test_options_that_cannot_work_are_refused(options: Any, sentence: str) -> None:
    """A name that no provider takes, and a limit of nothing, are refused when the tool is made."""
    with pytest.raises(Misuse, match=sentence):
        tool(**options)(add)


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        ([add, tool(add)], "two tools are named 'add'"),
        ([lambda x: x], "no provider takes the tool name '<lambda>'"),
        (["add"], "a str stands where a tool belongs"),
        ("add", "tools is a str"),
        ([len], "parameter 'obj' of function 'len' is positional-only"),
    ],
)
def test_tools_that_cannot_be_told_apart_are_refused(given_: Any, sentence: str) -> None:
    """Two tools of one name, and what is no function with a name, are refused by name."""
    with pytest.raises(Misuse, match=sentence):
        tools_of(given_)


def test_the_key_is_the_calls_own() -> None:
    """A call has one key in every attempt, and no other call has it, whatever its ids look like."""
    first, again = ToolContext("s", "t", "c", None), ToolContext("s", "t", "c", None, attempt=2)
    assert first.key == again.key
    assert len({first.key, ToolContext("s", "tc", "", None).key, ToolContext("st", "c", "", None).key}) == 3


@pytest.mark.parametrize(("fraction", "heard"), [(None, None), (0.25, 0.25), (7, 1.0), (-1, 0.0), (float("nan"), None)])
def test_progress_never_fails(fraction: float | None, heard: float | None) -> None:
    """A fraction that is none is brought within 0 and 1, or left out."""
    notes: list[tuple[str, float | None]] = []
    context = ToolContext("s", "t", "c", None, report=lambda note, done: notes.append((note, done)))
    context.progress("building", fraction=fraction)
    assert notes == [("building", heard)]


def named(*names: str) -> list[Tool]:
    """Tools that are only names."""
    return [Tool(print, name=name, parameters={"type": "object"}) for name in names]


def offered(box: Toolbox, *unlocked: str) -> list[str]:
    """The names that a toolbox offers."""
    return [each.name for each in box.offered(unlocked)]


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_tools_is_theirs(order: list[str]) -> None:
    """Tools stand by name, in whatever order they were given; unlocked ones follow in the order of unlocking."""
    box = Toolbox(named(*order), base=["d", "b"])
    assert offered(box) == ["b", "d"]
    assert offered(box, "c", "b", "nobody", "a") == ["b", "d", "c", "a"]
    assert box.unlockable == ("a", "c")


def test_presets_are_allowlists() -> None:
    """A preset's tools are offered while it is enabled; a tool in none waits to be unlocked; no unlocking opens a
    preset that is not enabled."""
    presets = {"read": ["look", "list"], "write": ["save", "list"]}
    tools = named("look", "list", "save", "extra")
    box = Toolbox(tools, presets=presets, enabled=["read"])
    assert offered(box) == ["list", "look"]
    assert box.unlockable == ("extra",)
    assert offered(box, "save", "extra") == ["list", "look", "extra"]
    assert offered(Toolbox(tools, presets=presets, base=["save", "extra"], enabled=["read"])) == ["extra"]
    assert offered(Toolbox(tools, presets=presets)) == []


def test_only_what_is_offered_is_found() -> None:
    """A tool that is there but not offered in this call is as unknown as any other (lvndry/jazz#546)."""
    box = Toolbox(named("search", "shell"), base=["search"])
    assert box.find("search").name == box.find("functions.search").name == "search"
    assert box.find("shell", unlocked=["shell"]).name == "shell"
    with pytest.raises(UnknownTool) as caught:
        box.find("shell")
    assert caught.value.offered == ("search",)


def test_an_unknown_tool_is_told_what_there_is() -> None:
    """The error names what is spelled alike, else what there is."""
    box = Toolbox(named("search_orders", "weather"))
    for name in ("search_order", "Search_Orders", "orders"):
        with pytest.raises(UnknownTool, match=r"did you mean 'search_orders'\?"):
            box.find(name)
    with pytest.raises(UnknownTool, match="there are 'search_orders', 'weather'"):
        box.find("zzz")
    with pytest.raises(UnknownTool, match="none can be called now"):
        Toolbox([]).find("zzz")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"base": ["b"]}, "base names 'b'; there are 'a'"),
        ({"base": "a"}, "base is the text 'a'"),
        ({"presets": {"p": ["b"]}}, "preset 'p' names 'b'"),
        ({"enabled": ["p"]}, "enabled names 'p'"),
    ],
)
def test_names_that_are_no_tools_are_refused(options: Any, sentence: str) -> None:
    """A toolbox refuses names that nothing has."""
    with pytest.raises(Misuse, match=sentence):
        Toolbox(named("a"), **options)
