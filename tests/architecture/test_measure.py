"""The measurements measure what their names say; a rule is only as good as its ruler."""

from textwrap import dedent

import pytest

from tests.architecture import measure
from tests.architecture.graph import cycle, edges
from tests.architecture.measure import Function, Source


def source(text: str, path: str = "src/antiphon/_a.py") -> Source:
    """A file with this text."""
    return Source(path, dedent(text))


def function(text: str) -> Function:
    """The first function of a text."""
    return next(node for _, node, _ in measure.functions(source(text)))


def test_length_counts_code() -> None:
    """Docstrings, comments and blank lines are no code, and a text over two lines is two."""
    text = source('def f():\n    """Say."""\n\n    # why\n    return """a\n    b"""\n')
    assert measure.length(text, next(node for _, node, _ in measure.functions(text))) == 3


@pytest.mark.parametrize(
    ("body", "depth"),
    [
        ("pass", 0),
        ("if a:\n  pass\n elif b:\n  pass\n elif c:\n  pass", 1),
        ("if a:\n  pass\n else:\n  if b:\n   pass", 2),
        ("try:\n  with a:\n   for x in y: pass\n finally: pass", 3),
        ("match a:\n  case 1:\n   while b: pass", 2),
        ("if a:\n  def g():\n   if b:\n    if c: pass", 1),
    ],
)
def test_nesting_counts_blocks(body: str, depth: int) -> None:
    """An elif is as deep as its if, and a nested function starts anew."""
    assert measure.nesting(function(f"def f():\n {body}\n")) == depth


def test_parameters_leave_out_self() -> None:
    """Self is no parameter, and `**options` is one."""
    text = source("class A:\n def f(self, a, *, b, **options): pass\n")
    [(_, node, owner)] = measure.functions(text)
    assert measure.parameters(node, owner) == (3, 1)


def test_methods_leave_out_properties() -> None:
    """Neither a property nor a dunder counts as a method."""
    text = """
        class A:
            @property
            def a(self): ...
            @a.setter
            def a(self, value): ...
            def __len__(self): ...
            def b(self): ...
    """
    [node] = measure.classes(source(text))
    assert measure.methods(node) == {"b"}


@pytest.mark.parametrize(
    "text", ["try: a\nexcept: b", "try: a\nexcept (A, Exception): b", "with suppress(BaseException): a"]
)
def test_broad_excepts_are_found(text: str) -> None:
    """A bare except, a broad one among others and a broad suppress are all found."""
    assert list(measure.broad_excepts(source(text)))


def test_late_imports_are_found() -> None:
    """An import inside a function is found, by statement and by importlib, and one at the top is not."""
    text = "import a\ndef f():\n import b\ndef g():\n importlib.import_module('c')\n"
    assert [name for name, _ in measure.late_imports(source(text))] == ["f", "g"]


def test_words_of_names() -> None:
    """A name's words are found in snake and camel case."""
    assert measure.words("HTTPDataUtils_of_base2") == ["http", "data", "utils", "of", "base", "2"]


def test_cycles_through_packages_are_found() -> None:
    """A name taken from a package leads to the module that defines it, so that a hidden cycle shows."""
    files = [
        source("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ._x import X", "src/p/__init__.py"),
        source("import p._y", "src/p/_x.py"),
        source("def f():\n    from p import X", "src/p/_y.py"),
    ]
    assert set(cycle(edges(files))) == {"p._x", "p._y"}
    assert not cycle(edges(files[:2]))


def test_lazy_names_are_the_keys_of_the_table() -> None:
    """The table of late names is found as a dict, and as a dict handed to a function."""
    for text in ('T = {"A": "._a"}', '__getattr__ = late({"A": "._a"})'):
        assert measure.lazy_names(source(text)) == {"A"}
    assert measure.lazy_names(source('"""Doc."""')) is None
