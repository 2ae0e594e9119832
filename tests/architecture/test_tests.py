"""The tests keep to rules of their own: one rule a test, said in a sentence, with nothing patched."""

import ast
from collections.abc import Iterator

from tests.architecture.measure import Finding, Source, functions, length, sources

LINES, LINES_OF_STORIES = 25, 40
STORIES = ("tests/properties/", "tests/faults/")
PATCHING = {"mock", "monkeypatch", "mocker", "MonkeyPatch", "pytest_mock"}
"""What no test here may use: this is the list that forbids it."""


def patching(source: Source) -> Iterator[Finding]:
    """Where a test file reaches for a mock or a patch."""
    for node in ast.walk(source.tree):
        names: set[str] = set()
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {part for alias in node.names for part in alias.name.split(".")}
            names |= set((getattr(node, "module", None) or "").split("."))
        elif isinstance(node, ast.arg):
            names = {node.arg}
        elif isinstance(node, ast.Attribute):
            names = {node.attr}
        for name in names & PATCHING:
            says = f"uses {name}: hand in a fake at our own seam (a store, a model, a disk, a clock)"
            yield source.find(name, getattr(node, "lineno", 1), says)


def test_tests_state_their_rule() -> None:
    """Every test says in its docstring which rule it holds."""
    wrong = [
        source.find(name, node.lineno, "say in one sentence, as its docstring, which rule this test holds")
        for source in sources("tests")
        for name, node, _ in functions(source)
        if node.name.startswith("test") and not ast.get_docstring(node)
    ]
    assert not wrong, "\n" + "\n".join(map(str, wrong))


def test_tests_are_short() -> None:
    """A test has at most 25 lines of code, one under properties/ or faults/ at most 40."""
    wrong = []
    for source in sources("tests"):
        limit = LINES_OF_STORIES if source.path.startswith(STORIES) else LINES
        for name, node, _ in functions(source):
            if node.name.startswith("test") and (lines := length(source, node)) > limit:
                wrong.append(source.find(name, node.lineno, f"{lines} code lines, at most {limit}: one rule a test"))
    assert not wrong, "\n" + "\n".join(map(str, wrong))


def test_nothing_is_patched() -> None:
    """No test uses a mock or patches what it tests."""
    wrong = [finding for source in sources("tests") for finding in patching(source)]
    assert not wrong, "\n" + "\n".join(map(str, wrong))
