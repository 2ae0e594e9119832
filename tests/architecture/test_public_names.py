"""What `__all__` promises: every name is there, in order, and explained."""

import importlib
import inspect
from collections.abc import Iterator

import pytest

from tests.architecture.graph import module_name
from tests.architecture.measure import described_constants, exported, is_dunder, lazy_names, sources

PACKAGES = {module_name(s.path): s for s in sources("src") if exported(s) is not None}
CONSTANTS = {name for source in sources("src") for name in described_constants(source)}


def own_docstring(value: type) -> str:
    """A class's docstring, where a person wrote it: a dataclass makes up its own from the fields."""
    doc = vars(value).get("__doc__") or ""
    return "" if doc.startswith(f"{value.__name__}(") else doc


def unexplained(name: str, value: object) -> Iterator[str]:
    """What of a public name lacks a docstring: itself, or a public method."""
    if inspect.ismodule(value) or is_dunder(name):
        return
    if not inspect.isclass(value):
        explained = name in CONSTANTS or (callable(value) and bool(inspect.getdoc(value)))
        if not explained:
            yield name
        return
    if not own_docstring(value):
        yield name
    for member, held in vars(value).items():
        method = inspect.isfunction(held) or isinstance(held, property | classmethod | staticmethod)
        if method and not member.startswith("_") and not inspect.getdoc(getattr(value, member)):
            yield f"{name}.{member}"


def test_packages_say_what_is_public() -> None:
    """Every package of ours has an `__all__` written out in its `__init__`."""
    packages = {module_name(s.path): s.path for s in sources("src") if s.path.endswith("__init__.py")}
    missing = [f"{path}:1: write out an `__all__`" for name, path in packages.items() if name not in PACKAGES]
    assert not missing, "\n" + "\n".join(missing)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_sorted(package: str) -> None:
    """`__all__` is in `sorted` order and holds a name once."""
    names = exported(PACKAGES[package])
    assert names == sorted(set(names or [])), f"{PACKAGES[package].path}: sort `__all__` and keep each name once"


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_can_be_imported(package: str) -> None:
    """Every name in `__all__` is there, and `dir()` shows it."""
    module = importlib.import_module(package)
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert not missing, f"{PACKAGES[package].path}: in `__all__`, but not there: {missing}"
    assert set(module.__all__) <= set(dir(module)), f"{PACKAGES[package].path}: `__dir__` hides public names"


@pytest.mark.parametrize("package", PACKAGES)
def test_late_names_are_the_public_ones(package: str) -> None:
    """The table of late names holds exactly what `__all__` does."""
    source = PACKAGES[package]
    late = lazy_names(source)
    if late is not None:
        differing = late ^ {name for name in exported(source) or [] if not is_dunder(name)}
        assert not differing, f"{source.path}: only in one of the table and `__all__`: {sorted(differing)}"


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_explained(package: str) -> None:
    """Every public name, and every public method of a public class, has a docstring."""
    module = importlib.import_module(package)
    bare = [place for name in module.__all__ for place in unexplained(name, getattr(module, name))]
    says = "write a docstring (for a constant or an alias: a string in the line below its assignment)"
    assert not bare, f"{package}: {says}: {bare}"
