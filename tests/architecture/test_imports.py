"""Who may import whom, and when."""

from collections.abc import Iterator
from fnmatch import fnmatch

from tests.architecture.exceptions import LATE_IMPORTS, PUBLIC_MODULES
from tests.architecture.graph import Edge, cycle, edges
from tests.architecture.measure import Finding, late_imports, sources

_VALUES = "errors _errors _ids _clock _messages _usage _trace _tool_spec _tool_errors _jsonable _html _plot"

# The first word of a line is a module or package directly under antiphon/, the others are what it may
# import. Longer ways round are held by import-linter's layers in pyproject.toml.
_MAY_IMPORT = f"""
    errors        {_VALUES}
    _errors
    _ids          {_VALUES}
    _clock        {_VALUES}
    _messages     {_VALUES}
    _usage        {_VALUES}
    _trace        {_VALUES}
    _tool_spec    {_VALUES}
    _tool_errors  {_VALUES}
    _plot         {_VALUES}
    _jsonable     {_VALUES}
    _html
    _lazy
    _version
    journal       {_VALUES} _lazy
    stores        {_VALUES} _lazy journal
    transcript    {_VALUES} _lazy journal
    models        {_VALUES} _lazy
    tools         {_VALUES} _lazy
    context       {_VALUES} _lazy transcript
    skills        {_VALUES} _lazy context tools
    memory        {_VALUES} _lazy context tools
    retrieval     {_VALUES} _lazy context tools
    app_state     {_VALUES} _lazy context tools
    providers     {_VALUES} _lazy _version models
    model_names   {_VALUES} models providers
    _model_names  {_VALUES} models providers
    scratch       {_VALUES} _lazy models tools context
    testing       {_VALUES} _lazy journal stores transcript models tools context
    chat          {_VALUES} _lazy journal stores transcript models tools context skills memory retrieval
                  app_state providers model_names _model_names
    blocking      *
    _loop_thread  {_VALUES} chat
    _sync_responder  {_VALUES} chat
    cli           *
    inspector     *
    __init__      *
    __main__      *
"""


def table() -> dict[str, set[str]]:
    """The table above, a line that starts further right going on with the one before."""
    found: dict[str, set[str]] = {}
    for line in _MAY_IMPORT.strip("\n").splitlines():
        if line.startswith(" " * 8):
            found[list(found)[-1]].update(line.split())
        elif line.split():
            first, *others = line.split()
            found[first] = set(others)
    return found


def part(module: str) -> str:
    """The module or package directly under antiphon/ that a module belongs to."""
    return [*module.split("."), "__init__"][1]


def all_edges() -> list[Edge]:
    """Every import of one of our modules by another, generated ones too."""
    return edges(sources("src", generated=True))


def test_imports_go_downward() -> None:
    """A package imports only those that the table of this file names for it."""
    allowed = table()
    wrong = [
        f"{edge.place}: imports {edge.imported}; {part(edge.importer)} may import "
        f"{' '.join(sorted(allowed[part(edge.importer)])) or 'nothing of ours'}"
        for edge in all_edges()
        if part(edge.importer) in allowed
        and part(edge.importer) != part(edge.imported)
        and not {"*", part(edge.imported)} & allowed[part(edge.importer)]
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_every_part_has_its_line() -> None:
    """Every module and package directly under antiphon/ has a line in the table of this file."""
    names = {source.path.split("/")[2].removesuffix(".py") for source in sources("src", generated=True)}
    missing = sorted(names - set(table()))
    assert not missing, f"say in tests/architecture/test_imports.py what these may import: {missing}"


def test_no_cycle() -> None:
    """No module imports itself by any way round, late imports and those for type checkers included."""
    found = cycle(all_edges())
    assert not found, f"a cycle: {' -> '.join(found)}; move what both need below both"


def late() -> Iterator[Finding]:
    """Every import that runs when a function does."""
    for source in sources("src", generated=True):
        for name, line in late_imports(source):
            says = "imports when it runs: import at the top, or give a reason in exceptions.py's LATE_IMPORTS"
            yield source.find(name, line, says)


def test_imports_stand_at_the_top() -> None:
    """Only the listed files import inside a function, and the list holds no other."""
    found = list(late())
    wrong = [finding for finding in found if finding.where.split("::")[0] not in LATE_IMPORTS]
    assert not wrong, "\n" + "\n".join(map(str, wrong))
    stale = set(LATE_IMPORTS) - {finding.where.split("::")[0] for finding in found}
    assert not stale, f"no function there imports late any more, delete from LATE_IMPORTS: {sorted(stale)}"


def test_private_modules_say_so() -> None:
    """A module inside a package starts with an underscore: the package is the import path."""
    wrong = [
        f"{source.path}:1: start its name with an underscore, or give a reason in PUBLIC_MODULES"
        for source in sources("src", generated=True)
        if not source.path.rsplit("/", 1)[1].startswith("_")
        and not any(fnmatch(source.path, pattern) for pattern in PUBLIC_MODULES)
    ]
    assert not wrong, "\n" + "\n".join(wrong)
