"""The blocking classes have the surface of the async ones."""

import inspect
from typing import Any

import pytest

from antiphon import blocking, chat

TWINS = [(getattr(chat, name), getattr(blocking, name)) for name in blocking.__all__]
RENAMED = {"aclose": "close", "__aenter__": "__enter__", "__aexit__": "__exit__", "__aiter__": "__iter__"}
MEMBERS = [
    pytest.param(
        getattr(cls, name), inspect.getattr_static(twin, RENAMED.get(name, name), None), id=f"{cls.__name__}.{name}"
    )
    for cls, twin in TWINS
    for name in dir(cls)
    if (not name.startswith("_") or name in RENAMED) and getattr(cls, name) is not getattr(object, name, None)
]


def taken(function: Any) -> list[tuple[str, object, object, str]]:
    """What a function takes: names, kinds, defaults, and annotations as written."""
    parameters = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default, str(each.annotation)) for each in parameters]


@pytest.mark.parametrize(("member", "twin"), MEMBERS)
def test_every_member_has_its_twin(member: Any, twin: Any) -> None:
    """Every public method and property has a twin that takes the same and says what it does."""
    assert twin is not None, "run ./dev generate"
    assert isinstance(twin, property) == isinstance(member, property)
    if isinstance(member, property):
        assert twin.__doc__ == member.__doc__
        return
    assert taken(twin) == taken(member)
    assert bool(inspect.getdoc(twin)) == bool(inspect.getdoc(member))
    assert not inspect.iscoroutinefunction(twin)


@pytest.mark.parametrize(("cls", "twin"), TWINS)
def test_docstrings_do_not_speak_of_await(cls: type[Any], twin: type[Any]) -> None:
    """No docstring of the facade tells to await or to cancel a task."""
    said = [inspect.getdoc(twin) or "", *(inspect.getdoc(each) or "" for each in vars(twin).values())]
    assert all(len(each) > 0 for each in said[:1])
    assert not [each for each in said for word in ("await", "async with", "Cancelling", "aclose") if word in each]


def test_the_chat_takes_what_the_async_one_takes() -> None:
    """The two constructors take the same; only a responder may be a plain function besides."""
    ours, theirs = taken(blocking.Chat), taken(chat.Chat)
    assert [each[:3] for each in ours] == [each[:3] for each in theirs]
    differing = [(mine[0], mine[3]) for mine, other in zip(ours, theirs, strict=True) if mine[3] != other[3]]
    assert differing == [("responder", "Responder | SyncResponder | None")]


def test_the_file_says_that_it_is_generated() -> None:
    """The first line says that a program wrote the file, and which."""
    assert inspect.getsource(blocking).startswith(
        "# Generated from the source of the async classes by `./dev generate`"
    )
