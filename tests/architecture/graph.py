"""Who imports whom, read from the source: at module level, late, and for type checkers alike."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from tests.architecture.measure import Source, type_checking


@dataclass(frozen=True)
class Edge:
    """One import of one module of ours by another."""

    importer: str
    imported: str
    place: str


def module_name(path: str) -> str:
    """The dotted name of a file under src/."""
    parts = path.removeprefix("src/").removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def edges(sources: Iterable[Source]) -> list[Edge]:
    """Every import among the given files.

    A name taken from a package counts as an import of the module that defines it, for that is what runs.
    What an `__init__` imports for type checkers doesn't count: it only spells out its table of late names.
    """
    modules = {module_name(source.path): source for source in sources}
    origin = {name: _reexports(source, modules) for name, source in modules.items() if _is_package(source)}
    found: list[Edge] = []
    for importer, source in modules.items():
        for target, line in _targets(source, _statements(source), modules):
            package, _, name = target.rpartition(".")
            defined_in = origin.get(package, {}).get(name)
            nearest = _nearest(target, modules)
            others = {nearest, defined_in} - {None, importer}
            found.extend(Edge(importer, str(imported), f"{source.path}:{line}") for imported in others)
    return found


def cycle(found: list[Edge]) -> list[str]:
    """The modules of one cycle, in order of import, or nothing."""
    graph: dict[str, set[str]] = {}
    for edge in found:
        graph.setdefault(edge.importer, set()).add(edge.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def _is_package(source: Source) -> bool:
    return source.path.endswith("__init__.py")


def _statements(source: Source) -> list[ast.Import | ast.ImportFrom]:
    typed = {id(node) for block in type_checking(source) for node in ast.walk(block)} if _is_package(source) else set()
    return [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in typed
    ]


def _targets(
    source: Source, statements: list[ast.Import | ast.ImportFrom], modules: dict[str, Source]
) -> Iterator[tuple[str, int]]:
    for node in statements:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        else:
            start = _start(source, node)
            yield from ((f"{start}.{alias.name}".strip("."), node.lineno) for alias in node.names)


def _start(source: Source, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    here = module_name(source.path).split(".")
    package = here if _is_package(source) else here[:-1]
    kept = package[: len(package) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _nearest(target: str, modules: dict[str, Source]) -> str | None:
    while target and target not in modules:
        target = target.rpartition(".")[0]
    return target or None


def _reexports(source: Source, modules: dict[str, Source]) -> dict[str, str]:
    found = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                defined_in = _nearest(f"{_start(source, node)}.{alias.name}", modules)
                if defined_in and defined_in != module_name(source.path):
                    found[alias.asname or alias.name] = defined_in
    return found
