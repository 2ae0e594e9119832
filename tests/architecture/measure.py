"""Measurements of the source: pure functions from a parsed file to figures. The limits stand in the tests."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


@dataclass(frozen=True)
class Finding:
    """One place and what is to be said of it; `where` is stable when lines move."""

    where: str
    line: int
    says: str

    def __str__(self) -> str:
        path = self.where.split("::")[0]
        return f"{path}:{self.line}: {self.says}  [{self.where}]"


@dataclass(frozen=True)
class Source:
    """One Python file, parsed."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The file's syntax."""
        return ast.parse(self.text, self.path)

    @property
    def lines(self) -> list[str]:
        """The file's physical lines."""
        return self.text.splitlines()

    @property
    def generated(self) -> bool:
        """Whether a program wrote this file and says so in the first line."""
        return bool(self.lines) and "generated" in self.lines[0].lower()

    @cached_property
    def code_lines(self) -> frozenset[int]:
        """Numbers of the lines that hold code: no comment alone, no blank line, no docstring."""
        held: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in _NO_CODE:
                held.update(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Expr) and _is_text(node.value):
                held.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return frozenset(held)

    def find(self, name: str, line: int, says: str) -> Finding:
        """A finding in this file."""
        return Finding(f"{self.path}::{name}", line, says)


@cache
def sources(under: str, generated: bool = False) -> tuple[Source, ...]:
    """The Python files under a folder of the project, without the generated ones unless asked."""
    files = sorted((ROOT / under).rglob("*.py"))
    read = [Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in files]
    return tuple(source for source in read if generated or not source.generated)


def functions(source: Source) -> Iterator[tuple[str, Function, ast.ClassDef | None]]:
    """Every function with its qualified name and the class it is a method of."""
    return _functions(source.tree, (), None)


def _functions(
    node: ast.AST, outer: tuple[str, ...], owner: ast.ClassDef | None
) -> Iterator[tuple[str, Function, ast.ClassDef | None]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            name = (*outer, child.name)
            yield ".".join(name), child, owner
            yield from _functions(child, name, None)
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, (*outer, child.name), child)
        else:
            yield from _functions(child, outer, owner)


def classes(source: Source) -> Iterator[ast.ClassDef]:
    """Every class, nested ones too."""
    return (node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef))


def length(source: Source, node: Function) -> int:
    """A function's lines of code, its signature among them, its decorators not."""
    return len(source.code_lines & set(range(node.lineno, (node.end_lineno or node.lineno) + 1)))


def nesting(node: Function) -> int:
    """How deep blocks stand in each other; an elif is as deep as its if, a nested function starts anew."""
    return max((_depth(child) for child in node.body), default=0)


def _depth(node: ast.AST) -> int:
    if isinstance(node, _SCOPES):
        return 0
    own = 1 if isinstance(node, _BLOCKS) else 0
    deepest = own
    for child in ast.iter_child_nodes(node):
        # Only an elif stands in its if's column: `else:` over an `if` indents it.
        elif_ = isinstance(node, ast.If) and isinstance(child, ast.If) and child.col_offset == node.col_offset
        deepest = max(deepest, _depth(child) + (0 if elif_ else own))
    return deepest


def parameters(node: Function, owner: ast.ClassDef | None) -> tuple[int, int]:
    """How many parameters there are, and how many of them can be given by position; self is neither."""
    spec = node.args
    by_position = len(spec.posonlyargs) + len(spec.args)
    if owner is not None and "staticmethod" not in decorators(node):
        by_position -= 1
    rest = len(spec.kwonlyargs) + (spec.vararg is not None) + (spec.kwarg is not None)
    return by_position + rest, by_position


def decorators(node: Function | ast.ClassDef) -> set[str]:
    """The last name of each decorator: `property`, `setter`, `overload`."""
    return {ast.unparse(each).split("(")[0].split(".")[-1] for each in node.decorator_list}


def methods(node: ast.ClassDef) -> set[str]:
    """The names of a class's own methods, but for dunders and properties."""
    accessors = {"property", "cached_property", "setter", "deleter", "getter"}
    return {
        child.name
        for child in node.body
        if isinstance(child, Function) and not is_dunder(child.name) and not decorators(child) & accessors
    }


def is_dunder(name: str) -> bool:
    """Whether Python itself gave the name its meaning."""
    return name.startswith("__") and name.endswith("__")


def imports(source: Source) -> list[ast.Import | ast.ImportFrom]:
    """A module's import statements, wherever they stand, but for those of an `__init__` for type checkers."""
    skipped = set()
    if source.path.endswith("__init__.py"):
        skipped = {id(inner) for block in type_checking(source) for inner in ast.walk(block)}
    return [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in skipped
    ]


def type_checking(source: Source) -> list[ast.If]:
    """The `if TYPE_CHECKING:` blocks of a module."""
    return [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).split(".")[-1] == "TYPE_CHECKING"
    ]


def late_imports(source: Source) -> Iterator[tuple[str, int]]:
    """Functions that import something when they run, by statement or by importlib."""
    for name, function, _ in functions(source):
        for node in _own_nodes(function):
            called = ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Import | ast.ImportFrom) or called in ("import_module", "__import__"):
                yield name, node.lineno


def _own_nodes(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom | ast.Call]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom | ast.Call):
            yield child
        if not isinstance(child, Function):
            yield from _own_nodes(child)


def broad_excepts(source: Source) -> Iterator[int]:
    """Lines where everything that can go wrong is caught."""
    for node in ast.walk(source.tree):
        caught: list[ast.expr] = []
        if isinstance(node, ast.ExceptHandler):
            if node.type is None:
                yield node.lineno
                continue
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "suppress":
            caught = node.args
        if any(ast.unparse(each).split(".")[-1] in ("Exception", "BaseException") for each in caught):
            yield getattr(node, "lineno", 0)


def words(name: str) -> list[str]:
    """The words of a snake_case or CamelCase name, in lower case."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return [word.lower() for word in found]


def exported(source: Source) -> list[str] | None:
    """The names in a module's `__all__`, as written; None where there is none, or it is computed."""
    for node in source.tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if not (isinstance(target, ast.Name) and target.id == "__all__"):
            continue
        value = getattr(node, "value", None)
        if isinstance(value, ast.List | ast.Tuple):
            return [str(item.value) for item in value.elts if isinstance(item, ast.Constant)]
    return None


def lazy_names(source: Source) -> set[str] | None:
    """The names an `__init__` imports late, the keys of its first module-level dict of text, or None."""
    for node in source.tree.body:
        value = getattr(node, "value", None)
        given = [value, *(value.args if isinstance(value, ast.Call) else [])]
        for candidate in given:
            if isinstance(candidate, ast.Dict) and candidate.keys and all(map(_is_text, candidate.keys)):
                return {str(key.value) for key in candidate.keys if isinstance(key, ast.Constant)}
    return None


def described_constants(source: Source) -> set[str]:
    """Names assigned at module level with a docstring in the line below."""
    found: set[str] = set()
    for node, below in zip(source.tree.body, source.tree.body[1:], strict=False):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(below, ast.Expr) and _is_text(below.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(target.id for target in targets if isinstance(target, ast.Name))
    return found


def _is_text(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
